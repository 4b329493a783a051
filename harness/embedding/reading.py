"""What a model reads of texts, and the one way in which every embedder turns it into `Embedded`.

Two texts of which a model reads the same tokens have the same vector, so the tokens that are read, not the text, are what is embedded, cached and
counted: a chunk that is cut at the model's limit shares its vector with every chunk of the same head.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from harness import scratch
from harness.embedding.base import Described, Kind, Outlook, Progress
from harness.embedding.met import Met, Meter
from harness.errors import PartError
from harness.stores import Store
from harness.types import Bools, Embedded, Ints, Vectors

TokenIds = npt.NDArray[np.int32]
Reading = tuple[TokenIds, int, int]
"""The tokens that a model reads of a text; content tokens; those of them that it does not read."""
_KEY_BYTES = 16
TEXTS_AT_ONCE = 1 << 16
"""Texts whose tokens are held at once."""
_UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Inputs:
    """Distinct readings of texts.

    Reading i is `ids[indptr[i]:indptr[i + 1]]`, first met in text `first[i]`, and named by the 16 bytes `keys[i]`; text t has reading `row[t]`.
    `tokens` and `unread` count content tokens of each text. Where there is a prompt, the first `prompt` tokens of every reading are special or the
    prompt's.
    """

    ids: TokenIds
    indptr: Ints
    keys: tuple[bytes, ...]
    first: Ints
    row: Ints
    tokens: Ints
    unread: Ints
    prompt: int = 0

    @property
    def lengths(self) -> Ints:
        """Tokens of each reading, special ones and the prompt's included."""
        return np.diff(self.indptr)


def distinct(readings: Iterable[Reading], prompt: int = 0) -> Inputs:
    """Group texts by the tokens that are read of them: one reading a text. Holds each distinct one once."""
    rows: dict[bytes, int] = {}
    kept: list[TokenIds] = []
    first: list[int] = []
    columns: list[tuple[int, int, int]] = []
    salt = prompt.to_bytes(8, "little")
    for number, (ids, tokens, unread) in enumerate(readings):
        key = hashlib.blake2b(ids.tobytes(), digest_size=_KEY_BYTES, salt=salt).digest()
        place = rows.setdefault(key, len(rows))
        if place == len(kept):
            kept.append(ids)
            first.append(number)
        columns.append((place, tokens, unread))
    indptr = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum([len(ids) for ids in kept], out=indptr[1:])
    flat = np.concatenate(kept) if kept else np.zeros(0, dtype=np.int32)
    row, all_tokens, all_unread = np.array(columns, dtype=np.int64).reshape(-1, 3).T
    return Inputs(flat, indptr, tuple(rows), np.array(first, dtype=np.int64), row, all_tokens, all_unread, prompt)


class Encoder(Described, Protocol):
    """An embedder that shows what it reads, so that a cache can stand in front of it."""

    def read(self, texts: Sequence[str], kind: Kind) -> Inputs:
        """The tokens that the model reads of `texts`. Loads no weights."""
        ...

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        """Unit vectors of the readings `rows`, block by block: (some of the rows, their vectors).

        Without the blocks that came first, the others come out the same, bit for bit, so that work that was interrupted can be taken up."""
        ...


@runtime_checkable
class Peeks(Protocol):
    """A store that can be asked what it holds, without reading it."""

    def holds(self, keys: Sequence[bytes]) -> Bools:
        """Which keys are held."""
        ...


def foreseen(encoder: Encoder, texts: Sequence[str], kind: Kind, held: Callable[[Sequence[bytes]], Bools], store: str | None) -> Outlook:
    """What `embed_with` would take. `held` says which readings the store holds. Texts are read 65,536 at a time, so that no more of their tokens are
    in memory."""
    keys, total = dict[bytes, None](), 0
    columns = [[np.zeros(0, dtype=np.int64)] for _ in range(3)]
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        inputs = encoder.read(texts[start : start + TEXTS_AT_ONCE], kind)
        read = inputs.tokens - inputs.unread
        new = np.fromiter((key not in keys for key in inputs.keys), dtype=bool, count=len(inputs.keys))
        keys.update(dict.fromkeys(inputs.keys))
        total += int(read.sum())
        for column, values in zip(columns, (start + inputs.first, read[inputs.first], inputs.lengths), strict=True):
            column.append(values[new])
    every = tuple(keys)
    first, tokens, lengths = (np.concatenate(column) for column in columns)
    return Outlook(every, first, tokens, lengths, held(every), total, store)


