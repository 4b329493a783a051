"""Every mistake is told in one line that says what would do, with exit status 2, before any work."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from front_cases import QUICK, Said, call, write_corpus

SMALL = (*QUICK, "dataset.documents=1")


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for results, in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "outputs"


def refused(said: Said, outputs: Path) -> str:
    """The one line; fails where there is more, or work was done."""
    assert said.status == 2, said
    assert len(said.lines) == 1, said.err
    assert said.out == ""
    for name in ("cells", "rankings", "sweeps"):
        assert not list(outputs.glob(f"{name}/*"))
    assert said.lines[0].startswith("chunk-sweep ")
    return said.lines[0]


MISTAKES: dict[str, tuple[str, ...]] = {
    # what is typed: words that the line must hold
    "strategy=nope": ("strategy=nope", "document", "fixed", "recursive", "sentence"),
    "embedder=nope": ("embedder=nope", "hashing", "minilm"),
    "retriever=nope": ("retriever=nope", "bm25", "dense", "hybrid", "random"),
    "dataset=nope": ("dataset=nope", "folder, handbook"),
    "tracking=nope": ("tracking=nope", "files, mlflow"),
    "select=nope": ("select=nope", "default"),
    "experiment=nope": ("experiment=nope", "quickstart"),
    "colour=red": ("colour", "--help"),
    "strategy.colour=red": ("colour", "--help"),
    "+strategy.colour=red": ("strategy", "colour"),
    "budget.colour=red": ("colour", "--help"),
    "strategy": ("'strategy'", "KEY=VALUE"),
    "size=abc": ("size=abc", "whole number"),
    "size=1.5": ("size=1.5", "whole number"),
    "size=0": ("size=0", "1 or more"),
    "size=-5": ("size=-5", "1 or more"),
    "overlap=0.1": ("overlap=0.1", "10%"),
    "overlap=abc": ("overlap=abc", "10%"),
    "overlap=-3": ("overlap=-3", "0 or more"),
    "overlap=100%": ("overlap=100%", "under 100%"),
    "overlap=24": ("overlap=24", "smaller than size=24"),
    "unit=foo": ("unit=foo", "words, chars"),
    "unit=tiktoken:foo": ("unit=tiktoken:foo", "cl100k_base"),
    "budget.tokenizer=tokens": ("budget.tokenizer=tokens", "minilm"),
    "budget.tokenizer=foo": ("foo", "words"),
    "budget.sizes=[]": ("budget.sizes=[]", "at least one"),
    "budget.sizes=[[1]]": ("budget.sizes", "whole number"),
    "budget.sizes=[-1]": ("budget.sizes=[-1]", "from 1 up"),
    "budget.sizes=[much]": ("budget.sizes", "much", "whole number"),
    "scoring.ks=[0]": ("scoring.ks=[0]", "from 1 up"),
    "scoring.ks=5": ("scoring.ks", "5"),
    "scoring.copies=x": ("scoring.copies=x", "any or labelled"),
    "scoring.resamples=0": ("scoring.resamples=0", "from 2 "),
    "scoring.seed=-1": ("scoring.seed=-1", "from 0 up"),
    "select.metric=nope": ("select.metric=nope", "complete_at_5"),
    "select.metric=complete_at_4": ("select.metric=complete_at_4", "complete_at_5"),
    "select.metric=half_answer_rate_at_5": ("select.metric=half_answer_rate_at_5", "better the higher", "complete_at_5"),
    "select.metric=chunks": ("select.metric=chunks", "complete_at_5"),
    "budget.sizes=[64]": ("select.metric=complete_within_2048", "complete_within_64"),
    "select.alpha=2": ("select.alpha=2", "between 0 and 1"),
    "select.alpha=much": ("select.alpha=much", "number"),
    "select.baseline.size=abc": ("select.baseline.size=abc", "whole number"),
    "select.baseline.overlap=abc": ("select.baseline.overlap=abc", "10%"),
    "rerun=perhaps": ("rerun=perhaps", "true or false"),
    "cache_gigabytes=-1": ("cache_gigabytes=-1", "from 0 up"),
    "size=24,48": ("size=24,48", "--multirun"),
    "dataset.documents=0": ("dataset.documents=0", "1 or more"),
    "dataset.documents=many": ("dataset.documents=many", "whole number"),
    "--colour": ("--colour", "--help"),
    "--config-dir=/nowhere/at/all": ("--config-dir=/nowhere/at/all", "no such folder"),
    "outputs=~/results": ("outputs=~/results", "quote", "'outputs=\"~/results\"'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_one_run(mistake: str, outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(call(capsys, "run", *SMALL, f"outputs={outputs}", mistake), outputs)
    for words in MISTAKES[mistake]:
        assert words in line


GRIDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("size=24,abc",): ("size=abc", "whole number"),
    ("strategy=fixed,nope",): ("strategy=nope", "recursive"),
    ("overlap=0,0.1",): ("overlap=0.1", "10%"),
    ("embedder=hashing,nope",): ("embedder=nope", "minilm"),
    ("outputs=one,two",): ("outputs", "one value for the whole grid"),
    ("select.metric=complete_at_5,complete_at_3",): ("select", "one value for the whole grid"),
    ("size=12,24", "overlap=24"): ("not one of them is possible", "smaller than size=12", "smaller than size=24"),
    ("dataset=folder", "~dataset.documents", "dataset.path=/nowhere/a,/nowhere/b"): ("/nowhere/a", "no such folder"),
}


@pytest.mark.parametrize("words", GRIDS, ids=" ".join)
def test_a_mistake_in_a_grid(words: tuple[str, ...], outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(call(capsys, "run", *SMALL, f"outputs={outputs}", "-m", *words), outputs)
    for part in GRIDS[words]:
        assert part in line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["embedder=sentence_transformer", "embedder.model=nobody/no-such-model"], "nobody/no-such-model"),
        (["embedder=sentence_transformer", "embedder.model=/nowhere/model"], "/nowhere/model"),
        (["embedder=sentence_transformer"], "embedder.model"),
    ],
)
def test_a_model_that_is_not_to_be_had(words: list[str], told: str, outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told in refused(call(capsys, "run", *SMALL[1:], f"outputs={outputs}", *words), outputs)


def test_impossible_cells_of_a_grid_are_skipped_and_counted(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "run", *SMALL, f"outputs={outputs}", "-m", "size=24,48", "overlap=0,24")
    assert said.status == 0, said.err
    assert "3 ran, 1 impossible" in said.out
    assert "impossible: recursive size=24 overlap=24 hashing: overlap=24: must be smaller than size=24" in said.out
    record = json.loads(next(outputs.glob("sweeps/*/sweep.json")).read_text(encoding="utf-8"))
    assert [item["label"] for item in record["impossible"]] == ["recursive size=24 overlap=24 hashing"]


def corpus_with(folder: Path, **files: str | None) -> Path:
    """A small corpus in which `questions` or `corpus` (a file's text; None: no such file) is as given."""
    write_corpus(folder, documents=1)
    for name, text in files.items():
        path = folder / f"{name}.jsonl"
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text, encoding="utf-8")
    return folder


