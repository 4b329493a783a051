"""chunk-sweep: which way of chunking keeps the answers whole and lets retrieval find them.

`harness.load("winner.yaml").split(text)` uses the winner of a sweep in any code; `harness.results` reads what sweeps measured.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from harness.splitter import Splitter

# Libraries that report how they are used are told not to, before any of them is imported. Who wants that sets the variable.
for _variable, _value in {
    "DO_NOT_TRACK": "true",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "RAY_USAGE_STATS_ENABLED": "0",
}.items():
    os.environ.setdefault(_variable, _value)


def load(path: str | Path) -> Splitter:
    """The chunker of a sweep's winner.yaml; see harness.hydra_front.rebuild.load."""
    from harness.hydra_front.rebuild import load as load_splitter  # so that `import harness` stays light

    return load_splitter(path)
