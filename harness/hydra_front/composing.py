"""Many configurations of one command line, for little more than the price of the first.

Hydra reads and merges some twenty files for each job of a grid. What they make depends only on which choices are taken (strategy=fixed), so that is
done once a combination of choices; values (size=64) are then set on a copy, in the order and by the function in which Hydra itself sets them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from hydra._internal.config_loader_impl import get_overrides_dirname
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig


class Composer:
    """`whole` composes words as Hydra does; `loader` is Hydra's, and knows which keys are choices; `name` is that of the primary configuration.

    What comes out equals whole(words), key by key. Raises what Hydra raises.
    """

    def __init__(self, loader: Any, name: str | None, whole: Callable[[list[str]], DictConfig]) -> None:
        self._loader, self._name, self._whole = loader, name, whole
        self._parser: Any = OverridesParser.create()
        self._bases: dict[tuple[str, ...], DictConfig] = {}
        self._folders: dict[tuple[str, ...], Any] = {}

    def compose(self, words: Sequence[str]) -> DictConfig:
        """The configuration of `words`; nobody else holds a part of it."""
        overrides = self._parser.parse_overrides(list(words))
        places = self._places(overrides)
        decide = [_of_hydra(override) or _chooses(override, places) for override in overrides]
        values = [override for override, decides in zip(overrides, decide, strict=True) if not decides]
        chosen = tuple(override.input_line for override, decides in zip(overrides, decide, strict=True) if decides)
        if chosen not in self._bases:
            self._bases[chosen] = self._whole(list(chosen))
        config: DictConfig = deepcopy(self._bases[chosen])
        self._loader._apply_overrides_to_config(values, config)
        _name_words(config, [override for override in overrides if not override.is_hydra_override()])
        return config

    def _places(self, overrides: Sequence[Override]) -> Any:
        """Where choices are looked for: words for Hydra itself can add folders."""
        words = tuple(override.input_line for override in overrides if override.is_hydra_override())
        if words not in self._folders:
            _, self._folders[words] = self._loader._parse_overrides_and_create_caching_repo(self._name, list(words))
        return self._folders[words]


def _of_hydra(override: Override) -> bool:
    return bool(override.is_hydra_override()) or override.key_or_group == "hydra"


def _chooses(override: Override, places: Any) -> bool:
    """Whether it takes a file of a folder of choices, or leaves one out; by Hydra's own rule a dictionary never does."""
    return not isinstance(override.value(), dict) and places.group_exists(override.key_or_group)


def _name_words(config: DictConfig, overrides: Sequence[Override]) -> None:
    job = config.hydra.job
    config.hydra.overrides.task = [override.input_line for override in overrides]
    naming = job.config.override_dirname
    job.override_dirname = get_overrides_dirname(list(overrides), exclude_keys=naming.exclude_keys, item_sep=naming.item_sep, kv_sep=naming.kv_sep)
