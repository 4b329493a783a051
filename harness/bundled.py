"""Where the folders that travel with the program lie: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from harness.errors import StoreError

_PACKAGE = Path(__file__).resolve().parent


def bundled_folder(name: str) -> Path:
    """The folder `conf` or `datasets`. Raises StoreError where an installation lacks it."""
    places = [_PACKAGE / "_bundled" / name, _PACKAGE.parent / name]
    for place in places:
        if place.is_dir():
            return place
    raise StoreError(f"the folder {name}/ is missing from this installation (looked at {', '.join(map(str, places))}): install chunk-sweep again")
