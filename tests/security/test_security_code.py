"""What the program's own source may not do: read pickles, load YAML that makes objects, turn text into code or markup."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "harness").rglob("*.py"), ROOT / "setup.py", ROOT / "packaging_steps.py"])
PICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib", "jsonpickle", "pandas.read_pickle"}
MAKES_CODE = {"eval", "exec", "compile", "__import__"}
READS_PICKLES = {"read_pickle", "to_pickle"}
INSTANTIATES = {"harness/hydra_front/workshop.py", "harness/hydra_front/kinds.py", "harness/hydra_front/launching/__init__.py"}
"""The places that call what a configuration names: parts, and the launcher of a command."""


def dangers(tree: ast.AST, file: str = "") -> Iterator[str]:
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (f"imports {name}" for name in names if name.split(".")[0] in PICKLES)
        if isinstance(node, ast.ImportFrom) and node.module == "hydra.utils" and file not in INSTANTIATES:
            yield "instantiates"
        if isinstance(node, ast.Call):
            yield from _call_dangers(node)


def _call_dangers(node: ast.Call) -> Iterator[str]:
    said = ast.unparse(node.func)
    options = {option.arg: option.value for option in node.keywords}
    last = said.rsplit(".", 1)[-1]
    if said in MAKES_CODE:
        yield f"calls {said}"
    if said.startswith("yaml.") and last not in ("safe_load", "safe_dump"):
        yield f"calls {said}"
    if last in READS_PICKLES:
        yield f"calls {said}"
    if said == "torch.load" and ast.unparse(options.get("weights_only", ast.Constant(False))) != "True":
        yield "torch.load without weights_only"
    if "allow_pickle" in options and ast.unparse(options["allow_pickle"]) != "False":
        yield "allow_pickle"
    if "shell" in options and ast.unparse(options["shell"]) != "False":
        yield "a shell"


def test_no_module_reads_pickles_or_makes_code_of_text() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {danger}"
        for path in SOURCES
        for danger in dangers(ast.parse(path.read_bytes()), path.relative_to(ROOT).as_posix())
    }
    assert found == set()


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from joblib import load",
        "eval(text)",
        "yaml.load(text, Loader=yaml.UnsafeLoader)",
        "yaml.unsafe_load(text)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path, allow_pickle=True)",
        "pd.read_pickle(path)",
        "subprocess.run(text, shell=True)",
        "from hydra.utils import instantiate",
    ],
)
def test_the_search_notices_each(line: str) -> None:
    assert list(dangers(ast.parse(line))) != []


def test_the_page_makes_no_markup_of_text() -> None:
    ways = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|DOMParser|createContextualFragment")
    for path in (ROOT / "harness" / "report" / "page" / "assets").glob("*.js"):
        assert not ways.search(path.read_text(encoding="utf-8")), path
    for path in (ROOT / "harness" / "report" / "page" / "templates").glob("*.html"):
        assert "|safe" not in path.read_text(encoding="utf-8").replace(" ", ""), path
