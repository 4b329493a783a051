"""The setting `shards`: into how many parts a cell's vectors are cut, and who works on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.embedding.base import Embedder
from harness.errors import ConfigError
from harness.retrieval.base import Retriever
from harness.sharding import Sharding, ThisProcess, Workers


@dataclass(frozen=True)
class ShardSetting:
    """What all cells of a command have in common: the folder for files of shards, and the workers."""

    folder: Path
    workers: Workers = field(default_factory=ThisProcess)

    def of(self, config: DictConfig, embedder: Embedder, retriever: Retriever, choices: Mapping[str, str]) -> Sharding | None:
        """How one cell is sharded; None: it is not. A configuration that was stored does not say. Raises ConfigError where it can't be."""
        count = config.get("shards", 1)
        if count < 1:
            raise ConfigError("shards", count, "a whole number from 1 up")
        if count == 1:
            return None
        recipe: Any = OmegaConf.to_container(config.embedder, resolve=True)
        sharding = Sharding(count, self.folder, self.workers, recipe)
        sharding.check(embedder, retriever, str(choices.get("retriever", "retriever")))
        return sharding
