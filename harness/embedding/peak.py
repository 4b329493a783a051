"""What share of a GPU's peak a model reaches."""

from __future__ import annotations

from typing import Any

from harness.types import Ints

PEAKS = {
    "NVIDIA H200": 989e12,
    "NVIDIA H100 80GB HBM3": 989e12,
    "NVIDIA H100 PCIe": 756e12,
    "NVIDIA A100": 312e12,
    "NVIDIA A30": 165e12,
    "Tesla T4": 65e12,
}
"""By the beginning of the name that torch gives a card: FLOPs a second in float16 on its tensor cores, without sparsity, as NVIDIA's data sheet of it
says (H200 2024, H100 2023, A100 2021, A30 2021, T4 2019)."""


def flops(model: Any, lengths: Ints) -> float:
    """FLOPs of the products of a transformer for readings of `lengths`, n tokens each.

    2 n a weight of its linear layers (the pooler apart, which sees one token); and for attention, in each layer, 2 n n a number of the width for
    queries x keys, and as many for weights x values. 0 where the model does not say its layers and width.
    """
    import torch

    reader = next(iter(model))
    config = getattr(reader, "config", None)
    layers, width = getattr(config, "num_hidden_layers", 0), getattr(config, "hidden_size", 0)
    if not layers or not width:
        return 0.0
    linear = [module for name, module in reader.named_modules() if isinstance(module, torch.nn.Linear) and "pooler" not in name]
    tokens = lengths.astype(float)
    return float(2 * sum(module.weight.numel() for module in linear) * tokens.sum() + 4 * layers * width * (tokens**2).sum())


def share_of_peak(card: str, precision: str, rate: float) -> float | None:
    """What share `rate` FLOPs a second are of the peak of `card`; None where that isn't known."""
    peak = next((peak for name, peak in PEAKS.items() if card.startswith(name)), None)
    return None if peak is None or precision == "float32" else rate / peak
