"""Every format: what comes in, what is noted, and how bad input is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import import_samples as samples
import pytest

from harness.cli.main import main
from harness.corpus.folder import load_folder
from harness.errors import ConfigError, DataError, HarnessError
from harness.importing.base import Imported
from harness.importing.beir import read_beir
from harness.importing.chroma import read_chroma
from harness.importing.contractnli import read_contractnli
from harness.importing.hf import read_hf
from harness.importing.legalbench import read_legalbench
from harness.importing.sentences import sentences
from harness.importing.squad import read_squad
from harness.importing.writing import verify
from harness.types import Corpus


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    samples.write_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def passages(imported: Imported) -> dict[str, list[list[str | None]]]:
    verify(imported, Path("it"))
    return {label.id: [[it.quote for it in answer] for answer in label.answers] for label in imported.questions}


def notes(imported: Imported) -> set[tuple[str, str, str]]:
    return {(note.fate, note.what, note.id) for note in imported.notes}


def test_squad_joins_paragraphs_and_shifts_offsets(folder: Path) -> None:
    imported = read_squad(folder / "dev-v2.0.json", prefix="mill")
    (document,) = imported.documents
    paragraphs = [it["context"] for it in samples.squad()["data"][0]["paragraphs"]]
    assert (document.id, document.title, document.text) == ("mill-0000", "The Mill", "\n\n".join(paragraphs))
    assert passages(imported) == {
        "m1": [["The mill was built in 1820."]],
        "m2": [["It burned down in 1871, and was built again."]],
        "m3": [["Flour is sold on Fridays."]],
        "m4": [],
    }
    assert notes(imported) == {
        ("repaired", "answer", "m2"),
        ("repaired", "question", "m3"),
        ("dropped", "answer", "m5"),
        ("dropped", "question", "m5"),
    }


def test_squad_with_the_answers_own_words(folder: Path) -> None:
    imported = read_squad(folder / "dev-v2.0.json", evidence="answer")
    assert passages(imported)["m1"] == [["1820"], ["in 1820"]]
    with pytest.raises(ConfigError, match="sentence or answer"):
        read_squad(folder / "dev-v2.0.json", evidence="word")  # type: ignore[arg-type]


def test_articles_of_one_title_in_several_files_are_one_document(folder: Path) -> None:
    (folder / "two").mkdir()
    for number in (1, 2):
        text = json.dumps(samples.squad("v1.1")).replace('"m', f'"{number}m')
        (folder / "two" / f"{number}.json").write_text(text, encoding="utf-8")
    imported = read_squad(folder / "two")
    assert len(imported.documents) == 1
    assert passages(imported)["2m3"] == [["Flour is sold on Fridays."]]


def test_sentences() -> None:
    text = "Dr. X went to the U.S. Army. “Why?” he asked! It cost approx. 4 kg.\nNext line 1990s. Then 3.5 more"
    assert [text[start:end] for start, end in sentences(text)] == [
        "Dr. X went to the U.S. Army.",
        "“Why?” he asked!",
        "It cost approx. 4 kg.",
        "Next line 1990s.",
        "Then 3.5 more",
    ]
    japanese = "初期（いわゆる「明治訳」。新約）では小さくはなかった。次の文。"
    assert [japanese[start:end] for start, end in sentences(japanese)] == ["初期（いわゆる「明治訳」。新約）では小さくはなかった。", "次の文。"]


def test_contractnli_merges_spans_that_touch(folder: Path) -> None:
    imported = read_contractnli(folder / "dev.json")
    assert passages(imported) == {"cnli-7:nda-1": [["Secrets stay secret. They end after five years."]]}
    assert imported.questions[0].filter == {"doc": "cnli-7"}
    assert notes(imported) == {("repaired", "evidence", "cnli-7:nda-1"), ("dropped", "question", "cnli-7:nda-2")}
    assert passages(read_contractnli(folder / "dev.json", not_mentioned=True))["cnli-7:nda-2"] == []


def test_chroma_keeps_the_labelled_one_of_several_places(folder: Path) -> None:
    imported = read_chroma(folder / "chroma")
    assert passages(imported) == {"chroma-0000": [["The buyer pays the carrier."]]}
    assert imported.questions[0].answers[0][0].start == (samples.CARRIERS * 2).rindex("The buyer pays")
    assert notes(imported) == {("noted", "evidence", "chroma-0000")}


def test_chroma_with_offsets_moved_by_one_places_by_words_or_says_so(folder: Path) -> None:
    table = folder / "chroma" / "questions_df.csv"
    at = (samples.CARRIERS * 2).rindex("The buyer pays")
    table.write_bytes(table.read_bytes().replace(str(at).encode(), str(at + 1).encode()))
    moved = read_chroma(folder / "chroma")
    assert moved.questions == ()  # it stands twice, so its words do not say which place is meant
    assert moved.unplaced[0]["id"] == "chroma-0000"
    (folder / "chroma" / "corpora" / "shop.md").write_text(samples.CARRIERS, encoding="utf-8")
    mended = read_chroma(folder / "chroma")
    assert passages(mended) == {"chroma-0000": [["The buyer pays the carrier."]]}
    assert ("repaired", "evidence", "chroma-0000") in notes(mended)


def test_legalbench_reads_the_named_folder(folder: Path) -> None:
    imported = read_legalbench(folder / "benchmarks" / "shop.json")
    assert [document.id for document in imported.documents] == ["shop/returns.md"]
    assert passages(imported) == {"shop-0000": [["Whatever was bought in a sale stays with the buyer."]]}
    assert notes(imported) == {("dropped", "question", "shop-0001")}


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "shop/../../x.md", "C:/x.md", "..\\x.md"])
def test_legalbench_stays_in_its_folder(folder: Path, path: str) -> None:
    broken = samples.legalbench()
    broken["tests"][0]["snippets"][0]["file_path"] = path
    (folder / "benchmarks" / "shop.json").write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(DataError, match=r"tests\[0\].snippets\[0\].*leaves the folder"):
        read_legalbench(folder / "benchmarks" / "shop.json")


def test_beir_takes_whole_documents(folder: Path) -> None:
    imported = read_beir(folder / "scifact")
    assert passages(imported) == {"q1": [[samples.RETURNS.strip()], [samples.CARRIERS.strip()]]}
    assert notes(imported) == {
        ("noted", "corpus", "scifact"),
        ("dropped", "document", "d3"),
        ("dropped", "judgement", "q2 d9"),
        ("dropped", "question", "q2"),
        ("dropped", "question", "q3"),
    }
    assert "existence" in imported.notes[0].why
    together = read_beir(folder / "scifact", together=True)
    assert len(together.questions[0].answers) == 1


def test_hf_reads_parquet_without_the_library(folder: Path) -> None:
    from harness.importing.asking import Columns, Reading

    reading = Reading(Columns(quote="answers.text"), lists="alternatives")
    imported = read_hf("squad-parquet", reading, split="validation", title="title")
    assert passages(imported) == {"h1": [["The buyer pays the carrier."], ["The buyer"]]}
    assert (imported.documents[0].id, imported.documents[0].title) == ("doc-0000", "Carriers")
    rows = [{"question": "Who?", "quote": "The buyer", "context": samples.CARRIERS}, {"question": "Lorry?", "quote": "by lorry", "context": None}]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = read_hf("rows.jsonl")
    assert passages(lines) == {"q0001": [["The buyer"]]}
    assert ("dropped", "row", "2") in notes(lines)
    with pytest.raises(DataError, match="'nowhere' is missing; there are"):
        read_hf("rows.jsonl", context="nowhere")
    with pytest.raises(ConfigError, match=r"chunk-sweep\[hf\]|too old|can't be loaded"):
        read_hf("no/such-dataset")


COMMANDS = {
    "squad": "squad dev-v2.0.json",
    "contractnli": "contractnli dev.json",
    "chroma": "chroma chroma",
    "legalbench-rag": "legalbench-rag benchmarks/shop.json",
    "beir": "beir scifact",
    "csv": "csv questions.csv --documents docs",
    "xlsx": "xlsx questions.xlsx --documents docs",
    "jsonl": "jsonl questions.jsonl --documents docs",
    "hf": "hf squad-parquet --split validation --column-quote answers.text --lists alternatives",
}


def imported_by(command: str, capsys: pytest.CaptureFixture[str], to: str = "out", status: int = 0) -> tuple[Corpus, str]:
    assert main(["data", "import", *command.split(), "--to", to]) == status, capsys.readouterr().err
    return load_folder(to), capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_corpus_is_written_that_loads(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, said = imported_by(COMMANDS[name], capsys)
    assert corpus.questions
    assert "each checked against its document" in said
    stored = json.loads(Path("out/import_report.json").read_text(encoding="utf-8"))
    assert stored["questions_digest"] == corpus.questions_digest
    assert stored["counts"]["questions"] == len(corpus.questions)
    again, _ = imported_by(f"{COMMANDS[name]} --overwrite", capsys)
    assert (again.digest, again.questions_digest) == (corpus.digest, corpus.questions_digest)


@pytest.mark.usefixtures("folder")
def test_what_a_person_changed_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    imported_by(COMMANDS["csv"], capsys)
    mended = Path("out/questions.jsonl").read_text(encoding="utf-8") + "\n"
    Path("out/questions.jsonl").write_text(mended, encoding="utf-8")
    assert main(["data", "import", *COMMANDS["csv"].split(), "--to", "out", "--overwrite"]) == 2
    assert "was changed after it was imported" in capsys.readouterr().err
    assert Path("out/questions.jsonl").read_text(encoding="utf-8") == mended


@pytest.mark.usefixtures("folder")
def test_the_three_tables_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    found = {imported_by(COMMANDS[name], capsys, name)[0].questions_digest for name in ("csv", "xlsx", "jsonl")}
    assert len(found) == 1
    corpus, _ = imported_by(f"{COMMANDS['csv']} --files", capsys, "filed")
    assert (Path("filed/documents/returns.md").read_bytes().decode("utf-8"), corpus.questions_digest) == (samples.RETURNS, found.pop())


Break = Callable[[Any], Any]
BROKEN: list[tuple[str, str, str | Break, str]] = [
    ("squad", "dev-v2.0.json", "", "is empty"),
    ("squad", "dev-v2.0.json", "{", "line 1: not JSON"),
    ("squad", "dev-v2.0.json", "[1]", "the file: found '\\[1\\]'; an object with the key 'data'"),
    ("squad", "dev-v2.0.json", '{"rows": []}', "the key 'data' .* is missing; there are 'rows'"),
    ("squad", "dev-v2.0.json", '{"data": [{"paragraphs": [{"context": 3}]}]}', r"data\[0\].paragraphs\[0\]: 'context' is '3'; it must be a string"),
    ("contractnli", "dev.json", '{"labels": {}}', "the key 'documents'"),
    ("contractnli", "dev.json", json.dumps(samples.contractnli()).replace("[0, 1]", "[0, 9]"), "span number '9'; the contract has spans 0 to 2"),
    (
        "contractnli",
        "dev.json",
        json.dumps(samples.contractnli()).replace("[48, 66]", "[48, 99]").replace("[0, 1]", "[0, 2]"),
        "no \\[start, end\\] within its 66",
    ),
    ("chroma", "chroma/questions_df.csv", "a,b\n1,2\n", "the column 'question' is missing; there are a, b"),
    ("chroma", "chroma/questions_df.csv", 'question,references,corpus_id\nWhy?,"[]",moon\n', "row 1: there is no corpus 'moon'; there are shop"),
    ("chroma", "chroma/questions_df.csv", "question,references,corpus_id\nWhy?,nothing,shop\n", "row 1: 'references' is not JSON"),
    (
        "legalbench-rag",
        "benchmarks/shop.json",
        '{"tests": [{"query": "x", "snippets": [{"file_path": "a", "span": [3, 1]}]}]}',
        "'span' is '\\[3, 1\\]'",
    ),
    ("beir", "scifact/corpus.jsonl", '{"id": "x", "text": "y"}\n', "line 1: the key '_id'"),
    ("beir", "scifact/qrels/test.tsv", "q1 d1 1\n", "line 1: found 'q1 d1 1'; query-id, corpus-id and score are expected"),
    ("beir", "scifact/qrels/test.tsv", "query-id\tcorpus-id\tscore\nx\ty\t1\n", "none of its 1 judgements names a known query and document"),
    (
        "csv",
        "questions.csv",
        "frage,quote\nx,y\n",
        "the column 'question' is missing; there are 'frage', 'quote': name the right one with --column-question NAME",
    ),
    ("csv", "questions.csv", "question,quote\n", "has a heading but no row"),
    ("csv", "questions.csv", "question,quote\nx,y,z\n", "line 2: has 3 cells, the heading 2"),
    ("csv", "questions.csv", "question,question\nx,y\n", "names 'question' twice"),
    ("csv", "questions.csv", 'question,quote\nx,"y\n', "not CSV"),
    ("csv", "questions.csv", "id,question,quote\na,x,y\na,z,y\n", "line 3: the id 'a' stands in line 2 with another question"),
    ("csv", "questions.csv", "id,question,quote\n../a,x,y\n", "has a part '..'"),
    ("xlsx", "questions.xlsx", "no workbook", "is no Excel workbook that can be read"),
    ("jsonl", "questions.jsonl", '{"question": 1\n', "line 1: not JSON"),
]


@pytest.mark.parametrize(("name", "path", "content", "message"), BROKEN, ids=[f"{name}-{number}" for number, (name, *_) in enumerate(BROKEN)])
def test_bad_input_is_told_in_one_line(folder: Path, name: str, path: str, content: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / path).write_text(content, encoding="utf-8")
    assert main(["data", "import", *COMMANDS[name].split(), "--to", "out"]) == 2
    said = capsys.readouterr().err
    assert Path(path).name in said
    assert said.count("\n") == 1
    with pytest.raises(HarnessError, match=message):
        raise HarnessError(said)
    assert not Path("out").exists()
    assert not list(Path().glob(".out*"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "path"), [("squad", "dev-v2.0.json"), ("csv", "questions.csv"), ("beir", "scifact/corpus.jsonl"), ("jsonl", "questions.jsonl")]
)
def test_wrong_encodings_and_missing_files(name: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(path).read_text(encoding="utf-8")
    Path(path).write_bytes(text.replace("e", "é").encode("cp1252"))
    assert main(["data", "import", *COMMANDS[name].split(), "--to", "out"]) == 2
    assert "is not UTF-8; save it as UTF-8" in capsys.readouterr().err
    Path(path).unlink()
    assert main(["data", "import", *COMMANDS[name].split(), "--to", "out"]) == 2
    assert Path(path).name in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "--to"),
        ("--to docs", "holds 'carriers.md' and more; name another folder, or add --overwrite"),
        ("--to docs --overwrite", "replaces only what an import wrote, and it holds 'carriers.md'"),
        ("--to questions.csv", "is a file"),
        ("--to out --threshold 3", "threshold=3.0: a score from 50 to 100"),
        ("--to out --column-role rolle", "the column 'rolle' is missing"),
    ],
)
def test_what_was_typed_is_checked_first(command: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "import", *COMMANDS["csv"].split(), *command.split()]) == 2
    assert message in capsys.readouterr().err
    assert Path("docs/returns.md").is_file()
    assert not Path("out").exists()


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "import"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in COMMANDS)
    for name in COMMANDS:
        with pytest.raises(SystemExit):
            main(["data", "import", name, "--help"])
        assert "chunk-sweep data import" in capsys.readouterr().out.split("Example:")[1]
    assert main(["data", "import", "xml"]) == 2
    assert main(["data", "imporrt"]) == 2
