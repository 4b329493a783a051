"""What a command line leaves open, as axes that a search draws from: choices (`size=128,256`) and intervals (`size=interval(64,512)`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.types import IntervalSweep, Override

from harness.errors import CommandLineError


@dataclass(frozen=True)
class Choices:
    """Values as they are typed; in the order of their amounts where all are numbers or all are shares, so that a search knows neighbours."""

    key: str
    values: tuple[str, ...]

    @property
    def count(self) -> float:
        """How many values there are."""
        return len(self.values)

    def suggest(self, trial: Any) -> str:
        """The value that `trial` (of Optuna) tries."""
        amounts = _amounts(self.values)
        if amounts is None:
            return str(trial.suggest_categorical(self.key, list(self.values)))
        order = sorted(range(len(amounts)), key=amounts.__getitem__)
        place: int = trial.suggest_int(self.key, 0, len(order) - 1)
        return self.values[order[place]]


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`, both included; whole ones unless an end is written with a point."""

    key: str
    low: float
    high: float
    whole: bool
    log: bool

    @property
    def count(self) -> float:
        """How many values there are."""
        return self.high - self.low + 1 if self.whole else math.inf

    def suggest(self, trial: Any) -> str:
        """The value that `trial` (of Optuna) tries."""
        if self.whole:
            return str(trial.suggest_int(self.key, int(self.low), int(self.high), log=self.log))
        return repr(float(trial.suggest_float(self.key, self.low, self.high, log=self.log)))


Axis = Choices | Interval


def split(overrides: Iterable[Override]) -> tuple[list[Axis], list[str]]:
    """The axes of a search, and the overrides that are the same for all its cells. Raises CommandLineError where an interval holds nothing."""
    axes, fixed = dict[str, Axis](), dict[str, str]()
    for override in overrides:
        key = override.get_key_element()
        axes.pop(key, None)  # what is typed comes after a named sweep's own, and replaces it
        fixed.pop(key, None)
        if not override.is_sweep_override():
            fixed[key] = f"{key}={override.get_value_element_as_str()}"
        elif override.is_discrete_sweep():
            axes[key] = Choices(key, tuple(dict.fromkeys(override.sweep_string_iterator())))
        else:
            axes[key] = _interval(key, override)
    return list(axes.values()), list(fixed.values())


def _interval(key: str, override: Override) -> Interval:
    found: Any = override.value()
    if not isinstance(found, IntervalSweep) or found.start is None or found.end is None:
        raise CommandLineError(f"{key}: a search takes choices (128,256) and intervals (interval(64,512))")
    low, high, log = float(found.start), float(found.end), "log" in (found.tags or ())
    whole = low.is_integer() and high.is_integer() and not re.search(r"\d\.\d", str(override.input_line))
    if not low < high or (log and low <= 0):
        raise CommandLineError(f"{override.input_line}: the interval must begin below its end, and on a log scale above 0")
    return Interval(key, low, high, whole, log)


def _amounts(values: Sequence[str]) -> list[float] | None:
    shares = all(value.endswith("%") or value == "0" for value in values)
    try:
        return [float(value.removesuffix("%") if shares else value) for value in values]
    except ValueError:
        return None
