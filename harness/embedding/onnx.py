"""Any transformer that was exported to ONNX, by its file and a tokenizer. Needs onnxruntime, an optional extra.

An ONNX file says neither how it is tokenised, nor pooled, nor how much it reads: these are told beside it, as the model's card has them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from harness.embedding.base import Kind, Progress
from harness.embedding.engine import unit_rows
from harness.embedding.reading import Inputs, TokenIds, embed_with
from harness.embedding.tokens import TokenReader
from harness.embedding.weights import origin_of, packaged
from harness.errors import ConfigError, ModelError
from harness.hub import file_digest
from harness.stores import NoStore
from harness.types import Embedded, Ints, Vectors
from harness.units.tokenizer import TokenizerUnit, bare
from harness.workers import batches, in_order, usual_budget

_FORMAT = 1
"""Raise it when the same files come to mean other vectors."""
_POOLINGS = {"mean": 3, "cls": 3, "own": 2}
"""By name: the dimensions of the output that is taken: states of tokens, or vectors that the file itself has pooled."""
_FED = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(eq=False)
class OnnxEmbedder:
    """The ONNX file `model` with the tokenizer.json at `tokenizer` (or in that folder); either a path or `package:NAME/INSIDE`.

    `max_length` counts tokens with the special ones. `pooling`: the mean of the token states, the first one's (cls), or what the file itself gives
    (own). `output` names the output that is taken (None: the first of fitting shape). Raises ModelError where the files can't be used, ConfigError
    for values that can't work.
    """

    model: str
    tokenizer: str
    max_length: int = 512
    pooling: str = "mean"
    output: str | None = None
    query_prompt: str = ""
    passage_prompt: str = ""

    def __post_init__(self) -> None:
        if self.pooling not in _POOLINGS:
            raise ConfigError("embedder.pooling", self.pooling, f"one of {', '.join(_POOLINGS)} would do")
        given: object = self.max_length  # from a YAML it may be anything
        if not isinstance(given, int) or isinstance(given, bool) or given < 1:
            raise ConfigError("embedder.max_length", given, "a whole number of tokens from 1 would do, as the model's card has it")
        self._file, self._tokenizer_file = _file("model", self.model), _file("tokenizer", self.tokenizer)

    @property
    def name(self) -> str:
        """The path or package."""
        return self.model

    @cached_property
    def identity(self) -> str:
        """Digest of the files and of all that decides a vector. Names and folders play no part."""
        beside = sorted(path for path in self._file.parent.glob(f"{self._file.name}?*") if path.is_file())  # weights of 2 GB and more lie beside
        decides = {
            "format": _FORMAT,
            "kind": "onnx",
            "files": [file_digest(path) for path in (self._file, *beside, self._tokenizer_file)],
            "max_length": self.max_length,
            "pooling": self.pooling,
            "output": self.output,
            "prompts": [self.query_prompt, self.passage_prompt],
        }
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @property
    def origin(self) -> dict[str, str]:
        """Digest of the file."""
        return origin_of(self._file, file_digest(self._file))

    @cached_property
    def dim(self) -> int:
        """Length of a vector; loads the model."""
        width = self._session.get_outputs()[self._place].shape[-1]
        return int(width) if isinstance(width, int) else self._forward([self.reader.bare("a")]).shape[1]

    @property
    def limit(self) -> int:
        """Content tokens that are read of a passage."""
        return self.reader.frames["passage"].room

    @cached_property
    def unit(self) -> TokenizerUnit:
        """The tokens of the tokenizer."""
        return TokenizerUnit("tokens", self._tokenizer_file)

    @cached_property
    def reader(self) -> TokenReader:
        """Reads texts as the model does."""
        try:
            tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
        except Exception as error:  # the tokenizers library raises Exception itself
            raise ModelError(f"{self._tokenizer_file}: this tokenizer can't be used ({error})") from error
        return TokenReader(bare(tokenizer), {"query": self.query_prompt, "passage": self.passage_prompt}, self.max_length, special=True)

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError as error:
            raise ModelError("embedder=onnx needs onnxruntime, which is not installed: pip install onnxruntime") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        try:
            session = onnxruntime.InferenceSession(str(self._file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a tree of its own, and raises from it what it likes
            raise ModelError(f"{self._file}: the model can't be loaded ({type(error).__name__}: {str(error).splitlines()[0][:200]})") from error
        strange = [given.name for given in session.get_inputs() if given.name not in _FED]
        if strange:
            raise ModelError(f"{self._file}: asks for {', '.join(strange)}; only {', '.join(_FED)} can be given")
        return session

    @cached_property
    def _place(self) -> int:
        """The number of the output that is taken."""
        outputs = self._session.get_outputs()
        for number, output in enumerate(outputs):
            if output.name == self.output or (self.output is None and len(output.shape) == _POOLINGS[self.pooling]):
                return number
        told = ", ".join(f"{output.name} {output.shape}" for output in outputs)
        wanted = f"one of {_POOLINGS[self.pooling]} dimensions for embedder.pooling={self.pooling}"
        raise ConfigError("embedder.output", self.output, f"{self._file.name} has {told}; {wanted} would do")

    def read(self, texts: Sequence[str], kind: Kind) -> Inputs:
        """The tokens that the model reads of `texts`. Loads no weights."""
        return self.reader.read(texts, kind)

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        """Unit vectors of the readings `rows`, batch by batch. Loads the weights on first use."""
        work = [rows[places] for places in batches(inputs.lengths[rows], usual_budget(on_cpu=True))]
        return in_order(lambda batch: self._forward([inputs.ids[inputs.indptr[row] : inputs.indptr[row + 1]] for row in batch]), work, on_cpu=True)

    def _forward(self, readings: Sequence[TokenIds]) -> Vectors:
        lengths = np.array([len(ids) for ids in readings])
        mask = np.arange(lengths.max()) < lengths[:, None]
        ids = np.zeros(mask.shape, dtype=np.int64)
        ids[mask] = np.concatenate(readings)
        fed = {"input_ids": ids, "attention_mask": mask.astype(np.int64), "token_type_ids": np.zeros_like(ids)}
        wanted = {given.name: fed[given.name] for given in self._session.get_inputs()}
        (found,) = self._session.run([self._session.get_outputs()[self._place].name], wanted)
        if self.pooling == "mean":
            found = np.where(mask[:, :, None], found, 0).sum(axis=1, dtype=np.float32) / lengths[:, None]
        elif self.pooling == "cls":
            found = found[:, 0]
        return unit_rows(np.asarray(found, dtype=np.float32))

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts` without any cache. Raises PartError where the model gives NaN or a wrong shape."""
        return embed_with(self, NoStore(), texts, kind, progress)


def _file(key: str, given: str) -> Path:
    place = packaged(given) or Path(given).expanduser()
    place = place / "tokenizer.json" if key == "tokenizer" and place.is_dir() else place
    if not place.is_file():
        raise ModelError(f"embedder.{key}={given}: no such file")
    return place
