"""From quotes to spans: any span is found or told ambiguous, mangled quotes land where they belong, and nothing lands silently elsewhere."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.corpus.bundled import bundled
from harness.errors import ConfigError
from harness.importing import scanning
from harness.importing.canon import canonical, without_markup
from harness.importing.folding import skeleton
from harness.importing.matching import Needle
from harness.importing.quotes import Located, locate
from harness.types import Document, Span

# Short texts over few characters, so that repeats, overlaps and near repeats abound.
NASTY = "ab1 \n\r\t.,-*_#[]()<>&;\"'“”’…ﬁé\u0301\u00ad\u200b\u2028\ufeff\0ßİ²日本ア゙ \U0001f600\ud800"
texts = st.text(alphabet=NASTY, max_size=60) | st.text(max_size=60) | st.text(alphabet="ab ", max_size=40)


def spans_of(text: str, quote: str) -> list[tuple[int, int]]:
    bare = quote.strip()
    front = len(quote) - len(quote.lstrip())
    raw = [at + front for at in range(len(text)) if text.startswith(quote, at)]
    return [(at, at + len(bare)) for at in raw]


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    """Text goes by in blocks of so many characters, so that quotes lie across their borders."""
    usual = scanning._BLOCK
    scanning._BLOCK = size
    try:
        yield
    finally:
        scanning._BLOCK = usual


def test_a_letter_that_folds_to_two_is_one_place() -> None:
    assert locate([Document("0", ";ßß")], [Needle(";ß")])[0].span == Span(0, 0, 2)


@settings(max_examples=400, deadline=None)
@given(st.lists(texts, min_size=1, max_size=3), st.data(), st.booleans())
def test_any_span_is_found_or_told_ambiguous(contents: list[str], data: st.DataObject, scoped: bool) -> None:
    documents = [Document(str(number), text) for number, text in enumerate(contents)]
    doc = data.draw(st.integers(0, len(contents) - 1))
    text = contents[doc]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = text[start:end]
    with blocks_of(data.draw(st.sampled_from([1, 7, 1 << 16]))):
        found, *_ = locate(documents, [Needle(quote, doc if scoped else None), *(Needle(text) for text in contents)])
    if not quote.strip():
        assert found.status == "not found"
        return
    true = {Span(number, *at) for number, content in enumerate(contents) if not scoped or number == doc for at in spans_of(content, quote)}
    if len(true) == 1:
        assert (found.status, found.span) == ("exact", true.pop())
    else:
        assert found.status == "ambiguous"
        assert set(found.spans) == true


@settings(max_examples=200, deadline=None)
@given(texts, st.data())
def test_the_skeleton_of_a_slice_is_a_slice_of_the_skeleton(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    codes, places = skeleton(text)
    inside = (places >= start) & (places < end)
    part, at = skeleton(text[start:end])
    assert part.tolist() == codes[inside].tolist()
    assert (at + start).tolist() == places[inside].tolist()


@settings(max_examples=200, deadline=None)
@given(texts)
def test_the_canonical_form_knows_where_it_comes_from(text: str) -> None:
    found = canonical(text)
    assert len(found.text) == len(found.places)
    assert found.places == sorted(found.places)
    assert len(without_markup(text)) == len(text)


def one(text: str, quote: str, threshold: float = 90.0) -> tuple[Located, str]:
    (found,) = locate([Document("it", text)], [Needle(quote)], threshold)
    return found, text[found.span.start : found.span.end] if found.span else ""


TEXT = (
    "# Hire\r\n\r\nThe **deposit** is “30 €”, and\r\nnever more — except for the ﬁre-\r\nboat, see [the list](https://example.org/a_b(c)). "
    "Caf\u00e9s pay half… Boats are due at 17:00, or 1.5 hours later in fog.\n\n- one oar\n- two oars\n"
)


@pytest.mark.parametrize(
    ("quote", "passage"),
    [
        ('The deposit is "30 €", and never more', "The **deposit** is “30 €”, and\r\nnever more"),
        (
            "never more - except for the fireboat, see the list.",
            "never more — except for the ﬁre-\r\nboat, see [the list](https://example.org/a_b(c)).",
        ),
        ("except for the fire-boat", "except for the ﬁre-\r\nboat"),
        ("Cafe\u0301s pay half...", "Caf\u00e9s pay half…"),
        ("BOATS ARE DUE AT 17:00", "Boats are due at 17:00"),
        ("Boats are\u00a0due\u00adat 17:00;", "Boats are due at 17:00"),
        ("one oar two oars", "one oar\n- two oars"),
    ],
)
def test_typography_white_space_unicode_and_markup_are_no_difference(quote: str, passage: str) -> None:
    found, got = one(TEXT, quote)
    assert (found.status, got) == ("normalised", passage)


def test_figures_are_never_bent() -> None:
    assert one("The fee is 15 euros a day.", "fee is 1.5 euros")[0].status != "normalised"
    assert one("It was settled in the year 1998.", "settled in the year 1999")[0].status == "not found"
    assert one("Open from 3-5 daily, all year.", "Open from 35 daily, all year.")[0].status != "normalised"
    misread, passage = one("There were two kinds of plug and play system here.", "two kinds 0f p1ug and play system")
    assert (misread.status, passage) == ("fuzzy", "two kinds of plug and play system")
    long = "the committee met for the first time in the spring of {} and adopted the rules by a large majority"
    found, _ = one(long.format(1998), long.format(1999))
    assert found.status == "fuzzy"
    assert "1999 in the quote, 1998 there" in found.why


def test_places_are_counted_and_given() -> None:
    found, _ = one("No dogs. No cats. No dogs.", "No dogs.")
    assert (found.status, found.spans) == ("ambiguous", (Span(0, 0, 8), Span(0, 18, 26)))
    many, _ = one("aye " * 2000, "aye")
    assert many.status == "ambiguous"
    assert many.more


def test_one_of_two_near_passages_is_not_chosen() -> None:
    rule = "Members of group {} may take out two boats a day, but never on a Sunday in the winter months."
    text = rule.format("A") + " " + rule.format("B")
    assert one(text, rule.format("C"))[0].status == "ambiguous"


def test_a_passage_that_stands_twice_nearby_is_not_chosen_either() -> None:
    assert one("Nobody swims here. Nobody swims here.", "Nobody swimz here.")[0].status == "ambiguous"


def test_where_too_many_passages_have_its_words_none_is_picked() -> None:
    core = "is independently developed by the Receiving Party"
    texts = [f"vvvvvvvvvv {core} wwwwwwwwww."] * 400
    texts[3] = f"acYdfYvvvv {core} YkmnYwwwww."  # stands out among those that are looked at
    texts[-1] = f"acYdfYgijY {core} YkmnYpqYst."  # is nearer, but has no piece more of the quote
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    (found,) = locate(documents, [Needle(f"acXdfXgijX {core} XkmnXpqXst.")], 75)
    assert (found.status, found.why) == ("ambiguous", "too many passages have its words")


def test_a_quote_that_is_not_there_names_the_nearest_passage() -> None:
    found, _ = one("The harbour closes at dusk in winter and at ten in summer.", "The harbour opens at dawn in winter and at nine in summer.")
    assert found.status == "not found"
    assert found.near is not None
    assert "agrees by" in found.why


@pytest.mark.parametrize("threshold", [49, 101, -1])
def test_a_threshold_that_means_nothing_is_refused(threshold: float) -> None:
    with pytest.raises(ConfigError, match="from 50 to 100"):
        one("a", "a", threshold)


@pytest.mark.parametrize(
    "piece", ["](", "](a", "[", "<!--", "<a", "&", "](((", "[a](", "aaaa", "<!-- ", "1.", '"', "- ", " ", "ﬃ", "\u0301", "a\u00ad"]
)
def test_no_text_takes_more_than_linear_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    began = time.perf_counter()
    quotes = [piece * 40, "nothing like it is there at all", piece * 20_000, "see (" + piece * 9 + ") never"]
    locate([Document("it", text)], [Needle(quote) for quote in quotes])
    assert time.perf_counter() - began < 20


def test_a_long_quote_is_found_but_not_nearly() -> None:
    text = " ".join(f"word{number}" for number in range(9000))
    assert one(text, text[50:-50])[0].status == "exact"
    assert one(text, text[50:-50].replace(" ", "\n"))[0].status == "normalised"
    assert "quote its beginning … and its end" in one(text, text[50:-50].replace("word77", "ward77"))[0].why


MISREAD = {"o": "0", "l": "1", "e": "c", "c": "e", "i": "l", "s": "5", "a": "o", "n": "u", "u": "n", "t": "f", "h": "b", "m": "n"}


def mangle(quote: str, kind: str, dice: random.Random) -> str:
    if kind == "typography":
        return quote.replace('"', "”").replace("'", "’").replace(" - ", " — ").replace("fi", "ﬁ").replace("ff", "ﬀ")
    if kind == "breaks":
        return "".join(dice.choice(["\n", "\r\n", " \u00ad"]) if it == " " and dice.random() < 0.2 else it for it in quote)
    if kind == "misread":
        return "".join(MISREAD.get(it, it) if dice.random() < 0.02 else it for it in quote)
    return quote[dice.randrange(1, 1 + len(quote) // 8) : -dice.randrange(1, 1 + len(quote) // 8)]


def test_mangled_quotes_of_the_handbook_land_where_they_belong() -> None:
    corpus = bundled("handbook")
    true = sorted({it.span for question in corpus.questions for answer in question.answers for it in answer.evidence})
    quotes = [corpus.documents[span.doc].text[span.start : span.end] for span in true]
    for kind in ("typography", "breaks", "misread", "cut"):
        dice = random.Random(kind)
        needles = [Needle(mangle(quote, kind, dice)) for quote in quotes]
        landed: Counter[str] = Counter()
        for needle, found, span in zip(needles, locate(corpus.documents, needles), true, strict=True):
            landed[verdict(found, span, len(needle.quote.strip()) if kind == "cut" else span.end - span.start)] += 1
        assert landed["elsewhere"] == 0, (kind, landed)
        assert landed["right"] >= 0.97 * len(true), (kind, landed)


def verdict(found: Located, span: Span, size: int) -> str:
    if found.span is None:
        return found.status
    if found.span.doc != span.doc:
        return "elsewhere"
    common = min(found.span.end, span.end) - max(found.span.start, span.start)
    return "right" if common >= 0.95 * max(size, found.span.end - found.span.start) else "elsewhere" if common <= 0 else "partly"
