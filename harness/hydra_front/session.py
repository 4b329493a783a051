"""One command's sweeps: runs them corpus by corpus, keeps the plain files of each, prints the verdict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.course import Course, Earlier, Impossible, ScreenedOut
from harness.hydra_front.console import SweepConsole, print_summary
from harness.hydra_front.keeping import REPORT, keep
from harness.hydra_front.log_file import log, log_file
from harness.hydra_front.stopping import Stopping
from harness.planned import Executor, Planned, by_corpus
from harness.redaction import redacted
from harness.report.verdict import note, sections
from harness.runner import Runner, corpus_facts
from harness.sweep import Select, Summary, summarise
from harness.tracking.base import SweepInfo, SweepOutcome, Tracker
from harness.tracking.files import SCHEMA_VERSION, folder_for, sealed, write_json
from harness.tracking.names import safe_name
from harness.tracking.pruning import RUNNING
from harness.tracking.silent import FilesOnly
from harness.types import Cell, Corpus

STOPPED = 130
"""The exit status after Ctrl-C, as shells have it."""


@dataclass(frozen=True)
class Session:
    """Everything that one command keeps the same for its sweeps."""

    outputs: Path
    tracker: Tracker
    console: SweepConsole
    select: Select
    rerun: bool
    name: str
    command: str
    report: bool = True
    typed: Path | None = None
    """`outputs` as the person typed it, for what is told; None: as it is."""
    executor: Executor | None = None
    earlier: Earlier = field(default_factory=Earlier)
    screened: Mapping[int, ScreenedOut] = field(default_factory=dict)
    """By corpus (its id) what a cheap look dropped."""

    def run(self, plans: Sequence[Planned | Impossible]) -> tuple[dict[str, float], int]:
        """Run the plans, one sweep a corpus. Gives the selecting metric by cell key, and the exit status."""
        values: dict[str, float] = {}
        status = 0
        impossible = [plan for plan in plans if isinstance(plan, Impossible)]
        with Stopping(self.console.warn, here=self.executor is None) as stopping:
            for corpus, group in by_corpus(plans):
                if stopping.asked():
                    status = STOPPED
                if status == STOPPED:
                    break
                found, failed = self._sweep(corpus, [*group, *impossible], stopping.asked)
                values.update(found)
                status = max(status, failed)
        return values, status

    def _sweep(self, corpus: Corpus, plans: Sequence[Planned | Impossible], asked: Callable[[], bool]) -> tuple[dict[str, float], int]:
        planned = [plan for plan in plans if isinstance(plan, Planned)]
        key = _sweep_key(planned)
        folder = folder_for(self.outputs / "sweeps" / f"{safe_name(corpus.name)}-{key[:12]}")
        info = SweepInfo(f"{self.name} {datetime.now():%Y-%m-%d %H:%M}", key, corpus, len({plan.key for plan in planned}), self.command)
        write_json(folder / RUNNING, {"cells": [plan.key for plan in planned], "rankings": [plan.ranking_key for plan in planned]})
        with log_file(folder / "sweep.log"):
            tracker = self._tracker_for(folder, planned, self._dropped(corpus))
            runner = Runner(self.outputs, tracker, self.console, self.rerun, _log_failure, self.executor, self.earlier, asked)
            for line in corpus.warnings:
                self.console.warn(line)
            try:
                run = runner.run(plans, info)
            finally:
                self.console.close()
            run.screened = self.screened.get(id(corpus))
            summary = summarise(run.results, self.select, planned[0].scoring)
            if run.screened is not None:  # what an axis does can't be told from the better cells alone
                summary = replace(summary, effects=None)
            if tracker is self.tracker:  # otherwise all of it is there already, and told
                keep(folder, self.outputs, info, summary, run, report=self.report, told=self._told(folder))
                if not run.stopped:
                    runner.finish(self._outcome(folder, summary, run), run)
                write_json(folder / "sweep.json", {**self._record(info, summary, run, tracker), "files": _sums_of(folder)})
            (folder / RUNNING).unlink(missing_ok=True)
        print_summary(summary, sections(summary, run, self._next_steps(folder, run)), f"{corpus.name}: {len(summary.standings)} cells")
        values = {item.result.key: item.value for item in summary.standings}
        return values, STOPPED if run.stopped else 1 if run.failures else 0

    def _dropped(self, corpus: Corpus) -> list[str]:
        """The labels of what was screened out."""
        found = self.screened.get(id(corpus))
        return [] if found is None else [cell.label for cell in found.cells]

    def _tracker_for(self, folder: Path, planned: Sequence[Planned], dropped: Sequence[str]) -> Tracker:
        """Nobody needs to be told again of a sweep that was told to the same tracker already and has nothing new."""
        told = _record_in(folder)
        place, known = self.tracker.where(), told.get("tracking", {})
        same = told.get("status") == "finished" and told.get("untracked") is False and told.get("select") == self._selection()
        same = same and all(known.get(name) == place.get(name) for name in ("tracker", "uri", "store_text"))
        same = same and told.get("files") == _sums_of(folder) and told.get("screened_out", []) == dropped
        complete = all(sealed(self.outputs / "cells" / plan.key[:20]) for plan in planned)
        return FilesOnly(known) if same and complete and not self.rerun else self.tracker

    def _selection(self) -> dict[str, Any]:
        limits = [[limit.metric, limit.bound, limit.at_most] for limit in self.select.limits]
        return {"metric": self.select.metric, "alpha": self.select.alpha, "baseline": list(self.select.baseline), "limits": limits}

    def _outcome(self, folder: Path, summary: Summary, run: Course) -> SweepOutcome:
        names = list(_MADE)
        if self.tracker.where().get("store_text") is False:  # what a failing part said may quote a text
            names = [name for name in names if name not in ("verdict.md", REPORT)]
            run = replace(run, failures=[replace(failure, problem="sweep.log says why") for failure in run.failures])
        curves: dict[str, list[tuple[int, float]]] = {}
        for curve in summary.curves:
            tail = f"{curve.strategy}/{curve.embedder}/overlap_{curve.overlap.replace('%', 'pct')}"
            for metric, points in (
                ("answer_existence", curve.existence),
                ("discrimination", curve.discrimination),
                ("complete_within_2048", curve.complete),
            ):
                curves[f"{metric}/{tail}"] = [(point.size, point.value) for point in points if point.value == point.value]
        tags: dict[str, dict[str, str]] = {}
        for item in summary.standings:
            marks = {"winner": item is summary.winner, "tied_with_winner": item.tied, "cheapest_of_tied": item is summary.cheapest}
            marks["pareto"] = item.result.key in summary.front
            tags[item.result.key] = {name: str(mark and summary.decided).lower() for name, mark in marks.items()}
        metrics = {self.select.metric: summary.winner.value} if summary.winner else {}
        files = tuple(folder / name for name in names if (folder / name).exists())
        return SweepOutcome(note(summary, run), curves, files, tags, metrics, complete=not run.failures, select=self._selection())

    def _record(self, info: SweepInfo, summary: Summary, run: Course, tracker: Tracker) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "status": "stopped" if run.stopped else "failed" if run.failures else "finished",
            "name": info.name,
            "key": info.key,
            "command": info.command,
            "corpus": corpus_facts(info.corpus),
            "select": self._selection(),
            "cells": [{"label": result.cell.label, "key": result.key, "status": "finished"} for result in run.results],
            "reused": run.reused,
            "impossible": [{"label": item.cell.label, "reason": item.reason} for item in run.impossible],
            "failed": [{"label": item.cell.label, "problem": item.problem} for item in run.failures],
            "twins": [{"label": cell.label, "same_as": label} for cell, label in run.twins],
            "screened_out": self._dropped(info.corpus),
            "screened_tokens": run.screened.tokens if run.screened else 0,
            "winner": summary.winner.result.key if summary.winner and summary.decided else None,
            "tied": [item.result.key for item in summary.tied],
            "cheapest": summary.cheapest.result.key if summary.cheapest and summary.decided else None,
            "pareto": list(summary.front),
            "warnings": [*summary.warnings, *run.warnings],
            "seconds": run.seconds,
            "tracking": dict(tracker.where()),
            "untracked": bool(run.warnings),
        }

    def _next_steps(self, folder: Path, run: Course) -> list[str]:
        page, winner = (folder / REPORT).exists(), (folder / "winner.yaml").exists()
        board = (folder / "leaderboard.csv").exists()
        folder = self._told(folder)
        steps = ["The same command goes on where this was stopped; what stands above is of the cells that were reached."] if run.stopped else []
        steps += [f"{folder}/sweep.log says where each failing cell failed."] if run.failures else []
        steps += [f"The report, which opens in any browser: {folder}/{REPORT} (beside it leaderboard.csv and verdict.md)"] if page else []
        if not page:
            table = "leaderboard.csv and " if board else ""
            steps.append(f"Everything that was measured: {folder}/{table}verdict.md")
        if winner:
            steps.append(f"The named cell again: chunk-sweep run --config-dir {folder} --config-name winner")
        place = self.tracker.where()
        if place.get("tracker") == "mlflow":
            steps.append(f"In MLflow: mlflow ui --backend-store-uri {place['uri']} (in a clone of the project: make ui)")
        return [*steps, f"Again, without running anything: chunk-sweep report {folder.name} --outputs {self._told(self.outputs)}"]

    def _told(self, place: Path) -> Path:
        """A place under `outputs` as the person would type it."""
        return place if self.typed is None else self.typed / place.relative_to(self.outputs)


def _sums_of(folder: Path) -> dict[str, str]:
    """Digests of what was made from the cells: a file that is gone or was changed is written again."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in map(folder.joinpath, _MADE) if path.is_file()}


_MADE = ("leaderboard.csv", "verdict.md", REPORT, "winner.yaml", "size_discrimination.png", "size_discrimination.svg")


def _record_in(folder: Path) -> dict[str, Any]:
    """What an earlier run of the same sweep recorded; empty where there was none, or it can't be read."""
    try:
        found = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("schema_version") == SCHEMA_VERSION else {}


def _sweep_key(planned: Sequence[Planned]) -> str:
    return hashlib.sha256("\n".join(sorted({plan.key for plan in planned})).encode()).hexdigest()


def _log_failure(cell: Cell, trace: str) -> None:
    log.error("%s failed\n%s", cell.label, redacted(trace))
