"""A cross-encoder: a model that reads a question and a passage together and gives the pair one score.

Building one reads configuration files and digests only; the tokenizer is loaded when pairs are first read, the weights when a score is first missing.
Its score of a pair moves with the batch around it by rounding alone: less than 1e-5 of the model's own scale.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from harness.errors import ConfigError, ModelError, PartError
from harness.hub import folder_digest, model_folder, read_json
from harness.retrieval.orders import check_whole
from harness.retrieval.pairs import PairReader, Pairs
from harness.types import Ints, Vectors
from harness.units.tokenizer import bare
from harness.workers import batches, best_device, in_order, quiet_loading, usual_budget

_FORMAT = 1
"""Raise it when the same files come to mean other scores."""
_SHORTEST = 8
_PROBE = ("Is the tariff, §4(b), up 12.5%?", "It rose by 12.5% — naïve?")
"""A pair that the harness must read as the library does."""
_NOT_DECIDING = frozenset({"data_config.json", "model_index.json", "requirements.txt"})


@dataclass(eq=False)
class CrossEncoder:
    """A model of sentence-transformers' CrossEncoder with one score a pair.

    `model` is a hub name or a local folder. `max_length` counts the tokens of a pair with the special ones (None: as many as the model reads).
    `batch_tokens`: padded tokens a batch (None: 1,024 on a CPU, 32,768 elsewhere). `device` is cpu, cuda, mps or None for the fastest. Raises
    ModelError where the model can't be had or is none of that kind, ConfigError for values that can't work.
    """

    model: str
    revision: str | None = None
    max_length: int | None = None
    batch_tokens: int | None = None
    device: str | None = None
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.trust_remote_code, bool):  # `no` is text, and would count as true
            raise ConfigError("retriever.trust_remote_code", self.trust_remote_code, "true or false would do")
        otherwise = "use another retriever: retriever=dense needs no further model"
        self._folder = model_folder(self.model, self.revision, key="retriever.model", otherwise=otherwise)
        modules = read_json(self._folder / "modules.json", [{"path": ""}])
        self._parts = tuple(self._folder / str(module.get("path", "")) for module in modules)
        _check_kind(self.model, self._parts[0])
        limit = _longest(self._parts[0])
        if self.max_length is not None:
            check_whole("max_length", self.max_length, _SHORTEST, limit)
        if self.batch_tokens is not None:
            check_whole("batch_tokens", self.batch_tokens, 1)
        self.length = self.max_length or limit

    @cached_property
    def identity(self) -> str:
        """Digest of the model's files, the maximum length and the precision. Names and folders play no part."""
        files = folder_digest(self._folder, self._parts, without=_NOT_DECIDING)
        decides = {"format": _FORMAT, "files": files, "max_length": self.length, "precision": "float32"}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @cached_property
    def reader(self) -> PairReader:
        """Reads pairs as the model does."""
        return PairReader(_tokenizer(self._parts[0]), self.length)

    def scores(self, pairs: Pairs, readings: Ints) -> Iterator[tuple[Ints, Vectors]]:
        """Scores (n, 1) of the `readings`, batch by batch as they are done: (some of the readings, their scores). Loads the weights on first use.

        Raises PartError where the model gives NaN or another shape.
        """
        model = self._loaded()
        on_cpu = model.device.type == "cpu"
        budget = self.batch_tokens or usual_budget(on_cpu)
        work = [readings[places] for places in batches(self.reader.lengths(pairs)[readings], budget)]
        for rows, found in in_order(lambda rows: self._forward(model, pairs, rows), work, on_cpu=on_cpu):
            yield rows, _checked(self.model, found, len(rows))

    def _loaded(self) -> Any:
        model = _load(self._folder, self.identity, self.device or best_device(), self.trust_remote_code)
        _check_reading(self.model, model, self)
        return model

    def _forward(self, model: Any, pairs: Pairs, rows: Ints) -> Any:
        import torch

        ids, kept, segments = self.reader.features(pairs, rows, model.tokenizer.pad_token_id or 0)
        arrays = {"input_ids": ids, "attention_mask": kept.astype(np.int64), "token_type_ids": segments}
        taken = {name: arrays[name] for name in arrays if name in model.tokenizer.model_input_names}
        with torch.inference_mode():
            features = {name: torch.from_numpy(array).to(model.device) for name, array in taken.items()}
            found = model.activation_fn(model({**features, "modality": "text"})["scores"].to(torch.float32))
        return found.cpu().numpy()


