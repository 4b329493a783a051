"""What 24 ways of searching one set of chunks cost beside the first cell, which has to embed them.

    python benchmarks/retrieval_variants.py PATH_OF_A_LABELLED_CORPUS [--mutate no-sharing]

One sweep of one process. The first cell (recursive, 250 tokens, dense) is chunked, embedded, searched, scored, stored and told to MLflow; 24 others
follow that differ in their retrieval alone, and then the verdict. Limit: a tenth of the first cell's time, without report pages.
`--mutate no-sharing` lets every variant chunk and embed for itself, without any cache, to show that the ratio can fail.
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
from harness.embedding import minilm
from harness.hydra_front import launcher, schema
from harness.hydra_front.build import plan_cell
from harness.hydra_front.console import SweepConsole
from harness.hydra_front.session import Session
from harness.hydra_front.workshop import Workshop
from harness.planned import Planned
from harness.sweep import Select
from harness.tracking.mlflow_tracker import MlflowTracker
from harness.types import CellResult

VARIANTS = [
    *(f"bm25 retriever.k1={k1} retriever.b={b}" for k1 in (0.9, 1.5) for b in (0.4, 0.75)),
    "hybrid",
    *(f"hybrid retriever.method=weighted retriever.weight={weight}" for weight in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
    *(f"mmr retriever.weight={weight}" for weight in (0.5, 0.7, 0.9)),
    *(f"collapse_duplicates retriever.share={share}" for share in (0.5, 0.7, 0.9)),
    *(f"hnsw retriever.ef_search={width}" for width in (32, 64, 128)),
    "random",
]


def planned(corpus: Path, workshop: Workshop, variant: str) -> Planned:
    retriever, *settings = variant.split()
    words = ["dataset=folder", f"dataset.path={corpus}", "strategy=recursive", "size=250", "overlap=0", f"retriever={retriever}", *settings]
    choices = {"strategy": "recursive", "embedder": "minilm", "retriever": retriever, "dataset": "folder"}
    plan = plan_cell(compose("config", overrides=words), choices, workshop, " ".join(settings))
    if not isinstance(plan, Planned):
        raise SystemExit(f"{variant}: {plan.reason}")
    return plan


class Clock(SweepConsole):
    """Notes when the first cell is done."""

    first = 0.0

    def cell_finished(self, result: CellResult, reused: bool) -> None:
        self.first = self.first or time.perf_counter()
        super().cell_finished(result, reused)


def seconds(plans: list[Planned], outputs: Path, tracker: MlflowTracker) -> tuple[float, float]:
    """Of the first cell, and of all the rest."""
    began, console = time.perf_counter(), Clock("complete_within_2048")
    Session(outputs, tracker, console, Select(), False, "variants", "chunk-sweep run", report=False).run(plans)
    return console.first - began, time.perf_counter() - console.first


def alone(plans: list[Planned]) -> list[Planned]:
    return [replace(plan, experiment=replace(plan.experiment, embedder=minilm()), shelf_key=f"{place}") for place, plan in enumerate(plans)]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("corpus", type=Path)
    words.add_argument("--mutate", choices=["no-sharing"])
    options = words.parse_args()
    outputs = Path(tempfile.mkdtemp())
    schema.register()
    launcher.register(lambda configs: [])
    with initialize_config_dir(str(bundled_folder("conf")), version_base="1.3"):
        workshop, tracker = Workshop(outputs, 10), MlflowTracker(str(outputs))
        corpus = options.corpus.resolve()
        minilm().embed(["warm up"], "passage")
        plans = [planned(corpus, workshop, variant) for variant in ("dense", *VARIANTS)]
        first, others = seconds([plans[0], *(alone(plans[1:]) if options.mutate else plans[1:])], outputs, tracker)
    mutated = f"  MUTATED: {options.mutate}" if options.mutate else ""
    ratio = others / first
    sys.stdout.write(f"{date.today()}  {options.corpus.name}{mutated}\nthe first cell {first:.1f} s; {len(VARIANTS)} variants {others:.1f} s, ")
    sys.stdout.write(f"ratio {ratio:.3f}   limit .1   {'ok' if ratio <= 0.1 else 'OVER'}\n")
    shutil.rmtree(outputs)


if __name__ == "__main__":
    main()
