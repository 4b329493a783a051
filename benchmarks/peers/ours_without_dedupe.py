"""The mutation no-dedupe: `chunk-sweep` where every cell has an embedder of its own without any cache, as a grid of separate runs would."""

from __future__ import annotations

import sys
from typing import Any

from harness.cli.main import main
from harness.hydra_front import workshop


def _fresh(self: workshop.Workshop, node: Any) -> Any:
    return workshop.build_part("embedder", node)


if __name__ == "__main__":
    workshop.Workshop.embedder = _fresh
    sys.exit(main())
