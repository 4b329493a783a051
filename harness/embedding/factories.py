"""What the YAMLs of conf/embedder call. Each takes `dim` and `storage` too: how the vectors are kept (see `StoredEmbedder`)."""

from __future__ import annotations

from typing import Any

from harness.embedding.hashing import HashingEmbedder
from harness.embedding.late import OVERLAP, LateEmbedder
from harness.embedding.onnx import OnnxEmbedder
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm_package
from harness.embedding.static import StaticEmbedder
from harness.embedding.stored import storable, stored
from harness.errors import ConfigError


@storable
def from_model(model: str, *, pooling: str = "own", late_overlap: int = OVERLAP, **values: Any) -> SentenceTransformerEmbedder | LateEmbedder:
    """The sentence-transformers model `model`; `values` are the fields of `SentenceTransformerEmbedder`.

    `pooling`: own (a chunk's text goes through the model by itself, and the model pools it as it was made to) or late (`LateEmbedder`, whose windows
    share `late_overlap` tokens). Raises ConfigError for another value, ModelError where the model can't be had.
    """
    return _pooled(SentenceTransformerEmbedder(model, **values), pooling, late_overlap)


@storable
def minilm(pooling: str = "own", late_overlap: int = OVERLAP, precision: str | None = None) -> SentenceTransformerEmbedder | LateEmbedder:
    """all-MiniLM-L6-v2 with the checked weights of an installed package, pooled as `from_model` says, computed in `precision`; no network.

    Raises ModelError where the weights are missing or others.
    """
    return _pooled(minilm_package(precision), pooling, late_overlap)


@storable
def from_static(model: str, **values: Any) -> StaticEmbedder:
    """The model2vec model `model`; `values` are the fields of `StaticEmbedder`."""
    return StaticEmbedder(model, **values)


@storable
def from_onnx(model: str, tokenizer: str, **values: Any) -> OnnxEmbedder:
    """The ONNX file `model` with `tokenizer`; `values` are the fields of `OnnxEmbedder`."""
    return OnnxEmbedder(model, tokenizer, **values)


@storable
def from_endpoint(base_url: str, model: str, **values: Any) -> Any:
    """The model `model` of an OpenAI-compatible server at `base_url`; `values` are the fields of `HttpEmbedder`. Asks the server nothing, unless
    `dim` or `storage` is given without `dimensions`."""
    from harness.embedding.http_embedder import HttpEmbedder  # a tenth of a second that only those pay who use it

    return HttpEmbedder(base_url, model, **values)


def hashed(dim: int = 256, storage: str = "float32") -> Any:
    """`HashingEmbedder` with so many buckets: here `dim` is how many there are, not how many are kept."""
    return stored(HashingEmbedder(dim), storage=storage)


def _pooled(ordinary: SentenceTransformerEmbedder, pooling: str, late_overlap: int) -> SentenceTransformerEmbedder | LateEmbedder:
    if pooling not in ("own", "late"):
        raise ConfigError("embedder.pooling", pooling, "own (the model's) or late would do")
    return LateEmbedder(ordinary, late_overlap) if pooling == "late" else ordinary
