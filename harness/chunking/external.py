"""What all splitters of other people's share: made from a dotted path, silenced, and their chunks put back onto the text.

Such a splitter keeps its own habits: it may go over `size`, leave text out, or change it. That is counted, never mended:

- "splitter_oversize": chunks larger than `size` by the cell's unit ("unbounded": all chunks, where the splitter takes no size);
- "uncovered": characters, white space aside, that no chunk holds;
- "altered": chunks whose text is not word for word what stands at their place; the chunk is the text that stands there;
- "unplaced": chunks that stand nowhere, "fragments": chunks of less than one character, "repeated": chunks with the span of another. These are left
  out.

See harness/chunking/alignment.py for how strings are placed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np

from harness.chunking.alignment import Reach, align
from harness.chunking.base import Pieces, check_size_and_overlap
from harness.chunking.imported import Count, counter, made_of, parameters_of, plain, quiet, resolve
from harness.chunking.lookup import ALTERED, EMPTY, UNPLACED
from harness.errors import ConfigError, PartError, reason
from harness.types import Document, Ints
from harness.units import CharUnit, Unit, unit_by_name
from harness.units.base import Ruler
from harness.units.codepoints import code_points, well_formed, white_mask

_SHOWN = 80

Cut = Sequence[str] | Sequence[tuple[int, int]]


def listed(name: str, found: object) -> list[Any]:
    """What a splitter gave, as a list. Raises PartError for a text by itself (one chunk a character, it would be) and what can't be gone through."""
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise PartError(f"{name} gave {type(found).__name__} where a list of strings or of (start, end) pairs would do")
    return list(found)


"""What a splitter gave: texts, or spans that are known to be true."""


