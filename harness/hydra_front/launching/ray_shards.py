"""The shards of a cell on a Ray cluster: embedded by a Ray Data pipeline whose actors load the model once, searched by actors with their own shards.

Texts, vectors and nothing else go through files in the folder that all machines share. What a shard tells (counts, names of readings) is small and
comes back through Ray. A shard whose process died is begun again, and what its machine's cache has of it is not embedded again.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from omegaconf import OmegaConf

from harness.embedding.base import Embedder, Progress
from harness.embedding.sharded import READING, Read, Source, Texts, chosen, embed_shard, read_shard, vectors_file
from harness.errors import PartError, StoreError, reason
from harness.hydra_front.launching.base import Place, library
from harness.hydra_front.launching.shard_files import read_places, read_texts, write_places, write_texts
from harness.hydra_front.launching.worker import machine, settle, workshop
from harness.redaction import redacted
from harness.retrieval.shards import Heard, Part, look
from harness.shards import VectorFiles
from harness.types import Bools, Ints

if TYPE_CHECKING:
    from harness.hydra_front.launching.ray import RayExecutor

_Told = tuple[bytes, bytes, bytes]


@dataclass(frozen=True)
class ShardJob:
    """What an actor needs to embed any shard of a cell, as plain data. `shards` is the folder of their files, `identity` that of the embedder
    here; the rest as in Job."""

    shards: str
    recipe: Mapping[str, Any]
    identity: str
    place: Place
    folder: str
    paths: tuple[str, ...]
    cache: str | None
    cores: int


class ShardActor:
    """One of the pipeline's actors. What a part raises is told, not raised: Ray would try it again."""

    def __init__(self, job: ShardJob, embeds: bool) -> None:
        self._job, self._embeds = job, embeds
        self._embedder: Embedder | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Work on the shards of a batch: one row each, with bytes of what it tells."""
        rows = [self._row(int(shard)) for shard in batch["shard"]]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _row(self, shard: int) -> dict[str, Any]:
        told, problem = (b"", b"", b""), ""
        try:
            told = self._embed(shard) if self._embeds else self._read(shard)
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a part raises
            trace = "".join(traceback.format_exception(error)) if not isinstance(error, (PartError, StoreError)) else ""
            problem = redacted(f"shard {shard} on {machine()}: {reason(error)}\n{trace}")
        return {"shard": shard, "problem": problem, **dict(zip(("first", "second", "third"), told, strict=True))}

    def _read(self, shard: int) -> _Told:
        found = read_shard(self._made(), read_texts(Path(self._job.shards), shard))
        return found.names.tobytes(), found.tokens.tobytes(), found.unread.tobytes()

    def _embed(self, shard: int) -> _Told:
        folder = Path(self._job.shards)
        texts = chosen(read_texts(folder, shard), read_places(folder, shard))
        return embed_shard(self._made(), texts, vectors_file(folder, shard)).tobytes(), b"", b""

    def _made(self) -> Embedder:
        if self._embedder is None:
            settle(self._job)
            made = workshop(self._job.place, self._job.cache).embedder(OmegaConf.create(dict(self._job.recipe)))
            if made.identity != self._job.identity:
                raise StoreError(f"{machine()} makes another embedder of it: its weights or its code are not those here; install the same")
            self._embedder = made
        return self._embedder


class Searcher:
    """An actor that searches the parts of some shards; what it read of their files stays in its machine's memory while there is room."""

    def look(self, part: Part, files: VectorFiles) -> Heard:
        """Search one part."""
        return look(part, files)

    def process(self) -> int:
        """The process that it is."""
        return os.getpid()


def in_order(shards: Iterable[int], found: Iterable[tuple[int, _Told]]) -> Iterator[_Told]:
    """What was `found` of each of the `shards`, in their order, as soon as it can be."""
    waiting, coming = dict[int, _Told](), iter(found)
    for shard in shards:
        while shard not in waiting:
            number, told = next(coming)
            waiting[number] = told
        yield waiting.pop(shard)


