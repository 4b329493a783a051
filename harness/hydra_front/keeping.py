"""The plain files of a sweep: leaderboard, verdict, winner, figures and the report."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from harness.course import Course
from harness.hydra_front.rebuild import winner_yaml
from harness.report.figures import save, size_discrimination
from harness.report.material import load
from harness.report.page import About, render
from harness.report.tables import full_leaderboard
from harness.report.verdict import note
from harness.sweep import Summary
from harness.tracking.base import SweepInfo
from harness.tracking.files import write_text

REPORT = "report.html"


def keep(folder: Path, outputs: Path, info: SweepInfo, summary: Summary, run: Course, *, report: bool, told: Path) -> None:
    """Write them under `folder`, which a person types as `told`; `report`: with page and figure. Raises StoreError where that can't be done."""
    if summary.standings:
        write_text(folder / "leaderboard.csv", full_leaderboard(summary).to_csv(index=False, lineterminator="\n"))
        if report:
            write_text(folder / REPORT, _page(outputs, info, summary, run))
    write_text(folder / "verdict.md", f"# {info.corpus.name}: {info.name}\n\n    {info.command}\n\n{note(summary, run)}\n")
    if summary.cheapest is not None:
        write_text(folder / "winner.yaml", winner_yaml(summary.cheapest.result.cell, told))
    if summary.curves and report:
        save(size_discrimination(summary.curves, f"{info.corpus.name}: what size does"), folder, "size_discrimination", ("png", "svg"))


def _page(outputs: Path, info: SweepInfo, summary: Summary, run: Course) -> str:
    material = load(outputs, [item.result for item in summary.standings], info.corpus)
    corpus = info.corpus
    asked = sum(bool(question.answers) for question in corpus.questions)
    about = About(
        corpus.name,
        (
            ("Command", info.command),
            ("Date", f"{date.today()}"),
            ("Corpus", f"{len(corpus.documents)} documents, {len(corpus.questions)} questions ({asked} with an answer), digest {corpus.digest[:12]}"),
        ),
    )
    return render(summary, run, material, about)
