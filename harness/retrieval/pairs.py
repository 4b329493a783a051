"""What a cross-encoder reads of a question and a passage: token ids of both between its special tokens, cut where they are too long together.

Two pairs of which the same is read have the same score, so what is read, not the text, names a pair: a chunk that is cut at the model's limit shares
its score with every chunk of the same head. Each text is tokenised once, however many pairs it is in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from harness.types import Bools, Ints
from harness.units.codepoints import well_formed

TokenIds = npt.NDArray[np.int32]
_KEY_BYTES = 16
_TEXTS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Tokens:
    """Content tokens of texts: text t has `ids[indptr[t]:indptr[t + 1]]`."""

    ids: TokenIds
    indptr: Ints

    def head(self, text: int, count: int) -> TokenIds:
        """The first `count` tokens of a text."""
        start = self.indptr[text]
        return self.ids[start : start + count]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Distinct readings of pairs. Reading r takes the first `asked_read[r]` tokens of question `question[r]` and the first `told_read[r]` of passage
    `passage[r]`, and is named by the 16 bytes `keys[r]`; pair p has reading `row[p]`. `cut`: pairs that are not read whole."""

    questions: Tokens
    passages: Tokens
    question: Ints
    passage: Ints
    asked_read: Ints
    told_read: Ints
    keys: tuple[bytes, ...]
    row: Ints
    cut: Bools

    def content(self, reading: int) -> tuple[TokenIds, TokenIds]:
        """The tokens that are read of the question and of the passage."""
        asked = self.questions.head(int(self.question[reading]), int(self.asked_read[reading]))
        return asked, self.passages.head(int(self.passage[reading]), int(self.told_read[reading]))


class PairReader:
    """Reads pairs as a cross-encoder does: at most `max_length` tokens with the special ones. `tokenizer` neither pads nor truncates."""

    def __init__(self, tokenizer: Tokenizer, max_length: int) -> None:
        self._tokenizer = tokenizer
        frame = tokenizer.encode("a", "b", add_special_tokens=True)
        side = np.array([-1 if number is None else number for number in frame.sequence_ids])
        asked, told = np.flatnonzero(side == 0), np.flatnonzero(side == 1)
        ids, segments = np.array(frame.ids, dtype=np.int64), np.array(frame.type_ids, dtype=np.int64)
        regions = np.split(np.arange(len(ids)), [asked[0], asked[-1] + 1, told[0], told[-1] + 1])
        self._before, self._between, self._after = (ids[regions[place]] for place in (0, 2, 4))
        self._segments = [segments[region[:1]] for region in regions]
        self.special = len(self._before) + len(self._between) + len(self._after)
        self._room = max_length - self.special

    def read(self, questions: Sequence[str], passages: Sequence[str], question: Ints, passage: Ints) -> Pairs:
        """The readings of the pairs (questions[question[p]], passages[passage[p]]). Linear in the texts and in the tokens of the pairs."""
        asked, told = self._tokens(questions), self._tokens(passages)
        of_asked, of_told = np.diff(asked.indptr)[question], np.diff(told.indptr)[passage]
        asked_read, told_read = shares(of_asked, of_told, self._room)
        rows: dict[bytes, int] = {}
        first: list[int] = []
        row = np.empty(len(question), dtype=np.int64)
        for pair, (left, right, count, rest) in enumerate(
            zip(question.tolist(), passage.tolist(), asked_read.tolist(), told_read.tolist(), strict=True)
        ):
            key = _key(asked.head(left, count), told.head(right, rest))
            row[pair] = rows.setdefault(key, len(rows))
            if row[pair] == len(first):
                first.append(pair)
        cut = (asked_read < of_asked) | (told_read < of_told)
        return Pairs(asked, told, question[first], passage[first], asked_read[first], told_read[first], tuple(rows), row, cut)

    def lengths(self, pairs: Pairs) -> Ints:
        """Tokens of each reading, special ones included."""
        return pairs.asked_read + pairs.told_read + self.special

    def features(self, pairs: Pairs, readings: Ints, padding: int) -> tuple[Ints, Bools, Ints]:
        """Token ids, what of them is no padding, and segments of the `readings`: each (readings, longest)."""
        lengths = self.lengths(pairs)[readings]
        ids = np.full((len(readings), int(lengths.max(initial=0))), padding, dtype=np.int64)
        segments = np.zeros_like(ids)
        for place, reading in enumerate(readings.tolist()):
            asked, told = pairs.content(reading)
            parts: tuple[npt.NDArray[Any], ...] = (self._before, asked, self._between, told, self._after)
            ids[place, : lengths[place]] = np.concatenate(parts)
            segments[place, : lengths[place]] = np.concatenate(
                [np.repeat(segment, len(part)) for segment, part in zip(self._segments, parts, strict=True)]
            )
        return ids, np.arange(ids.shape[1]) < lengths[:, None], segments

    def _tokens(self, texts: Sequence[str]) -> Tokens:
        counts, found = [0], [np.zeros(0, dtype=np.int32)]
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            batch = [well_formed(text) for text in texts[start : start + _TEXTS_AT_ONCE]]
            for encoding in self._tokenizer.encode_batch_fast(batch, add_special_tokens=False):
                found.append(np.array(encoding.ids, dtype=np.int32))
                counts.append(len(encoding.ids))
        return Tokens(np.concatenate(found), np.cumsum(counts))


def shares(asked: Ints, told: Ints, room: int) -> tuple[Ints, Ints]:
    """How many of `asked` and of `told` tokens are read where both have `room` together.

    What is too much goes from the end of the longer one, as a rule the passage; where both are longer than half the room, each gets half of it (the
    longer one the odd token). That is the rule "longest_first" of Hugging Face's tokenizers, by which sentence-transformers reads pairs.
    """
    shorter = np.minimum(asked, told)
    kept = np.where(2 * shorter > room, room // 2, shorter)
    asked_longer, whole = asked > told, asked + told <= room
    return np.where(whole, asked, np.where(asked_longer, room - kept, kept)), np.where(whole, told, np.where(asked_longer, kept, room - kept))


def _key(asked: TokenIds, told: TokenIds) -> bytes:
    salt = len(asked).to_bytes(8, "little")  # where one ends and the other begins
    return hashlib.blake2b(asked.tobytes() + told.tobytes(), digest_size=_KEY_BYTES, salt=salt).digest()
