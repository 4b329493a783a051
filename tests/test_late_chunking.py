"""Late chunking: the ordinary vector where they must agree, sums that add up, seams where they were said to be, and states that outlive a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contracts.chunking_cases import TEXTS
from contracts.embedding_cases import load_embedder, tiny_model

from harness.embedding import DiskStates, LateEmbedder, MemoryStates, from_model, minilm, prune_states, with_cache
from harness.embedding import spans as spans_module
from harness.embedding.base import LateEmbedded, passed
from harness.embedding.pooling import DocumentStates, pool, tokens_under
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm_package
from harness.embedding.windows import windows
from harness.errors import ConfigError, ImpossibleCell, PartError, StoreError
from harness.types import ChunkSet, Document, Ints, Vectors

PLENTY = 10**9
SENTENCES = [
    "The river gauge at Skarnes is read every ten minutes.",
    "Deposits are returned within a month, unless the case came back wet.",
    "تعاد العربون خلال شهر واحد.",
    "受付は九時に開きます。",
    "spelled out: [SEP] [CLS] <s> </s>",
    "x",
]
LONG = " ".join(f"Gauge {number} is read at {number % 24} hours, and the keeper of lock {number % 7} is told by telephone." for number in range(45))


@cache
def late(overlap: int = 32) -> LateEmbedder:
    return LateEmbedder(minilm_package(), overlap)


@cache
def own() -> SentenceTransformerEmbedder:
    return late().ordinary


def chunk_set(spans: Sequence[tuple[int, int, int]], **more: Any) -> ChunkSet:
    doc, start, end = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    return ChunkSet(doc, start, end, start, end, **more)


def whole(texts: Sequence[str]) -> tuple[list[Document], ChunkSet]:
    """Each text as a document that is one chunk."""
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    return documents, chunk_set([(number, 0, len(text)) for number, text in enumerate(texts)])


def windows_of_words(text: str, size: int, step: int, doc: int = 0) -> list[tuple[int, int, int]]:
    """Spans of `size` words, one every `step`."""
    words = [(place, place + len(word)) for place, word in _words(text)]
    return [(doc, words[at][0], words[min(at + size, len(words)) - 1][1]) for at in range(0, len(words), step)]


def _words(text: str) -> Iterator[tuple[int, str]]:
    place = 0
    for word in text.split(" "):
        yield place, word
        place += len(word) + 1


def states_of(text: str, overlap: int = 32) -> tuple[DocumentStates, list[Vectors]]:
    """A document's states as they are kept, and what the model gave for each of its windows, in float32."""
    model = late(overlap)
    (document,) = model.read([text])
    (kept,) = model.states([document], lambda tokens: None)
    rows: dict[int, Vectors] = {}
    for batch, found in own().engine.states(model._batches([document])):
        rows.update(zip(batch.windows.tolist(), found, strict=True))
    return kept, [rows[window] for window in range(len(rows))]


