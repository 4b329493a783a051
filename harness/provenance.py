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
from pathlib import Path
from typing import Any

_OWN = "harness"


@cache
def _file_of(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
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
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(sorted(found))


@cache
def _closure(module: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The modules of the same top package that `module` reaches by imports (itself included), and the outside packages they name."""
    root = module.split(".")[0]
    own, outside, waiting = set[str](), set[str](), [module]
    while waiting:
        current = waiting.pop()
        if current in own or _file_of(current) is None:
            continue
        own.add(current)
        for name in _imports(current):
            top = name.split(".")[0]
            if top in (root, _OWN):
                waiting.append(name)
            elif top not in sys.stdlib_module_names:
                outside.add(top)
    return tuple(sorted(own)), tuple(sorted(outside))


def source_digest(modules: Iterable[str]) -> str:
    """sha256 over the source of `modules` and of every module of ours that they import."""
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
    return {name: metadata.version(name) for name in sorted(names)}


def describe(part: Any) -> Any:
    """A part as plain data that changes whenever its results may: its `identity` where it has one, else its class and fields."""
    identity = getattr(part, "identity", None)
    if isinstance(identity, str):
        return {"identity": identity}
    if is_dataclass(part) and not isinstance(part, type):
        values = {field.name: describe(getattr(part, field.name)) for field in fields(part) if field.compare}
        return {"class": f"{type(part).__module__}.{type(part).__qualname__}", **values}
    if isinstance(part, list | tuple):
        return [describe(item) for item in part]
    if isinstance(part, dict):
        return {str(key): describe(value) for key, value in part.items()}
    return part if isinstance(part, str | int | float | bool | None) else repr(part)


def modules_of(parts: Iterable[Any]) -> list[str]:
    """The modules in which the classes of `parts` (and of the parts they hold) are written."""
    found: set[str] = set()
    for part in parts:
        found.add(type(part).__module__)
        if is_dataclass(part) and not isinstance(part, type):
            inner = [getattr(part, field.name) for field in fields(part)]
            found.update(modules_of(item for item in inner if is_dataclass(item)))
    return sorted(found - {"builtins"})