def embed_with(encoder: Encoder, store: Store, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
    """Vectors of `texts`, from `store` where it has them; each distinct reading that it lacks is computed once and given to it.

    `Embedded.cached` is False just for the texts that the model worked on: a repeat within the call counts as served.
    Progress counts the tokens of distinct readings. More than 65,536 texts are read and embedded so many at a time, into scratch (harness.scratch),
    so that memory holds no more of them. Raises PartError where the model breaks its contract.
    """
    if len(texts) <= TEXTS_AT_ONCE:
        texts = texts[:]  # cut once, where they are slices
        return _embed(encoder, store, encoder.read(texts, kind), texts, progress)
    count = len(texts)
    made = Embedded(scratch.room((count, encoder.dim)), np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.bool_))
    met, meter = Met(store, made.vectors), Meter(progress, count, TEXTS_AT_ONCE)
    for start in range(0, count, TEXTS_AT_ONCE):
        part = slice(start, start + TEXTS_AT_ONCE)
        some = texts[part]
        inputs = encoder.read(some, kind)
        found = _embed(encoder, met, inputs, some, meter.tell)
        made.vectors[part], made.tokens[part], made.unread[part], made.cached[part] = found.vectors, found.tokens, found.unread, found.cached
        scratch.release(made.vectors)
        met.learn(inputs.keys, start + inputs.first)
        meter.passed(int(inputs.lengths.sum()), len(some))
    return made


def _embed(encoder: Encoder, store: Store, inputs: Inputs, texts: Sequence[str], progress: Progress | None) -> Embedded:
    vectors = np.empty((len(inputs.keys), encoder.dim), dtype=np.float32)
    held = store.find(inputs.keys, vectors)
    missing, lengths = np.flatnonzero(~held), inputs.lengths
    done, total = int(lengths[held].sum()), int(lengths.sum())
    for rows, block in encoder.vectors(inputs, missing) if len(missing) else ():
        _check(encoder, block, [texts[place] for place in inputs.first[rows]])
        vectors[rows], held[rows] = block, True
        store.save([inputs.keys[row] for row in rows], block)
        done += int(lengths[rows].sum())
        if progress is not None:
            progress(done, total)
    if not held.all():
        left = np.flatnonzero(~held)
        raise PartError(
            f"embedder {encoder.name}: gave no vector for {len(left)} of {len(missing)} texts; {texts[inputs.first[left[0]]][:60]!r} is one"
        )
    if progress is not None and total and not len(missing):
        progress(total, total)
    cached = np.ones(len(texts), dtype=bool)
    cached[inputs.first[missing]] = False
    return Embedded(vectors[inputs.row], inputs.tokens, inputs.unread, cached)


def _check(encoder: Encoder, block: Vectors, texts: Sequence[str]) -> None:
    shape = (len(texts), encoder.dim)
    if not (isinstance(block, np.ndarray) and np.issubdtype(block.dtype, np.floating)):
        raise PartError(f"embedder {encoder.name}: found {type(block).__name__} for vectors, expected an array of float32 of shape {shape}")
    if block.shape != shape:
        raise PartError(f"embedder {encoder.name}: found vectors of shape {block.shape}, expected {shape}; text {texts[0][:60]!r}")
    norms = np.linalg.norm(block, axis=1)
    wrong = np.flatnonzero(~(np.abs(norms - 1) <= _UNIT_TOLERANCE))
    if len(wrong):
        raise PartError(f"embedder {encoder.name}: found a vector of length {norms[wrong[0]]}, expected 1; text {texts[wrong[0]][:60]!r}")
