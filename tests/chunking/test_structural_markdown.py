"""markdown: chunks written out, and what holds for any document."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from contracts.chunking_cases import check_contract, unit
from hypothesis import given, settings
from hypothesis import strategies as st
from structural_cases import chunks_of, least_seconds, pieces_of, shown

from harness.chunking.markdown import MarkdownChunker
from harness.chunking.outline import outline_of
from harness.chunking.recursive import RecursiveChunker
from harness.errors import ConfigError
from harness.types import Document
from harness.units import WordUnit

MANUAL = (
    "# Pumps\n\nFor water.\n\n## Hand pumps\n\nUp and down.\n\n## Motor pumps\n\n### Diesel\n\nRuns long.\n\n### Electric\n\nRuns still.\n\n"
    "# Valves\n\nOpen or shut.\n"
)


def test_sections_that_fit_stay_together_and_small_siblings_share_a_chunk() -> None:
    assert chunks_of(MarkdownChunker(200), MANUAL) == [MANUAL.rstrip()]
    assert chunks_of(MarkdownChunker(125), MANUAL) == [MANUAL[: MANUAL.index("# Valves")].rstrip(), "# Valves\n\nOpen or shut."]
    assert chunks_of(MarkdownChunker(80), MANUAL) == [
        "# Pumps\n\nFor water.\n\n## Hand pumps\n\nUp and down.",
        "## Motor pumps\n\n### Diesel\n\nRuns long.\n\n### Electric\n\nRuns still.",
        "# Valves\n\nOpen or shut.",
    ]
    assert chunks_of(MarkdownChunker(40), MANUAL) == [
        "# Pumps\n\nFor water.",
        "## Hand pumps\n\nUp and down.",
        "## Motor pumps\n\n### Diesel\n\nRuns long.",
        "### Electric\n\nRuns still.",
        "# Valves\n\nOpen or shut.",
    ]


def test_how_sections_are_merged_can_be_chosen() -> None:
    assert chunks_of(MarkdownChunker(60, merge="any"), MANUAL) == [
        "# Pumps\n\nFor water.\n\n## Hand pumps\n\nUp and down.",
        "## Motor pumps\n\n### Diesel\n\nRuns long.",
        "### Electric\n\nRuns still.\n\n# Valves\n\nOpen or shut.",
    ]
    assert chunks_of(MarkdownChunker(500, merge="none"), MANUAL) == chunks_of(MarkdownChunker(40), MANUAL)


def test_levels_that_skip_and_text_before_the_first_heading() -> None:
    text = "Lead in.\n\n# A\n\n#### Deep\n\nFour.\n\n## Mid\n\nTwo.\n\nTop\n===\n\nOne.\n"
    assert chunks_of(MarkdownChunker(30), text) == ["Lead in.", "# A\n\n#### Deep\n\nFour.", "## Mid\n\nTwo.", "Top\n===\n\nOne."]
    assert chunks_of(MarkdownChunker(36), text) == ["Lead in.", "# A\n\n#### Deep\n\nFour.\n\n## Mid\n\nTwo.", "Top\n===\n\nOne."]


TOOLS = (
    "You need these things for it:\n\n- a spanner\n- a rag\n  - clean\n  - dry\n- oil\n\nThen say it aloud:\n\n"
    "```sh\n# prime\npump --prime\n\npump --run\npump --stop\n```\n\nAnd stop.\n"
)


def test_lists_and_code_stay_whole_where_they_fit_and_else_fall_at_items_and_lines() -> None:
    assert chunks_of(MarkdownChunker(60), TOOLS) == [
        "You need these things for it:",
        "- a spanner\n- a rag\n  - clean\n  - dry\n- oil",
        "Then say it aloud:",
        "```sh\n# prime\npump --prime\n\npump --run\npump --stop\n```",
        "And stop.",
    ]
    assert chunks_of(MarkdownChunker(34), TOOLS) == [
        "You need these things for it:",
        "- a spanner",
        "- a rag\n  - clean\n  - dry\n- oil",
        "Then say it aloud:",
        "```sh\n# prime\npump --prime",
        "pump --run\npump --stop\n```",
        "And stop.",
    ]


def test_a_closing_fence_is_never_left_alone() -> None:
    code = "```\naaaa\nbbbb\n```"
    assert chunks_of(MarkdownChunker(13), code) == ["```\naaaa", "bbbb\n```"]
    assert chunks_of(MarkdownChunker(13), code[:-4] + "\ncccc") == ["```\naaaa\nbbbb", "cccc"], "a fence that isn't closed"


def test_items_are_cut_from_the_outermost_list_inward() -> None:
    text = "1. one\n   - aa\n   - bb\n2. two\n\n   more of it\n3. three\n"
    assert chunks_of(MarkdownChunker(24), text) == ["1. one\n   - aa\n   - bb", "2. two\n\n   more of it", "3. three"]
    assert chunks_of(MarkdownChunker(14), text) == ["1. one", "- aa\n   - bb", "2. two", "more of it", "3. three"]
    assert chunks_of(MarkdownChunker(10), text) == ["1. one", "- aa", "- bb", "2. two", "more of it", "3. three"]


def test_code_and_headings_that_only_look_like_headings() -> None:
    text = "# Real\n\n~~~\n# not\nUnder\n-----\n~~~\n\n> # Quoted\n> words\n\n- # Item\n\nSetext of\ntwo lines\n===\nEnd.\n"
    assert chunks_of(MarkdownChunker(1000, merge="none"), text) == [text[: text.index("Setext")].rstrip(), "Setext of\ntwo lines\n===\nEnd."]


def test_a_fence_that_is_never_closed_and_front_matter() -> None:
    text = "---\ntitle: Crane\n# comment\nowner: us\n---\n# Crane\n\n```\none\ntwo\n\n# three\n"
    assert chunks_of(MarkdownChunker(45), text) == ["---\ntitle: Crane\n# comment\nowner: us\n---", "# Crane\n\n```\none\ntwo\n\n# three"]
    assert chunks_of(MarkdownChunker(26), text) == ["---\ntitle: Crane\n# comment", "owner: us\n---", "# Crane", "```\none\ntwo\n\n# three"]
    assert chunks_of(MarkdownChunker(20), text)[-2:] == ["# Crane", "```\none\ntwo\n\n# three"]
    assert chunks_of(MarkdownChunker(19), text)[-2:] == ["# Crane\n\n```\none", "two\n\n# three"]


TABLE = "Weights:\n\n| part | *weight* |\n|------|:--------:|\n| drum | 310&nbsp;kg |\n| `hook` | 40 kg |\n|  | 12 kg |\n| rope |\n\nAs measured.\n"
HEADER = "| part | *weight* |"


def test_a_table_is_split_between_rows_and_later_parts_get_its_header() -> None:
    first = f"{HEADER}\n|------|:--------:|\n| drum | 310&nbsp;kg |"
    rest = ["| `hook` | 40 kg |", "|  | 12 kg |", "| rope |", "As measured."]
    assert shown(MarkdownChunker(200), TABLE) == [("", TABLE.rstrip())]
    assert shown(MarkdownChunker(80), TABLE) == [("", "Weights:\n\n" + first), (HEADER, "\n".join(rest[:3]) + "\n\n" + rest[3])]
    assert shown(MarkdownChunker(80, table="plain"), TABLE) == [("", chunk) for _, chunk in shown(MarkdownChunker(80), TABLE)]


def test_a_table_in_words() -> None:
    got = shown(MarkdownChunker(80, table="words"), TABLE)
    assert [chunk for _, chunk in got] == [chunk for _, chunk in shown(MarkdownChunker(80), TABLE)]
    assert [context for context, _ in got] == ["part = drum; weight = 310 kg", "part = hook; weight = 40 kg\nweight = 12 kg\npart = rope"]


def test_a_table_that_fits_is_whole_even_without_its_heading() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    text = f"# Numbers\n\n{table}\n\nAfter it.\n"
    assert shown(MarkdownChunker(len(table)), text) == [("", "# Numbers"), ("", table), ("", "After it.")]
    with_overlap = [("", "# Numbers"), ("", table), ("| a | b |", "| 3 | 4 |\n\nAfter it.")]
    assert shown(MarkdownChunker(len(table) + 2, 9), text) == with_overlap, "it may be as large as size, not size - overlap"
    assert shown(MarkdownChunker(len(table) + 11), text) == [("", f"# Numbers\n\n{table}"), ("", "After it.")]


def test_a_row_larger_than_size_is_divided_and_its_later_parts_keep_the_header() -> None:
    text = "| k | v |\n|---|---|\n| a | " + "word " * 12 + "|\n| b | short |\n"
    got = shown(MarkdownChunker(30), text)
    assert got == [
        ("", "| k | v |\n|---|---|"),
        ("| k | v |", "| a | word word word word word"),
        ("| k | v |", "word word word word word"),
        ("| k | v |", "word word |\n| b | short |"),
    ]
    words = shown(MarkdownChunker(30, table="words"), text)
    assert words[-1] == ("| k | v |\nk = b; v = short", got[-1][1])


def test_a_header_larger_than_size_is_not_repeated() -> None:
    text = "| " + "a long name " * 4 + "| b |\n|---|---|\n" + "| 1 | 2 |\n" * 8
    pieces = pieces_of(MarkdownChunker(40), text)
    assert pieces.context is None
    assert pieces.notes["long_header"] == 2


def test_parts_of_a_section_overlap_and_sections_do_not() -> None:
    text = "# A\n\nOne is here. Two is here. Three is here. Four is here.\n\n# B\n\nFive is here.\n"
    assert chunks_of(MarkdownChunker(36, 14), text) == [
        "# A\n\nOne is here.",
        "One is here. Two is here.",
        "Two is here. Three is here.",
        "Three is here. Four is here.",
        "# B\n\nFive is here.",
    ]


def test_overlap_in_tables_and_code_begins_at_rows_and_lines() -> None:
    table = "| a | b |\n|---|---|\n" + "".join(f"| {n} | a sentence. Two |\n" for n in range(6))
    got = chunks_of(MarkdownChunker(80, 25), table)
    assert len(got) == 4
    assert all(chunk.startswith("| ") and chunk.endswith("Two |") for chunk in got)
    assert [later.split("\n")[0] in earlier for earlier, later in pairwise(got)] == [False, True, True], "none between a header and its first row"
    assert all(context == "| a | b |" for context, _ in shown(MarkdownChunker(80, 25), table)[1:])
    code = "```\n" + "".join(f"line {n} of it\n" for n in range(8)) + "```\n"
    got = chunks_of(MarkdownChunker(50, 15), code)
    assert all(chunk.startswith(("line", "```")) for chunk in got)
    assert any(later.split("\n")[0] in earlier for earlier, later in pairwise(got))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(line_end: str) -> None:
    for text in (MANUAL, TOOLS, TABLE):
        other = text.replace("\n", line_end)
        for size in (9, 15, 30):
            got = shown(MarkdownChunker(size, 2), other, WordUnit())
            assert [(a, b.replace(line_end, "\n")) for a, b in got] == shown(MarkdownChunker(size, 2), text, WordUnit())


def test_the_fence_with_hash_lines_of_the_collected_faults(extra_data: Path) -> None:
    case = extra_data.parent / "cases" / "md-fence-hash" / "docs"
    if not case.is_dir():
        pytest.skip(f"the collected faults are not here ({case})")
    (document,) = case.iterdir()
    text = document.read_bytes().decode("utf-8")
    found = outline_of(Document(document.name, text))
    pieces = pieces_of(MarkdownChunker(2000, merge="none"), text)
    assert set(found.start.tolist()) <= set(pieces.start.tolist()) | {int(found.start[0])}
    fenced = next(chunk for chunk in chunks_of(MarkdownChunker(2000, merge="none"), text) if "brake --fit" in chunk)
    assert fenced.startswith("## Setup")


@pytest.mark.parametrize(("key", "value"), [("merge", "all"), ("merge", None), ("table", "html"), ("language", ""), ("language", 7)])
def test_values_that_mean_nothing_are_refused(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"strategy.{key}"):
        MarkdownChunker(10, **{key: value})  # type: ignore[arg-type]


# Any document

_words = st.sampled_from(["Rope is here.", "Is it? Yes.", "鍵は守衛室にあります。", "Cafe\u0301 👩‍👩‍👧‍👦 met.", "x" * 30, "one\ntwo lines"])
_block = st.one_of(
    _words,
    st.integers(1, 6).map(lambda count: "\n".join(f"- item {number}" for number in range(count))),
    st.integers(1, 4).map(lambda count: "1. a\n" + "\n".join(f"   - nested {number}" for number in range(count))),
    st.integers(0, 6).map(lambda count: "| a | b |\n|---|---|" + "".join(f"\n| {number} | x y |" for number in range(count))),
    st.integers(0, 5).map(lambda count: "```\n" + "# code\n" * count + "```"),
    st.sampled_from(["> quoted\n>\n> - more", "---", "<div>\nraw\n</div>", "[ref]: http://x.example", "    indented\n\n    code"]),
)
_part = st.tuples(st.integers(1, 6), _block, st.lists(_block, max_size=3)).map(
    lambda part: "\n\n".join([f"{'#' * part[0]} Title", part[1], *part[2]])
)
_document = st.tuples(st.lists(_block, max_size=2), st.lists(_part, max_size=6), st.sampled_from(["\n", "\r\n"])).map(
    lambda made: ("\n\n".join([*made[0], *made[1]])).replace("\n", made[2])
)


@pytest.mark.parametrize("unit_name", ["tokens", "words", "chars"])
@settings(max_examples=60, deadline=None)
@given(text=_document, size=st.integers(1, 60), share=st.floats(0, 0.9), merge=st.sampled_from(["siblings", "any", "none"]))
def test_contract_on_any_markdown(unit_name: str, text: str, size: int, share: float, merge: str) -> None:
    overlap = int(size * share)
    for table in ("header", "words"):
        check_contract(text, MarkdownChunker(size, overlap, merge, table), unit(unit_name), overlap, size)  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(text=_document, size=st.integers(5, 80), share=st.floats(0, 0.5))
def test_sections_and_blocks_that_fit_are_never_cut(text: str, size: int, share: float) -> None:
    ruler = WordUnit().measure(text)
    pieces = MarkdownChunker(size, int(size * share)).split(text, ruler)
    found = outline_of(Document("a.md", text))
    for start, end in zip(*found.sections, strict=True):
        end = start + len(text[start:end].rstrip())
        if ruler.size(np.array(start), np.array(end)) <= size:
            assert ((pieces.start <= start) & (pieces.end >= end)).any(), text[start:end]
    for start, end in _outer_blocks(text):
        if ruler.size(np.array(start), np.array(end)) <= size:
            assert ((pieces.start <= start) & (pieces.end >= end)).any(), text[start:end]


def _outer_blocks(text: str) -> list[tuple[int, int]]:
    """Tables, lists and fences of the documents above, by blank lines."""
    blocks, place = [], 0
    gap = "\r\n\r\n" if "\r\n" in text else "\n\n"
    listed = ("- item", "1. a", "    ")
    for before, block, after in zip(["", *text.split(gap)], text.split(gap), [*text.split(gap)[1:], ""], strict=False):
        loose = block.startswith(listed) and (before.startswith(listed) or after.startswith(listed))  # two lists in a row are one
        if block.startswith(("- item", "1. a", "| a", "```")) and not loose:
            blocks.append((place, place + len(block.rstrip())))
        place += len(block) + len(gap)
    return blocks


@settings(max_examples=200, deadline=None)
@given(text=_document, size=st.integers(5, 80))
def test_no_chunk_reaches_into_the_section_of_another_parent(text: str, size: int) -> None:
    ruler = WordUnit().measure(text)
    pieces = MarkdownChunker(size).split(text, ruler)
    found = outline_of(Document("a.md", text))
    for start, end in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True):
        inner = np.flatnonzero((found.start > start) & (found.start < end)).tolist()
        first = int(found.section_at(np.array([start]))[0])
        held = {first, -1 if first < 0 else int(found.parent[first])}
        for heading in inner:
            assert int(found.parent[heading]) in held
            held.add(heading)


def test_a_text_without_any_block_is_divided_as_recursive_divides_it_but_for_lines() -> None:
    text = "The tide turns at noon. Boats leave then. Nobody waits for long on the wall. " * 9
    for size, overlap in ((40, 0), (64, 18), (200, 50)):
        mine, plain = pieces_of(MarkdownChunker(size, overlap), text), pieces_of(RecursiveChunker(size, overlap), text)
        assert (mine.start.tolist(), mine.end.tolist()) == (plain.start.tolist(), plain.end.tolist())


def test_time_is_linear_in_the_length_of_mixed_markdown() -> None:
    table = "| a | b |\n|---|---|\n" + "| some words | and more of them |\n" * 40
    page = MANUAL + TOOLS + table + "\n\n" + "A sentence of some words, as they come. " * 60 + "\n\n"
    seconds = []
    for length in (500_000, 2_000_000):
        text = page * (length // len(page))
        ruler = WordUnit().measure(text)
        seconds.append(least_seconds(lambda text=text, ruler=ruler: MarkdownChunker(120, 12, table="words").split(text, ruler)))
    assert seconds[1] < 8 * seconds[0] + 0.2, seconds  # four times the text; were it quadratic, sixteen times the time
