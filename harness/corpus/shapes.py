"""Which keys an object of a data file has, and of what type. `null` counts as left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.corpus.problems import excerpt

_WORDS = {str: "a string", int: "a whole number", dict: "an object", list: "a list"}


@dataclass(frozen=True, slots=True)
class Shape:
    """Keys that must be there, keys that may be, and keys that are for people only and are not read."""

    what: str
    required: Mapping[str, type]
    optional: Mapping[str, type] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def faults(self, found: object) -> list[str]:
        """What is wrong with `found`, one line each; an empty list where nothing is."""
        if not isinstance(found, dict):
            return [f"{self.what} is {excerpt(str(found))}; it must be an object with {self._known()}"]
        known = {**self.required, **self.optional}
        unknown = [name for name in found if name not in known and name not in self.ignored]
        faults = [f"{self.what} has the unknown key {excerpt(name)}; known are {self._known()}" for name in unknown]
        faults += [f"{self.what} lacks {name!r} ({_WORDS[self.required[name]]})" for name in self.required if found.get(name) is None]
        # Exact types: in Python True is a whole number, in a label it is a mistake.
        wrong = [name for name, kind in known.items() if found.get(name) is not None and type(found[name]) is not kind]
        return faults + [f"{name!r} of {self.what} is {excerpt(str(found[name]))}; it must be {_WORDS[known[name]]}" for name in wrong]

    def _known(self) -> str:
        return ", ".join([*self.required, *self.optional, *self.ignored])


def id_faults(found: str) -> list[str]:
    """What is wrong with an id: blank, control characters, or a part `..` that would lead out of a folder."""
    if not found.strip():
        return ["'id' is blank"]
    if any(ord(character) < 32 or ord(character) == 127 for character in found):
        return [f"'id' {excerpt(found)} holds a control character"]
    if ".." in found.replace("\\", "/").split("/"):
        return [f"'id' {excerpt(found)} has a part '..'; an id is a name or a path below the folder of documents"]
    return []


def value(values: Mapping[str, Any], name: str, default: Any) -> Any:
    """`values[name]`, or `default` where it is left out or null."""
    found = values.get(name)
    return default if found is None else found