def _check_kind(name: str, part: Path) -> None:
    """From the configuration alone. A model without a head for scores would be given one with random weights, and nothing would be said."""
    config = read_json(part / "config.json", None)
    if not isinstance(config, dict):
        raise ModelError(f"retriever.model={name}: no cross-encoder (config.json is missing in {part})")
    kinds = [str(kind) for kind in config.get("architectures") or ()]
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise ModelError(
            f"retriever.model={name}: no cross-encoder that scores a pair in one reading (its architecture is {', '.join(kinds) or 'not named'}, "
            "not …ForSequenceClassification)"
        )
    labels = len(config.get("id2label") or {"one": 0, "two": 1})  # transformers takes two where nothing is said
    if labels != 1:
        raise ModelError(f"retriever.model={name}: gives a pair {labels} scores; a cross-encoder with one would do")


def _longest(part: Path) -> int:
    """Tokens of a pair that the model reads: what its tokenizer says, but not beyond the positions that it has."""
    settings, config = read_json(part / "tokenizer_config.json", {}), read_json(part / "config.json", {})
    stated = (settings.get("model_max_length"), config.get("max_position_embeddings"))
    known = [int(value) for value in stated if isinstance(value, int | float) and 0 < value < 2**31]
    return min(known, default=512)


def _tokenizer(part: Path) -> Tokenizer:
    """The model's tokenizer without padding or truncation; the spelling of a special token is ordinary text. Raises ModelError."""
    try:
        tokenizer = Tokenizer.from_file(str(part / "tokenizer.json")) if (part / "tokenizer.json").is_file() else _converted(part)
    except Exception as error:  # the tokenizers library raises Exception itself
        raise ModelError(f"{part}: its tokenizer can't be used ({error})") from error
    return bare(tokenizer)


def _converted(part: Path) -> Tokenizer:
    from transformers import AutoTokenizer

    slow = AutoTokenizer.from_pretrained(str(part), local_files_only=True)
    return Tokenizer.from_str(slow.backend_tokenizer.to_str())


@lru_cache(maxsize=1)
def _load(folder: Path, identity: str, device: str, trust_remote_code: bool) -> Any:
    """The loaded model; retrievers of one sweep that use the same share it. `identity` is there for files that change."""
    import torch
    from sentence_transformers import CrossEncoder as Library

    try:
        with quiet_loading():
            model = Library(
                str(folder), device=device, local_files_only=True, trust_remote_code=trust_remote_code, model_kwargs={"dtype": torch.float32}
            )
    except Exception as error:  # anything at all can come out of a model's files
        reason = (str(error).splitlines() or [""])[0][:200]
        raise ModelError(f"{folder}: the cross-encoder can't be loaded ({type(error).__name__}: {reason})") from error
    model.eval()
    return model


def _check_reading(name: str, model: Any, encoder: CrossEncoder) -> None:
    """Raises ModelError where the library reads less than is read here, or a pair otherwise (with a prompt or a chat template, say)."""
    theirs = model.max_seq_length
    if theirs is not None and theirs < encoder.length:
        raise ModelError(f"{name}: reads at most {theirs} tokens, which its files do not say; set retriever.max_length={int(theirs)}")
    pairs = encoder.reader.read(_PROBE[:1], _PROBE[1:], np.zeros(1, np.int64), np.zeros(1, np.int64))
    if pairs.cut.any():
        return
    prompt = model.prompts.get(model.default_prompt_name) if model.default_prompt_name else None
    expected = model.preprocess([_PROBE], prompt=prompt).get("input_ids")
    ours = encoder.reader.features(pairs, np.zeros(1, np.int64), 0)[0]
    if expected is None or not np.array_equal(np.asarray(expected.cpu()), ours):
        raise ModelError(f"{name}: does not read a pair as its tokenizer.json joins one (a prompt or a template is put around it); it can't be used")


def _checked(name: str, found: Any, count: int) -> Vectors:
    if found.shape not in ((count,), (count, 1)):
        raise PartError(f"cross-encoder {name}: found scores of shape {found.shape} for {count} pairs; one a pair would do")
    if not np.isfinite(found).all():
        raise PartError(f"cross-encoder {name}: found NaN or infinite scores; finite ones would do")
    return np.asarray(found, dtype=np.float32).reshape(count, 1)
