"""What `size` counts. Text is measured once a unit; chunkers, budgets and reports read the ruler that comes of it."""

from __future__ import annotations

from harness.errors import ConfigError
from harness.units.base import Ruler, Unit
from harness.units.cache import RulerCache, measure_all
from harness.units.chars import CharUnit
from harness.units.tiktoken import PREFIX, TiktokenUnit
from harness.units.tokenizer import TokenizerUnit
from harness.units.words import WordUnit

__all__ = ["CharUnit", "Ruler", "RulerCache", "TiktokenUnit", "TokenizerUnit", "Unit", "WordUnit", "measure_all", "unit_by_name"]


def unit_by_name(name: str, embedder_unit: Unit | None) -> Unit:
    """The unit that a person means by `name`: tokens (of the embedder at hand), tiktoken:<encoding>, words or chars.

    Raises ConfigError for any other name, and for tokens where there is no embedder to take them from.
    """
    if name == "tokens":
        if embedder_unit is None:
            raise ConfigError("unit", name, "there is no embedder whose tokens could be counted; tiktoken:cl100k_base, words or chars would do")
        return embedder_unit
    if name == "words":
        return WordUnit()
    if name == "chars":
        return CharUnit()
    if name.startswith(PREFIX):
        return TiktokenUnit(name.removeprefix(PREFIX))
    raise ConfigError("unit", name, "one of tokens (the embedder's own), tiktoken:<encoding> such as tiktoken:cl100k_base, words, chars")