class RayShards:
    """Shards on the cluster of `executor`, as many at once as there are places for its tasks; see harness.sharding.Workers."""

    def __init__(self, executor: RayExecutor, place: Place) -> None:
        self._executor, self._place = executor, place
        self._data, self._searchers = library("ray.data", "ray"), list[Any]()

    def read(self, source: Source, texts: Texts, folder: Path) -> Iterator[Read]:
        """Write the texts of each shard, and have them read."""
        for shard in range(texts.shards):
            write_texts(folder, shard, texts.part(shard))
        for names, tokens, unread in in_order(range(texts.shards), self._run(source, folder, range(texts.shards), embeds=False)):
            yield Read(np.frombuffer(names, dtype=READING), np.frombuffer(tokens, dtype=np.int64), np.frombuffer(unread, dtype=np.int64))

    def embed(self, source: Source, texts: Texts, folder: Path, wanted: Sequence[Ints], progress: Progress) -> Iterator[Bools]:
        """Have the `wanted` texts of each shard embedded."""
        for shard, places in enumerate(wanted):
            write_places(folder, shard, places)
        some = [shard for shard, places in enumerate(wanted) if len(places)]
        found = in_order(some, self._run(source, folder, some, embeds=True))
        for places in wanted:
            yield np.frombuffer(next(found)[0], dtype=np.bool_) if len(places) else np.zeros(0, dtype=bool)

    def _run(self, source: Source, folder: Path, shards: Sequence[int], *, embeds: bool) -> Iterator[tuple[int, _Told]]:
        """The pipeline. Where a process or a machine dies, it is begun again with the shards that are missing, on what the cluster has then; it is
        given up when more than `retries` deaths come without a shard between them."""
        self._dismiss()
        ray, job, left, deaths = self._executor.connected(), self._job(source, folder), list(shards), 0
        self._quiet()
        while left:
            try:
                for row in self._pipeline(job, left, embeds).iter_rows():
                    if row["problem"]:
                        raise PartError(row["problem"].strip())
                    left, deaths = [shard for shard in left if shard != row["shard"]], 0
                    yield int(row["shard"]), (row["first"], row["second"], row["third"])
            except ray.exceptions.RayError as error:
                deaths += 1
                if deaths > self._executor.retries:
                    raise PartError(
                        f"shard {left[0]} (of {len(left)} left): Ray gave it up after {deaths - 1} more tries: {reason(error)}"
                    ) from error

    def _pipeline(self, job: ShardJob, shards: Sequence[int], embeds: bool) -> Any:
        numbers = self._data.from_items([{"shard": shard} for shard in shards], override_num_blocks=len(shards))
        return numbers.map_batches(
            ShardActor,
            batch_size=1,
            fn_constructor_args=(job, embeds),
            concurrency=(1, max(min(len(shards), self._executor.width), 1)),
            num_cpus=self._executor.cpus,
            num_gpus=self._executor.gpus_of_a_task() if embeds else 0,
            max_restarts=0,  # an actor that Ray begins again may wait for ever for the machine that it was on
            max_task_retries=0,
        )

    def _job(self, source: Source, folder: Path) -> ShardJob:
        executor, identity = self._executor, source.embedder.identity
        cache = executor.cache_there()
        return ShardJob(str(folder), source.recipe, identity, self._place, os.getcwd(), tuple(sys.path), cache, executor.cpus)

    def _quiet(self) -> None:
        """Ray Data would draw bars and write lines of its own on the console, and a traceback where a process died that is begun again."""
        self._data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)

    def search(self, parts: Sequence[Part], files: VectorFiles) -> Sequence[Heard]:
        """Have each part looked at by the actor of its shard."""
        ray = self._executor.connected()
        if not self._searchers:
            count, tries = min(len(files.ends), self._executor.width), self._executor.retries
            # Without num_cpus an actor waits for a free core once, and holds none: one that is begun again after its machine was lost finds a place.
            made = ray.remote(max_restarts=tries, max_task_retries=tries, scheduling_strategy="SPREAD")(Searcher)
            self._searchers = [made.remote() for _ in range(max(count, 1))]
        waiting = [self._searchers[part.shard % len(self._searchers)].look.remote(part, files) for part in parts]
        try:
            found: list[Heard] = ray.get(waiting)
        except ray.exceptions.RayActorError as error:
            self._dismiss()
            raise PartError(f"search in shards: Ray gave it up after {self._executor.retries} more tries: {reason(error)}") from error
        return found

    def _dismiss(self) -> None:
        """End the actors that search, so that others find their cores free."""
        for actor in self._searchers:
            self._executor.connected().kill(actor)
        self._searchers = []

    def close(self) -> None:
        """End the actors, and let go of the cluster."""
        self._dismiss()
        self._executor.close()
