"""A function of anybody's as a strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harness.chunking.alignment import Reach
from harness.chunking.base import is_whole
from harness.chunking.external import Cut, ExternalChunker, listed
from harness.chunking.imported import parameters_of
from harness.errors import ConfigError, PartError
from harness.units.base import Ruler


@dataclass(frozen=True)
class CallableChunker(ExternalChunker):
    """`path` (package.module:name) names a function from a text to its chunks: strings in the order of the text, or (start, end) pairs of offsets.

    It is called with the text, with the options, and with those of these names that it takes: `size` and `overlap` (whole units; also as `chunk_size`
    and `chunk_overlap`), `length_function` (from a string to its length in the cell's unit), `embedder`. The source of its module and of what that
    imports is in the cell's key.
    """

    splitter: str = field(init=False, default="", repr=False)
    size: int = 256
    path: str = ""

    key: ClassVar[str] = "strategy.path"

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigError("strategy.path", self.path, "must be given: package.module:name, such as strategy.path=my_module:split")
        self._set(splitter=self.path)
        super().__post_init__()

    def reach(self, ruler: Ruler) -> Reach | None:
        """What neighbours share is known only of a function that measures with the cell's unit."""
        return super().reach(ruler) if "length_function" in self._takes() else None

    def _cutter(self) -> Callable[[str], Cut]:
        function = self._found()
        offered: dict[str, Any] = {"size": self.size, "overlap": self.overlap, "chunk_size": self.size, "chunk_overlap": self.overlap}
        offered |= {"length_function": self._count(), "embedder": self.embedder}
        taken = parameters_of(function)
        if unknown := self.options.keys() - taken:
            raise ConfigError(f"strategy.options.{min(unknown)}", self.options[min(unknown)], f"{self.path} takes {', '.join(sorted(taken))}")
        values: dict[str, Any] = {name: value for name, value in offered.items() if name in taken} | dict(self.options)
        return lambda text: self._checked(function(text, **values), len(text))

    def _checked(self, found: Any, length: int) -> Cut:
        given = listed(self.path, found)
        if all(isinstance(item, str) for item in given):
            return given
        for item in given:
            pair = isinstance(item, tuple | list) and len(item) == 2 and all(is_whole(place) for place in item)
            if not (pair and 0 <= item[0] <= item[1] <= length):
                raise PartError(f"{self.path} gave {item!r}: all strings, or all (start, end) with 0 <= start <= end <= {length}, would do")
        return [(start, end) for start, end in given]
