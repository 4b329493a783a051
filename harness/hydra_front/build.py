"""From a composed configuration to a planned cell. Every part is built once a process and shared by the cells that name it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from harness.chunking.base import Chunker
from harness.chunking.overlap import resolve_overlap
from harness.chunking.surroundings import Surroundings
from harness.course import Impossible
from harness.embedding import StoredEmbedder, VectorCache, with_cache
from harness.embedding.base import Embedder, EmbedsSpans, origin
from harness.errors import CommandLineError, ConfigError, HarnessError, ImpossibleCell
from harness.evaluation import Scoring
from harness.experiment import Experiment
from harness.filters import candidates_of, check_filter
from harness.hydra_front.keys import cell_key_of, ranking_key_of, shelf_key_of
from harness.hydra_front.kinds import check_kinds
from harness.metrics.labels import Copies
from harness.planned import Planned
from harness.retrieval.base import Remembers, Retriever
from harness.types import SURROUNDINGS, Candidates, Cell, Corpus
from harness.units import unit_by_name
from harness.units.base import Unit

_PARTS = ("dataset", "strategy", "embedder", "retriever")
_DECIDES = (*_PARTS, "size", "overlap", "unit", *SURROUNDINGS, "scope", "filter", "budget", "scoring")
"""The keys of a configuration that can move a number; the others say where and how results are kept."""


_MOST_GIGABYTES = 1e12
"""More than any disk, and still a number of bytes that can be counted."""


class Workshop:
    """Builds parts, each once: corpora, embedders, units. `cache` holds vectors and scores of pairs; None: a folder of `outputs`."""

    def __init__(self, outputs: Path, cache_gigabytes: float, cache: Path | None = None) -> None:
        if not 0 <= cache_gigabytes <= _MOST_GIGABYTES:
            raise ConfigError("cache_gigabytes", cache_gigabytes, "a number from 0 up to a million million")
        self._cache, self._limit = (cache or outputs / "cache") / "vectors", int(cache_gigabytes * 1e9)
        self._made: dict[str, Any] = {}

    def part(self, kind: str, node: DictConfig) -> Any:
        """The part that `node` describes; the same object for an equal description."""
        key = f"{kind} {json.dumps(OmegaConf.to_container(node, resolve=True), sort_keys=True, default=str)}"
        if key not in self._made:
            self._made[key] = build_part(kind, node)
        return self._made[key]

    def embedder(self, node: DictConfig) -> Embedder:
        """The embedder behind its cache."""
        plain: Embedder = self.part("embedder", node)
        return plain.over(self._cached(plain.behind)) if isinstance(plain, StoredEmbedder) else self._cached(plain)

    def _cached(self, plain: Embedder) -> Embedder:
        key = f"cached {plain.identity}"
        if key not in self._made:
            self._made[key] = with_cache(plain, self._cache, max_bytes=self._limit)
        cached: Embedder = self._made[key]
        return cached

    def strategy(self, node: DictConfig) -> Chunker:
        """The chunker; a strategy that asks for an embedder is handed the one behind its cache, so that what it embeds is embedded once."""
        wanted = node.get("embedder") if isinstance(node, DictConfig) else None
        if not (isinstance(wanted, DictConfig) and "_target_" in wanted):
            plain: Chunker = build_part("strategy", node)
            return plain
        bare = OmegaConf.masked_copy(node, [str(name) for name in node if name != "embedder"])
        handed: Chunker = build_part("strategy", bare, embedder=self.embedder(wanted))
        return handed

    def retriever(self, node: DictConfig) -> Retriever:
        """The retriever, keeping on disk what it pays for (the scores of a cross-encoder), so that no run scores a pair again."""
        plain: Retriever = self.part("retriever", node)
        if not isinstance(plain, Remembers):
            return plain
        key = f"remembering {id(plain)}"
        if key not in self._made:
            self._made[key] = plain.remembering(self._pairs)
        remembering: Retriever = self._made[key]
        return remembering

    def _pairs(self, identity: str, width: int) -> VectorCache:
        """The store of all runs for the rows of `identity`, `width` numbers each."""
        key = f"pairs {identity} {width}"
        if key not in self._made:
            self._made[key] = VectorCache(self._cache.parent / "pairs", identity, width, max_bytes=self._limit)
        store: VectorCache = self._made[key]
        return store

    def candidates(self, corpus: Corpus, scope: str = "question", wanted: Mapping[str, Any] | None = None) -> Candidates:
        """Which documents each question may be answered from (see harness.filters)."""
        key = f"candidates {corpus.digest} {corpus.questions_digest} {scope} {json.dumps(wanted or {}, sort_keys=True)}"
        if key not in self._made:
            check_filter(corpus.documents, wanted or {})
            self._made[key] = candidates_of(corpus.documents, corpus.questions, scope, wanted)
        found: Candidates = self._made[key]
        return found

    def budget_unit(self, name: str) -> Unit:
        """The reader's tokens: `minilm` is the bundled model's tokenizer, the same whatever the cell's embedder."""
        if name == "tokens":
            raise ConfigError(
                "budget.tokenizer", name, "must not depend on the cell's embedder; minilm, tiktoken:cl100k_base, words or chars would do"
            )
        if name != "minilm":
            return unit_by_name(name, None)
        minilm = OmegaConf.create({"_target_": "harness.embedding.minilm"})
        unit: Unit = self.part("embedder", minilm).unit
        return unit


