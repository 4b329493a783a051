"""Where the cells of a grid run: here, in processes of this machine (joblib), or on a Ray cluster."""

from __future__ import annotations

from typing import Any

from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf

from harness.errors import ConfigError
from harness.hydra_front.launching.base import Launching, Place

__all__ = ["Launching", "Place", "executor_for"]


def executor_for(launcher: DictConfig, place: Place) -> Launching | None:
    """What `hydra/launcher=…` asks for; None where cells run in this process. Raises ConfigError for a setting that can't be used."""
    settings: Any = OmegaConf.to_container(launcher, resolve=True)
    settings = {str(name): value for name, value in settings.items() if name != "_target_"}
    wanted = settings.pop("executor", None)
    if wanted is None:
        return None
    try:
        made: Launching = get_class(wanted)(place, **settings)
    except TypeError as error:
        raise ConfigError("hydra.launcher", wanted, f"can't be built: {error}") from error
    return made
