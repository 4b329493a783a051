"""What an endpoint answered: vectors that can be trusted, one by one, and in words what is wrong with the rest.

The shape is that of OpenAI's `POST /v1/embeddings`: `data` holds objects with `index` (which of the texts) and `embedding`, `usage` the tokens that
are paid. Vectors are matched by `index` alone; a vector that can't be one is left out, and does not take the others with it.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.types import Vectors

_TOLD = 300


@dataclass(frozen=True, slots=True)
class Answer:
    """`vectors` by the place of their text, float32 of unit length; `wrong` says what is amiss where some are missing ("" where none is);
    `tokens` is what the server says it read (None: it does not say)."""

    vectors: dict[int, Vectors]
    wrong: str
    tokens: int | None


def understand(content: bytes, texts: int, dim: int | None) -> Answer:
    """The answer to `texts` texts, of vectors of `dim` numbers (None: of any one length)."""
    try:
        said = json.loads(content)
    except ValueError:
        return Answer({}, f"an answer that is not JSON: {one_line(content)!r}", None)
    items = said.get("data") if isinstance(said, dict) else None
    if not isinstance(items, list):
        return Answer({}, f"an answer without data: {one_line(content)!r}", None)
    found: dict[int, Vectors] = {}
    wrong: list[str] = []
    times = Counter(_index(item) for item in items)
    for item in items:
        index = _index(item)
        if index is None or not 0 <= index < texts:
            wrong.append("a vector whose index is none of the texts'")
        elif times[index] > 1:
            wrong.append(f"{times[index]} vectors for one text")
        else:
            vector = _unit(item.get("embedding"), dim)
            if isinstance(vector, str):
                wrong.append(vector)
            else:
                found[index] = vector
    if len(found) < texts and not wrong:
        wrong.append(f"{len(items)} vectors for {texts} texts")
    return Answer(found, ", ".join(dict.fromkeys(wrong)) if len(found) < texts else "", _tokens(said))


def _index(item: Any) -> int | None:
    index = item.get("index") if isinstance(item, dict) else None
    return index if type(index) is int else None


def _unit(raw: Any, dim: int | None) -> Vectors | str:
    """`raw` as a vector of unit length, or what is wrong with it. Text is base64 of little-endian float32, OpenAI's other encoding."""
    try:
        plain = np.frombuffer(base64.b64decode(raw, validate=True), dtype="<f4") if isinstance(raw, str) else np.array(raw, dtype=np.float64)
        vector = plain.astype(np.float64)
    except (ValueError, TypeError):
        return "a vector that is not a list of numbers"
    if vector.ndim != 1 or not len(vector):
        return "a vector that is not a list of numbers"
    if dim is not None and len(vector) != dim:
        return f"a vector of {len(vector)} numbers instead of {dim}"
    if not np.isfinite(vector).all():
        return "a vector with NaN or infinity"
    largest = float(np.abs(vector).max())
    if not largest:
        return "a vector of zeros"
    scaled = vector / largest
    unit: Vectors = (scaled / np.linalg.norm(scaled)).astype(np.float32)
    return unit


def _tokens(said: dict[str, Any]) -> int | None:
    usage = said.get("usage")
    tokens = usage.get("total_tokens", usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    return tokens if type(tokens) is int and tokens >= 0 else None


def message_in(content: bytes) -> str:
    """What a server says went wrong, in one line, wherever its kind puts it; else the beginning of whatever it sent."""
    try:
        said = json.loads(content)
    except ValueError:
        return one_line(content)
    while isinstance(said, dict):
        inner = next((said[name] for name in ("error", "message", "detail") if said.get(name)), None)
        if inner is None:
            break
        said = inner
    return one_line(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))


def code_in(content: bytes) -> str:
    """The short name that a server gives to what went wrong, where it does."""
    try:
        error = json.loads(content)["error"]
        return str(error.get("code") or error.get("type") or "")
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""


def one_line(said: str | bytes) -> str:
    """The beginning of what was said, in one printable line."""
    text = said[: 4 * _TOLD].decode("utf-8", "replace") if isinstance(said, bytes) else said
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= _TOLD else line[: _TOLD - 1] + "…"
