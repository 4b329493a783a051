"""Tokens of a Hugging Face fast tokenizer, such as an embedder's own.

The tokenizer is loaded for measuring alone: no padding, no truncation, no special tokens added, and the spelling of a special token in a text
("[SEP]") is ordinary text. An embedder's working tokenizer must not be lent for this, since `encode()` switches padding and truncation on in it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import InitVar, dataclass, field
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from harness.errors import ModelError
from harness.types import Ints
from harness.units.base import Ruler, ruler_from_tokens
from harness.units.codepoints import well_formed
from harness.units.windows import tokens_of

_LONG_WORD = 100


@dataclass(frozen=True)
class TokenizerUnit:
    """Every token counts one, content only.

    `tokenizer_json` is the content of a `tokenizer.json`, or the path to one. WordPiece turns a word of more than 100 characters
    (`max_input_chars_per_word`) into a single unknown token; here each character of such a word counts one, so that a megabyte without spaces
    can't pass for one token. Raises ModelError where the tokenizer can't be read.
    """

    name: str
    tokenizer_json: InitVar[bytes | str | Path]
    identity: str = field(init=False)
    _tokenizer: Tokenizer = field(init=False, repr=False, compare=False)
    _unknown: int | None = field(init=False, repr=False, compare=False)
    _long_word: int = field(init=False, repr=False, compare=False)

    def __post_init__(self, tokenizer_json: bytes | str | Path) -> None:
        tokenizer = bare(_read(self.name, tokenizer_json))
        plain = tokenizer.to_str()
        model = json.loads(plain)["model"]
        unknown = model.get("unk_token")
        object.__setattr__(self, "identity", "tokenizer:" + hashlib.sha256(plain.encode()).hexdigest())
        object.__setattr__(self, "_tokenizer", tokenizer)
        object.__setattr__(self, "_unknown", tokenizer.token_to_id(unknown) if isinstance(unknown, str) else model.get("unk_id"))
        object.__setattr__(self, "_long_word", model.get("max_input_chars_per_word", _LONG_WORD))

    def __reduce__(self) -> tuple[type[TokenizerUnit], tuple[str, bytes]]:
        """Pickled as its JSON: a pickled Tokenizer forgets that special spellings are ordinary text."""
        return TokenizerUnit, (self.name, self._tokenizer.to_str().encode())

    def measure(self, text: str) -> Ruler:
        """The ruler with a cut at the start of every token but the first."""
        ids, spans = tokens_of(self._tokenizer, well_formed(text))
        start, end = spans[:, 0], spans[:, 1]
        if self._unknown is not None:
            long = (ids == self._unknown) & (end - start > self._long_word)
            if long.any():
                start, end = _divide(start, end, long)
        return ruler_from_tokens(len(text), start, end)


def bare(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, without padding and truncation; the spelling of a special token is ordinary text to it."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _read(name: str, source: bytes | str | Path) -> Tokenizer:
    try:
        content = source if isinstance(source, bytes) else Path(source).read_bytes()
        return Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises bare Exception
        place = "" if isinstance(source, bytes) else f" {source}"
        raise ModelError(f"{name}: can't read the tokenizer{place}: {error}; a tokenizer.json of a fast tokenizer would do") from error


def _divide(start: Ints, end: Ints, long: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[Ints, Ints]:
    """The spans with each `long` one replaced by one span a character."""
    copies = np.where(long, end - start, 1)
    first = np.repeat(np.cumsum(copies) - copies, copies)
    begin = np.repeat(start, copies) + np.arange(len(first)) - first
    return begin, np.where(np.repeat(long, copies), begin + 1, np.repeat(end, copies))
