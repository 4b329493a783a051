"""Where parts are made: corpora, strategies, embedders, retrievers and units, each built once a process and shared by the cells that name it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from harness import scratch
from harness.chunking.base import Chunker
from harness.embedding import StoredEmbedder, VectorCache, with_cache
from harness.embedding.base import Embedder
from harness.errors import CommandLineError, ConfigError, HarnessError
from harness.filters import candidates_of, check_filter
from harness.hydra_front.kinds import check_kinds
from harness.hydra_front.shard_setting import ShardSetting
from harness.retrieval.base import ChecksDocuments, Remembers, Retriever
from harness.sharding import ThisProcess, Workers
from harness.types import Candidates, Corpus
from harness.units import unit_by_name
from harness.units.base import Unit

_MOST_GIGABYTES = 1e12
"""More than any disk, and still a number of bytes that can be counted."""


class Workshop:
    """Builds parts, each once: corpora, embedders, units. `cache` holds vectors and scores of pairs; None: a folder of `outputs`. `workers` work on
    shards, where a configuration asks for any; None: this process."""

    def __init__(self, outputs: Path, cache_gigabytes: float, cache: Path | None = None, workers: Workers | None = None) -> None:
        if not 0 <= cache_gigabytes <= _MOST_GIGABYTES:
            raise ConfigError("cache_gigabytes", cache_gigabytes, "a number from 0 up to a million million")
        self._cache, self._limit = (cache or outputs / "cache") / "vectors", int(cache_gigabytes * 1e9)
        self.shards = ShardSetting(outputs / "cache" / "shards", workers or ThisProcess())
        self._made: dict[str, Any] = {}
        scratch.use(self._cache.parent / "scratch")

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

    def fitting_retriever(self, node: DictConfig, corpus: Corpus) -> Retriever:
        """The retriever, which has looked at the documents where it reads their metadata."""
        found = self.retriever(node)
        key = f"checked {id(found)} {corpus.digest}"
        if isinstance(found, ChecksDocuments) and key not in self._made:
            found.check_documents(corpus.documents)
            self._made[key] = True
        return found

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
