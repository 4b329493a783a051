"""How time and memory of each stage of a cell grow with the documents, and with the questions.

    python benchmarks/growth.py [--documents 30] [--questions 30] [--factors 1,10,100] [--figure docs/images/growth.png]

Documents of 10 kB (as benchmarks/big.py makes them), recursive, 256 words, hashed words, everything else as it is by default but that the budget is
counted in words. First `documents` x 1, 10, 100 with 300 questions, then `questions` x 1, 10, 100 over 10 x `documents`. Each point is a process
of its own, in which a tiny corpus goes through all stages first, so that loading of libraries and weights does not count. Told are CPU-seconds, which
other programs on the machine hardly move, and MB that the resident set rose above where the stage began (Linux); the exponent is the slope of
log(seconds) from the second point to the third, where what a stage costs whatever the size no longer counts: 1 is linear, 2 quadratic. Embedding is
measured again with the static model, and at a tenth of the documents with MiniLM, which is stopped after the second point.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from big import SMALL, write

STAGES = ("load", "first look", "chunk", "embed", "index", "places of labels", "search", "score", "store", "track", "report")
OTHERS = {"static": "embed, static", "minilm": "embed, MiniLM"}
Point = dict[str, list[float]]
"""CPU-seconds and MB of each stage."""


class Stages:
    """Clock and memory of the stage that goes on; called with a name, it begins the next."""

    def __init__(self) -> None:
        self.found: Point = {}
        self._name, self._began, self._base = "", 0.0, 0.0

    def __call__(self, name: str) -> None:
        if self._name:
            spent, rose = time.process_time() - self._began, _status("VmHWM") - self._base
            before = self.found.get(self._name, [0.0, 0.0])
            self.found[self._name] = [before[0] + spent, max(before[1], rose)]
        with open("/proc/self/clear_refs", "w") as control:
            control.write("5")  # the peak begins again at what is resident now
        self._name, self._began, self._base = name, time.process_time(), _status("VmRSS")


def _status(name: str) -> float:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def one(folder: Path, embedder: str) -> Point:
    """One cell over `folder`, stage by stage."""
    from hydra import compose, initialize_config_dir

    from harness.bundled import bundled_folder
    from harness.evaluation import evaluate
    from harness.experiment import prepare, search
    from harness.hydra_front import launcher, schema
    from harness.hydra_front.build import plan_cell
    from harness.hydra_front.first_look import first_look
    from harness.hydra_front.workshop import Workshop
    from harness.planned import Planned
    from harness.tracking.mlflow_tracker import MlflowTracker

    outputs, stages = folder.parent / f"outputs-{folder.name}-{embedder}", Stages()
    outputs.mkdir()
    tracker = MlflowTracker(str(outputs))
    schema.register()
    launcher.register(lambda configs: [])
    words = ["dataset=folder", f"dataset.path={folder}", "strategy=recursive", "size=256", f"embedder={embedder}", "budget.tokenizer=words"]
    with initialize_config_dir(str(bundled_folder("conf")), version_base="1.3"):
        config = compose("config", overrides=words)
    stages("load")
    plan = plan_cell(config, {"strategy": "recursive", "embedder": embedder, "retriever": "dense", "dataset": "folder"}, Workshop(outputs, 10))
    assert isinstance(plan, Planned)
    experiment = plan.experiment
    stages("first look")
    first_look([plan])
    experiment.embedder.embed(["warm"], "passage")  # weights are loaded once whatever the size
    prepared = prepare(experiment, stages, lambda done, total: None)
    stages("index")
    if embedder != "hashing":
        return {"embed": stages.found["embed"]}
    prepared.shelf.index(experiment.retriever)
    stages("places of labels")
    found = search(experiment, prepared, stages)
    stages("score")
    result = replace(evaluate(experiment, found, plan.scoring, plan.cell, plan.key), ranking_key=plan.ranking_key)
    _kept(stages, tracker, plan, found, result, outputs)
    return stages.found


_measured: dict[tuple[int, int, str], Point] = {}


def _kept(stages: Stages, tracker: Any, plan: Any, found: Any, result: Any, outputs: Path) -> None:
    """Store, tell, report."""
    from harness.course import Course
    from harness.hydra_front.keeping import keep
    from harness.runner import corpus_facts
    from harness.sweep import Select, summarise
    from harness.tracking.base import SweepInfo
    from harness.tracking.files import write_cell
    from harness.tracking.rankings import write_retrieved

    stages("")
    info = SweepInfo("growth", "key", plan.experiment.corpus, 1, "chunk-sweep run")
    tracker.start(info)  # making a store costs the same whatever the size
    stages("store")
    write_retrieved(outputs / "rankings" / plan.ranking_key[:20], found)
    write_cell(outputs / "cells" / plan.key[:20], result, corpus_facts(plan.experiment.corpus))
    stages("track")
    tracker.cell_started(plan.cell, plan.key)
    tracker.cell_finished(result, outputs / "cells" / plan.key[:20])
    stages("report")
    run = Course()
    run.results = [result]
    (outputs / "sweep").mkdir()
    keep(outputs / "sweep", outputs, info, summarise([result], Select(), plan.scoring), run, report=True, told=outputs / "sweep")
    stages("")


def point(place: Path, documents: int, questions: int, embedder: str) -> Point:
    """One point, measured in a process of its own; where both series have it, once."""
    key = (documents, questions, embedder)
    if key in _measured:
        return dict(_measured[key])
    folder = place / f"corpus-{documents}-{questions}"
    if not folder.exists():
        write(folder, "files", documents * SMALL, questions)
    words = [sys.executable, __file__, "--one", str(folder), "--embedder", embedder]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    _measured[key] = json.loads(done.stdout.splitlines()[-1])
    return dict(_measured[key])


def series(place: Path, options: argparse.Namespace, along: str) -> dict[str, list[list[float] | None]]:
    """The stages at each factor."""
    points: list[Point] = []
    for factor in options.factors:
        documents = options.documents * (factor if along == "documents" else 10)
        questions = 300 if along == "documents" else options.questions * factor
        found = point(place, documents, questions, "hashing")
        if along == "documents":
            found[OTHERS["static"]] = point(place, documents, questions, "static")["embed"]
            if factor <= options.factors[1]:
                found[OTHERS["minilm"]] = point(place, max(documents // 10, 1), min(questions, documents), "minilm")["embed"]
        points.append(found)
        sys.stderr.write(f"{along} x {factor}: {found}\n")
    names = [name for name in (*STAGES, *OTHERS.values()) if name in points[0]]
    return {name: [it.get(name) for it in points] for name in names}


def exponent(values: Sequence[list[float] | None], factors: Sequence[int]) -> float:
    """The slope of log(seconds) over the last decade that was measured; not a number where that is under a hundredth of a second."""
    known = [(factor, value[0]) for factor, value in zip(factors, values, strict=True) if value is not None]
    (first, low), (last, high) = known[-2:]
    return math.log(high / low) / math.log(last / first) if min(low, high) > 0.01 else math.nan


def table(found: dict[str, list[list[float] | None]], factors: Sequence[int]) -> str:
    heads = "".join(f" x {factor}: CPU s | MB |" for factor in factors)
    lines = [f"| stage |{heads} exponent |", f"|---|{'---:|' * (2 * len(factors) + 1)}"]
    for name, values in found.items():
        cells = "".join(" | |" if value is None else f" {value[0]:.2f} | {max(value[1], 0):,.0f} |" for value in values)
        slope = exponent(values, factors)
        lines.append(f"| {name} |{cells} {'' if math.isnan(slope) else f'{slope:.2f}'} |")
    return "\n".join(lines)


def draw(every: dict[str, dict[str, list[list[float] | None]]], factors: Sequence[int], path: Path) -> None:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from harness.report.figures.style import COLOURS, INK, MARKERS, RC, STYLES
    from harness.report.figures.style import SMALL as SMALL_TYPE

    with rc_context(RC):
        figure = Figure(figsize=(10, 8), facecolor="white", layout="constrained")
        axes: Any = figure.subplots(2, 2, sharex=True, sharey="row")
        for column, (along, found) in enumerate(every.items()):
            for row, (what, unit, least) in enumerate((("time", "CPU-seconds", 0.005), ("memory", "MB above the stage's start", 1.0))):
                axis = axes[row][column]
                for place, (name, values) in enumerate(found.items()):
                    seen = [(factor, value[row]) for factor, value in zip(factors, values, strict=True) if value is not None and value[row] >= least]
                    style = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)], "ls": STYLES[place // len(COLOURS)]}
                    axis.plot([it for it, _ in seen], [it for _, it in seen], label=name, markersize=5, linewidth=1.3, **style)
                axis.plot([factors[0], factors[-1]], [3 * least, 3 * least * factors[-1]], color=INK, alpha=0.15, linewidth=7, label="linear")
                axis.set(xscale="log", yscale="log", title=f"{what}, {along} grow", ylabel="" if column else unit)
                axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
                axis.set_xticks(list(factors), [f"x {factor}" for factor in factors])
                axis.minorticks_off()
                if row:
                    axis.set_xlabel(f"times the base of {along}")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside right upper", fontsize=SMALL_TYPE, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=100)


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--documents", type=int, default=30)
    words.add_argument("--questions", type=int, default=30)
    words.add_argument("--factors", type=lambda text: [int(part) for part in text.split(",")], default=[1, 10, 100])
    words.add_argument("--figure", type=Path, default=None)
    words.add_argument("--one", type=Path, default=None, help=argparse.SUPPRESS)
    words.add_argument("--embedder", default="hashing", help=argparse.SUPPRESS)
    options = words.parse_args()
    if options.one is not None:
        with tempfile.TemporaryDirectory(prefix="growth-") as warm:
            write(Path(warm) / "corpus", "files", 3 * SMALL, 5)
            one(Path(warm) / "corpus", options.embedder)
        sys.stdout.write(f"\n{json.dumps(one(options.one, options.embedder))}\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="growth-") as place:
        every = {along: series(Path(place), options, along) for along in ("documents", "questions")}
    sys.stdout.write(f"{date.today()}  documents x {options.factors} of {options.documents} (10 kB each), questions x {options.factors} of ")
    sys.stdout.write(f"{options.questions}\n")
    for along, found in every.items():
        sys.stdout.write(f"\n### {along.capitalize()} grow\n\n{table(found, options.factors)}\n")
    if options.figure is not None:
        draw(every, options.factors, options.figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
