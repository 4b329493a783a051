"""Runs the modules of a sentence-transformers model over token ids, in batches side by side (harness.workers): about 1.4 times the tokens a second
of encode(batch_size=32) on a CPU (benchmarks/matrix_rate.py)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from harness.embedding.peak import flops, share_of_peak
from harness.embedding.precision import AGREES, half_is_usual, lowest_cosine
from harness.embedding.reading import Inputs, TokenIds
from harness.embedding.tokens import UNLIMITED
from harness.embedding.weights import ModelFiles
from harness.errors import ModelError
from harness.types import Floats, Ints, Vectors
from harness.workers import batches, best_device, in_order, quiet_loading, usual_budget

PROBE = "The tariff, §4(b), rose 12.5% — naïve?"
"""A text on which two tokenizers of one model must agree."""
_SAMPLE = 32
_log = logging.getLogger(__name__)
_Work = TypeVar("_Work")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class WindowBatch:
    """Readings of windows of one document that go through the model together; `windows` are their numbers."""

    windows: Ints
    readings: list[TokenIds]


class Engine:
    """A loaded model. `device` is cpu, cuda, mps or None for the best there is. Raises ModelError where the model can't be loaded.

    It computes in float32 until `settle` has found otherwise. `warnings`: what is to be told of its precision.
    """

    def __init__(self, files: ModelFiles, *, device: str | None, trust_remote_code: bool) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        self._static, self._lock = files.static, Lock()
        try:
            with quiet_loading():
                self.model = SentenceTransformer(
                    str(files.folder),
                    device=device or best_device(),
                    local_files_only=True,
                    trust_remote_code=trust_remote_code,
                    model_kwargs={} if files.static else {"dtype": torch.float32},
                )
        except Exception as error:  # anything at all can come out of a model's files
            reason = (str(error).splitlines() or [""])[0][:200]
            raise ModelError(f"{files.folder}: the model can't be loaded ({type(error).__name__}: {reason})") from error
        self.model.eval()
        self.precision, self.warnings = "float32", tuple[str, ...]()
        self._exact: Any = None
        self._seconds = 0.0
        self._on_cpu = self.model.device.type == "cpu"
        self._padding = 0 if files.static else self.model.tokenizer.pad_token_id or 0

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.model.get_embedding_dimension() or 0)

    def check_reading(self, name: str, max_length: int | None, probe: TokenIds) -> None:
        """Compare how long and how the model reads with what the harness feeds it; `probe` is what the harness read of `PROBE`.

        Raises ModelError where the model reads less than `max_length` (None: no limit); a tokenizer that reads otherwise is logged.
        """
        theirs = self.model.max_seq_length
        if theirs is not None and theirs < (UNLIMITED if max_length is None else max_length):
            raise ModelError(f"{name}: reads at most {theirs} tokens, which its files do not say; set embedder.max_length={int(theirs)}")
        if not self._static and self.model.tokenizer(PROBE, verbose=False)["input_ids"] != probe.tolist():
            _log.warning("%s: sentence-transformers tokenises otherwise than the model's tokenizer.json, which is used here", name)

    def settle(self, name: str, asked: str | None, device: str | None, probes: Inputs) -> None:
        """Decide in what precision the model computes: what is `asked`; where nothing is, float16 on a GPU, if its vectors of `probes` agree with the
        float32 ones to a cosine of AGREES, else float32. A precision that does not agree is told in `warnings`, asked for or not."""
        import torch

        wanted = asked or ("float16" if half_is_usual(device) else "float32")
        if self._static or wanted == "float32":
            return
        half = deepcopy(self.model).to(getattr(torch, wanted))
        lowest = self._agreement(half, probes, np.arange(len(probes.keys)))
        if asked is None and lowest < AGREES:
            self._warn(f"{name}: computed in float32, as {wanted} moves vectors too far on this device (lowest cosine {lowest:.7f}, wanted {AGREES})")
            return
        self._exact, self.model, self.precision = self.model, half, wanted
        if lowest < AGREES:
            self._warn(f"{name}: vectors in {wanted} are not those in float32 (lowest cosine {lowest:.7f}, wanted {AGREES})")

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        """Unit vectors of the readings `rows`, batch by batch as they are done. The process's number of threads is as before afterwards."""
        work = [rows[places] for places in batches(inputs.lengths[rows], self.budget)]
        if self._exact is not None and len(rows):
            self._check_texts(inputs, rows)
        self._seconds = 0.0
        yield from self._run(lambda rows: self._forward(inputs, rows), work)
        self._tell_share(inputs.lengths[rows])

    def states(self, work: Iterable[WindowBatch]) -> Iterator[tuple[WindowBatch, list[Vectors]]]:
        """The state (length, width) float32 of every token that the model's first module reads, reading by reading, in the order of `work`.

        The process's number of threads is as before afterwards.
        """
        return self._run(self._states, work)

    @property
    def budget(self) -> int:
        """Padded tokens that a batch holds at most."""
        return usual_budget(self._on_cpu)

    def finish(self, pooled: Floats) -> Vectors:
        """Unit vectors from pooled states (n, width): what the modules behind the pooling make of them."""
        import torch

        with torch.inference_mode():
            features = {"sentence_embedding": torch.from_numpy(pooled.astype(np.float32)).to(self.model.device, getattr(torch, self.precision))}
            for module in list(self.model)[2:]:
                features = module(features)
            found = features["sentence_embedding"].to(torch.float32).cpu().numpy()
        return unit_rows(found)

    def _run(self, forward: Callable[[_Work], _Found], work: Iterable[_Work]) -> Iterator[tuple[_Work, _Found]]:
        with self._lock:
            yield from in_order(forward, work, on_cpu=self._on_cpu)

    def _forward(self, inputs: Inputs, rows: Ints, model: Any = None) -> Vectors:
        import torch

        began = time.perf_counter()
        readings = [inputs.ids[inputs.indptr[row] : inputs.indptr[row + 1]] for row in rows]
        with torch.inference_mode():
            features = self._features(readings, inputs.prompt)
            for module in self.model if model is None else model:
                features = module(features)
            found = features["sentence_embedding"].to(torch.float32).cpu().numpy()
        self._seconds += time.perf_counter() - began
        return unit_rows(found)

    def _agreement(self, half: Any, inputs: Inputs, rows: Ints) -> float:
        """The least cosine between what `half` and the model in float32 make of some readings."""
        exact, lowest = self.model if self._exact is None else self._exact, 1.0
        for places in batches(inputs.lengths[rows], self.budget):
            some = rows[places]
            lowest = min(lowest, lowest_cosine(self._forward(inputs, some, half), self._forward(inputs, some, exact)))
        return lowest

    def _check_texts(self, inputs: Inputs, rows: Ints) -> None:
        """The first texts themselves, short and long ones. Their vectors are not replaced: those of one identity are of one precision."""
        with self._lock:
            if self._exact is None:
                return
            by_length = rows[np.argsort(inputs.lengths[rows], kind="stable")]
            lowest = self._agreement(self.model, inputs, by_length[np.unique(np.linspace(0, len(rows) - 1, _SAMPLE).astype(int))])
            self._exact = None
        if lowest < AGREES:
            self._warn(
                f"vectors of these texts in {self.precision} are not those in float32 (lowest cosine {lowest:.7f} in a sample, wanted {AGREES}); "
                "embedder.precision=float32 would do"
            )

    def _warn(self, line: str) -> None:
        self.warnings = (*self.warnings, line)
        _log.warning("%s", line)

    def _tell_share(self, lengths: Ints) -> None:
        """On a GPU whose peak is known, what share of it the forward passes reached."""
        import torch

        if self.model.device.type != "cuda" or not self._seconds:
            return
        card, rate = torch.cuda.get_device_name(self.model.device), flops(self.model, lengths) / self._seconds
        if (share := share_of_peak(card, self.precision, rate)) is not None:
            _log.info("%s: %.1f TFLOP a second in %s, %.0f%% of the peak", card, rate / 1e12, self.precision, share * 100)

    def _states(self, batch: WindowBatch) -> list[Vectors]:
        import torch

        with torch.inference_mode():
            found = next(iter(self.model))(self._features(batch.readings, 0))["token_embeddings"].to(torch.float32).cpu().numpy()
        return [rows[: len(ids)] for rows, ids in zip(found, batch.readings, strict=True)]

    def _features(self, readings: list[TokenIds], prompt: int) -> dict[str, Any]:
        lengths = np.array([len(ids) for ids in readings], dtype=np.int64)
        if self._static:
            offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
            return {"input_ids": self._tensor(np.concatenate(readings).astype(np.int64)), "offsets": self._tensor(offsets)}
        ids = np.full((len(readings), int(lengths.max())), self._padding, dtype=np.int64)
        mask = np.arange(ids.shape[1]) < lengths[:, None]
        ids[mask] = np.concatenate(readings)
        features = {"input_ids": self._tensor(ids), "attention_mask": self._tensor(mask.astype(np.int64))}
        return features if not prompt else {**features, "prompt_length": prompt}

    def _tensor(self, array: Ints) -> Any:
        import torch

        return torch.from_numpy(array).to(self.model.device)


def unit_rows(vectors: Vectors) -> Vectors:
    """Rows scaled to unit length in float32. A row of zeros (a text of which a static model knows no token) becomes the first axis."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled = vectors / np.where(norms == 0, 1, norms)
    scaled[norms[:, 0] == 0, :1] = 1
    return np.asarray(scaled, dtype=np.float32)
