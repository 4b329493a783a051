"""What is published, imported, equals what is labelled; mangled quotes of a real corpus land; 50 MB are searched in a minute."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from harness.corpus.counts import evidence_of
from harness.corpus.folder import load_folder
from harness.importing.base import Imported
from harness.importing.chroma import read_chroma
from harness.importing.contractnli import read_contractnli
from harness.importing.squad import read_squad
from harness.importing.writing import write_corpus
from harness.types import Corpus

ROOT = Path(__file__).resolve().parents[2]


def questions(corpus: Corpus) -> dict[str, tuple[str, set[frozenset[tuple[str, int, int]]], str]]:
    """By id: text less white space at its ends, answers as sets of evidence, filter."""
    return {
        question.id: (
            question.text.strip(),
            {frozenset((corpus.documents[it.span.doc].id, it.span.start, it.span.end) for it in answer.evidence) for answer in question.answers},
            str(dict(question.filter)),
        )
        for question in corpus.questions
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["squad_half", "xquad_ar", "contractnli"])
def test_the_raw_set_is_the_labelled_one(extra_data: Path, tmp_path: Path, name: str) -> None:
    raw = extra_data / "raw"
    imported: Imported = {
        "squad_half": lambda: read_squad(raw / "squad_dev_half.json"),
        "xquad_ar": lambda: read_squad(raw / "xquad_ar.json", prefix="xquad-ar"),
        "contractnli": lambda: read_contractnli(raw / "cnli_dev.json"),
    }[name]()
    got, labelled = write_corpus(imported, tmp_path / name), load_folder(extra_data / "labelled" / name)
    ours, theirs = ({it.id: (it.title, it.text) for it in corpus.documents} for corpus in (got, labelled))
    asked, wanted = questions(got), questions(labelled)
    if name == "contractnli":  # the raw file is its first third
        theirs = {identifier: it for identifier, it in theirs.items() if identifier in ours}
        wanted = {identifier: it for identifier, it in wanted.items() if identifier.split(":")[0] in ours}
    assert ours == theirs
    assert asked == wanted
    assert len(asked) == {"squad_half": 6078, "xquad_ar": 1190, "contractnli": 614}[name]


@pytest.mark.slow
def test_chroma_comes_in_whole(extra_data: Path, tmp_path: Path) -> None:
    imported = read_chroma(extra_data / "raw" / "chroma")
    assert sum(len(answer) for label in imported.questions for answer in label.answers) == 790
    assert sum(note.what == "evidence" for note in imported.notes) == 97
    assert len(imported.notes) == 97
    corpus = write_corpus(imported, tmp_path / "chroma")
    assert (len(corpus.documents), len(corpus.questions)) == (5, 472)
    assert len(list(evidence_of(corpus.questions))) == 768  # neighbours of one answer are merged


def benchmark() -> ModuleType:
    path = ROOT / "benchmarks" / "mangled_quotes.py"
    found = importlib.util.spec_from_file_location("mangled_quotes", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["mangled_quotes"] = module
    found.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_mangled_quotes_of_squad_land_where_they_belong(extra_data: Path) -> None:
    script = benchmark()
    corpus = load_folder(extra_data / "labelled" / "squad_half")
    for name in (*script.MANGLERS, script.ALL):
        counts = script.land(corpus, name, named=False)
        number = sum(count for what, count in counts.items() if not what.startswith("as "))
        assert counts["right"] >= 0.99 * number, (name, counts)
        assert counts["elsewhere"] == 0, (name, counts)


@pytest.mark.slow
def test_ten_thousand_quotes_against_fifty_megabytes_take_less_than_a_minute(extra_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark().speed(load_folder(extra_data / "labelled" / "squad_half"))
    said = capsys.readouterr().out.splitlines()[-1]
    seconds, times = float(said.split(" s,")[0]), float(said.rsplit(" times", 1)[0].rsplit(" ", 1)[1])
    assert seconds < 60, said
    assert times < 3, said
    assert "10,000 right" in said