@dataclass(frozen=True)
class ExternalChunker(ABC):
    """A splitter by dotted path, made with `options` and what it takes of size, overlap, unit and embedder.

    Where it takes no size or overlap, that is set to 0, so that cells that differ in it alone are equal. `unit` is what the splitter counts, by the
    name that a person types (tokens: those of `embedder`), or made already; a splitter with a tokenizer of its own has it named in `options`, and is
    measured in `unit`. `unplaced_limit` (0 to 1): the share of chunks that may stand nowhere.

    Raises ConfigError where the library is missing or the splitter can't be made; `split` and `split_all` raise PartError where the splitter fails,
    or more chunks than the limit stand nowhere.
    """

    splitter: str
    size: int
    overlap: int = 0
    unit: Unit | str = "chars"
    embedder: Any = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    unplaced_limit: float = 0.01
    made_of: Mapping[str, str] = field(init=False, repr=False, hash=False)

    package: ClassVar[str] = ""
    """Where the library's own splitters are found; `libraries` are the distributions that decide what they do."""
    libraries: ClassVar[tuple[str, ...]] = ()
    key: ClassVar[str] = "strategy.splitter"

    def __post_init__(self) -> None:
        if isinstance(self.unplaced_limit, bool) or not isinstance(self.unplaced_limit, int | float) or not 0 <= self.unplaced_limit <= 1:
            raise ConfigError("strategy.unplaced_limit", self.unplaced_limit, "a share of chunks from 0 to 1")
        if not isinstance(self.splitter, str):
            raise ConfigError(self.key, self.splitter, "a dotted path such as langchain_text_splitters.RecursiveCharacterTextSplitter")
        given: object = {} if self.options is None else self.options  # from a YAML it may be anything
        if not isinstance(given, Mapping):
            raise ConfigError("strategy.options", given, "names and values that the splitter takes, such as {keep_separator: false}")
        self._set(options=plain(given), unit=self._unit())
        taken = self._takes()
        if not taken & {"size", "chunk_size", "capacity"}:
            self._set(size=0, overlap=0)
        else:
            check_size_and_overlap(self.size, self.overlap)
        if not taken & {"overlap", "chunk_overlap"}:
            self._set(overlap=0)
        if not taken & {"embedder", "embed_model", "embedding_model"} or {"embed_model", "embedding_model"} & self.options.keys():
            self._set(embedder=None)
        self._set(made_of=made_of(self.splitter.partition(":")[0], self.package, self.libraries))
        self._cutter()

    @property
    def counted(self) -> Unit:
        """`unit`, made."""
        return cast(Unit, self.unit)

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        return self.split_all([Document("", text)], [ruler])[0]

    def split_all(self, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Sequence[Pieces]:
        """The chunks of every document. The limit of what may stand nowhere is over all of them."""
        cutter = self._cutter()
        found: list[Pieces] = []
        lost: list[tuple[Document, str]] = []
        total = 0
        for document, ruler in zip(documents, rulers, strict=True):
            cut = self._cut(cutter, document) if document.text.strip() else []
            pieces, unplaced = self._settled(document.text, cut, ruler)
            total += len(cut)
            lost += [(document, chunk) for chunk in unplaced]
            found.append(pieces)
        if len(lost) > self.unplaced_limit * total:
            self._refuse(lost, total)
        return found

    def cut(self, text: str) -> Cut:
        """What the splitter itself gives for `text`, before anything is placed or counted."""
        return self._cut(self._cutter(), Document("", text))

    def texts(self, text: str) -> list[str]:
        """The same as strings."""
        return [item if isinstance(item, str) else text[item[0] : item[1]] for item in self.cut(text)]

    def _cut(self, cutter: Callable[[str], Cut], document: Document) -> Cut:
        try:
            with quiet():
                return cutter(well_formed(document.text))
        except PartError:
            raise
        except Exception as error:  # whatever somebody's code raises
            raise PartError(f"{self.splitter} on document {document.id!r}: {reason(error)}") from error

    def _settled(self, text: str, cut: Cut, ruler: Ruler) -> tuple[Pieces, list[str]]:
        """The chunks in order, and the texts of those that stand nowhere."""
        notes: Counter[str] = Counter()
        unplaced: list[str] = []
        if all(isinstance(item, str) for item in cut):
            strings = [str(item) for item in cut]
            places = align(well_formed(text), strings, self.reach(ruler))
            start, end = places.start[places.start >= 0], places.end[places.start >= 0]
            unplaced = [strings[row] for row in np.flatnonzero(places.state == UNPLACED)]
            fragments = sum(bool(strings[row].strip()) for row in np.flatnonzero(places.state == EMPTY))
            notes.update(unplaced=len(unplaced), altered=int(np.count_nonzero(places.state == ALTERED)), fragments=fragments)
        else:
            start, end = np.array(cut, dtype=np.int64).reshape(-1, 2).T
        spans = sorted({(a, b) for a, b in zip(start.tolist(), end.tolist(), strict=True) if not text[a:b].isspace() and a < b})
        notes["repeated"] = len(start) - len(spans)
        start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T.copy()
        over = int(np.count_nonzero(ruler.size(start, end) > self.size))
        notes.update({"splitter_oversize" if self.size else "unbounded": over, "uncovered": _uncovered(text, start, end)})
        return Pieces(start, end, {name: count for name, count in notes.items() if count}), unplaced

    def reach(self, ruler: Ruler) -> Reach | None:
        """Where a chunk may begin at the earliest, by the overlap; unknown where the splitter wasn't told any."""
        if not self.overlap:
            return None

        def earliest(ends: Ints) -> Ints:
            return ruler.cuts[ruler.before.searchsorted(ruler.ceil(ends) - self.overlap, side="left")]

        return earliest

    def _refuse(self, lost: Sequence[tuple[Document, str]], total: int) -> None:
        document, chunk = lost[0]
        shown = repr(chunk if len(chunk) <= _SHOWN else chunk[:_SHOWN] + "…")
        raise PartError(
            f"{self.splitter}: {len(lost)} of {total} chunks stand nowhere in their document, more than "
            f"strategy.unplaced_limit={self.unplaced_limit}; the first, of document {document.id!r}: {shown}"
        )

    def _found(self) -> Callable[..., Any]:
        """What the dotted path names."""
        return resolve(self.splitter, self.key)

    def _takes(self) -> set[str]:
        """The names of what it takes."""
        return parameters_of(self._found())

    @abstractmethod
    def _cutter(self) -> Callable[[str], Cut]:
        """The splitter, ready to be called with a text."""

    def _make(self, make: Callable[..., Any], offered: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Any:
        """Call `make` with what it takes of `offered`, and with the options; these must not name what comes from elsewhere."""
        options = self.options if options is None else options
        taken = parameters_of(make)
        for name in ("chunk_size", "chunk_overlap"):
            if name in options:
                raise ConfigError(f"strategy.options.{name}", options[name], f"is set by {name.removeprefix('chunk_')}")
        values = {name: value for name, value in offered.items() if name in taken and name not in options}
        try:
            with quiet():
                return make(**values, **options)
        except Exception as error:
            raise ConfigError("strategy.options", self.options, f"{self.splitter} can't be made: {reason(error)}") from error

    def _count(self) -> Count:
        """The length of a string in the cell's unit; short strings are remembered."""
        return len if isinstance(self.counted, CharUnit) else counter(self.counted)

    def _unit(self) -> Unit:
        if not isinstance(self.unit, str):
            if not callable(getattr(self.unit, "measure", None)):
                raise ConfigError("unit", self.unit, "tokens, tiktoken:cl100k_base, words or chars")
            return self.unit
        return unit_by_name(self.unit, getattr(self.embedder, "unit", None))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def true_spans(text: str, chunks: Sequence[tuple[int, str]]) -> Cut:
    """The spans of (start, text of the chunk) as a library reports them, if all of them are true: every chunk is the slice that it says, none begins
    before the one before, and together they leave out nothing but white space. Else the texts, to be placed."""
    spans = [(start, start + len(chunk)) for start, chunk in chunks]
    far = last = 0
    for (start, end), (_, chunk) in zip(spans, chunks, strict=True):
        if start < last or text[start:end] != chunk or text[far:start].strip():
            break
        last, far = start, max(far, end)
    else:
        if not text[far:].strip():
            return spans
    return [chunk for _, chunk in chunks]


def _uncovered(text: str, start: Ints, end: Ints) -> int:
    depth = np.zeros(len(text) + 1, dtype=np.int64)
    np.add.at(depth, start, 1)
    np.add.at(depth, end, -1)
    return int(np.count_nonzero((np.cumsum(depth)[:-1] == 0) & ~white_mask(code_points(text))))
