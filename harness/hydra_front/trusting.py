"""Stored results are data: what they name as code runs only if it is of this package, or if a person says that they are their own.

A configuration that a person types or hands over with --config-dir is code, and is run. A folder of results may come from anybody.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import yaml

from harness.bundled import bundled_folder
from harness.errors import StoreError
from harness.hydra_front.leaves import leaves
from harness.types import Cell

_PARTS = ("dataset", "strategy", "embedder", "retriever")
_SPLITTERS = ("langchain_text_splitters.", "llama_index.", "chonkie.", "semantic_text_splitter.")
_NAMES_CODE = ("_target_", "base_url", "key_env")
"""Keys whose values must stand in conf/: what is called, where texts are sent, and which variable goes with them."""


def check_trusted(cell: Cell, *, own_code: bool) -> None:
    """Raise StoreError where building the stored `cell` would run code, or reach an address or a variable, that conf/ doesn't name.

    `own_code`: the person says that these results are their own.
    """
    if own_code:
        return
    for key, value in leaves(cell.config):
        if (why := _foreign(key, value)) is None:
            continue
        raise StoreError(f"{cell.label}: its stored configuration {why} ({key}); if you measured it yourself, add --own-code")


def _foreign(key: str, value: Any) -> str | None:
    """What a value in a stored configuration would do that is not of this package; None where it does no such thing."""
    name = key.rsplit(".", 1)[-1]
    if value is not None and name in _NAMES_CODE and (name, value) not in _known():
        return f"would use {value!r}, which is not of this package"
    if (key == "strategy.path" and value) or (name == "splitter" and not str(value).startswith(_SPLITTERS)):
        return f"would run {value!r}, which is not of this package"
    if name == "trust_remote_code" and value:
        return "would run code that comes with a model"
    return "holds a reference, which no result does" if isinstance(value, str) and "${" in value else None


@cache
def _known() -> frozenset[tuple[str, Any]]:
    """The pairs of such a key and its value that stand in conf/."""
    nodes = [yaml.safe_load(path.read_text(encoding="utf-8")) for part in _PARTS for path in bundled_folder("conf").glob(f"{part}/*.yaml")]
    pairs = ((key.rsplit(".", 1)[-1], value) for node in nodes for key, value in leaves(node))
    return frozenset((name, value) for name, value in pairs if name in _NAMES_CODE and isinstance(value, str))