def build_part(kind: str, node: DictConfig, **handed: Any) -> Any:
    """Call the node's `_target_`, with parts made elsewhere as `handed`. Our own errors come out as they are; others are told as a ConfigError on
    `kind`."""
    if not (OmegaConf.is_dict(node) and "_target_" in node):
        raise ConfigError(kind, OmegaConf.to_container(node) if OmegaConf.is_config(node) else node, "must be one of the choices that --help lists")
    try:
        check_kinds(kind, cast("dict[str, Any]", OmegaConf.to_container(node, resolve=True)))
        made = instantiate(node, _partial_=bool(handed), _convert_="all")  # plain lists and mappings, whose description ends
        return made(**handed) if handed else made
    except TypeError as error:  # what `handed` does not fit
        raise ConfigError(kind, node.get("_target_"), f"can't be built: {error}") from error
    except InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, HarnessError):
            raise cause from None
        raise ConfigError(kind, node.get("_target_"), f"can't be built: {_reason(cause or error)}") from error
    except MissingMandatoryValue as error:
        missing = next((str(name) for name, value in node.items_ex(resolve=False) if value == "???"), "a value")
        raise CommandLineError(f"{kind}.{missing} must be given: '{kind}.{missing}=\"…\"'") from error
    except OmegaConfBaseException as error:
        raise ConfigError(kind, node.get("_target_"), str(error).splitlines()[0]) from error


def _reason(error: BaseException) -> str:
    """Hydra's first line, and where that only announces the next, this too; a module of one's own is found from the current folder by python -m."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = " ".join(lines[:2]) if lines and lines[0].endswith(":") else (lines or [type(error).__name__])[0]
    return f"{told} (python -m harness … finds modules in the current folder)" if "No module named" in str(error) else told


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
    embedder = workshop.embedder(config.embedder)
    if isinstance(embedder, EmbedsSpans) and embedder.contextual and (around.parts or around.vectors != "one"):
        reason = "late pooling takes a chunk's vector from its document, so nothing can be put before or beside it; context=none vectors=one would do"
        return Impossible(_cell(config, choices, chunker, amount, extras), reason)
    experiment = Experiment(
        corpus=corpus,
        candidates=workshop.candidates(corpus, *_searched(config)),
        chunker=chunker,
        unit=unit_by_name(config.unit, embedder.unit),
        embedder=embedder,
        retriever=workshop.retriever(config.retriever),
        budget_unit=workshop.budget_unit(config.budget.tokenizer),
        ks=_numbers("scoring.ks", config.scoring.ks),
        budgets=_numbers("budget.sizes", config.budget.sizes),
        copies=_copies(config.scoring.copies),
        around=around,
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
    numbers = tuple(sorted({int(value) for value in values}))
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
