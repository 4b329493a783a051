"""Half precision: what decides on it, that no two precisions share vectors, and what is told. Tried on the CPU, which computes in it too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "contracts"))
from embedding_cases import load_embedder, tiny_model

from harness.embedding import CachedEmbedder, SentenceTransformerEmbedder, minilm, with_cache
from harness.embedding import engine as engines
from harness.embedding import sentence_transformer as embedders
from harness.embedding.peak import flops, share_of_peak
from harness.embedding.precision import AGREES, half_is_usual, lowest_cosine, told_of
from harness.errors import ConfigError

TEXTS = [f"gauge {number} is read {'again ' * (number % 3)}" for number in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("half"))


@pytest.fixture(scope="module")
def overflowing(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, but its states pass what float16 can hold; in float32 nothing is wrong."""
    from sentence_transformers import SentenceTransformer

    model: Any = SentenceTransformer(str(folder), device="cpu")
    for layer in model[0].auto_model.encoder.layer:
        layer.intermediate.dense.weight.data *= 1e5
    made = tmp_path_factory.mktemp("overflow") / "model"
    model.save(str(made), create_model_card=False)
    return made


@pytest.fixture
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half precision as the usual one, as it is on CUDA."""
    for module in (engines, embedders):
        monkeypatch.setattr(module, "half_is_usual", lambda device: True)


def embedder(folder: Path, precision: str | None = None) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(folder), precision=precision)


def test_nothing_asked_for_is_float32_on_a_cpu_with_the_identity_it_always_had() -> None:
    """The digest is that of before there was a choice: caches that people have stay good."""
    assert minilm().identity == minilm(precision="float32").identity == "bbfb61be454ff81d3454518aecdbe812eb92ef4ae2e503cc73ae5aae9dac477e"
    assert "precision" not in minilm().origin  # type: ignore[attr-defined]
    assert not half_is_usual("cpu")
    assert not half_is_usual("mps")


def test_each_precision_has_an_identity_and_a_store_of_its_own(folder: Path, tmp_path: Path) -> None:
    exact, half, brief = (embedder(folder, name) for name in (None, "float16", "bfloat16"))
    assert len({exact.identity, half.identity, brief.identity}) == 3
    assert (half.origin["precision"], exact.origin.get("precision")) == ("float16", None)
    found = [with_cache(some, tmp_path / "vectors", max_bytes=10**8).embed(TEXTS, "passage") for some in (exact, half, brief)]
    assert not any(one.cached.all() for one in found), "one was served the vectors of another"
    assert not np.array_equal(found[0].vectors, found[1].vectors)
    assert AGREES <= lowest_cosine(found[1].vectors, found[0].vectors) < 1
    assert lowest_cosine(found[2].vectors, found[0].vectors) < lowest_cosine(found[1].vectors, found[0].vectors)
    np.testing.assert_allclose(np.linalg.norm(found[2].vectors, axis=1), 1, atol=1e-6)


def test_on_a_gpu_float16_is_taken_where_it_agrees(folder: Path, as_on_a_gpu: None) -> None:
    found = embedder(folder)
    assert found.identity == embedder(folder, "float16").identity
    found.embed(TEXTS, "passage")
    assert (found.engine.precision, found.warnings) == ("float16", ())


def test_on_a_gpu_float32_is_kept_where_float16_does_not_agree(overflowing: Path, as_on_a_gpu: None) -> None:
    found = embedder(overflowing)
    assert found.identity == embedder(overflowing, "float32").identity != embedder(overflowing, "float16").identity
    assert found.engine.precision == "float32"
    assert "computed in float32, as float16 moves vectors too far" in found.warnings[0]
    assert np.isfinite(found.embed(TEXTS, "passage").vectors).all()


def test_a_precision_that_was_asked_for_is_used_and_told(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = embedder(folder, "bfloat16")
    found.embed(TEXTS, "passage")
    assert found.engine.precision == "bfloat16"
    assert all("in bfloat16 are not those in float32 (lowest cosine 0.999" in line for line in found.warnings)
    assert found.warnings
    assert [record.getMessage() for record in caplog.records if record.name == engines.__name__] == list(found.warnings)


def test_the_texts_themselves_are_tried_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes that agree say nothing of texts that don't."""
    lows = iter([1.0, 0.5])
    monkeypatch.setattr(engines.Engine, "_agreement", lambda *_: next(lows))
    found = embedder(folder, "float16")
    assert found.engine.warnings == ()
    found.embed(TEXTS, "passage")
    assert "vectors of these texts in float16 are not those in float32 (lowest cosine 0.5000000 in a sample" in found.warnings[0]
    assert told_of(CachedEmbedder(found)) == found.warnings, "what evaluation puts beside the numbers"
    found.embed(["more"], "passage")
    assert len(found.warnings) == 1, "only the first texts are tried"


def test_late_states_are_float32_rows_in_half_precision_too(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, include_prompt=False)
    late: Any = load_embedder("sentence_transformer", model=str(folder), pooling="late", late_overlap=2, precision="float16")
    exact: Any = load_embedder("sentence_transformer", model=str(folder), pooling="late", late_overlap=2)
    assert late.identity != exact.identity
    pooled = np.random.default_rng(0).standard_normal((3, 32))
    assert late.finish(pooled).dtype == np.float32
    assert AGREES < lowest_cosine(late.finish(pooled), exact.finish(pooled)) < 1


@pytest.mark.parametrize("given", ["half", "int4", 16, True, ""])
def test_other_precisions_are_refused_before_any_work(folder: Path, given: Any) -> None:
    with pytest.raises(ConfigError, match=r"embedder\.precision=.*float32, float16, bfloat16, or null"):
        embedder(folder, given)


def test_flops_are_those_that_torch_counts(folder: Path) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    model = embedder(folder)
    inputs = model.read(["gauge and valve " * 9], "passage")
    with FlopCounterMode(display=False) as counter:
        model.engine._forward(inputs, np.arange(1))
    attention = 2 * 4 * 32 * int(inputs.lengths[0]) ** 2  # which its counter does not see on a CPU: two layers, 32 numbers
    ours = flops(model.engine.model, inputs.lengths)
    assert ours == pytest.approx(counter.get_total_flops() + attention, rel=0.005), "but for the pooler and the dense layer, which see one token"
    assert flops(model.engine.model, inputs.lengths - 1) != pytest.approx(ours, rel=0.005)


def test_the_share_of_the_peak_is_told_only_where_the_card_is_known() -> None:
    assert share_of_peak("NVIDIA A100-SXM4-80GB", "float16", 156e12) == pytest.approx(0.5)
    assert share_of_peak("NVIDIA A100-SXM4-80GB", "float32", 15e12) is None
    assert share_of_peak("a card of next year", "float16", 1e12) is None