@pytest.fixture(scope="session")
def tiny_mean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model of the mean that leaves the prompt out, with a dense layer behind."""
    return tiny_model(tmp_path_factory.mktemp("tiny_mean"), include_prompt=False)


# --- the ordinary vector, where the two must agree


def test_a_short_document_that_is_one_chunk_has_its_ordinary_vector() -> None:
    texts = [*SENTENCES, " ".join(SENTENCES), "gauge " * 254]
    found = late().embed_spans(*whole(texts))
    expected = own().embed(texts, "passage")
    assert np.abs(found.vectors - expected.vectors).max() < 1e-5
    assert found.tokens.tolist() == expected.tokens.tolist()
    assert not found.unread.any()


def test_a_document_of_one_token_more_than_a_window_differs() -> None:
    """So the agreement above is no accident of a tolerance."""
    texts = ["gauge " * 255]
    assert np.abs(late().embed_spans(*whole(texts)).vectors - own().embed(texts, "passage").vectors).max() > 1e-4


def test_prompts_and_dense_layers_agree_as_well(tiny_mean: Path) -> None:
    """A prompt that the model leaves out of its mean, and what it does behind the mean."""
    texts = ["a lock", "a gate (9)", "the keeper"]
    for prompt in (None, "", "say: "):
        ordinary = SentenceTransformerEmbedder(str(tiny_mean), passage_prompt=prompt)
        found = LateEmbedder(ordinary, 4).embed_spans(*whole(texts))
        assert np.abs(found.vectors - ordinary.embed(texts, "passage").vectors).max() < 1e-5


def test_a_prompt_that_the_model_pools_is_pooled(tiny_mean: Path, tmp_path: Path) -> None:
    import json
    import shutil

    pooling = shutil.copytree(tiny_mean, tmp_path / "model") / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({**json.loads(pooling.read_text()), "include_prompt": True}))
    ordinary = SentenceTransformerEmbedder(str(tmp_path / "model"))
    texts = ["a lock", "the keeper"]
    found = LateEmbedder(ordinary, 4).embed_spans(*whole(texts)).vectors
    assert np.abs(found - ordinary.embed(texts, "passage").vectors).max() < 1e-5
    left_out = LateEmbedder(SentenceTransformerEmbedder(str(tiny_mean)), 4).embed_spans(*whole(texts)).vectors
    assert np.abs(found - left_out).max() > 1e-3


def test_questions_get_ordinary_vectors(tmp_path: Path) -> None:
    embedder = with_cache(late(), tmp_path / "vectors", max_bytes=PLENTY)
    assert np.array_equal(embedder.embed(SENTENCES, "query").vectors, own().embed(SENTENCES, "query").vectors)
    assert with_cache(own(), tmp_path / "vectors", max_bytes=PLENTY).embed(SENTENCES, "query").cached.all(), "one file of vectors serves both"


# --- sums


def direct(rows: list[Vectors], a: int, b: int, overlap: int) -> Vectors:
    """The mean of the tokens a to b, one by one, each with its even part of what its window pools besides."""
    total = np.zeros(rows[0].shape[1])
    weight = 0.0
    layout = windows(sum_tokens(rows, overlap), late(overlap).room, overlap)
    for window, states in enumerate(rows):
        tokens = int(layout.lengths[window])
        for token in range(max(a, int(layout.served[window])), min(b, int(layout.served[window + 1]))):
            total += states[1 + token - int(layout.start[window])] + (states[0] + states[-1]) / tokens
            weight += 1 + 2 / tokens
    mean = total / weight
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def sum_tokens(rows: list[Vectors], overlap: int) -> int:
    return sum(len(states) - 2 for states in rows) - overlap * (len(rows) - 1)


def pooled(kept: DocumentStates, overlap: int, a: Ints, b: Ints) -> Vectors:
    return late().finish(pool(kept, late(overlap).windows(len(kept.states)), a, b))


@pytest.mark.parametrize("overlap", [0, 32, 64])
def test_prefix_sums_are_direct_means(overlap: int) -> None:
    kept, rows = states_of(LONG, overlap)
    assert len(rows) >= 4
    random = np.random.default_rng(3)
    a = random.integers(0, len(kept.states) - 8, 60)
    b = np.minimum(a + random.integers(4, 700, 60), len(kept.states))
    expected = np.stack([direct(rows, *pair, overlap) for pair in zip(a.tolist(), b.tolist(), strict=True)])
    assert np.abs(pooled(kept, overlap, a, b) - expected).max() < 1e-4
    for shift in (1, -1):
        off = np.clip(a + shift, 0, None), np.minimum(b + shift, len(kept.states))
        assert np.abs(pooled(kept, overlap, *off) - expected).max() > 1e-3, "a token further or less far must be seen"


def test_long_documents_add_up_in_blocks() -> None:
    """Random states over many blocks, against sums in float64."""
    random = np.random.default_rng(5)
    count = 20_011
    states = random.standard_normal((count, 6)).astype(np.float16)
    served = windows(count, 254, 32)
    rest = random.standard_normal((len(served), 6)).astype(np.float32)
    edges = np.arange(count, dtype=np.int32)
    kept = DocumentStates(edges, edges + 1, states, rest, 2)
    a = np.sort(random.integers(0, count - 1, 300))
    b = np.minimum(a + random.integers(1, 9000, 300), count)
    window = np.searchsorted(served.served, np.arange(count), side="right") - 1
    each = states.astype(np.float64) + rest[window] / served.lengths[window, None]
    weight = 1 + 2 / served.lengths[window]
    expected = np.stack([each[i:j].sum(axis=0) / weight[i:j].sum() for i, j in zip(a, b, strict=True)])
    np.testing.assert_allclose(pool(kept, served, a, b), expected, atol=2e-6)


def test_a_chunk_of_several_windows_is_their_mean_by_tokens() -> None:
    found = late().embed_spans(*whole([LONG])).vectors[0]
    kept, rows = states_of(LONG)
    assert np.abs(found - direct(rows, 0, len(kept.states), 32)).max() < 1e-4


# --- windows and seams


@pytest.mark.parametrize("overlap", [0, 1, 31, 32, 100])
def test_windows_cover_every_token_and_meet_in_the_middle(overlap: int) -> None:
    for tokens in [*range(0, 700, 7), 254, 255, 1001, 100_003]:
        layout = windows(tokens, 254, overlap)
        start, end, served = layout.start, layout.end, layout.served
        assert (layout.lengths <= 254).all()
        assert served[0] == 0
        assert served[-1] == tokens
        assert ((served[:-1] >= start) & (served[1:] <= end) & (np.diff(served) > 0)).all()
        assert (end[:-1] - start[1:] == overlap).all(), "neighbours share so many tokens, and no more"
        assert np.ptp(layout.lengths) <= 1 if len(layout) else tokens == 0
        assert (served[1:-1] - start[1:] == overlap // 2).all()
        assert len(layout) == (1 if 0 < tokens <= 254 else -(-max(tokens - overlap, 0) // (254 - overlap)))


def test_a_token_is_served_by_the_window_with_more_context_around_it() -> None:
    layout = windows(1000, 254, 64)
    for token in range(1000):
        holding = [number for number in range(len(layout)) if layout.start[number] <= token < layout.end[number]]
        poorer = {
            number: min(token - layout.start[number] if number else 10**6, layout.end[number] - 1 - token if number < len(layout) - 1 else 10**6)
            for number in holding
        }
        server = int(np.searchsorted(layout.served, token, side="right")) - 1
        assert poorer[server] >= max(poorer.values()) - 1


def test_kept_states_come_from_the_serving_window() -> None:
    kept, rows = states_of(LONG)
    layout = windows(len(kept.states), 254, 32)
    for window, states in enumerate(rows):
        low, high = int(layout.served[window]), int(layout.served[window + 1])
        begin = int(layout.start[window])
        content = states[1:-1]
        assert np.array_equal(kept.states[low:high], content[low - begin : high - begin].astype(np.float16))


def test_the_chunks_neighbourhood_is_in_its_vector() -> None:
    """The same words in two documents: one ordinary vector, two late ones."""
    same = "It is closed on Mondays."
    texts = [f"The boat yard hires out dinghies. {same}", f"The bakery sells rye bread. {same}"]
    documents = [Document("a", texts[0]), Document("b", texts[1])]
    found = late().embed_spans(documents, chunk_set([(0, len(texts[0]) - len(same), len(texts[0])), (1, len(texts[1]) - len(same), len(texts[1]))]))
    question = own().embed(["When can I buy bread?"], "query").vectors[0]
    assert found.vectors[0] @ found.vectors[1] < 0.95
    assert found.vectors[1] @ question > found.vectors[0] @ question


# --- tokens under a span


def test_tokens_under_spans_by_hand() -> None:
    start, end = np.array([0, 4, 4, 9, 12], dtype=np.int32), np.array([3, 7, 7, 12, 12], dtype=np.int32)
    first, last = np.array([0, 3, 3, 5, 6, 9, 11, 12, 13]), np.array([3, 4, 5, 6, 10, 12, 13, 13, 20])
    a, b = tokens_under(start, end, first, last)
    under = [list(range(i, j)) for i, j in zip(a, b, strict=True)]
    assert under == [[0], [], [1, 2], [1, 2], [1, 2, 3], [3], [3, 4], [4], []]


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_texts(name: str) -> None:
    """Every slicing of them: unit rows, counted tokens, nothing unread; all of the text is its ordinary vector where a window holds it."""
    text = TEXTS[name]
    if not text.strip():
        pytest.skip("no chunk can be made of it")
    step = max(len(text) // 12, 1)
    spans = [(0, 0, len(text)), *((0, at, min(at + size, len(text))) for at in range(0, len(text), step) for size in (1, step))]
    spans = sorted({span for span in spans if not text[span[1] : span[2]].isspace()})
    found = late().embed_spans([Document("hostile", text)], chunk_set(spans))
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    (document,) = late().read([text])
    for (_, first, last), tokens in zip(spans, found.tokens.tolist(), strict=True):
        expected = np.count_nonzero((np.maximum(document.end, document.start + 1) > first) & (document.start < last))
        assert tokens == expected
    if len(document.ids) <= 254:
        at = spans.index((0, 0, len(text)))
        assert np.abs(found.vectors[at] - own().embed([text], "passage").vectors[0]).max() < 1e-5


def test_a_chunk_without_a_token_has_the_vector_of_its_text() -> None:
    text = "gauge \x01\x02\x03 gauge"
    found = late().embed_spans([Document("d", text)], chunk_set([(0, 0, 5), (0, 6, 9), (0, 10, 15)]))
    assert found.tokens.tolist() == [1, 0, 1]
    assert np.array_equal(found.vectors[1], own().embed(["\x01\x02\x03"], "passage").vectors[0])


def test_no_chunks_give_no_rows() -> None:
    found = late().embed_spans([Document("d", "gauge")], chunk_set([]))
    assert found.vectors.shape == (0, 384)
    assert (found.worked, found.kept) == (0, 0)


# --- what it took, and determinism

CORPUS = [LONG[:1500], "", SENTENCES[0], LONG[1500:2200], SENTENCES[0], "\x01"]


def corpus_chunks(size: int = 12, step: int = 12) -> tuple[list[Document], ChunkSet]:
    documents = [Document(str(number), text) for number, text in enumerate(CORPUS)]
    return documents, chunk_set([span for number, text in enumerate(CORPUS) if text for span in windows_of_words(text, size, step, number)])


def test_one_pass_serves_every_size_and_what_it_took_is_told(tmp_path: Path) -> None:
    embedder = with_cache(late(), tmp_path / "vectors", max_bytes=PLENTY)
    told: list[tuple[int, int]] = []
    first = embedder.embed_spans(*corpus_chunks(), lambda done, total: told.append((done, total)))
    layouts = [late().windows(own().unit.measure(text).total).lengths.sum() for text in CORPUS]
    once = int(layouts[0] + layouts[2] + layouts[3])
    assert passed(first) == (first.worked, first.kept) == (once, int(layouts[4]))
    assert told == sorted(told)
    assert told[-1] == (once + layouts[4], once + layouts[4])
    assert {total for _, total in told} == {told[-1][1]}
    repeated = corpus_chunks()[1].doc == 4
    assert np.array_equal(first.cached, repeated)
    second = embedder.embed_spans(*corpus_chunks(30, 10))
    assert passed(second) == (0, once + layouts[4])
    assert second.cached.all()


def test_rows_do_not_depend_on_company_caches_or_order(tmp_path: Path) -> None:
    documents, chunks = corpus_chunks()
    together = late().embed_spans(documents, chunks)
    for number in (0, 2, 3, 4):
        rows = np.flatnonzero(chunks.doc == number)
        alone = chunk_set([(0, int(chunks.start[row]), int(chunks.end[row])) for row in rows])
        assert np.array_equal(late().embed_spans([documents[number]], alone).vectors, together.vectors[rows])
    for _ in range(2):
        embedder = with_cache(LateEmbedder(minilm_package()), tmp_path / "vectors", max_bytes=PLENTY)
        assert np.array_equal(embedder.embed_spans(documents, chunks).vectors, together.vectors)
    unkept = with_cache(late(), tmp_path / "none" / "vectors", max_bytes=0)
    assert np.array_equal(unkept.embed_spans(documents, chunks).vectors, together.vectors)
    again = unkept.embed_spans(documents, chunks)
    assert again.worked == 0, "memory serves where the disk may not"


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
import numpy as np
from test_late_chunking import corpus_chunks, late, with_cache, PLENTY
embedder = with_cache(late(), Path(sys.argv[1]) / "vectors", max_bytes=PLENTY) if len(sys.argv) > 2 else late()
np.save(sys.argv[-1], embedder.embed_spans(*corpus_chunks()).vectors)
"""