QUESTION = '{"id": "q", "question": "What?", "answers": [{"evidence": [{"doc": "notice-0.md", "quote": "Notice 0"}]}]}\n'
DATA: dict[str, tuple[dict[str, str | None], tuple[str, ...]]] = {
    "no questions": ({"questions": None}, ("questions.jsonl", "no such file")),
    "a torn line": ({"questions": QUESTION + '{"id": "r", "quest\n'}, ("questions.jsonl, line 2",)),
    "no object": ({"questions": QUESTION + "[]\n"}, ("questions.jsonl, line 2",)),
    "a quote that is nowhere": ({"questions": QUESTION.replace("Notice 0", "Notice 9")}, ("questions.jsonl, line 1", "Notice 9")),
    "a document that is nowhere": ({"questions": QUESTION.replace("notice-0", "notice-9")}, ("questions.jsonl", "notice-9")),
    "a filter without meaning": ({"questions": QUESTION.replace("}\n", ', "filter": {"year": {"above": 3}}}\n')}, ("questions.jsonl", "year")),
    "twice the same id": ({"questions": QUESTION * 2}, ("questions.jsonl, line 2", "'q'")),
    "no question at all": ({"questions": ""}, ("dataset=harbour", "no questions")),
}


@pytest.mark.parametrize("name", DATA)
def test_a_mistake_in_the_data(name: str, outputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, told = DATA[name]
    folder = corpus_with(tmp_path / "harbour", **files)
    line = refused(call(capsys, "run", *QUICK, "dataset=folder", f"dataset.path={folder}", f"outputs={outputs}"), outputs)
    for part in told:
        assert part in line


@pytest.mark.parametrize("path", ["/nowhere/at/all", "questions.jsonl", "~nobody-here/docs"])
def test_a_path_that_is_not_there(path: str, outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("questions.jsonl").write_text("")
    line = refused(call(capsys, "run", *QUICK, "dataset=folder", f'dataset.path="{path}"', f"outputs={outputs}"), outputs)
    assert path in line


def test_a_folder_without_its_path(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(call(capsys, "run", *QUICK, "dataset=folder", f"outputs={outputs}"), outputs)
    assert "dataset.path" in line


def test_a_tilde_without_quotes(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(call(capsys, "run", "dataset=folder", "dataset.path=~/docs", f"outputs={outputs}"), outputs)
    assert """'dataset.path="~/docs"'""" in line


@pytest.fixture
def two_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, Path, Path]:
    """outputs, and two cells on the same questions, the second worse."""
    outputs = tmp_path / "outputs"
    assert call(capsys, "run", *SMALL[:-1], "dataset.documents=2", f"outputs={outputs}", "-m", "size=8,60").status == 0
    cells = sorted(outputs.glob("cells/*"), key=lambda path: -json.loads((path / "result.json").read_text())["metrics"]["complete_within_2048"])
    return outputs, cells[0], cells[1]


def test_gate(two_results: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, better, worse = two_results
    assert call(capsys, "gate", str(better), "--baseline", str(worse / "result.json")).status == 0
    said = call(capsys, "gate", str(worse), "--baseline", str(better))
    assert (said.status, said.err) == (1, "")
    assert "questions lost:" in said.out
    assert "FAILED" in said.out
    for words, told in (
        ([str(worse)], "--baseline"),
        ([], "--baseline"),
        (["/nowhere", "--baseline", str(better)], "/nowhere"),
        ([str(worse), "--baseline", "/nowhere"], "/nowhere"),
        ([str(worse), "--baseline", str(better), "--metric", "nope"], "--metric=nope"),
        ([str(worse), "--baseline", str(better), "--metric", "half_answer_rate_at_5"], "better the higher"),
        ([str(worse), "--baseline", str(better), "--max-drop", "3"], "--max-drop"),
        ([str(worse), "--baseline", str(better), "--max-drop", "much"], "--max-drop"),
        ([str(worse), "--baseline", str(better), "--colour"], "--colour"),
    ):
        said = call(capsys, "gate", *words)
        assert (said.status, len(said.lines), said.out) == (2, 1, ""), said
        assert told in said.err
    with (better / "questions.parquet").open("ab") as file:
        file.write(b"0")
    assert "damaged" in call(capsys, "gate", str(better), "--baseline", str(worse)).err
    other = tmp_path / "other"
    assert call(capsys, "run", *SMALL, f"outputs={other}").status == 0
    (cell,) = other.glob("cells/*")
    assert "same questions" in call(capsys, "gate", str(cell), "--baseline", str(worse)).err


def test_report(two_results: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs, better, _ = two_results
    (sweep,) = outputs.glob("sweeps/*")
    where = ("--outputs", str(outputs))
    listed = call(capsys, "report", "list", *where)
    assert sweep.name in listed.out
    assert call(capsys, "report", "list", "--outputs", str(tmp_path / "none")).status == 0
    shown = call(capsys, "report", sweep.name[:12], *where)
    assert (shown.status, shown.err) == (0, "")
    assert "recursive size=60" in shown.out
    for words, told in (
        (["nope", *where], sweep.name),
        ([sweep.name, *where, "--metric", "nope"], "nope"),
        ([sweep.name, *where, "--colour"], "--colour"),
    ):
        said = call(capsys, "report", *words)
        assert (said.status, len(said.lines)) == (2, 1), said
        assert told in said.err
    shutil.rmtree(better)
    said = call(capsys, "report", sweep.name, *where)
    assert (said.status, len(said.lines)) == (2, 1)
    assert "gone or damaged" in said.err
    (sweep / "sweep.json").write_text("{")
    assert "can't be read" in call(capsys, "report", sweep.name, *where).err


def test_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = call(capsys, "data", "check", str(write_corpus(tmp_path / "harbour")))
    assert (good.status, good.err) == (0, "")
    assert "# harbour" in good.out
    bad = corpus_with(tmp_path / "bad", questions=QUESTION.replace("Notice 0", "Notice 9"))
    for words, told in (
        ([], "verb"),
        (["nope"], "nope"),
        (["check"], "folder"),
        (["check", "/nowhere"], "/nowhere"),
        (["check", str(bad)], "questions.jsonl, line 1"),
        (["check", str(bad), "--colour"], "--colour"),
    ):
        said = call(capsys, "data", *words)
        assert (said.status, len(said.lines), said.out) == (2, 1, ""), said
        assert told in said.err
    assert call(capsys, "data", "check", str(bad), "--warn").status in (0, 1)


def test_an_unknown_verb(capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "sweep")
    assert (said.status, len(said.lines)) == (2, 1)
    assert "run, data, report, gate" in said.err


def test_an_interval_is_no_grid(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(call(capsys, "run", *SMALL, f"outputs={outputs}", "--multirun", "size=interval(1,9)"), outputs)
    assert "size=interval(1,9)" in line
    assert "hydra/sweeper=optuna" in line


@pytest.mark.parametrize(
    ("mistake", "held"),
    [
        ("retriever=related retriever.field=nope", ("retriever.field=nope", "links")),
        ("retriever=recency retriever.field=nope", ("retriever.field=nope", "no document has a date")),
        ("retriever=collapse_duplicates retriever@retriever.first=recency retriever.first.field=nope", ("field=nope", "no document has a date")),
        ("embedder=tei embedder.model=m embedder.dim=0", ("embedder.dim=0", "from 2 up")),
    ],
)
def test_what_the_documents_lack_is_told_before_any_work(
    mistake: str, held: tuple[str, ...], outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.perf_counter()
    words = [word for word in SMALL if not (word.startswith("embedder=") and "embedder=" in mistake)]
    line = refused(call(capsys, "run", *words, f"outputs={outputs}", *mistake.split()), outputs)
    for word in held:
        assert word in line
    assert time.perf_counter() - began < 10, "no server was waited for"
