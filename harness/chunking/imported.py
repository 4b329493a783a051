"""Other people's code as a part of a strategy: found by dotted path, called with what it takes, silenced, and told apart for the keys."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

from harness import provenance
from harness.errors import ConfigError, reason
from harness.units.base import Unit

INSTALL = "pip install 'chunk-sweep[splitters]'"
_SHORT = 80
_REMEMBERED = 100_000

Count = Callable[[str], int]
"""The length of a string in some unit."""


def counter(unit: Unit) -> Count:
    """`unit` as a function of a string."""
    known: dict[str, int] = {}

    def count(text: str) -> int:
        if len(text) > _SHORT:
            return unit.measure(text).total
        found = known.get(text)
        if found is None:
            found = unit.measure(text).total
            if len(known) < _REMEMBERED:
                known[text] = found
        return found

    return count


def resolve(path: str, key: str) -> Callable[..., Any]:
    """What `path` (package.module.Name, or package.module:name) names. Raises ConfigError where it isn't there, with the command that installs it."""
    if not isinstance(path, str) or not all(part.isidentifier() for part in path.replace(":", ".").split(".")):
        raise ConfigError(key, path, "a dotted path such as langchain_text_splitters.RecursiveCharacterTextSplitter")
    module, _, inside = path.partition(":")
    names = inside.split(".") if inside else []
    while True:
        try:
            with quiet():
                found: Any = importlib.import_module(module)
            break
        except ModuleNotFoundError as error:
            above, _, name = module.rpartition(".")
            lacking = str(error.name)
            if inside or "." not in lacking or not f"{module}.".startswith(f"{lacking}."):
                raise ConfigError(key, path, _missing(lacking)) from error
            module, names = above, [name, *names]
        except Exception as error:  # whatever a module does when it is imported
            raise ConfigError(key, path, f"can't be imported: {reason(error)}") from error
    for name in names:
        if not hasattr(found, name):
            raise ConfigError(key, path, f"{getattr(found, '__name__', module)} has no {name}")
        found = getattr(found, name)
    if not callable(found):
        raise ConfigError(key, path, "is no class or function")
    made: Callable[..., Any] = found
    return made


def _missing(module: str) -> str:
    if module.split(".")[0] in {"langchain_text_splitters", "llama_index", "chonkie", "semantic_text_splitter"}:
        return f"{module} is not installed: {INSTALL}"
    return f"there is no module {module}; python -m harness run … finds those in the current folder"


def parameters_of(make: Callable[..., Any]) -> set[str]:
    """The names that `make` takes; those of a class also from its bases, as far as they are passed on."""
    try:
        names = {name for name, one in inspect.signature(make).parameters.items() if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)}
    except (TypeError, ValueError):
        return set()
    owner = make if isinstance(make, type) else getattr(make, "__self__", None)
    if not isinstance(owner, type) or not _passes_on(make):
        return names
    for base in owner.__mro__:
        init = base.__dict__.get("__init__")
        if inspect.isfunction(init):
            names |= set(inspect.signature(init).parameters) - {"self", "kwargs"}
            if not _passes_on(init):
                break
    return names


def _passes_on(make: Callable[..., Any]) -> bool:
    return any(one.kind is one.VAR_KEYWORD for one in inspect.signature(make).parameters.values())


def plain(value: Any) -> Any:
    """`value` with every mapping as a dict and every sequence as a list, whatever library they come from."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def made_of(module: str, package: str, libraries: Sequence[str]) -> dict[str, str]:
    """What decides what `module` does, by name: for one inside `package`, the versions of the distributions `libraries`; for any other, the digest of
    its source and of what it imports as well, as far as no other distribution holds that (see harness.provenance)."""
    versions = {name: metadata.version(name) for name in libraries if _is_installed(name)}
    if package and (module == package or module.startswith(package + ".")):
        return versions
    parts = module.split(".")
    modules = [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    return {**versions, **provenance.library_versions(modules), "source": provenance.source_digest(modules)}


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing that a splitter says on standard output or in its log reaches the console, and it can't change the current folder for the others."""
    loggers = [logging.getLogger(name) for name in ("langchain_text_splitters", "llama_index", "chonkie")]
    levels, home = [logger.level for logger in loggers], os.getcwd()
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        with contextlib.suppress(OSError):
            os.chdir(home)
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