@pytest.mark.slow
def test_two_processes_give_the_same_bits_and_share_the_store(tmp_path: Path) -> None:
    script = SCRIPT.format(tests=str(Path(__file__).parent))
    names = [str(tmp_path / f"{number}.npy") for number in range(2)]
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), name]) for name in names]
    assert [writer.wait(timeout=900) for writer in writers] == [0, 0]
    expected = late().embed_spans(*corpus_chunks()).vectors
    assert all(np.array_equal(np.load(name), expected) for name in names)
    after = with_cache(late(), tmp_path / "vectors", max_bytes=PLENTY).embed_spans(*corpus_chunks())
    assert after.worked == 0
    assert np.array_equal(after.vectors, expected)
    assert not list(tmp_path.rglob("*.draft"))


# --- the store


def made(number: int, tokens: int = 40) -> DocumentStates:
    random = np.random.default_rng(number)
    edges = np.arange(tokens, dtype=np.int32)
    return DocumentStates(
        edges, edges + 1, random.standard_normal((tokens, 8)).astype(np.float16), random.standard_normal((2, 8)).astype(np.float32), 2
    )


def same(found: DocumentStates | None, expected: DocumentStates) -> bool:
    names = ("start", "end", "states", "rest")
    return found is not None and found.around == 2 and all(np.array_equal(getattr(found, name), getattr(expected, name)) for name in names)


