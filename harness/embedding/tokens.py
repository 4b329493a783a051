"""A tokenizer of the harness's own for a model, beside the one inside it.

sentence-transformers switches padding and truncation on in its own tokenizer when it encodes; counting with that one afterwards is wrong. And
there, a document that spells [SEP] would get the model's control token; here the spelling of a special token is ordinary text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from tokenizers import Tokenizer, normalizers

from harness.embedding.base import Kind
from harness.embedding.read_before import ReadBefore
from harness.embedding.reading import Inputs, Reading, TokenIds, distinct
from harness.embedding.weights import ModelFiles
from harness.errors import ConfigError, ModelError
from harness.types import Ints
from harness.units.codepoints import well_formed
from harness.units.tokenizer import bare
from harness.units.windows import WINDOW, columns_of, tokens_of

UNLIMITED = 2**31 - 1
_TEXTS_AT_ONCE = 1024
_DOCUMENTS_AT_ONCE = 16


def load_tokenizer(files: ModelFiles) -> Tokenizer:
    """The model's tokenizer without padding, truncation or special spellings. Raises ModelError where there is none that can be used."""
    path = files.reader / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path)) if path.is_file() else _converted(files)
    except Exception as error:  # the tokenizers library raises Exception itself
        raise ModelError(f"{files.reader}: its tokenizer can't be used ({error})") from error
    tokenizer = bare(tokenizer)
    if files.lower_case:
        before = [normalizers.Lowercase()]
        tokenizer.normalizer = normalizers.Sequence(before + ([tokenizer.normalizer] if tokenizer.normalizer else []))
    return tokenizer


def _converted(files: ModelFiles) -> Tokenizer:
    from transformers import AutoTokenizer

    slow = AutoTokenizer.from_pretrained(str(files.reader), local_files_only=True)
    return Tokenizer.from_str(slow.backend_tokenizer.to_str())


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the content: special tokens and a prompt. `room` is how many content tokens of a text still fit."""

    before: TokenIds
    after: TokenIds
    prompt: str
    prompt_tokens: int
    room: int


@dataclass(frozen=True, slots=True)
class DocumentTokens:
    """A whole document as the model's tokens: `ids`, each of the characters `start` to `end` (exclusive), in order; and what the model is given
    `before` them (special tokens, the prompt) and `after`."""

    ids: TokenIds
    start: TokenIds
    end: TokenIds
    before: TokenIds
    after: TokenIds

    def window(self, start: int, end: int) -> TokenIds:
        """The reading of the tokens `start` to `end`."""
        return np.concatenate([self.before, self.ids[start:end], self.after])


class TokenReader:
    """Reads texts as a model does. `max_length` counts special tokens too (None: no limit).

    Raises ConfigError where a prompt leaves no room for text.
    """

    def __init__(self, tokenizer: Tokenizer, prompts: dict[Kind, str], max_length: int | None, *, special: bool) -> None:
        self._tokenizer, self._before = tokenizer, ReadBefore()
        before, after = _special_tokens(tokenizer) if special else (np.zeros(0, np.int32), np.zeros(0, np.int32))
        self.frames = {kind: self._frame(kind, prompt, before, after, max_length) for kind, prompt in prompts.items()}

    def _frame(self, kind: Kind, prompt: str, before: TokenIds, after: TokenIds, max_length: int | None) -> Frame:
        count = self._prompt_tokens(prompt) if prompt else 0
        room = UNLIMITED if max_length is None else max_length - len(before) - len(after) - count
        if room < 1:
            raise ConfigError(f"embedder.{kind}_prompt", repr(prompt[:60]), f"takes all of the model's {max_length} tokens; a shorter one would do")
        return Frame(before, after, prompt, count, room)

    def _prompt_tokens(self, prompt: str) -> int:
        """Tokens that end inside the prompt when text follows it."""
        offsets = self._tokenizer.encode(prompt + "a", add_special_tokens=False).offsets
        return sum(end <= len(prompt) for _, end in offsets)

    def read(self, texts: Sequence[str], kind: Kind) -> Inputs:
        """What the model reads of each text: special tokens, prompt, and as much content as fits. Linear in the texts' length."""
        frame = self.frames[kind]
        return distinct(self._readings(texts, kind), len(frame.before) + frame.prompt_tokens if frame.prompt else 0)

    def documents(self, texts: Sequence[str]) -> Iterator[DocumentTokens]:
        """All the tokens of each text, without any limit, with the passage prompt in front."""
        frame = self.frames["passage"]
        for start in range(0, len(texts), _DOCUMENTS_AT_ONCE):
            batch = [well_formed(frame.prompt + text) for text in texts[start : start + _DOCUMENTS_AT_ONCE]]
            if max(map(len, batch)) > WINDOW:  # those of a long one go to all cores by themselves
                found: Iterable[tuple[TokenIds, Ints]] = (tokens_of(self._tokenizer, text) for text in batch)
            else:
                found = map(columns_of, self._tokenizer.encode_batch(batch, add_special_tokens=False))
            for ids, spans in found:
                yield _document_tokens(ids, spans, frame)

    def bare(self, text: str) -> TokenIds:
        """`text` between the special tokens, without prompt or limit."""
        frame = self.frames["passage"]
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        return np.concatenate([frame.before, np.array(ids, dtype=np.int32), frame.after])

    def _readings(self, texts: Sequence[str], kind: Kind) -> Iterator[Reading]:
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            yield from self._before.of(texts[start : start + _TEXTS_AT_ONCE], kind, partial(self._read_now, self.frames[kind]))

    def _read_now(self, frame: Frame, texts: Sequence[str]) -> Iterator[Reading]:
        fits = frame.prompt_tokens + frame.room
        batch = [well_formed(frame.prompt + text) for text in texts]
        for encoding in self._tokenizer.encode_batch_fast(batch, add_special_tokens=False):
            ids = encoding.ids
            read = np.concatenate([frame.before, np.array(ids[:fits], dtype=np.int32), frame.after])
            yield read, max(len(ids) - frame.prompt_tokens, 0), max(len(ids) - fits, 0)


def _document_tokens(ids: TokenIds, spans: Ints, frame: Frame) -> DocumentTokens:
    start, end = np.maximum(spans[frame.prompt_tokens :] - len(frame.prompt), 0).astype(np.int32).T.copy()
    before = np.concatenate([frame.before, ids[: frame.prompt_tokens]])
    return DocumentTokens(ids[frame.prompt_tokens :], start, end, before, frame.after)


def _special_tokens(tokenizer: Tokenizer) -> tuple[TokenIds, TokenIds]:
    """The special tokens that the model wants before and after a text."""
    encoding = tokenizer.encode("a", add_special_tokens=True)
    ids, special = np.array(encoding.ids, dtype=np.int32), np.array(encoding.special_tokens_mask, dtype=bool)
    content = np.flatnonzero(~special)
    return ids[: content[0]], ids[content[-1] + 1 :]
