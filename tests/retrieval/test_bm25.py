"""Words of many scripts, and BM25 against the library that computes it, used plainly."""

from __future__ import annotations

import bm25s
import numpy as np
import pytest
from retrieval_toys import NO_PROBES, everything, lists, ranked, shelf_of, some

from harness.errors import ConfigError
from harness.retrieval.base import Queries
from harness.retrieval.bm25 import Bm25Retriever
from harness.retrieval.words import words

SENTENCES = {
    "English": ("The lamp was returned within thirty days.", ["the", "lamp", "was", "returned", "within", "thirty", "days"]),
    "Japanese": ("返品は30日以内です。", ["返品", "品は", "30", "日以", "以内", "内で", "です"]),
    "Thai": ("น้ำดี", ["น้ํา", "าดี"]),
    "Lao": ("ພາສາ", ["ພາ", "າສ", "ສາ"]),
    "Khmer": ("ខ្មែរ", ["ខ្មែ", "មែរ"]),
    "Myanmar": ("မြန်မာ", ["မြန်", "န်မာ"]),
    "Arabic": ("ذَهَبَ الوَلَدُ إلى المدرسة.", ["ذَهَبَ", "الوَلَدُ", "إلى", "المدرسة"]),
    "Hebrew": ("שָׁלוֹם לצה״ל", ["שָׁלוֹם", "לצה״ל"]),
    "Hindi": ("यह हिन्दी में लिखा है।", ["यह", "हिन्दी", "में", "लिखा", "है"]),
    "Persian": ("می‌خواهم بروم", ["می‌خواهم", "بروم"]),
    "Korean": ("반품은 30일 이내", ["반품은", "30일", "이내"]),
    "emoji": ("I ❤️ 👩‍👩‍👧👍🏽!🇩🇪🇫🇷", ["i", "❤", "👩‍👩‍👧", "👍🏽", "🇩🇪", "🇫🇷"]),
    "full width": ("ＡＢＣ１２ ｶﾞｷ", ["abc12", "ガキ"]),
    "decomposed": ("Cafe\u0301 CAFÉ", ["café", "café"]),
    "code": ("max_tokens=512", ["max", "tokens", "512"]),
    "mixed": ("iPhone15を買う", ["iphone15", "を買", "買う"]),
    "one character": ("猫", ["猫"]),
    "nothing": (" \r\n—… ", []),
}


@pytest.mark.parametrize("script", SENTENCES)
def test_words_of_a_script(script: str) -> None:
    text, expected = SENTENCES[script]
    assert [word.encode() for word in words(text)] == [word.encode() for word in expected]
    assert words(text + "\r\n\t" + text) == expected * 2


FOUND = {
    "Japanese": (
        ["返品は購入から三十日以内に限ります。", "送料はお客様の負担となります。", "営業時間は午前九時から午後六時までです。"],
        "送料は誰が負担しますか。",
        1,
    ),
    "Thai": (["คืนสินค้าได้ภายในสามสิบวัน", "ลูกค้าเป็นผู้จ่ายค่าขนส่ง", "ร้านเปิดเวลาเก้าโมงเช้า"], "ใครจ่ายค่าขนส่ง", 1),
    "Arabic": (["يمكن إرجاع السلع خلال ثلاثين يوما.", "يدفع العميل رسوم الشحن.", "يفتح المتجر في التاسعة صباحا."], "من يدفع رسوم الشحن؟", 1),
    "Hindi": (["सामान तीस दिनों के भीतर लौटाया जा सकता है।", "भाड़ा ग्राहक को देना होगा।", "दुकान सुबह नौ बजे खुलती है।"], "दुकान कब खुलती है?", 2),
    "emoji": (["the first is 🍎", "the second is 🍌🚲", "the third is 👩‍🚀"], "who sent 👩‍🚀 today", 2),
}


@pytest.mark.parametrize("script", FOUND)
def test_a_question_finds_its_sentence(script: str) -> None:
    texts, question, answer = FOUND[script]
    shelf, queries = shelf_of(texts), Queries((question,), np.zeros((1, 4), dtype=np.float32))
    assert ranked(Bm25Retriever(), shelf, queries, everything(1, 3))[0][0] == answer
    elsewhere = shelf_of([*texts[1:], texts[0]])
    assert ranked(Bm25Retriever(), elsewhere, queries, everything(1, 3))[0][0] == (answer - 1) % 3


