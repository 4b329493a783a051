"""JSON Lines: lines end at LF alone, and nothing that is not strict JSON gets in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.corpus.jsonl import read_records
from harness.errors import DataError

BREAKS = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\r"


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(st.text(max_size=5), st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(BREAKS)), max_size=3)))
def test_what_was_written_is_read_back_line_by_line(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    path = tmp_path / "rows.jsonl"
    # newline="": nothing may be translated on the way out. Breaks other than LF stand raw in the file, except those that JSON must escape.
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8", newline="")
    assert [record.values for record in read_records(path)] == rows
    assert [record.line for record in read_records(path)] == list(range(1, len(rows) + 1))


def test_raw_line_separators_inside_a_string_do_not_tear_the_record(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": "mill\u2028race\u0085weir\u2029"}\r\n\n  \n{"a": "sluice"}', encoding="utf-8", newline="")
    assert [(record.line, record.values["a"]) for record in read_records(path)] == [(1, "mill\u2028race\u0085weir\u2029"), (4, "sluice")]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"a": 1, "a": 2}', "key 'a' stands twice"),
        ('{"a": {"b": 1, "b": 1}}', "key 'b' stands twice"),
        ('{"a": NaN}', "found NaN"),
        ('{"a": -Infinity}', "found -Infinity"),
        ('{"a": 1e999}', "too large"),
        ('["a"]', "one JSON object"),
        ('{"a": 1', "not JSON"),
        ('{"a": 1} {"a": 2}', "not JSON"),
        ('{"a": "\\ud83d"}', "without its other half"),
        ('{"a": ' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deeply"),
    ],
)
def test_a_bad_line_stops_the_load_and_is_named(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 0}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=told) as caught:
        read_records(path)
    assert caught.value.line == 2
    assert str(path) in str(caught.value)


def test_a_whole_surrogate_pair_is_an_ordinary_character(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": "\\ud83d\\ude00"}', encoding="utf-8")
    assert read_records(path)[0].values == {"a": "😀"}


def test_all_bad_lines_are_counted_and_ten_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("oops\n" * 13, encoding="utf-8")
    with pytest.raises(DataError, match="13 problems") as caught:
        read_records(path)
    assert str(caught.value).count("\n  line ") == 10
    assert str(caught.value).endswith("and 3 more")


def test_a_byte_order_mark_is_dropped_and_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n')
    assert read_records(path)[0].values == {"a": 1}
    path.write_bytes(b'\xef\xbb\xbf{"a": "\xe9"}\n')
    with pytest.raises(DataError, match="byte 0xe9 at byte position 10 is not UTF-8"):
        read_records(path)
    path.write_bytes('{"a": 1}'.encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16"):
        read_records(path)
