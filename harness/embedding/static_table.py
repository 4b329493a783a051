"""The table of a model2vec model, and the vectors of texts and spans from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file
from scipy import sparse
from tokenizers import Tokenizer

from harness.embedding.engine import unit_rows
from harness.embedding.pooling import prefix_sums
from harness.embedding.reading import TokenIds
from harness.errors import ModelError
from harness.types import Floats, Ints, Vectors

_TABLES = ("embeddings", "embedding.weight")
_INSIDE = ("", "0_StaticEmbedding")


@dataclass(frozen=True, slots=True)
class TokenTable:
    """`rows` (r, dim) float32; token t stands for `weight[t]` times the row `row[t]`. Tokens that mean nothing weigh 0."""

    rows: Vectors
    row: Ints
    weight: Vectors

    def means(self, readings: Sequence[TokenIds]) -> Vectors:
        """A unit vector a reading. Each depends on its own tokens alone, bit for bit."""
        indptr = np.concatenate([[0], np.cumsum([len(ids) for ids in readings])])
        ids = np.concatenate(readings)
        counts = sparse.csr_array((self.weight[ids], self.row[ids], indptr), shape=(len(readings), len(self.rows)))
        return unit_rows(np.asarray(counts @ self.rows, dtype=np.float32))

    def between(self, ids: TokenIds, a: Ints, b: Ints) -> Vectors:
        """A unit vector for each range of places [a, b) of `ids`, a < b, from prefix sums: linear in tokens and ranges."""
        places, where = np.unique(np.concatenate([a, b]), return_inverse=True)
        sums = prefix_sums(lambda begin, end: self._of(ids[begin:end]), self.rows.shape[1], places)
        known = np.concatenate([[0], np.cumsum(self.weight[ids] != 0)])
        found: Floats = sums[where[len(a) :]] - sums[where[: len(a)]]
        found[known[b] == known[a]] = 0  # and not what rounding leaves of a difference
        return unit_rows(found.astype(np.float32))

    def _of(self, ids: TokenIds) -> Vectors:
        found: Vectors = self.rows[self.row[ids]] * self.weight[ids][:, None]
        return found


def table_folder(folder: Path, model: str) -> Path:
    """Where in a model's folder the table and its tokenizer lie. Raises ModelError where they don't."""
    for inside in _INSIDE:
        place = folder / inside
        if all((place / name).is_file() for name in ("model.safetensors", "tokenizer.json")) and _holds_table(place / "model.safetensors"):
            return place
    wanted = "tokenizer.json, and model.safetensors with a table of token vectors"
    raise ModelError(f"embedder.model={model}: not a model2vec model ({wanted}); embedder=sentence_transformer takes transformers")


def _holds_table(path: Path) -> bool:
    try:
        with safe_open(path, "numpy") as file:
            return bool(set(_TABLES) & set(file.keys()))
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path}: can't be read ({error})") from error


def load_table(folder: Path, tokenizer: Tokenizer) -> TokenTable:
    """The table in `folder`, as model2vec keeps it: rows; the row of each token, where there are fewer rows; weights, where it has them. The unknown
    token means nothing. Raises ModelError where the table can't be read, or does not fit the tokenizer."""
    path = folder / "model.safetensors"
    try:
        found = load_file(path)
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise ModelError(f"{path}: can't be read as a table of token vectors ({error})") from error
    rows = next((found[name] for name in _TABLES if name in found), None)
    if rows is None or rows.ndim != 2:
        raise ModelError(f"{path}: its table has no row a token")
    count = tokenizer.get_vocab_size()
    row = found["mapping"].astype(np.int64) if "mapping" in found else np.arange(len(rows))
    weight = found["weights"].astype(np.float32) if "weights" in found else np.ones(len(row), dtype=np.float32)
    if min(len(row), len(weight)) < count or row.max() >= len(rows):
        raise ModelError(f"{path}: a table for {min(len(row), len(weight))} tokens, but tokenizer.json beside it has {count}")
    unknown = _unknown(tokenizer)
    return TokenTable(rows.astype(np.float32), row, np.where(np.arange(len(weight)) == unknown, 0, weight).astype(np.float32))


def _unknown(tokenizer: Tokenizer) -> int:
    """The number of the unknown token; -1 where there is none."""
    model = json.loads(tokenizer.to_str())["model"]
    named = model.get("unk_token")
    found = model.get("unk_id") if named is None else tokenizer.token_to_id(named)
    return -1 if found is None else int(found)
