"""Stored results are data: what they name as code runs only if it is of this package, or if a person says that they are their own.

A configuration that a person types or hands over with --config-dir is code, and is run. A folder of results may come from anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml

from harness.bundled import bundled_folder
from harness.errors import StoreError
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
    for key, why in _foreign(cell.config, ""):
        raise StoreError(f"{cell.label}: its stored configuration {why} ({key}); if you measured it yourself, add --own-code")


def _foreign(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """What in a stored configuration is not of this package: its key and what it would do."""
    name = key.rsplit(".", 1)[-1]
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _foreign(item, f"{key}.{inner}" if key else str(inner))
    elif isinstance(value, list):
        for item in value:
            yield from _foreign(item, key)
    elif value is not None and name in _NAMES_CODE and (name, value) not in _known():
        yield key, f"would use {value!r}, which is not of this package"
    elif (key == "strategy.path" and value) or (name == "splitter" and not str(value).startswith(_SPLITTERS)):
        yield key, f"would run {value!r}, which is not of this package"
    elif name == "trust_remote_code" and value:
        yield key, "would run code that comes with a model"
    elif isinstance(value, str) and "${" in value:
        yield key, "holds a reference, which no result does"


@cache
def _known() -> frozenset[tuple[str, Any]]:
    """The pairs of such a key and its value that stand in conf/."""
    found: set[tuple[str, Any]] = set()
    waiting = [yaml.safe_load(path.read_text(encoding="utf-8")) for part in _PARTS for path in bundled_folder("conf").glob(f"{part}/*.yaml")]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            found |= {(name, node[name]) for name in _NAMES_CODE if isinstance(node.get(name), str)}
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return frozenset(found)