def key(number: int) -> str:
    return f"{number:032x}"[::-1]


def test_what_is_kept_comes_back_mapped_and_read_only(tmp_path: Path) -> None:
    DiskStates(tmp_path, "model", max_bytes=PLENTY).save(key(1), made(1))
    found = DiskStates(tmp_path, "model", max_bytes=PLENTY).find(key(1))
    assert same(found, made(1))
    assert found is not None
    assert not found.states.flags.owndata
    assert not found.states.flags.writeable
    assert DiskStates(tmp_path, "other", max_bytes=PLENTY).find(key(1)) is None
    assert DiskStates(tmp_path, "model", max_bytes=PLENTY).find(key(2)) is None


@pytest.mark.parametrize("place", [0, 9, 30, 44, 60, 700, -1])
def test_a_flipped_byte_is_noticed_anywhere(tmp_path: Path, place: int, caplog: pytest.LogCaptureFixture) -> None:
    DiskStates(tmp_path, "model", max_bytes=PLENTY).save(key(1), made(1))
    (path,) = tmp_path.rglob("*.states")
    raw = bytearray(path.read_bytes())
    raw[place] ^= 1
    path.write_bytes(raw)
    store = DiskStates(tmp_path, "model", max_bytes=PLENTY)
    assert store.find(key(1)) is None
    assert store.damaged == 1
    assert "computed again" in caplog.text
    store.save(key(1), made(1))
    assert same(store.find(key(1)), made(1))