def library_order(texts: list[list[str]], question: list[str], pool: np.ndarray, **settings: object) -> tuple[list[int], np.ndarray]:
    plain = bm25s.BM25(**settings)
    plain.index(texts, show_progress=False)
    known = [word for word in question if word in plain.vocab_dict]
    scores = plain.get_scores(known) if known else np.zeros(len(texts), dtype=np.float32)
    order = pool[np.argsort(-scores[pool], kind="stable")]
    return order.tolist(), scores[order]


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
@pytest.mark.parametrize("depth", [1, 7, 1000])
def test_it_is_the_library_over_the_same_words(method: str, depth: int) -> None:
    random = np.random.default_rng(depth)
    stock = [f"w{number}" for number in range(60)] + ["zzz"]
    texts = [random.choice(stock[:60], random.integers(0, 30)).tolist() for _ in range(80)]
    asked = [random.choice(stock, 5).tolist() for _ in range(12)] + [["zzz"], []]
    shelf = shelf_of([" ".join(text) for text in texts])
    candidates = some(random, len(asked), 80)
    index = Bm25Retriever(k1=1.2, b=0.6, method=method, delta=0.7).build(shelf)  # type: ignore[arg-type]
    ranking = index.search(Queries(tuple(map(" ".join, asked)), np.zeros((14, 4), dtype=np.float32)), candidates, depth, NO_PROBES)
    assert np.isnan(ranking.score_mean).all()
    scores = np.split(ranking.score, ranking.indptr[1:-1])
    for question, found in enumerate(lists(ranking)):
        pool = np.flatnonzero(candidates.documents[candidates.group[question]])
        order, expected = library_order(texts, asked[question], pool, k1=1.2, b=0.6, method=method, delta=0.7)
        assert found == order[:depth]
        np.testing.assert_array_equal(scores[question], expected[:depth].astype(np.float64))
    shuffled = library_order(
        texts[::-1], asked[0], np.flatnonzero(candidates.documents[candidates.group[0]]), k1=1.2, b=0.6, method=method, delta=0.7
    )
    assert lists(ranking)[0] != shuffled[0][:depth], "the comparison would notice texts that belong to other chunks"


def test_chunks_that_share_no_word_come_last_in_order() -> None:
    shelf = shelf_of(["x", "lamp", "y", "lamp lamp oil", "z"])
    ranking = Bm25Retriever().build(shelf).search(Queries(("Lamp?",), np.zeros((1, 4), dtype=np.float32)), everything(1, 5), 5, NO_PROBES)
    assert lists(ranking)[0][2:] == [0, 2, 4]
    assert ranking.score[2:].tolist() == [0, 0, 0]


@pytest.mark.parametrize("texts", [[], [""], ["—", " "]])
def test_nothing_to_count(texts: list[str]) -> None:
    index = Bm25Retriever().build(shelf_of(texts))
    ranking = index.search(Queries(("lamp",), np.zeros((1, 4), dtype=np.float32)), everything(1, len(texts)), 5, NO_PROBES)
    assert lists(ranking)[0] == list(range(len(texts)))
    assert index.nbytes == 0


def test_stop_words_are_left_out() -> None:
    shelf = shelf_of(["the the the it", "a lamp of the house"])
    asked = Queries(("the lamp",), np.zeros((1, 4), dtype=np.float32))
    assert ranked(Bm25Retriever(b=0), shelf, Queries(("the",), asked.vectors), everything(1, 2))[0] == [0, 1]
    left_out = Bm25Retriever(stopwords="en").build(shelf).search(Queries(("the",), asked.vectors), everything(1, 2), 2, NO_PROBES)
    assert left_out.score.tolist() == [0, 0]
    assert ranked(Bm25Retriever(stopwords="en"), shelf, asked, everything(1, 2))[0] == [1, 0]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"k1": -1}, r"retriever\.k1=-1: a number from 0 to 1,000,000"),
        ({"k1": float("nan")}, r"retriever\.k1=nan"),
        ({"b": 1.5}, r"retriever\.b=1\.5: a number from 0 to 1 would do"),
        ({"b": "high"}, r"retriever\.b=high"),
        ({"method": "bm26"}, r"retriever\.method=bm26: one of lucene"),
        ({"stopwords": "xx"}, r"retriever\.stopwords=xx: null or one of da"),
    ],
)
def test_values_that_mean_nothing_are_refused(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Bm25Retriever(**settings)  # type: ignore[arg-type]
