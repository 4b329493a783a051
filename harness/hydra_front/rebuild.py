"""From a stored result back to the parts that made it: the winner as a configuration, as a splitter for anybody's code, and for export."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf

from harness.errors import ConfigError, DataError
from harness.hydra_front.build import plan_cell, surroundings_of, with_amount
from harness.hydra_front.trusting import check_trusted
from harness.hydra_front.workshop import Workshop, build_part
from harness.planned import Planned
from harness.splitter import Splitter
from harness.types import SURROUNDINGS, Cell, CellResult

_AXES = ("size", "overlap")
_CACHE_GIGABYTES = 10


def planned(result: CellResult, outputs: Path, *, own_code: bool = False) -> Planned:
    """The result's cell, built again. Its key differs from the result's where data, code or libraries have changed since.

    Raises ConfigError or DataError where a part can't be built any more (a corpus that was moved, say), StoreError where it names code that is not of
    this package and `own_code` does not say that the result is the person's own.
    """
    check_trusted(result.cell, own_code=own_code)
    config = OmegaConf.create(dict(result.cell.config))
    plan = plan_cell(config, result.cell.config["choices"], Workshop(outputs, _CACHE_GIGABYTES))
    if not isinstance(plan, Planned):
        raise ConfigError("cell", result.cell.label, plan.reason)
    return plan


def winner_yaml(cell: Cell, command_folder: Path) -> str:
    """The cell as a file that `chunk-sweep run --config-dir FOLDER --config-name winner` runs as it is, and that `harness.load` reads."""
    config = cell.config
    parts = {name: _with_references(config[name], config) for name in ("strategy", "embedder", "retriever")}
    values = {name: config[name] for name in ("size", "overlap", "unit", *SURROUNDINGS, "scope", "filter", "budget", "scoring") if name in config}
    choices = [{f"override {name}": choice} for name, choice in config["choices"].items()]
    body = {"defaults": ["config", *choices, "_self_"], "dataset": config["dataset"], **parts, **values}
    head = f"# chunk-sweep run --config-dir {command_folder} --config-name winner\n# {cell.label}\n"
    return head + yaml.safe_dump(body, sort_keys=False, allow_unicode=True)


def _with_references(node: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """A part whose size and overlap follow the root again, so that they can still be changed on the command line."""
    return {name: f"${{{name}}}" if name in _AXES and value == config.get(name) else value for name, value in node.items()}


def load(path: str | Path) -> Splitter:
    """The chunker that a winner.yaml describes with what surrounds its chunks, ready to split any text. Loads no weights; a strategy that embeds
    loads its own when it splits.

    Raises DataError where the file can't be read, ConfigError where it describes no strategy.
    """
    place = Path(path).expanduser()
    place = place / "winner.yaml" if place.is_dir() else place
    try:
        raw = yaml.safe_load(place.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(path, f"can't be read as a winner.yaml ({str(error).splitlines()[0]})") from error
    if not isinstance(raw, dict) or not {"strategy", "embedder", "size", "overlap", "unit"} <= raw.keys():
        raise ConfigError("winner.yaml", path, "must have strategy, embedder, size, overlap and unit; a sweep's folder holds one")
    raw.pop("defaults", None)
    config = OmegaConf.create(raw)
    embedder = build_part("embedder", config.embedder)
    chunker = build_part("strategy", with_amount(config.strategy, config))
    return Splitter.of(chunker, str(config.unit), embedder.unit, surroundings_of(config))