@pytest.mark.parametrize("length", [0, 20, 48, 500, -1])
def test_a_truncated_file_is_made_again(tmp_path: Path, length: int) -> None:
    embedder = with_cache(late(), tmp_path / "vectors", max_bytes=PLENTY)
    expected = embedder.embed_spans(*whole(SENTENCES[:2]))
    for path in tmp_path.rglob("*.states"):
        path.write_bytes(path.read_bytes()[:length])
    again = with_cache(late(), tmp_path / "vectors", max_bytes=PLENTY).embed_spans(*whole(SENTENCES[:2]))
    assert (again.worked, again.kept) == (expected.worked, 0)
    assert np.array_equal(again.vectors, expected.vectors)


WRITER = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_late_chunking import DiskStates, key, made
store, number = DiskStates(Path(sys.argv[1]), "model", max_bytes=10**9), 0
while True:
    store.save(key(number % 40), made(number % 40, 3000))
    number += 1
    print(number, flush=True)
"""


def test_a_writer_killed_at_work_leaves_only_right_files(tmp_path: Path) -> None:
    script = WRITER.format(tests=str(Path(__file__).parent))
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        assert writer.stdout is not None
        for _ in range(10):
            writer.stdout.readline()
    time.sleep(0.005)
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait(timeout=30)
        assert writer.stdout is not None
        writer.stdout.close()
    store = DiskStates(tmp_path, "model", max_bytes=PLENTY)
    found = [store.find(key(number)) for number in range(40)]
    assert sum(states is not None for states in found) >= 10
    assert store.damaged == 0
    assert all(states is None or same(states, made(number, 3000)) for number, states in enumerate(found))


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_the_folder_stays_below_its_bound_and_what_is_in_use_stays(tmp_path: Path) -> None:
    each = made(0).nbytes + 48
    bound = 10 * each
    store = DiskStates(tmp_path, "model", max_bytes=bound)
    for number in range(30):
        store.save(key(number), made(number))
        assert size_of(tmp_path) <= bound
    assert [store.find(key(number)) is not None for number in range(30)] == [True] * 10 + [False] * 20
    assert store.refused == 20
    for path in tmp_path.rglob("*.states"):
        os.utime(path, (1, 1))
    later = DiskStates(tmp_path, "another model", max_bytes=bound)
    later.save(key(50), made(50))
    assert same(later.find(key(50)), made(50)), "what nobody used since goes"
    assert size_of(tmp_path) <= bound
    assert DiskStates(tmp_path, "model", max_bytes=bound - 1).find(key(0)) is None or size_of(tmp_path) <= bound


def test_more_than_the_bound_in_one_document_is_not_kept(tmp_path: Path) -> None:
    store = DiskStates(tmp_path, "model", max_bytes=1000)
    store.save(key(1), made(1))
    assert store.find(key(1)) is None
    assert size_of(tmp_path) == 0


def test_memory_takes_what_the_disk_does_not_and_is_bounded(tmp_path: Path) -> None:
    memory = MemoryStates(DiskStates(tmp_path, "model", max_bytes=0), 3 * made(0).nbytes)
    for number in range(5):
        memory.save(key(number), made(number))
    assert [memory.find(key(number)) is not None for number in range(5)] == [True, True, True, False, False]
    assert not list(tmp_path.rglob("*"))


def test_states_can_be_pruned(tmp_path: Path) -> None:
    for model in ("old", "new"):
        store = DiskStates(tmp_path, model, max_bytes=PLENTY)
        for number in range(5):
            store.save(key(number), made(number))
    for path in (tmp_path / "old").rglob("*.states"):
        os.utime(path, (1, 1))
    draft = tmp_path / "old" / "00" / "x.draft"
    draft.parent.mkdir(exist_ok=True)
    draft.write_bytes(b"left behind")
    os.utime(draft, (1, 1))
    before = size_of(tmp_path)
    freed = prune_states(tmp_path, before // 2)
    assert before - size_of(tmp_path) == freed >= before // 2
    assert not draft.exists()
    assert all(store.find(key(number)) is not None for number in range(5))
    assert prune_states(tmp_path, PLENTY) == 0
    assert prune_states(tmp_path / "absent", 0) == 0


def test_a_folder_that_cannot_be_used_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "states").write_text("a file stands where the folder should be")
    embedder = with_cache(late(), tmp_path / "vectors", max_bytes=PLENTY)
    found = embedder.embed_spans(*corpus_chunks())
    assert np.array_equal(found.vectors, late().embed_spans(*corpus_chunks()).vectors)
    assert caplog.text.count("going on without") == 1


def test_a_folder_that_cannot_be_pruned_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    DiskStates(tmp_path, "model", max_bytes=PLENTY).save(key(1), made(1))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "not allowed")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StoreError, match="not allowed"):
        prune_states(tmp_path, 0)


# --- what is refused, and what identity covers


def test_identity_covers_pooling_and_overlap() -> None:
    identities = {own().identity, late().identity, late(33).identity}
    assert len(identities) == 3
    assert LateEmbedder(minilm_package()).identity == late().identity == minilm("late").identity


def test_the_yaml_files_offer_late_pooling(tiny_mean: Path) -> None:
    assert isinstance(load_embedder("minilm"), SentenceTransformerEmbedder)
    assert isinstance(load_embedder("minilm", pooling="late"), LateEmbedder)
    assert isinstance(load_embedder("sentence_transformer", model=str(tiny_mean), pooling="late", late_overlap=3), LateEmbedder)


def test_models_that_pool_otherwise_are_refused(tmp_path: Path, tiny_mean: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    with pytest.raises(ConfigError, match=r"embedder\.pooling=late: .* by cls; a model that pools by the mean would do"):
        from_model(str(tiny_model(tmp_path / "cls")), pooling="late")
    with pytest.raises(ConfigError, match=r"embedder\.pooling=mean: own .* or late would do"):
        from_model(str(tiny_mean), pooling="mean")
    static = StaticEmbedding(Tokenizer.from_file(str(tiny_mean / "tokenizer.json")), embedding_dim=8)
    SentenceTransformer(modules=[static], device="cpu").save(str(tmp_path / "static"), create_model_card=False)
    with pytest.raises(ConfigError, match="in a static model no token knows its neighbours"):
        from_model(str(tmp_path / "static"), pooling="late")


@pytest.mark.parametrize("overlap", [-1, 129, 10**6])
def test_overlaps_that_cannot_work_are_refused(overlap: int) -> None:
    with pytest.raises(ConfigError, match=rf"embedder\.late_overlap={overlap}: .* 0 to 128"):
        minilm("late", overlap)


def test_a_prompt_that_leaves_no_step_is_refused(tiny_mean: Path) -> None:
    embedder = LateEmbedder(SentenceTransformerEmbedder(str(tiny_mean), passage_prompt="abcdefghijkl"), 11)
    with pytest.raises(ConfigError, match="less than the 10 tokens"):
        embedder.embed_spans(*whole(["a lock"]))


@pytest.mark.parametrize("more", [{"context": ("Title: ",)}, {"also": ("Title",)}])
def test_nothing_can_be_put_before_or_beside_a_chunk(more: dict[str, Any]) -> None:
    with pytest.raises(ImpossibleCell, match="context=none"):
        late().embed_spans([Document("d", "gauge")], chunk_set([(0, 0, 5)], **more))


def test_states_that_are_not_finite_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    given = own().engine.states

    def broken(work: Any) -> Any:
        for batch, rows in given(work):
            rows[0][3, 5] = 1e6  # more than float16 holds
            yield batch, rows

    monkeypatch.setattr(own().engine, "states", broken)
    with pytest.raises(PartError, match="not finite in float16"):
        late().embed_spans(*whole([SENTENCES[0]]))


# --- mutations: these faults must be seen by the tests above


def test_offsets_off_by_one_token_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    given = spans_module.tokens_under

    def shifted(start: Any, end: Any, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        a, b = given(start, end, first, last)
        return a + 1, np.minimum(b + 1, len(start))

    documents, chunks = whole([" ".join(SENTENCES[:2])])
    chunks = replace(chunks, start=chunks.start, end=np.array([len(SENTENCES[0])]))
    right = late().embed_spans(documents, chunks).vectors
    monkeypatch.setattr(spans_module, "tokens_under", shifted)
    assert np.abs(late().embed_spans(documents, chunks).vectors - right).max() > 1e-3


def test_special_tokens_left_out_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    given = spans_module.pool

    def without(kept: DocumentStates, *rest: Any) -> Any:
        return given(replace(kept, rest=np.zeros_like(kept.rest), around=0), *rest)

    monkeypatch.setattr(spans_module, "pool", without)
    found: LateEmbedded = late().embed_spans(*whole(SENTENCES[:2]))
    assert np.abs(found.vectors - own().embed(SENTENCES[:2], "passage").vectors).max() > 1e-3
