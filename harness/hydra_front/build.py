"""From a composed configuration to a planned cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.chunking.overlap import resolve_overlap
from harness.chunking.surroundings import Surroundings
from harness.course import Impossible
from harness.embedding.base import EmbedsSpans, origin
from harness.errors import ConfigError, ImpossibleCell
from harness.evaluation import Scoring
from harness.experiment import Experiment
from harness.hydra_front.keys import cell_key_of, ranking_key_of, shelf_key_of
from harness.hydra_front.workshop import Workshop
from harness.metrics.labels import Copies
from harness.planned import Planned
from harness.types import SURROUNDINGS, Cell
from harness.units import unit_by_name

_PARTS = ("dataset", "strategy", "embedder", "retriever")
_DECIDES = (*_PARTS, "size", "overlap", "unit", *SURROUNDINGS, "scope", "filter", "budget", "scoring")
"""The keys of a configuration that can move a number; the others say where and how results are kept."""


def plan_cell(config: DictConfig, choices: Mapping[str, str], workshop: Workshop, extras: str = "") -> Planned | Impossible:
    """One cell, checked and keyed but not run. Raises ConfigError or DataError for what can't work in any combination."""
    amount = resolve_overlap(config.overlap, config.size)
    try:
        chunker = workshop.strategy(with_amount(config.strategy, config))
        around = surroundings_of(config)
        around.check(chunker)
    except ImpossibleCell as error:
        return Impossible(_cell(config, choices, None, amount, extras), str(error))
    corpus = workshop.part("dataset", config.dataset)
    if not corpus.questions:
        raise ConfigError("dataset", corpus.name, "has no questions, so nothing can be measured; questions.jsonl holds one a line")
    around.check_documents(corpus.documents)
    embedder, retriever = workshop.embedder(config.embedder), workshop.fitting_retriever(config.retriever, corpus)
    if isinstance(embedder, EmbedsSpans) and embedder.contextual and (around.parts or around.vectors != "one"):
        reason = "late pooling takes a chunk's vector from its document, so nothing can be put before or beside it; context=none vectors=one would do"
        return Impossible(_cell(config, choices, chunker, amount, extras), reason)
    experiment = Experiment(
        corpus=corpus,
        candidates=workshop.candidates(corpus, *_searched(config)),
        chunker=chunker,
        unit=unit_by_name(config.unit, embedder.unit),
        embedder=embedder,
        retriever=retriever,
        budget_unit=workshop.budget_unit(config.budget.tokenizer),
        ks=_numbers("scoring.ks", config.scoring.ks),
        budgets=_numbers("budget.sizes", config.budget.sizes),
        copies=_copies(config.scoring.copies),
        around=around,
        sharding=workshop.shards.of(config, embedder, retriever, choices),
    )
    scoring = Scoring(resamples=config.scoring.resamples, seed=config.scoring.seed)
    shelf_key = shelf_key_of(experiment)
    ranking_key = ranking_key_of(experiment, shelf_key, *_searched(config))
    key = cell_key_of(ranking_key, experiment, scoring)
    cell = _cell(config, choices, chunker, amount, extras)
    cell = replace(cell, config={**cell.config, "weights": origin(embedder)})
    return Planned(cell, key, ranking_key, experiment, scoring, shelf_key)


def _searched(config: DictConfig) -> tuple[str, dict[str, Any]]:
    """The scope and the filter; as usual where the configuration (one that was stored earlier) does not say."""
    node = config.get("filter")
    wanted: Any = OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node or {}
    if not isinstance(wanted, dict):
        raise ConfigError("filter", node, "names and values would do: 'filter={status: current}'")
    return str(config.get("scope", "question")), wanted


def surroundings_of(config: Mapping[Any, Any] | DictConfig) -> Surroundings:
    """What surrounds the chunks; what the configuration does not say (one that was stored earlier) is as usual. Raises ConfigError."""
    said = {name: config[name] for name in SURROUNDINGS if name in config}
    return Surroundings(**said)


def with_amount(node: DictConfig, config: DictConfig) -> DictConfig:
    """The strategy's node with `overlap` as a whole number of units (the root keeps it as it was typed). Raises ConfigError where it sets its own."""
    plain: Any = OmegaConf.to_container(node, resolve=True)
    for name in ("size", "overlap", "unit"):
        if isinstance(plain, dict) and plain.get(name, config[name]) != config[name]:
            raise ConfigError(f"strategy.{name}", plain[name], f"comes from {name}: {name}={plain[name]} would do")
    if isinstance(plain, dict) and "overlap" in plain:
        plain["overlap"] = resolve_overlap(config.overlap, config.size)
    settled: DictConfig = OmegaConf.create(plain)
    return settled


def _numbers(key: str, values: Any) -> tuple[int, ...]:
    whole = all(isinstance(value, int) for value in values)
    numbers = tuple(sorted({int(value) for value in values})) if whole else ()
    if not numbers or numbers[0] < 1:
        raise ConfigError(key, list(values), "whole numbers from 1 up, at least one")
    return numbers


def _copies(value: str) -> Copies:
    choices: dict[str, Copies] = {"any": "any", "labelled": "labelled"}
    if value not in choices:
        raise ConfigError("scoring.copies", value, "any or labelled")
    return choices[value]


def _cell(config: DictConfig, choices: Mapping[str, str], chunker: Any, amount: int, extras: str) -> Cell:
    strategy, embedder, retriever = (str(choices.get(name, name)) for name in ("strategy", "embedder", "retriever"))
    plain: Any = OmegaConf.to_container(config, resolve=True)
    if isinstance(plain["embedder"], dict) and plain["embedder"].get("pooling") == "late":
        embedder += "+late"  # other vectors, so another embedder wherever cells are put side by side
    takes_size = chunker is None or bool(getattr(chunker, "size", 0))
    size, overlap = (int(config.size), amount) if takes_size else (None, None)
    axes = [strategy, *([f"size={size}", f"overlap={config.overlap}"] if takes_size else []), embedder]
    if retriever != "dense":
        axes.append(retriever)
    scope, wanted = _searched(config)
    axes += [f"scope={scope}"] if scope != "question" else []
    axes += [f"filter={json.dumps(wanted, ensure_ascii=False)}"] if wanted else []
    decides = {name: plain[name] for name in _DECIDES if name in plain}
    decides["choices"] = {name: str(choices[name]) for name in _PARTS if name in choices}
    cell = Cell(strategy, size, overlap, embedder, retriever, str(config.unit), "", decides)
    return replace(cell, label=" ".join(word for word in (*axes, cell.variant, extras) if word))
