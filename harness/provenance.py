"""What a number depends on besides its parameters: the source of the parts that made it, and the libraries they call.

A cell's key holds these digests, so that a result is reused only while the code that produced it is the code that is installed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from types import FunctionType
from typing import Any

_OWN = "harness"


@cache
def _file_of(module: str) -> Path | None:
    """The source of `module`, None where it has none (a built-in, a name inside a module). Imports nothing: looking must have no effect."""
    top, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:
        return None
    for depth in range(len(rest)):
        places = spec.submodule_search_locations if spec is not None else None
        spec = PathFinder.find_spec(".".join([top, *rest[: depth + 1]]), places) if places is not None else None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Every module that `module` names in an import statement, at any depth of its code."""
    path = _file_of(module)
    if path is None:
        return ()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (source := _absolute(node, module, path)):
            found.add(source)
            found.update(f"{source}.{alias.name}" for alias in node.names)
    return tuple(sorted(found))


def _absolute(node: ast.ImportFrom, module: str, path: Path) -> str | None:
    """The module that `from … import` names, relative ones from where `module` stands."""
    if not node.level:
        return node.module
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    above = package[: len(package) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])]) or None


@cache
def _closure(module: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The modules of people's own (itself and this project included) that `module` reaches by imports, and the installed packages they name."""
    root = module.split(".")[0]
    own, outside, waiting = set[str](), set[str](), [module]
    while waiting:
        current = waiting.pop()
        if current in own or _file_of(current) is None:
            continue
        own.add(current)
        for name in _imports(current):
            top = name.split(".")[0]
            if top in sys.stdlib_module_names:
                continue
            if top in (root, _OWN) or top not in _distributions():  # what no distribution holds has no version: its source speaks for it
                waiting.append(name)
            else:
                outside.add(top)
    return tuple(sorted(own)), tuple(sorted(outside))


def source_digest(modules: Iterable[str]) -> str:
    """sha256 over the source of `modules` and of every module that they import and that no installed distribution holds."""
    files = {name: path for module in modules for name in _closure(module)[0] if (path := _file_of(name)) is not None}
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + files[name].read_bytes() + b"\0")
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())


def library_versions(modules: Iterable[str]) -> dict[str, str]:
    """Versions of the installed libraries that `modules` reach, by distribution name."""
    tops = {top for module in modules for top in _closure(module)[1]}
    names = {name for top in tops for name in _distributions().get(top, [])}
    return {name: _version(name) for name in sorted(names)}


_version = cache(metadata.version)


def describe(part: Any) -> Any:
    """A part as plain data that changes whenever its results may: its `identity` where it has one, else its class and fields.

    Equal in every process: nothing of it depends on an address in memory or on the order of a set.
    """
    identity = getattr(part, "identity", None)
    if isinstance(identity, str):
        return {"identity": identity}
    if isinstance(part, str | int | float | bool | None):
        return part
    if isinstance(part, list | tuple):
        return [describe(item) for item in part]
    if isinstance(part, set | frozenset):
        return sorted((describe(item) for item in part), key=repr)
    if isinstance(part, dict):
        return {str(key): describe(value) for key, value in part.items()}
    if isinstance(part, type | FunctionType):
        return f"{part.__module__}.{part.__qualname__}"
    return _described_by_fields(part)


def _described_by_fields(part: Any) -> Any:
    if is_dataclass(part):
        values = {field.name: getattr(part, field.name) for field in fields(part) if field.compare}
    elif hasattr(part, "__dict__"):
        values = vars(part)
    else:
        return repr(part)
    return {"class": f"{type(part).__module__}.{type(part).__qualname__}", **{name: describe(value) for name, value in values.items()}}


def modules_of(parts: Iterable[Any]) -> list[str]:
    """The modules in which the classes of `parts` (and of the parts they hold, alone or in lists) are written."""
    found: set[str] = set()
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        found.add(type(part).__module__)
        held = [getattr(part, field.name) for field in fields(part)] if is_dataclass(part) else list(getattr(part, "__dict__", {}).values())
        flat = [item for value in held for item in (value if isinstance(value, list | tuple) else [value])]
        waiting.extend(item for item in flat if is_dataclass(item) and not isinstance(item, type))
    return sorted(found - {"builtins"})
