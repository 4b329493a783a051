"""A clock that jumps back and forth by years while a sweep runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from fault_bench import Bench, Row

_JUMPS = (0.0, -3.0e8, 2.0e8, -5.0, 86_400.0, -1.2e9, 1.0e8)


def _jump() -> None:
    """time.time and datetime.now go back and forth at every call; the monotonic clocks go on, as an operating system promises."""
    import datetime
    import time

    real, step = time.time, itertools.cycle(_JUMPS)
    time.time = lambda: real() + next(step)  # type: ignore[assignment]

    class Jumping(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            return datetime.datetime.fromtimestamp(time.time(), tz)

    import harness.embedding.cache
    import harness.hydra_front.session

    harness.hydra_front.session.datetime = Jumping  # type: ignore[attr-defined]
    cache = harness.embedding.cache.VectorCache.__init__
    cache.__kwdefaults__["clock"] = time.time


def jumping(bench: Bench) -> Iterator[Row]:
    """With files and with MLflow; then again with an honest clock."""
    from fault_tracking import ready

    for tracking in ("files", "mlflow"):
        with bench.room() as outputs:
            ready(bench, outputs, tracking)
            ran = bench.run(outputs, f"tracking={tracking}", first=_jump)
            problems = ran.trouble + [f"status {ran.status}: {ran.err[-200:]}"] * (ran.status != 0) + ["not tracked"] * ("not tracked" in ran.err)
            second = bench.run(outputs, f"tracking={tracking}", "rerun=true", first=_jump)
            problems += second.trouble + [f"status {second.status}"] * (second.status != 0) + bench.again(outputs, f"tracking={tracking}")
        how = f"tracking={tracking}; time.time and datetime.now move by up to 38 years at each call"
        yield Row("a clock that jumps", how, "status 0, nothing untracked", not problems, tuple(problems))
