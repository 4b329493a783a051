"""chunk-sweep: which way of chunking keeps the answers whole and lets retrieval find them.

`harness.load("winner.yaml").split(text)` uses the winner of a sweep in any code; `harness.results` reads what sweeps measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from harness.splitter import Splitter


def load(path: str | Path) -> Splitter:
    """The chunker of a sweep's winner.yaml; see harness.hydra_front.rebuild.load."""
    from harness.hydra_front.rebuild import load as load_splitter  # so that `import harness` stays light

    return load_splitter(path)
