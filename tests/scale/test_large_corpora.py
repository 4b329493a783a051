"""A corpus that stays in its files gives what one held in memory gives, to the last bit, and is noticed when it changes."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from front_cases import QUICK, call
from large_cases import as_files, as_lines, assert_same, both, everything_small, experiment_on, ran

from harness.chunking.fixed import FixedChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.chunking.surroundings import Surroundings
from harness.corpus import digests, stored
from harness.corpus.check import check
from harness.corpus.folder import load_folder
from harness.corpus.stored import Place, StoredDocument, state_of
from harness.embedding import CachedEmbedder, HashingEmbedder, StoredEmbedder
from harness.errors import DataError, LabelError
from harness.filters import candidates_of
from harness.slices import Slices
from harness.types import Corpus, Document


@pytest.mark.parametrize("write", [as_files, as_lines])
def test_it_is_the_same_corpus(write: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, kept = both(write(tmp_path / "harbour"), monkeypatch)  # type: ignore[operator]
    assert kept.stored
    assert not held.stored
    assert not any(document.stored for document in held.documents)
    for name in ("name", "questions", "digest", "questions_digest", "warnings"):
        assert getattr(kept, name) == getattr(held, name), name
    for one, other in zip(held.documents, kept.documents, strict=True):
        assert (one.id, one.text, one.title, one.metadata) == (other.id, other.text, other.title, other.metadata)
        assert (one.length, one.blank) == (other.length, other.blank) == (len(other.text), not other.text.strip())
    assert check(held) == check(kept)
    assert any("repeat the text" in finding.text for finding in check(kept))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"chunker": RecursiveChunker(24, 5)},
        {"chunker": SentenceChunker(24, 0)},
        {"chunker": FixedChunker(16, 4), "around": Surroundings(context="title", returned="parent:64", vectors="heading+body")},
        {"embedder": StoredEmbedder(CachedEmbedder(HashingEmbedder(64)), storage="int8")},
    ],
    ids=["fixed", "recursive", "sentence", "surrounded", "int8"],
)
def test_a_cell_over_it_measures_the_same(changes: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, kept = both(as_files(tmp_path / "harbour"), monkeypatch)
    plain = ran(experiment_on(held, **{"embedder": CachedEmbedder(HashingEmbedder()), **changes}))
    everything_small(monkeypatch, tmp_path / "scratch")
    fresh = {} if "embedder" in changes else {"embedder": HashingEmbedder()}
    assert_same(plain, ran(experiment_on(kept, **{"embedder": CachedEmbedder(HashingEmbedder()), **changes, **fresh})))
    assert list((tmp_path / "scratch").iterdir()) == []
    longer = replace(held, documents=(*held.documents[:-1], Document("plain.md", held.documents[-1].text + "More. " * 40)))
    with pytest.raises(AssertionError):
        assert_same(plain, ran(experiment_on(longer, **{"embedder": CachedEmbedder(HashingEmbedder()), **changes})))


def test_a_command_says_and_writes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder, found = as_lines(tmp_path / "harbour"), []
    for large in (stored.LARGE, 0):
        monkeypatch.setattr(stored, "LARGE", large)
        outputs = tmp_path / f"outputs-{large}"
        said = call(capsys, "run", "dataset=folder", f"dataset.path={folder}", f"outputs={outputs}", *QUICK, "report=true")
        assert said.status == 0, said.err
        (place,) = outputs.glob("cells/*/result.json")
        record = json.loads(place.read_text())
        found.append((record["key"], {name: value for name, value in record["metrics"].items() if not name.startswith("seconds_")}))
    assert found[0] == found[1]
    (page,) = (tmp_path / "outputs-0").glob("sweeps/*/report.html")
    assert "too large for this" in page.read_text(), "the page says why no text is in it"


def test_labels_that_do_not_agree_are_refused_in_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = as_lines(tmp_path / "harbour")
    evidence = {"doc": "plain.md", "quote": "The ferry goes at  nine."}
    row = {"id": "q", "question": "What?", "answers": [{"evidence": [evidence]}]}
    (folder / "questions.jsonl").write_text(json.dumps(row))
    said = []
    for large in (stored.LARGE, 0):
        monkeypatch.setattr(stored, "LARGE", large)
        with pytest.raises(LabelError) as caught:
            load_folder(folder)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "with other white space" in said[0]


_BAD = [('{"id": "x"', "not JSON"), ('{"id": "x"}', "lacks 'text'"), ('{"id": "plain.md", "text": ""}', "stands already")]


@pytest.mark.parametrize(("line", "told"), _BAD)
def test_bad_lines_are_refused_in_the_same_words(line: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, said = as_lines(tmp_path / "harbour"), []
    with (folder / "corpus.jsonl").open("a") as file:
        file.write("\n" + line)
    for large in (stored.LARGE, 0):
        monkeypatch.setattr(stored, "LARGE", large)
        with pytest.raises(DataError) as caught:
            load_folder(folder)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert told in said[0]


@pytest.mark.parametrize("change", ["longer", "touched", "gone"])
def test_a_file_that_changed_is_refused(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, kept = both(as_files(tmp_path / "harbour"), monkeypatch)
    monkeypatch.setattr(stored, "_recent", stored._Recent(0))
    document = next(it for it in kept.documents if it.id == "plain.md")
    path = tmp_path / "harbour" / "documents" / "plain.md"
    assert document.text
    kept.documents[0].text  # noqa: B018  which puts the other out of memory
    if change == "gone":
        path.unlink()
    elif change == "longer":
        path.write_text(path.read_text() + "!")
    else:
        os.utime(path, ns=(1, 1))
    with pytest.raises(DataError, match="has changed" if change != "gone" else "can't be read any more"):
        document.text  # noqa: B018


def test_it_travels_as_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, kept = both(as_files(tmp_path / "harbour"), monkeypatch)
    raw = pickle.dumps(kept)
    assert b"cast off" not in raw.replace(b"Nobody may cast off", b"") or len(raw) < 6000
    back: Corpus = pickle.loads(raw)
    assert [document.text for document in back.documents] == [document.text for document in kept.documents]
    assert back.digest == kept.digest


def test_only_the_last_texts_stay_in_memory(tmp_path: Path) -> None:
    documents = []
    for number in range(3):
        path = tmp_path / f"{number}.txt"
        path.write_text(f"{number} " * 500)
        documents.append(StoredDocument.of(Document(path.name, path.read_text()), Place(path, state_of(path))))
    recent = stored._Recent(limit=2500)
    reads: list[int] = []
    for number in (0, 0, 1, 0, 2, 0, 1):
        place = documents[number].place
        assert recent.get(place, lambda number=number, place=place: (reads.append(number), place.read())[1]) == f"{number} " * 500  # type: ignore[misc]
    assert reads == [0, 1, 2, 1], "of 1049 bytes each, two have room; the one that was asked for longer ago goes"


def test_digests_do_not_depend_on_how_a_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [Document("a", 'Café "quoted" \\ \n\x00\x1f \U0001f986 a\u0308' * 9, "t", {"n": 1}), Document("b", "")]
    rows = [json.dumps([it.id, it.title, it.text, it.metadata], ensure_ascii=False, separators=(",", ":")) for it in documents]
    assert digests._json([documents[0].id, documents[0].title, documents[0].text, documents[0].metadata]) == rows[0]
    whole = digests.documents_digest(documents)
    for size in (1, 2, 7):
        monkeypatch.setattr(digests, "_AT_ONCE", size)
        assert digests.documents_digest(documents) == whole
        assert digests.documents_digest([replace(documents[0], text=documents[0].text[1:]), documents[1]]) != whole


def test_slices_are_a_sequence_of_texts() -> None:
    documents = [Document("a", "one two three"), Document("b", ""), Document("c", "four")]
    doc, start, end = (np.array(it, dtype=np.int64) for it in ([0, 0, 2, 0], [0, 4, 0, 8], [3, 7, 4, 13]))
    texts = Slices(documents, doc, start, end, ("", "x: ", "", ""))
    assert texts == ["one", "x: two", "four", "three"] == list(texts)
    assert (texts[1], texts[-1], texts[1:], texts[::-2], len(texts)) == ("x: two", "three", ["x: two", "four", "three"], ["three", "x: two"], 4)
    assert texts != ["one", "two", "four", "three"]
    with pytest.raises(IndexError):
        texts[4]


def test_filters_and_scopes_need_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, kept = both(as_files(tmp_path / "harbour"), monkeypatch)

    def never(place: Place) -> str:
        raise AssertionError(f"{place} was read")

    monkeypatch.setattr(Place, "read", never)
    monkeypatch.setattr(stored, "_recent", stored._Recent(0))
    assert candidates_of(kept.documents, kept.questions, "document").documents.any()
