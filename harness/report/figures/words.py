"""Names and numbers in figures, in words that people read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.report.tables import number

_SHARES = "complete|hit_rate|half_answer|chunking_miss|ranking_miss|assembled|answer_existence|unreached_share|oracle|random"
LONGEST = 64


def spoken(metric: str) -> str:
    """A metric's name as words: "complete within 2,048 tokens", "recall at 5"."""
    budget = re.fullmatch(r"(.+)_within_(\d+)", metric)
    if budget:
        return f"{budget[1].replace('_', ' ')} within {int(budget[2]):,} tokens"
    return metric.replace("_", " ")


def unit(metric: str) -> str:
    """What a metric's value counts."""
    known = {"discrimination": "standard deviations (d-prime)", "selectivity_bits": "bits", "auc": "share of pairs"}
    if metric in known:
        return known[metric]
    if re.match(_SHARES, metric):
        return "share of questions"
    return "mean over questions, 0 to 1"


def axis_label(metric: str, between: str = ", ") -> str:
    """A metric with its unit; `between` may be a line break."""
    return f"{spoken(metric)}{between}{unit(metric)}"


def digits(metric: str) -> int:
    """How many digits after the point are worth printing."""
    return 2 if metric in ("discrimination", "selectivity_bits") else 3


def valued(value: float | None, low: float | None, high: float | None, places: int = 3) -> str:
    """A value with its 95% interval, without it where there is none."""
    told = number(value, places)
    ends = [number(low, places), number(high, places)]
    return told if "-" in ends else f"{told} [{ends[0]}, {ends[1]}]"


def short_labels(labels: Sequence[str]) -> list[str]:
    """Cells' labels without the words that all of them share; the whole labels where that would leave some empty or alike.

    What is still too long loses its middle.
    """
    words = [label.split() for label in labels]
    shared = set(words[0]).intersection(*words[1:]) if len(words) > 1 else set()
    short = [" ".join(word for word in label if word not in shared) for label in words]
    told = short if all(short) and len(set(short)) == len(set(labels)) else list(labels)
    return [label if len(label) <= LONGEST else f"{label[: LONGEST // 2]} … {label[-LONGEST // 2 + 3 :]}" for label in told]


def shared_words(labels: Sequence[str]) -> str:
    """What `short_labels` left out, as a sentence for the small print; empty where that is nothing."""
    words = [label.split() for label in labels]
    shared = [word for word in words[0] if all(word in label for label in words[1:])] if len(words) > 1 else []
    return f"All cells: {' '.join(shared)}." if shared else ""
