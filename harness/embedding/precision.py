"""In which numbers a model computes: float32, or half as many bits where a check against float32 shows that it changes nothing.

A GPU computes in float16 several times as fast as in float32. What that does to vectors depends on the model (a state past 65,504 becomes infinite),
so it is looked at, for each model, before it is relied on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from harness.embedding.base import Described, InFront
from harness.errors import ConfigError
from harness.types import Vectors
from harness.workers import best_device

PRECISIONS = ("float32", "float16", "bfloat16")
AGREES = 0.9999
"""The least cosine to the float32 vector of the same text with which half precision counts as the same."""
PROBES = (
    "The tariff, §4(b), rose 12.5% — naïve?",
    "a",
    "Deposits are returned within thirty days, unless the unit was damaged or the case came back wet; the hirer is told in writing which it was. "
    * 3,
    "Die Kaution wird binnen eines Monats zurückgezahlt. Ключ лежит под ковриком. 受付は九時に開きます。 تعاد العربون خلال شهر.",
    "def total(rows):\n    return sum(row['price'] * row['count'] for row in rows)  # without tax\n",
    "gauge, valve, pump, hose; " * 200,
)
"""Short and long, several scripts, prose and code: what half precision is tried on before there are texts."""
_NVIDIA = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""What Linux has where there is a card that torch calls cuda: NVIDIA's driver, AMD's, or one of either under Windows."""


def check_precision(given: object, *, static: bool) -> None:
    """Raises ConfigError for anything but null and a name in PRECISIONS; a `static` model, which only looks up, has float32 alone."""
    if given is not None and (not isinstance(given, str) or given not in PRECISIONS):
        raise ConfigError("embedder.precision", given, f"one of {', '.join(PRECISIONS)}, or null for what suits the device, would do")
    if static and given not in (None, "float32"):
        raise ConfigError("embedder.precision", given, "a static model looks its vectors up, and is no quicker for it; null would do")


def half_is_usual(device: str | None) -> bool:
    """Whether half precision is what one would want on `device` (None: the best there is): on CUDA. Without a sign of one, torch is not imported."""
    if device is not None and not device.startswith("cuda"):
        return False
    signs = any(Path(place).exists() for place in _NVIDIA) if sys.platform == "linux" else sys.platform == "win32"
    return signs and best_device() == "cuda"


def lowest_cosine(found: Vectors, exact: Vectors) -> float:
    """The least cosine between rows of unit length, -1 where one is not finite."""
    cosines = np.einsum("ij,ij->i", found.astype(np.float64), exact.astype(np.float64))
    return float(np.where(np.isfinite(cosines), cosines, -1.0).min(initial=1.0))


def told_of(embedder: Described) -> tuple[str, ...]:
    """What the embedder behind `embedder` has to tell of its vectors' precision. Loads nothing."""
    while isinstance(embedder, InFront):
        embedder = embedder.behind
    told: tuple[str, ...] = getattr(embedder, "warnings", ())
    return told
