"""What a part's values must be by its own annotations, where those name plain kinds: told by key, before the part stumbles over the value."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hydra.utils import get_object

from harness.errors import ConfigError

_PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def check_kinds(key: str, values: Mapping[str, Any]) -> None:
    """Raises ConfigError where a value of the part at `key`, or of one within it, is a list or a mapping and must be plain, is anything but true or
    false for a switch (`no` is text, and would count as true), or is null and must be text. What numbers may be, parts say themselves."""
    hints = dict(_hints(values.get("_target_")))
    for name, value in values.items():
        if isinstance(value, Mapping) and "_target_" in value:
            check_kinds(f"{key}.{name}", value)
        elif (kinds := hints.get(name)) and not _fits(value, kinds):
            told = " or ".join(word for kind, word in _PLAIN.items() if kind in kinds)
            raise ConfigError(f"{key}.{name}", value, f"must be {told}{', or null' if NoneType in kinds else ''}")


def _fits(value: Any, kinds: frozenset[Any]) -> bool:
    if kinds - {NoneType} == {bool}:
        return isinstance(value, bool) or (value is None and NoneType in kinds)
    return not isinstance(value, list | Mapping) and not (value is None and kinds == {str})


def _hints(target: Any) -> Iterator[tuple[str, frozenset[Any]]]:
    """The parameters of a target whose annotations are of plain kinds alone. Nothing for a target that can't be looked into."""
    try:
        made: Any = inspect.unwrap(get_object(target))
        found = get_type_hints(made if is_dataclass(made) or not inspect.isclass(made) else made.__init__)
    except Exception:  # noqa: BLE001  importing a part of one's own may raise anything; building it tells what
        return
    for name, hint in found.items():
        kinds = frozenset(get_args(hint)) if get_origin(hint) in (Union, UnionType) else frozenset([hint])
        if kinds <= {*_PLAIN, NoneType}:
            yield name, kinds
