"""What is sent of a text to an endpoint: prompt and text, cut on a token boundary, so that what the model reads is known here.

Tokens are counted here too, by the tokenizer that a person names; the server never cuts anything.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from harness.embedding.base import Kind
from harness.embedding.reading import Inputs
from harness.embedding.sentence_transformer import minilm_package
from harness.errors import ConfigError, ModelError
from harness.types import Ints
from harness.units import TokenizerUnit, unit_by_name
from harness.units.base import Ruler, Unit
from harness.units.codepoints import well_formed

_KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class Sent(Inputs):
    """Distinct readings that are texts, not token ids: reading i is `sent[i]`, prompt included, of `weights[i]` tokens with the model's marks."""

    sent: tuple[str, ...] = ()
    weights: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def lengths(self) -> Ints:
        """Tokens of each reading."""
        return self.weights


@dataclass(frozen=True, slots=True)
class Counter:
    """What counts tokens, and how many `marks` (special tokens) a model puts around a text."""

    unit: Unit
    marks: int


def counter(tokenizer: str) -> Counter:
    """What `tokenizer` names: tiktoken:ENCODING, words, chars, minilm (the word pieces of English BERT), or the path of a tokenizer.json.

    Raises ConfigError where it names none of them, or one that can't be used.
    """
    if tokenizer in ("words", "chars") or tokenizer.startswith("tiktoken:"):
        try:
            return Counter(unit_by_name(tokenizer, None), 0)
        except ConfigError as error:
            raise ConfigError("embedder.tokenizer", tokenizer, error.expected) from error
    if tokenizer == "minilm":
        model = minilm_package()
        frame = model.reader.frames["passage"]
        return Counter(model.unit, len(frame.before) + len(frame.after))
    path = Path(os.path.expanduser(tokenizer))
    if path.suffix != ".json" or not path.is_file():
        would_do = "no such file; tiktoken:cl100k_base, minilm, words, or the path of the model's own tokenizer.json would do"
        raise ConfigError("embedder.tokenizer", tokenizer, would_do)
    try:
        return Counter(TokenizerUnit("tokens", path), int(Tokenizer.from_file(str(path)).num_special_tokens_to_add(False)))
    except ModelError as error:
        raise ConfigError("embedder.tokenizer", tokenizer, str(error)) from error


@dataclass(frozen=True, slots=True)
class _Frame:
    """A prompt, the tokens that it and the marks take, and how many content tokens still fit."""

    prompt: str
    taken: int
    room: int


class TextReader:
    """Cuts texts to `max_length` tokens, the prompt and the model's marks included. Raises ConfigError where a prompt leaves no room.

    A prompt is counted by itself; with text behind it, it may come to a token more or less.
    """

    def __init__(self, counted: Counter, prompts: Mapping[Kind, str], max_length: int) -> None:
        self._unit = counted.unit
        self.frames = {kind: self._frame(kind, well_formed(prompt), counted.marks, max_length) for kind, prompt in prompts.items()}

    def _frame(self, kind: Kind, prompt: str, marks: int, max_length: int) -> _Frame:
        taken = marks + (self._unit.measure(prompt).total if prompt else 0)
        if taken >= max_length:
            told = f"with the model's own marks it takes {taken} of embedder.max_length={max_length} tokens; a shorter one would do"
            raise ConfigError(f"embedder.{kind}_prompt", repr(prompt[:60]), told)
        return _Frame(prompt, taken, max_length - taken)

    def read(self, texts: Sequence[str], kind: Kind) -> Sent:
        """What is sent of each text. Lone surrogates become U+FFFD, since JSON has no place for them. Linear in the texts' length."""
        return _grouped(self._reading(well_formed(text), self.frames[kind]) for text in texts)

    def _reading(self, text: str, frame: _Frame) -> tuple[str, int, int, int]:
        ruler = self._unit.measure(text)
        if ruler.total <= frame.room:
            return frame.prompt + text, frame.taken + ruler.total, ruler.total, 0
        head, read = self._head(text, ruler, frame.room)
        return frame.prompt + head, frame.taken + read, ruler.total, ruler.total - read

    def _head(self, text: str, ruler: Ruler, room: int) -> tuple[str, int]:
        """As much of `text` as measures at most `room` tokens on its own too, and the tokens of `text` that it holds.

        White space at the cut goes: it stands between tokens, and would set texts apart of which the model reads the same.
        """
        for budget in range(room, -1, -1):
            end = ruler.reach(0, budget)
            head = text[:end].rstrip()
            if self._unit.measure(head).total <= room:
                break
        return head, int(ruler.floor(np.asarray(end)))


def _grouped(readings: Iterable[tuple[str, int, int, int]]) -> Sent:
    """Group texts by what is sent of them: one (sent, tokens sent, content tokens, content tokens not read) a text."""
    rows: dict[bytes, int] = {}
    sent: list[str] = []
    weights: list[int] = []
    first: list[int] = []
    columns: list[tuple[int, int, int]] = []
    for number, (text, weight, tokens, unread) in enumerate(readings):
        key = hashlib.blake2b(text.encode(), digest_size=_KEY_BYTES).digest()
        place = rows.setdefault(key, len(rows))
        if place == len(sent):
            sent.append(text)
            weights.append(weight)
            first.append(number)
        columns.append((place, tokens, unread))
    row, tokens_of, unread_of = np.array(columns, dtype=np.int64).reshape(-1, 3).T
    return Sent(
        ids=np.zeros(0, dtype=np.int32),
        indptr=np.zeros(len(sent) + 1, dtype=np.int64),
        keys=tuple(rows),
        first=np.array(first, dtype=np.int64),
        row=row,
        tokens=tokens_of,
        unread=unread_of,
        sent=tuple(sent),
        weights=np.array(weights, dtype=np.int64),
    )
