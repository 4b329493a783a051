"""What a sweep costs beyond embedding its distinct texts, what running it again costs, and what a new metric costs.

    python benchmarks/overhead.py PATH_OF_A_LABELLED_CORPUS [--mutate no-cache|no-rankings]

One process. The embedder alone is timed before and after the sweep, on the distinct texts of its six cells and the questions, and the two times are
averaged, so that a drift of the machine's speed cancels. A new metric (here: other ks) is scored, stored and told to MLflow; what the page of the
report would add (`report=false` leaves it out) is timed beside it. To show that the ratios can fail, `--mutate no-cache` runs the cells without any
cache, and `--mutate no-rankings` drops the stored rankings and vectors before the new metric.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

from hydra import compose, initialize_config_dir

from harness.bundled import bundled_folder
from harness.chunking import chunk_documents
from harness.embedding import minilm
from harness.hydra_front import schema
from harness.hydra_front.build import plan_cell
from harness.hydra_front.console import SweepConsole
from harness.hydra_front.session import Session
from harness.hydra_front.workshop import Workshop
from harness.planned import Planned
from harness.sweep import Select
from harness.tracking.mlflow_tracker import MlflowTracker
from harness.units import measure_all

CELLS = [(strategy, size) for strategy in ("fixed", "recursive") for size in (64, 128, 250)]


def plans(corpus: Path, outputs: Path, *extra: str) -> list[Planned]:
    workshop = Workshop(outputs, 10)
    found = []
    for strategy, size in CELLS:
        words = ["dataset=folder", f"dataset.path={corpus}", f"strategy={strategy}", f"size={size}", "overlap=10%", *extra]
        config = compose("config", overrides=words)
        plan = plan_cell(config, {"strategy": strategy, "embedder": "minilm", "retriever": "dense", "dataset": "folder"}, workshop)
        assert isinstance(plan, Planned)
        found.append(plan)
    return found


def sweep(found: list[Planned], outputs: Path, *, report: bool = True) -> float:
    began = time.perf_counter()
    tracker, console = MlflowTracker(str(outputs)), SweepConsole("complete_within_2048")
    session = Session(outputs, tracker, console, Select(), False, "overhead", "chunk-sweep run", report)
    session.run(found)
    return time.perf_counter() - began


def embedding_alone(found: list[Planned]) -> tuple[float, int, int]:
    """Seconds for the distinct texts, how many they are, and how many texts the cells have together."""
    documents = found[0].experiment.corpus.documents
    texts: list[str] = []
    for plan in found:
        texts += chunk_documents(plan.experiment.chunker, documents, measure_all(plan.experiment.unit, documents)).indexed_texts(documents)
    distinct = list(dict.fromkeys(texts))
    questions = list(dict.fromkeys(question.text for question in found[0].experiment.corpus.questions))
    embedder = minilm()
    embedder.embed(["warm up"], "passage")
    began = time.perf_counter()
    embedder.embed(distinct, "passage")
    embedder.embed(questions, "query")
    return time.perf_counter() - began, len(distinct) + len(questions), len(texts) + len(questions) * len(found)


def without_cache(found: list[Planned]) -> list[Planned]:
    return [replace(plan, experiment=replace(plan.experiment, embedder=minilm())) for plan in found]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("corpus", type=Path)
    words.add_argument("--mutate", choices=["no-cache", "no-rankings"])
    options = words.parse_args()
    outputs = Path(tempfile.mkdtemp())
    schema.register()
    from harness.hydra_front import launcher

    launcher.register(lambda configs: [])
    with initialize_config_dir(str(bundled_folder("conf")), version_base="1.3"):
        found = plans(options.corpus.resolve(), outputs)
        before, distinct, total = embedding_alone(found)
        cells = without_cache(found) if options.mutate == "no-cache" else found
        cold = sweep(cells, outputs)
        after, _, _ = embedding_alone(found)
        began = time.perf_counter()
        again = plans(options.corpus.resolve(), outputs)
        sweep(again, outputs)
        second = time.perf_counter() - began
        if options.mutate == "no-rankings":
            shutil.rmtree(outputs / "rankings")
            shutil.rmtree(outputs / "cache")
        rescored = plans(options.corpus.resolve(), outputs, "scoring.ks=[1,2,3,4,5,6,7,8]")
        new_metric = sweep(rescored, outputs, report=False)
        with_page = sweep(plans(options.corpus.resolve(), outputs, "scoring.ks=[1,2,3,4,5,6,7]"), outputs)
    alone = (before + after) / 2
    mutated = f"  MUTATED: {options.mutate}" if options.mutate else ""
    sys.stdout.write(f"{date.today()}  {options.corpus.name}, {len(CELLS)} cells, {distinct} distinct of {total} texts{mutated}\n")
    sys.stdout.write(f"embedder alone {alone:.1f} s (before {before:.1f}, after {after:.1f})\n")
    for name, seconds, limit in (("whole sweep", cold, 1.15), ("same again", second, 0.05), ("new metric", new_metric, 0.02)):
        ratio = seconds / (alone if name == "whole sweep" else cold)
        sys.stdout.write(f"{name:<12} {seconds:7.1f} s   ratio {ratio:.3f}   limit {limit}   {'ok' if ratio <= limit else 'OVER'}\n")
    sys.stdout.write(f"{'report page':<12} {with_page - new_metric:7.1f} s\n")
    shutil.rmtree(outputs)


if __name__ == "__main__":
    main()
