"""Other people's splitters on real corpora: their chunks at their true place, against a mirror of each document whose every word is unique.

benchmarks/external_splitters.py does the work and says what "true" is verified against; here it runs on the first documents of each corpus.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = 5


@cache
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("external_splitters", ROOT / "benchmarks" / "external_splitters.py")
    assert spec is not None
    assert spec.loader is not None
    sys.path.insert(0, str(ROOT / "benchmarks"))  # it imports its neighbours, as a script can
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def tallies(folder: Path, corpus: str) -> dict[str, Any]:
    return {name: tally for _, name, tally in benchmark().run(folder / "labelled", [corpus], [], DOCUMENTS)}


@pytest.mark.parametrize("corpus", ["anthropic_docs", "contractnli", "jaquad", "squad_half", "xquad_ar"])
def test_chunks_are_at_their_true_place(corpus: str, extra_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = tallies(extra_data, corpus)
    assert len(found) == 10
    for name, tally in found.items():
        with capsys.disabled():
            sys.stdout.write(
                f"\n{corpus}, {name}: {tally.chunks} chunks, {tally.share('true'):.2%} true, {tally.share('mirrored'):.2%} in the mirror"
            )
        assert tally.chunks > 0
        assert tally.unknown <= 0.01 * tally.chunks
        assert tally.share("true") >= 0.999, name
        assert tally.share("mirrored") == 1, name


def test_searching_for_them_would_not_do(extra_data: Path) -> None:
    """The same counts for the first occurrence in the document: the check can fail."""
    found = tallies(extra_data, "anthropic_docs")
    assert all(tally.share("first") < 0.99 for tally in found.values())
