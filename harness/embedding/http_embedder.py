"""An embedder behind an OpenAI-compatible HTTP endpoint: OpenAI, Text Embeddings Inference, vLLM, Ollama and others (docs/http-embedders.md).

Texts leave this machine where the endpoint is elsewhere. Nothing is asked for before a vector is needed that no cache holds.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.embedding.base import Kind, Progress
from harness.embedding.http_endpoint import Endpoint
from harness.embedding.http_pace import Pace
from harness.embedding.http_secrets import address, check_variable
from harness.embedding.http_text import Sent, TextReader, counter
from harness.embedding.http_work import Worker, batches
from harness.embedding.reading import Inputs, embed_with
from harness.errors import ConfigError, PartError
from harness.stores import NoStore
from harness.types import Embedded, Ints, Vectors
from harness.units.base import Unit

_FORMAT = "http-1"


@dataclass(eq=False)
class HttpEmbedder:
    """`model` at `base_url`. Texts are cut here to `max_length` tokens of `tokenizer` (see `http_text.counter`), prompt and marks included.

    `dimensions` is asked of the server (None: the model's own). At most `texts_a_batch` texts of about `tokens_a_batch` tokens go in one request,
    `concurrency` requests at once, and no more begin than `requests_a_minute` and `tokens_a_minute` let (None: no bound). `key_env` names the
    environment variable that holds the key (None: none is sent). `price_per_million_tokens` in US dollars (None: not known, or nothing).
    A text of nothing but white space is never sent: servers refuse it. Its vector is the first axis. Raises ConfigError for what can't be.
    """

    base_url: str
    model: str
    tokenizer: str
    max_length: int
    dimensions: int | None = None
    query_prompt: str = ""
    passage_prompt: str = ""
    tokens_a_batch: int = 16384
    texts_a_batch: int = 64
    concurrency: int = 4
    requests_a_minute: float | None = None
    tokens_a_minute: float | None = None
    timeout: float = 60.0
    retries: int = 6
    key_env: str | None = None
    price_per_million_tokens: float | None = None

    seconds_at_risk = 0.0
    """Vectors are paid: each batch goes to the disk at once."""

    def __post_init__(self) -> None:
        _check(self)
        url, pace = address(self.base_url), Pace(self.requests_a_minute, self.tokens_a_minute)
        self._counter = counter(self.tokenizer)
        prompts: dict[Kind, str] = {"query": self.query_prompt, "passage": self.passage_prompt}
        self._reader = TextReader(self._counter, prompts, self.max_length)
        self._endpoint = Endpoint(url, self.model, self.dimensions, self.key_env, self.timeout, self.retries, pace)
        self._lock, self._paid = threading.Lock(), 0
        self.known_dim: Callable[[], int | None] = lambda: None
        """Where the length of a vector may be known without asking: the cache in front."""

    @property
    def name(self) -> str:
        """The model, by the provider's name."""
        return self.model

    @cached_property
    def identity(self) -> str:
        """Digest of address, model, dimensions, prompts, maximum length and tokenizer. Of the weights nothing can be known from here."""
        decides = {
            "format": _FORMAT,
            "url": self._endpoint.url,
            "model": self.model,
            "dimensions": self.dimensions,
            "prompts": [self.query_prompt, self.passage_prompt],
            "max_length": self.max_length,
            "tokenizer": self._counter.unit.identity,
        }
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @cached_property
    def dim(self) -> int:
        """Length of a vector: as configured, as in the cache, or asked of the server with the text "a". Raises PartError where it does not say."""
        return self.dimensions or self.known_dim() or self._asked_dim()

    def _asked_dim(self) -> int:
        with self._endpoint.client(1) as client:
            answer = self._endpoint.ask(client, ["a"], 1, None, time.sleep)
        if 0 not in answer.vectors:
            raise PartError(f"{self._endpoint}: {answer.wrong}")
        self._pay(1 if answer.tokens is None else answer.tokens)
        return len(answer.vectors[0])

    @property
    def limit(self) -> int:
        """Content tokens that are sent of a passage."""
        return self._reader.frames["passage"].room

    @property
    def unit(self) -> Unit:
        """The tokens of `tokenizer`."""
        return self._counter.unit

    def read(self, texts: Sequence[str], kind: Kind) -> Sent:
        """What is sent of each text."""
        return self._reader.read(texts, kind)

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        """Unit vectors of the readings `rows`, each batch as soon as it is there. Raises PartError after the last of those that could be had."""
        if not isinstance(inputs, Sent):
            raise TypeError("readings of another embedder")
        wanted = np.asarray(rows, dtype=np.int64)
        blank = np.array([not inputs.sent[row].strip() for row in wanted.tolist()], dtype=bool)
        if blank.any():
            yield wanted[blank], np.eye(1, self.dim, dtype=np.float32).repeat(int(blank.sum()), axis=0)
        todo = batches(wanted[~blank].tolist(), inputs.weights, self.tokens_a_batch, self.texts_a_batch)
        yield from Worker(self._endpoint, inputs, self.dim, self.concurrency, self._pay).run(todo)

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts` without any cache."""
        return embed_with(self, NoStore(), texts, kind, progress)

    def _pay(self, tokens: int) -> None:
        with self._lock:
            self._paid += tokens

    def bill(self) -> int:
        """Tokens that the server counted since this was last asked."""
        with self._lock:
            paid, self._paid = self._paid, 0
        return paid


def _check(embedder: HttpEmbedder) -> None:
    if not str(embedder.model or "").strip():
        raise ConfigError("embedder.model", repr(embedder.model), "the provider's name of the model must be given")
    for name in ("max_length", "tokens_a_batch", "texts_a_batch", "concurrency"):
        _number(embedder, name, whole=True, least=1)
    _number(embedder, "dimensions", whole=True, least=2, optional=True)
    _number(embedder, "retries", whole=True, least=0)
    _number(embedder, "timeout", above=0)
    _number(embedder, "requests_a_minute", above=0, optional=True)
    _number(embedder, "tokens_a_minute", above=0, optional=True)
    _number(embedder, "price_per_million_tokens", least=0, optional=True)
    check_variable(embedder.key_env)


def _number(
    embedder: HttpEmbedder, name: str, *, whole: bool = False, least: float = -math.inf, above: float = -math.inf, optional: bool = False
) -> None:
    """Raise ConfigError where the field `name` is no such number: from a YAML it may be anything."""
    value: object = getattr(embedder, name)
    if value is None and optional:
        return
    number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if number and value >= least and above < value < math.inf:  # type: ignore[operator]
        return
    kind = "a whole number" if whole else "a number"
    bound = f"above {above:g}" if above > -math.inf else f"from {least:g} up"
    raise ConfigError(f"embedder.{name}", value, f"{kind} {bound} would do{', or null' if optional else ''}")
