"""Several processes on one store and one cache."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from fault_bench import Bench, Row, results
from fault_damage import missing_in
from fault_disk import empty_store

LOGGERS = 8


def sharing(bench: Bench) -> Iterator[Row]:
    """The same sweep twice at once, and two sweeps that have cells in common."""
    for fault, more in (("two equal sweeps at once", ()), ("two overlapping sweeps at once", ("size=12,24,33",))):
        with bench.room() as outputs:
            together = [bench.start(outputs), bench.start(outputs, *more)]
            said = [process.wait() for process in together]
            problems = [line for ran in said for line in ran.trouble] + [f"status {ran.status}: {ran.err[-200:]}" for ran in said if ran.status]
            problems += [f"a draft is left: {path}" for path in outputs.rglob(".*-*") if path.is_dir()]
            problems += bench.again(outputs)
            if more:
                problems += _as_alone(bench, outputs, more)
        yield Row(
            fault, "on one folder of outputs and one cache, from nothing", "both end with status 0; no draft left", not problems, tuple(problems)
        )


def _as_alone(bench: Bench, outputs: Path, more: tuple[str, ...]) -> list[str]:
    """Cells of the other sweep, against the same alone."""
    with bench.room() as alone:
        ran = bench.run(alone, *more)
        found, wanted = results(outputs)["cells"], results(alone)["cells"]
    return ran.trouble + [f"cell {name} of the other sweep differs" for name in wanted if found.get(name) != wanted[name]]


def logging_at_once(bench: Bench) -> Iterator[Row]:
    """`LOGGERS` processes, each with a sweep of its own, tell one SQLite store."""
    with bench.room() as shared:
        shutil.copytree(empty_store(bench), shared)
        store = shared / "mlflow.db"
        names = [f"log-{number}" for number in range(LOGGERS)]
        uri = ("tracking=mlflow", f"tracking.uri=sqlite:///{store}")
        running = [bench.start(shared / name, *uri, f"dataset.name={name}") for name in names]
        said = [process.wait(300) for process in running]
        problems = [line for ran in said for line in ran.trouble] + [f"status {ran.status}" for ran in said if ran.status]
        problems += [f"not tracked: {ran.err[-200:]}" for ran in said if "not tracked" in ran.err]
        for name in names:
            problems += [f"{name}: {line}" for line in missing_in(store, 6, name)]
            problems += [] if results(shared / name)["cells"] == bench.whole["cells"] else [f"{name}: cells differ"]
    seen = f'{6 * LOGGERS} of {6 * LOGGERS} cells and {LOGGERS} sweeps stored; nothing "not tracked"'
    yield Row(f"{LOGGERS} processes log at once", "sweeps of 6 cells each into one SQLite store", seen, not problems, tuple(problems))
