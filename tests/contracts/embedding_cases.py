"""What the embedder suites share: embedders read from their YAML files, and a tiny sentence-transformers model made on the spot."""

from __future__ import annotations

import importlib
import string
from pathlib import Path
from typing import Any

import yaml

from harness.embedding.reading import Encoder

CONF = Path(__file__).resolve().parents[2] / "conf" / "embedder"
EMBEDDERS = sorted(path.stem for path in CONF.glob("*.yaml"))
TINY_LENGTH = 24

TEXTS = [
    "The river gauge at Skarnes is read every ten minutes.",
    "Deposits are returned within a month, unless the case came back wet.",
    "",
    "   \r\n\t ",
    "Cafe\u0301 noe\u0308l, 👩‍👩‍👧‍👦 and 👍🏽",
    "تعاد العربون خلال شهر واحد.",
    "受付は九時に開きます。",
    "a lone surrogate \ud83d here",
    "spelled out: [SEP] [CLS] <s> </s>",
    "x" * 5000,
    "gauge " * 900,
]


def load_embedder(name: str, **changes: Any) -> Encoder:
    """The embedder that conf/embedder/NAME.yaml describes, without Hydra."""
    fields = {**yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8")), **changes}
    module, _, attribute = fields.pop("_target_").rpartition(".")
    made: Encoder = getattr(importlib.import_module(module), attribute)(**fields)
    return made


def tiny_model(folder: Path, *, include_prompt: bool = True) -> Path:
    """Random weights, two layers, letters as word pieces, first-token pooling, a dense layer, prompts, no normalisation; reads 24 tokens."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(3)
    letters = list(string.ascii_lowercase + string.digits + string.punctuation)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    plain = folder / "plain"
    plain.mkdir(parents=True)
    (plain / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizerFast(vocab={piece: number for number, piece in enumerate(vocabulary)}, model_max_length=TINY_LENGTH).save_pretrained(plain)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": 40}
    BertModel(BertConfig(vocab_size=len(vocabulary), initializer_range=0.3, **sizes)).eval().save_pretrained(plain)
    reader = Transformer(str(plain), max_seq_length=TINY_LENGTH)
    mode = "cls" if include_prompt else "mean"
    modules = [reader, Pooling(32, pooling_mode=mode, include_prompt=include_prompt), Dense(32, 12)]
    model = SentenceTransformer(modules=modules, device="cpu", prompts={"query": "ask: ", "document": "tell: "})
    model.save(str(folder / "model"), create_model_card=False)
    return folder / "model"
