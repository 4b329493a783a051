"""The typed root of a configuration: a wrong type is refused when the configuration is composed, before any work."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, OmegaConf


@dataclass
class BudgetConfig:
    """Equal budgets of context tokens."""

    tokenizer: str = MISSING
    sizes: list[int] = MISSING


@dataclass
class ScoringConfig:
    """What is scored, and with how much care."""

    ks: list[int] = MISSING
    copies: str = MISSING
    resamples: int = MISSING
    seed: int = MISSING


@dataclass
class BaselineConfig:
    """The cell that stands beside the winner."""

    strategy: str = MISSING
    size: int = MISSING
    overlap: str = MISSING
    unit: str = MISSING


@dataclass
class SelectConfig:
    """How the winner is chosen."""

    metric: str = MISSING
    alpha: float = MISSING
    baseline: BaselineConfig = field(default_factory=BaselineConfig)
    max: dict[str, float | None] = field(default_factory=dict)
    min: dict[str, float | None] = field(default_factory=dict)


@dataclass
class RootConfig:
    """conf/config.yaml holds the values and says what they mean. `overlap` is text: an amount (40) or a share with its sign (10%)."""

    dataset: Any = MISSING
    strategy: Any = MISSING
    embedder: Any = MISSING
    retriever: Any = MISSING
    select: SelectConfig = field(default_factory=SelectConfig)
    tracking: Any = MISSING
    screen: Any = None
    size: int = MISSING
    overlap: str = MISSING
    unit: str = MISSING
    context: str = MISSING
    returned: str = MISSING
    min_size: int = MISSING
    short: str = MISSING
    vectors: str = MISSING
    scope: str = MISSING
    filter: Any = None
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    scoring: ScoringConfig = field(default_factory=ScoringConfig)
    outputs: str = MISSING
    cache_gigabytes: float = MISSING
    shards: int = MISSING
    rerun: bool = MISSING
    plan: bool = MISSING
    report: bool = MISSING


def register() -> None:
    """Make the schema known to Hydra as `schema`, and the resolver that Hydra's own folders need."""
    OmegaConf.register_new_resolver("chunk_sweep.home", os.path.expanduser, replace=True)
    ConfigStore.instance().store(name="schema", node=RootConfig)
