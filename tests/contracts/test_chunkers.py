"""The contract of harness/chunking/base.py, for every YAML in conf/strategy. A strategy added there is tested because it exists."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from chunking_cases import STRATEGIES, TEXTS, UNITS, check_contract, is_external, load_strategy, takes_size, unit
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.chunking import chunk_documents, digest
from harness.errors import ConfigError, ImpossibleCell
from harness.types import Document
from harness.units import measure_all

SIZED = [name for name in STRATEGIES if takes_size(name)]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("unit_name", UNITS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_contract_on_hostile_texts(strategy: str, unit_name: str, text: str) -> None:
    sized = strategy in SIZED
    for size, overlap in ((1, 0), (7, 3), (20, 0), (20, 19), (64, 10), (5000, 500)) if sized else ((0, 0),):
        pieces = check_contract(text, load_strategy(strategy, size, overlap), unit(unit_name), overlap, size if sized else None)
        assert bool(len(pieces.start)) == bool(text.strip())


_piece = st.sampled_from([*"ab .?!\n\r\t#-`|。、؟é\u0301\u200d\u00a0ß\ud800\x00", "👍🏽", "日本", "\r\n", "\n\n", "# ", "```\n", "word", "[SEP]"])
_text = st.lists(st.one_of(_piece, st.characters()), max_size=120).map("".join)


@pytest.mark.parametrize("unit_name", UNITS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=50, deadline=None)
@given(text=_text, size=st.integers(1, 40), share=st.floats(0, 0.99))
def test_contract_on_any_text(strategy: str, unit_name: str, text: str, size: int, share: float) -> None:
    overlap = int(size * share)
    sized = strategy in SIZED
    check_contract(text, load_strategy(strategy, size, overlap), unit(unit_name), overlap if sized else 0, size if sized else None)


@pytest.mark.parametrize("strategy", SIZED)
def test_impossible_parameters_are_refused_before_any_work(strategy: str) -> None:
    with pytest.raises(ImpossibleCell, match="overlap=8"):
        load_strategy(strategy, 8, 8)
    for size, overlap in ((0, 0), (-3, 0), (8, -1), ("8", 0), (8, 1.5), (True, 0)):
        with pytest.raises(ConfigError, match=r"size|overlap"):
            load_strategy(strategy, size, overlap)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_equal_parameters_make_equal_chunkers(strategy: str) -> None:
    assert load_strategy(strategy, 50, 5) == load_strategy(strategy, 50, 5)
    assert hash(load_strategy(strategy, 50, 5)) == hash(load_strategy(strategy, 50, 5))
    assert (load_strategy(strategy, 50, 5) == load_strategy(strategy, 51, 5)) == (strategy not in SIZED)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if not is_external(name)])
def test_a_megabyte_on_one_line_takes_seconds(strategy: str) -> None:
    text = "the quay is closed " * 26_000 + "z" * 500_000
    measure = unit("tiktoken:cl100k_base")
    ruler = measure.measure(text)
    begun = time.perf_counter()
    load_strategy(strategy, 128, 12).split(text, ruler)
    assert time.perf_counter() - begun < 5


def _digest_of_all() -> str:
    documents = [Document(name, text) for name, text in TEXTS.items()]
    total = hashlib.sha256()
    for strategy in STRATEGIES:
        chunks = chunk_documents(load_strategy(strategy, 20, 4), documents, measure_all(unit("tokens"), documents))
        total.update(digest(chunks).encode())
    return total.hexdigest()


def test_a_fresh_process_gives_the_same_chunks() -> None:
    here = Path(__file__).resolve()
    code = "import sys; sys.path[:0] = sys.argv[1:]; import test_chunkers; sys.stdout.write(test_chunkers._digest_of_all())"
    command = [sys.executable, "-c", code, str(here.parent), str(here.parents[2])]
    other = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True)
    assert other.stdout == _digest_of_all()
