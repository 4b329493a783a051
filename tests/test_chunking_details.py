"""What each strategy promises beyond the common contract."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sentencex import get_sentence_boundaries

from harness.chunking import Pieces, chunk_documents, digest, resolve_overlap
from harness.chunking.base import Chunker
from harness.chunking.document import DocumentChunker
from harness.chunking.fixed import FixedChunker
from harness.chunking.headings import heading_spans
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.chunking.sentences import sentence_starts
from harness.errors import ConfigError, PartError
from harness.types import Document
from harness.units import CharUnit, TiktokenUnit, Unit, WordUnit
from harness.units.base import Ruler

CL100K = TiktokenUnit("cl100k_base")
HARBOUR = "Boats in the harbour pay by the night, boats in the harbour pay by the tide, and boats in the harbour pay on leaving."


def chunks_of(chunker: Chunker, text: str, unit: Unit | None = None) -> list[str]:
    pieces = chunker.split(text, (unit or CharUnit()).measure(text))
    return [text[start:end] for start, end in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)]


# Fixed windows


def test_windows_tile_the_text_and_start_at_every_stride() -> None:
    text = "abcdefghij" * 7
    assert "".join(chunks_of(FixedChunker(9), text)) == text
    assert FixedChunker(20, 5).split(text, CharUnit().measure(text)).start.tolist() == [0, 15, 30, 45, 60]
    assert FixedChunker(20, 5, keep_tail=False).split(text, CharUnit().measure(text)).start.tolist() == [0, 15, 30, 45, 60]
    assert FixedChunker(25, 15).split(text, CharUnit().measure(text)).start.tolist() == [0, 10, 20, 30, 40, 50, 60]
    assert FixedChunker(25, 15, keep_tail=False).split(text, CharUnit().measure(text)).start.tolist() == [0, 10, 20, 30, 40, 50]


def test_token_windows_of_repeated_words_stay_where_they_are() -> None:
    ruler = CL100K.measure(HARBOUR)
    for size, overlap in ((6, 2), (4, 3), (9, 0)):
        pieces = FixedChunker(size, overlap, keep_tail=False).split(HARBOUR, ruler)
        assert pieces.start.tolist() == ruler.cuts[:-1][:: size - overlap][: len(pieces.start)].tolist()
        assert pieces.end[-1] == len(HARBOUR)
        assert (pieces.end[:-1] < len(HARBOUR)).all(), "no window lies wholly inside the one before"


def test_a_window_never_cuts_a_character_of_several_tokens() -> None:
    text = "Seal 🦭, otter 🦦, 鯨, and the ᚠ rune; again 🦭🦭🦭 and 🦦."
    ruler = CL100K.measure(text)
    for size in (3, 4, 5, 7):
        pieces = FixedChunker(size).split(text, ruler)
        assert "".join(text[a:b] for a, b in zip(pieces.start, pieces.end, strict=True)) == text
        assert ruler.size(pieces.start, pieces.end).max() <= size
    alone = FixedChunker(1).split("🦭", CL100K.measure("🦭"))
    assert (alone.start.tolist(), alone.end.tolist(), alone.notes) == ([0], [1], {"oversize": 1})


def test_with_heavy_steps_windows_return_to_the_grid() -> None:
    ruler = Ruler(np.array([0, 1, 2, 3, 4, 5, 6, 7, 8], np.int64), np.array([0, 1, 2, 5, 6, 7, 8, 9, 10], np.int64))
    pieces = FixedChunker(6, 3, keep_tail=False).split("abcdefgh", ruler)
    assert list(zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)) == [(0, 4), (3, 7), (4, 8)]
    no_overlap = FixedChunker(4).split("abcdefgh", ruler)
    assert list(zip(no_overlap.start.tolist(), no_overlap.end.tolist(), strict=True)) == [(0, 2), (2, 4), (4, 8)]


@settings(max_examples=200, deadline=None)
@given(weights=st.lists(st.integers(1, 6), min_size=1, max_size=60), size=st.integers(1, 12), share=st.floats(0, 0.99), keep_tail=st.booleans())
def test_windows_over_any_weights(weights: list[int], size: int, share: float, keep_tail: bool) -> None:
    overlap = int(size * share)
    before = np.concatenate(([0], np.cumsum(weights))).astype(np.int64)
    ruler = Ruler(np.arange(len(before), dtype=np.int64), before)
    pieces = FixedChunker(size, overlap, keep_tail).split("x" * len(weights), ruler)
    measured = ruler.size(pieces.start, pieces.end)
    alone = (measured > size) & (pieces.end - pieces.start == 1)
    assert (alone | (measured <= size)).all()
    assert pieces.notes.get("oversize", 0) == alone.sum()
    assert (pieces.start[0], pieces.end[-1]) == (0, len(weights))
    assert (np.diff(pieces.start) > 0).all()
    assert (pieces.start[1:] <= pieces.end[:-1]).all(), "nothing is left out"
    assert (ruler.size(pieces.start[1:], pieces.end[:-1]) <= overlap).all()
    if not keep_tail:
        assert (np.diff(pieces.end) > 0).all(), "no window lies inside the one before"


def test_blank_windows_are_left_out() -> None:
    assert chunks_of(FixedChunker(4), "abcd        efgh") == ["abcd", "efgh"]


# Sentences


def test_sentences_are_packed_and_overlap_by_whole_sentences() -> None:
    text = "One one one. Two two. Three three three. Four. Five five five five."
    assert chunks_of(SentenceChunker(28), text) == ["One one one. Two two.", "Three three three. Four.", "Five five five five."]
    assert chunks_of(SentenceChunker(28, 9), text) == ["One one one. Two two.", "Two two. Three three three.", "Four. Five five five five."]
    assert chunks_of(SentenceChunker(100, 90), text) == [text]


@settings(max_examples=100, deadline=None)
@given(lengths=st.lists(st.integers(1, 12), min_size=1, max_size=30), size=st.integers(1, 60), share=st.floats(0, 0.99))
@example(lengths=[1, 3, 3], size=9, share=0.75)
def test_every_chunk_brings_a_new_sentence(lengths: list[int], size: int, share: float) -> None:
    text = " ".join("X" + "y" * length + "." for length in lengths)
    pieces = SentenceChunker(size, int(size * share)).split(text, CharUnit().measure(text))
    assert (np.diff(pieces.start) > 0).all()
    assert (np.diff(pieces.end) > 0).all()


def test_n_sentences_a_chunk_ignore_size() -> None:
    text = "A dog ran. It was late. Nobody saw. The gate stood open."
    counted = SentenceChunker(7, 3, sentences_per_chunk=2)
    assert chunks_of(counted, text) == ["A dog ran. It was late.", "Nobody saw. The gate stood open."]
    assert counted == SentenceChunker(500, 0, sentences_per_chunk=2) != SentenceChunker(500, 0, sentences_per_chunk=3)
    assert counted.split(text, CharUnit().measure(text)).notes == {"unbounded": 2}


def test_a_sentence_larger_than_size_is_divided() -> None:
    text = "Short one. A rather long sentence that goes on\nover two lines without any stop until here. Short two."
    assert chunks_of(SentenceChunker(40), text) == [
        "Short one.",
        "A rather long sentence that goes on",
        "over two lines without any stop",
        "until here. Short two.",
    ]


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True])
def test_a_count_of_sentences_is_a_whole_number(value: object) -> None:
    with pytest.raises(ConfigError, match="sentences_per_chunk"):
        SentenceChunker(10, sentences_per_chunk=value)  # type: ignore[arg-type]


def test_sentence_starts_in_several_scripts_and_far_into_a_text() -> None:
    line = "雨です。傘はありますか？はい、あります！"
    text = line * 900
    assert sentence_starts(text, "ja").tolist() == [at for block in range(900) for at in (block * 20, block * 20 + 4, block * 20 + 12) if at]
    arabic = "أين المفتاح؟ المفتاح هنا. شكرا."
    assert [arabic[at:].split()[0] for at in sentence_starts(arabic, "ar")] == ["المفتاح", "شكرا."]
    english = 'We met Mr. Stone at No. 5 for 3.5 hours. She said "Stop. Wait." Was it late? ' * 400
    whole = [int(boundary["start_index"]) for boundary in get_sentence_boundaries("en", english)][1:]
    for front in range(20):
        assert (sentence_starts("x" * front + english, "en") - front).tolist() == whole, "where a window ends does not matter"
    assert sentence_starts("word " * 5000, "en").tolist() == []
    assert sentence_starts("", "en").tolist() == []


# Recursive

SECTIONS = (
    "# Ferry\n\n## Fares\n\nAdults pay four euros. Children pay two.\n\nDogs travel free, unless they take a seat.\n\n"
    "Storms\n------\n\nIn a storm the ferry stays in port. Tickets stay valid.\n"
)


def test_the_coarsest_boundary_within_reach_decides() -> None:
    fares, storms = SECTIONS[: SECTIONS.index("Storms")].rstrip(), SECTIONS[SECTIONS.index("Storms") :].rstrip()
    assert chunks_of(RecursiveChunker(140), SECTIONS) == [fares, storms]
    assert chunks_of(RecursiveChunker(500), SECTIONS) == [SECTIONS.rstrip()]
    assert chunks_of(RecursiveChunker(80), SECTIONS)[:2] == [
        "# Ferry\n\n## Fares\n\nAdults pay four euros. Children pay two.",
        "Dogs travel free, unless they take a seat.",
    ]


def test_a_heading_stays_with_what_follows() -> None:
    for size in range(45, 140):
        for chunk in chunks_of(RecursiveChunker(size), SECTIONS):
            assert not chunk.endswith(("# Ferry", "Fares", "Storms", "------")), (size, chunk)


def test_repeated_passages_keep_their_own_places() -> None:
    notice = "Mind the step at the door."
    text = "\n\n".join(f"Room {letter}\n\n{notice}" for letter in "ABCDEFGH")
    pieces = RecursiveChunker(30).split(text, CharUnit().measure(text))
    assert (np.diff(pieces.start) > 0).all()
    assert pieces.start.tolist() == [at for room in range(8) for at in (room * 36, room * 36 + 8)]


def test_overlap_reaches_back_to_a_sentence_else_a_word_else_a_character() -> None:
    text = "The tide turns at noon. Boats leave then. Nobody waits for long on the wall."
    assert chunks_of(RecursiveChunker(64, 18), text) == [
        "The tide turns at noon. Boats leave then.",
        "Boats leave then. Nobody waits for long on the wall.",
    ]
    assert chunks_of(RecursiveChunker(64, 16), text)[1] == "leave then. Nobody waits for long on the wall."
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    assert chunks_of(RecursiveChunker(4, 1), words, WordUnit()) == [
        "alpha beta gamma",
        "gamma delta epsilon zeta",
        "zeta eta theta iota",
        "iota kappa",
    ]
    assert chunks_of(RecursiveChunker(10, 3), "x" * 21) == ["x" * 7, "x" * 10, "x" * 10]


def test_no_crumb_is_left_before_a_coarser_boundary() -> None:
    text = "Aaaa aaaa aaaa. Bbbb bbbb bbbb. Cccc cccc cccc. Dd.\n\nEeee eeee eeee eeee eeee eeee eeee eeee."
    assert chunks_of(RecursiveChunker(48), text)[:2] == ["Aaaa aaaa aaaa. Bbbb bbbb bbbb.", "Cccc cccc cccc. Dd."]


def test_separators_of_ones_own() -> None:
    text = "Clause 1: rent is due monthly; late rent costs five euros. Clause 2: no pets; fish are fine. Clause 3: none."
    got = chunks_of(RecursiveChunker(60, separators=[r"(?=Clause \d)", "word"]), text)  # type: ignore[arg-type]
    assert got == ["Clause 1: rent is due monthly; late rent costs five euros.", "Clause 2: no pets; fish are fine. Clause 3: none."]
    whole = RecursiveChunker(10, separators=("paragraph",)).split("far too long for ten\n\nfits", CharUnit().measure("far too long for ten\n\nfits"))
    assert (whole.end - whole.start).tolist() == [20, 4]
    assert whole.notes == {"oversize": 1}


@pytest.mark.parametrize("separators", [(), "word", ("paragraf",), ("(",), (7,), ("",), None])
def test_separators_that_mean_nothing_are_refused(separators: object) -> None:
    with pytest.raises(ConfigError, match="separators"):
        RecursiveChunker(10, separators=separators)  # type: ignore[arg-type]


# Headings


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_headings_are_those_of_commonmark(line_end: str) -> None:
    text = line_end.join(
        [
            "# Pumps ##",
            "```sh",
            "# primes the pump",
            "```",
            "    # an indented block",
            "",
            "<!--",
            "# switched off",
            "-->",
            "",
            "#hashtag and #7",
            "",
            "Valves",
            "===",
            "- item",
            "---",
            "> # quoted",
            "",
            "~~~",
            "Fence",
            "-----",
            "~~~",
            "   ### Seals",
        ]
    )
    start, end = heading_spans(text)
    assert [text[a:b].strip().split(line_end)[0] for a, b in zip(start, end, strict=True)] == ["# Pumps ##", "Valves", "### Seals"]


def test_front_matter_and_byte_order_mark_are_not_headings() -> None:
    front = "\ufeff---\ntitle: Pumps\n# by hand\n---\n"
    start, _ = heading_spans(front + "# Pumps\n")
    assert start.tolist() == [len(front)]
    assert heading_spans("---\n\nA rule above.\n\n# Head\n\n---\n")[0].tolist() == [20]
    assert heading_spans("No heading at all.\n")[0].tolist() == []


# Documents, overlap, chunk sets


def test_documents_stay_whole() -> None:
    assert chunks_of(DocumentChunker(), "\n  One note.\n\nTwo.\u3000\n") == ["One note.\n\nTwo."]


@pytest.mark.parametrize(
    ("typed", "size", "units"),
    [(0, 9, 0), (40, 120, 40), ("40", 99, 40), ("0%", 6, 0), ("10%", 256, 26), ("10%", 5, 1), ("10%", 4, 0), ("12.5%", 100, 13), (" 99.9% ", 10, 10)],
)
def test_overlap_in_units_or_as_a_share(typed: str | int, size: int, units: int) -> None:
    assert resolve_overlap(typed, size) == units


@pytest.mark.parametrize("typed", [0.1, 40.0, 1.5, float("nan"), "abc", "", "%", "-5", -5, "100%", "250%", "1e1%", "10 %", "٣", "٣%", True, None])
def test_other_overlaps_are_refused(typed: object) -> None:
    with pytest.raises(ConfigError, match=r"overlap=.*(share|%)"):
        resolve_overlap(typed, 100)  # type: ignore[arg-type]
    if typed == 0.1:
        with pytest.raises(ConfigError, match="write 10% for a share"):
            resolve_overlap(0.1, 100)


def test_a_chunk_set_is_in_document_order_with_notes_summed() -> None:
    documents = [Document("a", "one two three"), Document("b", " \n"), Document("c", "w" * 30)]
    rulers = [CharUnit().measure(document.text) for document in documents]
    chunks = chunk_documents(RecursiveChunker(8, separators=("word",)), documents, rulers)
    assert chunks.doc.tolist() == [0, 0, 2]
    assert chunks.notes == {"oversize": 1}
    assert chunks.indexed_texts(documents) == ["one two", "three", "w" * 30]
    assert chunks.returned_start is chunks.start
    assert len(chunk_documents(FixedChunker(5), [], [])) == 0


def test_equal_chunk_sets_of_different_strategies_are_recognised() -> None:
    documents = [Document("a", "A short note."), Document("b", "And another.")]
    rulers = [CharUnit().measure(document.text) for document in documents]
    digests = {digest(chunk_documents(chunker, documents, rulers)) for chunker in (FixedChunker(99), RecursiveChunker(50), DocumentChunker())}
    assert len(digests) == 1
    assert digest(chunk_documents(FixedChunker(5), documents, rulers)) not in digests


@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [
        ([3, 0], [5, 2], "starts fall"),
        ([0, 0], [2, 2], "stands twice"),
        ([0], [99], "from 0 to 99 in a text of 9"),
        ([-1], [3], "from -1"),
        ([3], [5], "white space"),
        ([4], [4], "empty"),
        ([0, 1], [2], "one length"),
    ],
)
def test_a_chunker_that_breaks_the_contract_is_named(start: list[int], end: list[int], problem: str) -> None:
    class Broken:
        def split(self, text: str, ruler: Ruler) -> Pieces:
            return Pieces(np.array(start, np.int64), np.array(end, np.int64))

    text = "abc  defg"
    with pytest.raises(PartError, match=f"Broken.* on document 'd': .*{problem}"):
        chunk_documents(Broken(), [Document("d", text)], [CharUnit().measure(text)])


def test_jsonl_lines_with_rare_separators_keep_their_offsets() -> None:
    text = json.loads('"First\\u2028line of the log.\\u0085Second entry;\\u000b third.\\u2029New paragraph\\u001c ends."')
    for chunker in (FixedChunker(11), SentenceChunker(20), RecursiveChunker(20, 4)):
        pieces = chunker.split(text, CharUnit().measure(text))
        seen = {at for a, b in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True) for at in range(a, b)}
        assert all(sign.isspace() for at, sign in enumerate(text) if at not in seen)
    assert chunks_of(RecursiveChunker(52), text)[1] == "New paragraph\x1c ends."


def test_packing_is_never_worse_than_a_plain_model() -> None:
    """On words of random lengths the recursive strategy with words alone fills chunks as a plain loop does."""
    rng = random.Random(5)
    for _ in range(50):
        words = ["v" * rng.randint(1, 9) for _ in range(rng.randint(1, 40))]
        size = rng.randint(9, 30)
        plain: list[str] = []
        for word in words:
            if plain and len(plain[-1]) + 1 + len(word) <= size:
                plain[-1] += " " + word
            else:
                plain.append(word)
        got = chunks_of(RecursiveChunker(size, separators=("word",)), " ".join(words))
        assert len(got) == len(plain)
        assert got[:-2] == plain[:-2], "only the last two may share out their words"
