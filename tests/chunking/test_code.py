"""Source code: what a chunk is made of in each language, what is put in front of it, and that offsets are exact on anything."""

from __future__ import annotations

import re

import numpy as np
import pytest
from code_samples import CPP, JAVASCRIPT, PYTHON, SAMPLES, C
from contracts.chunking_cases import TEXTS, UNITS, check_contract, unit
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.chunking.base import Pieces
from harness.chunking.code import CodeChunker
from harness.chunking.code_bytes import MeasuredBytes
from harness.chunking.code_syntax import LANGUAGES, error_bytes, language_of, parse
from harness.chunking.recursive import RecursiveChunker
from harness.errors import ConfigError
from harness.types import Document
from harness.units import CharUnit, TiktokenUnit, Unit, WordUnit
from harness.units.codepoints import well_formed

Chunk = tuple[str, str, str]

# First line, last line and context of every chunk at 150 characters. Chunks join up but for white space, so this is all of their text.
EXPECTED: dict[str, tuple[Chunk, ...]] = {
    "python": (
        ("#!/usr/bin/env python", "import json  # for the timetable", ""),
        ("LIMIT = 12", "name: str", ""),
        ("# Berths count from one.", "return self._berth + 1", "class Boat(Base):\n"),
        ("class Log:", "self.lines.append(line)", "class Boat(Base):\n"),
        ("async def flush(self):", "self.lines.clear()", "class Boat(Base):\nclass Log:\n"),
        ("async def depart(boat):  # blocking", '"""Leave."""', ""),
        ("for line in boat.lines:", "boat.engine.start()", "async def depart(boat):  # blocking\n"),
        ('if __name__ == "__main__":', 'depart(Boat("Elsa"))', ""),
    ),
    "javascript": (
        ('import fs from "fs";', "import { tide } from './tide.js';", ""),
        ("/** The quay. */", "}", ""),
        ("get free() { return 12 - this.#boats.length; }", "}", "export default class Quay extends Place\n"),
        ("// Rounded up.", "};", ""),
        ("export const open = function (day) {", "};", ""),
        ("module.exports = { metres, open };", "module.exports = { metres, open };", ""),
    ),
    "typescript": (
        ('import { Day } from "./day";', "export type Fare = { adult: number; child: number };", ""),
        ("export interface Berth {", "}", ""),
        ("namespace Harbour.East {", "export enum Kind { Ferry, Yacht }", ""),
        ('@Service({ name: "dues" })', "@Input() length: number;", "namespace Harbour.East\n"),
        ("// Per night.", "}", "namespace Harbour.East\nexport abstract class Dues<T> implements Berth\n"),
    ),
    "tsx": (
        ("type Props = { name: string; stops: string[] };", "type Props = { name: string; stops: string[] };", ""),
        ("export const Timetable: React.FC<Props> = ({ name, stops }) => {", 'const [day, setDay] = useState("Monday");', ""),
        ("return (", '<section onClick={() => setDay("Friday")}>', "export const Timetable: React.FC<Props> = ({ name, stops }) =>\n"),
        ("<h1>{name}</h1>", "};", "export const Timetable: React.FC<Props> = ({ name, stops }) =>\n"),
        ("export default function App() {", "}", ""),
    ),
    "java": (
        ("package harbour.east;", "import java.util.List;", ""),
        ("/**", "private final List<Line> lines;", ""),
        ("// Made fast at once.", "}", "public class Boat extends Vessel\n"),
        ("@Override", "}", "public class Boat extends Vessel\n"),
        ("interface Mooring { void loose(); }", "interface Mooring { void loose(); }", ""),
    ),
    "go": (
        ("package harbour", "}", ""),
        ("// Depart lets go of all lines.", "func (b *Boat) Depart(lines []Line) error {", ""),
        ("for _, line := range lines {", "}", "func (b *Boat) Depart(lines []Line) error\n"),
        ("const (", ")", ""),
    ),
    "rust": (
        ("//! Harbour dues.", "}", ""),
        ("impl<T: Clone> fmt::Display for Boat<T> {", "impl<T: Clone> fmt::Display for Boat<T> {", ""),
        ("/// The name alone.", "}", "impl<T: Clone> fmt::Display for Boat<T>\n"),
        ("const LIMIT: usize = 12;", "}", "impl<T: Clone> fmt::Display for Boat<T>\n"),
        ("#[cfg(test)]", "}", ""),
    ),
    "c": (
        ("#ifndef QUAY_H", "};", ""),
        ("// Rounded up.", "}", ""),
        ("#ifdef TIDAL", "#endif /* QUAY_H */", ""),
    ),
    "cpp": (
        ("#include <vector>", "using namespace std;", ""),
        ("namespace harbour::east {", "class Quay final : public Place {", ""),
        ("public:", "explicit Quay(int n) : size_(n) {}", "template <typename T>\nclass Quay final : public Place\n"),
        ("// Boats that fit.", "};", "template <typename T>\nclass Quay final : public Place\n"),
        ("template <typename T>", "}  // namespace harbour::east", "namespace harbour::east\n"),
    ),
}


def texts(text: str, pieces: Pieces) -> list[str]:
    return [text[start:end] for start, end in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)]


def split(text: str, size: int, language: str, overlap: int = 0, measure: Unit | None = None) -> Pieces:
    return CodeChunker(size, overlap, language).split(text, (measure or CharUnit()).measure(text))


def contexts(pieces: Pieces) -> list[str]:
    return list(pieces.context or ("",) * len(pieces.start))


# What a chunk is made of


@pytest.mark.parametrize("language", LANGUAGES)
def test_chunks_of_each_language(language: str) -> None:
    text = SAMPLES[language]
    pieces = split(text, 150, language)
    found = [(chunk.splitlines()[0], chunk.splitlines()[-1].strip()) for chunk in texts(text, pieces)]
    assert [(*lines, context) for lines, context in zip(found, contexts(pieces), strict=True)] == list(EXPECTED[language])
    assert "".join("".join(texts(text, pieces)).split()) == "".join(text.split()), "chunks join up"
    assert pieces.notes == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_fits_is_one_chunk(language: str) -> None:
    text = SAMPLES[language]
    assert texts(text, split(text, len(text), language)) == [text.strip()]


def test_members_of_a_class_share_no_chunk_with_what_follows_it_unless_the_class_fits() -> None:
    small = "def tail():\n    return 1\n"
    members = "".join(f"    def m{number}(self):\n        return {number}\n\n" for number in range(6))
    text = f"class Boat:\n{members}\n{small}"
    whole = texts(text, split(text, 400, "python"))
    assert whole == [text.strip()]
    parts = texts(text, split(text, 120, "python"))
    assert parts[-1] == small.strip()
    assert all("tail" not in part for part in parts[:-1])
    assert len(parts) == 3
    neighbours = f"x = {'1' * 300}\n\n\nclass Boat:\n    def m(self):\n        return 1\n\n\n{small}"
    assert texts(neighbours, split(neighbours, 120, "python"))[-1] == neighbours[neighbours.index("class") :].strip(), (
        "a class that fits packs with others"
    )


def test_imports_stay_with_imports() -> None:
    text = "import a\nimport b\nfrom c import d\n\n\ndef f():\n    return a\n\n\ndef g():\n    return b\n\n\ndef h():\n    return d\n"
    assert texts(text, split(text, 80, "python"))[0] == "import a\nimport b\nfrom c import d"
    short = text.replace("import b\nfrom c import d\n", "")
    assert texts(short, split(short, 50, "python"))[0].endswith("return a"), "less than a quarter of size doesn't stand alone"


def test_an_oversize_function_is_split_between_its_outermost_statements() -> None:
    lines = [f"    step_{number}(boat, {number})\n" for number in range(8)]
    text = "def depart(boat):\n" + "".join(lines) + "    for line in boat:\n        line.loose()\n        line.stow()\n"
    pieces = split(text, 100, "python")
    assert texts(text, pieces) == [
        text[: text.index("    step_4")].rstrip(),
        text[text.index("step_4") : text.index("    for")].rstrip(),
        text[text.index("for") :].rstrip(),
    ]
    assert contexts(pieces) == ["", "def depart(boat):\n", "def depart(boat):\n"]


def test_a_statement_is_split_deeper_only_where_it_does_not_fit() -> None:
    text = "void f() {\n  a();\n  if (x) {\n" + "".join(f"    call_{number}();\n" for number in range(9)) + "  }\n  b();\n}\n"
    found = texts(text, split(text, 80, "c"))
    assert all(chunk.endswith((";", "}")) for chunk in found)
    assert found[0].startswith("void f() {\n  a();\n  if (x) {\n    call_0();"), "17 characters are no chunk"


def test_lines_then_words_then_characters_where_there_are_no_statements() -> None:
    text = 'x = """\n' + "one two three four five\n" * 4 + "z" * 70 + '\n"""\n'
    found = texts(text, split(text, 30, "python"))
    assert found[1:4] == ["one two three four five"] * 3
    assert all(len(chunk) <= 30 for chunk in found)
    assert "z" * 30 in found


def test_a_comment_leads_what_follows_it() -> None:
    text = "a = 1  # of a\n# of b\nb = 2\n# under b\n\n# far\n\n# of c\nc = 3\n"
    assert texts(text, split(text, 16, "python")) == ["a = 1  # of a", "# of b\nb = 2", "# under b\n\n# far", "# of c\nc = 3"]
    assert texts(text, split(text, 24, "python")) == ["a = 1  # of a", "# of b\nb = 2\n# under b", "# far\n\n# of c\nc = 3"]


def test_a_long_comment_stands_alone_rather_than_split_the_function() -> None:
    body = "def f():\n    return 'a value that is long'\n"
    text = f"# {'note ' * 9}\n{body}"
    assert texts(text, split(text, 60, "python")) == [text.splitlines()[0].strip(), body.strip()]


def test_comments_that_a_blank_line_parts_from_what_follows_stand_alone_where_they_must() -> None:
    note, body = "# note one two three\n# note four five six", "def f():\n    return 'a value that is long'"
    text = f"width = 'twenty characters'\n\n{note}\n\n{body}\n"
    assert texts(text, split(text, 60, "python")) == ["width = 'twenty characters'", note, body]


def test_crumbs_stay_with_the_large_element_behind_them() -> None:
    text = "a = 1\nb = 2\n\n\ndef f(boat):\n" + "".join(f"    step_{number}(boat)\n" for number in range(9))
    assert texts(text, split(text, 100, "python"))[0].startswith("a = 1\nb = 2\n\n\ndef f(boat):\n    step_0(boat)")
    call = f"push([one, two, '{'word ' * 30}'])\n"
    assert texts(call, split(call, 80, "javascript"))[0].startswith("push([one, two, 'word word")


def test_a_crumb_at_the_end_joins_the_function_before_it_but_no_class_and_only_as_a_whole() -> None:
    steps = "".join(f"  step{number}(boat);\n" for number in range(9))
    function, crumb = f"function f(boat) {{\n{steps}}}\n", "module.exports = f;"
    found = texts(function + crumb, split(function + crumb, 120, "javascript"))
    assert len(found) == 2
    assert found[1].endswith(f"step8(boat);\n}}\n{crumb}")
    assert texts(function + crumb, split(function + crumb, 92, "javascript"))[-1] == crumb, "the last part of the function is too large for that"
    two = f"{function}exports.f = f;\ng = f;"
    assert texts(two, split(two, 120, "javascript"))[-1].endswith("}\nexports.f = f;\ng = f;")
    small = "const g = () => 1;"
    assert texts(function + small, split(function + small, 120, "javascript"))[-1] == small, "a definition joins nothing"
    in_class = f"class A {{\n  m(boat) {{\n{steps}  }}\n}}\n{crumb}"
    assert texts(in_class, split(in_class, 120, "javascript"))[-1] == crumb


def test_minified_code_is_cut_between_statements() -> None:
    text = "".join(f"function f{number}(a,b){{return a+b*{number}}}var v{number}=f{number}(1,2);" for number in range(40))
    for chunk in texts(text, split(text, 120, "javascript")):
        assert chunk.startswith(("function f", "var v"))
        assert chunk.endswith(("}", ";"))


def test_functions_inside_functions_and_wrappers_are_units_of_their_own() -> None:
    inner = "".join(f"  function f{number}() {{\n    one();\n    two();\n    three();\n  }}\n" for number in range(3))
    text = f"(function () {{\n  'use strict';\n{inner}}})();\n"
    pieces = split(text, 60, "javascript")
    assert all(chunk.count("function f") <= 1 for chunk in texts(text, pieces))
    tests = "describe('boats', () => {\n  it('floats', () => {\n    one();\n    two();\n    three();\n  });\n  it('sails', () => { one(); });\n});\n"
    assert "describe('boats', () =>\n" in contexts(split(tests, 60, "javascript"))


# Context


def test_headers_of_all_that_is_around_a_chunk_go_in_front_of_it() -> None:
    pieces = split(CPP, 46, "cpp", measure=TiktokenUnit("cl100k_base"))
    front = "namespace harbour::east\ntemplate <typename T>\nclass Quay final : public Place\n"
    assert front in contexts(pieces)


def test_no_header_where_the_chunk_holds_it_and_none_longer_than_half_of_size() -> None:
    pieces = split(PYTHON, 150, "python")
    for chunk, context in zip(texts(PYTHON, pieces), contexts(pieces), strict=True):
        assert all(line not in chunk for line in context.splitlines())
        assert len(context) <= 75 + context.count("\n")
    text = f"class Boat({', '.join(f'Base{number}' for number in range(20))}):\n" + "".join(
        f"    def m{number}(self):\n        pass\n\n" for number in range(9)
    )
    assert not any(contexts(split(text, 150, "python"))[1:])


def test_a_header_of_one_huge_word_is_not_repeated_before_every_chunk() -> None:
    text = f"class {'A' * 5000} {{" + "int a(){return 1;} " * 300 + "}"
    pieces = split(text, 20, "java", measure=WordUnit())
    assert sum(map(len, contexts(pieces))) == 0


# Overlap


@pytest.mark.parametrize("language", LANGUAGES)
def test_overlap_repeats_whole_lines(language: str) -> None:
    text = SAMPLES[language]
    plain, lapped = split(text, 120, language), split(text, 150, language, 30)
    assert plain.end.tolist() == lapped.end.tolist()
    assert (lapped.start <= plain.start).all()
    assert (lapped.start < plain.start).any()
    assert (lapped.end[:-1] - lapped.start[1:] <= 30).all()
    assert all(not text[:start].rpartition("\n")[2].strip() for start in lapped.start.tolist()), "each begins a line"


# Which language, and what is none


def test_language_goes_by_the_ending_of_the_name() -> None:
    names = {
        "python": ("a.py", "src/b.PYI"),
        "javascript": ("a.js", "a.mjs", "a.cjs", "a.jsx", "a.min.js"),
        "typescript": ("a.ts", "a.d.ts", "a.mts"),
        "tsx": ("a.tsx",),
        "java": ("A.java",),
        "go": ("a.go",),
        "rust": ("a.rs",),
        "c": ("a.c", "a.h"),
        "cpp": ("a.cc", "a.cpp", "a.cxx", "a.hpp", "a.hh"),
    }
    assert {language: tuple(map(language_of, files)) for language, files in names.items()} == {
        language: (language,) * len(files) for language, files in names.items()
    }
    assert [language_of(name) for name in ("README.md", "py", "a.py.txt", "Makefile", ".py", "a.py/b", "")] == [None] * 7


def test_documents_are_split_by_name_and_what_is_no_code_falls_to_recursive_counted() -> None:
    prose = "The ferry leaves at six. Bring a coat.\n\nThe quay is closed on Sunday. " * 3
    documents = [
        Document("boat.py", PYTHON),
        Document("notes.md", prose),
        Document("empty.txt", " \n"),
        Document("broken.py", prose),
        Document("q.js", JAVASCRIPT),
    ]
    rulers = [CharUnit().measure(document.text) for document in documents]
    found = CodeChunker(150).split_all(documents, rulers)
    assert [dict(pieces.notes) for pieces in found] == [{}, {"not_code": 1}, {}, {"unparsed": 1}, {}]
    plain = RecursiveChunker(150).split(prose, rulers[1])
    for pieces in (found[1], found[3]):
        assert pieces.start.tolist() == plain.start.tolist()
        assert pieces.end.tolist() == plain.end.tolist()
        assert pieces.context is None
    assert found[0].start.tolist() == split(PYTHON, 150, "python").start.tolist()
    assert found[4].start.tolist() == split(JAVASCRIPT, 150, "javascript").start.tolist()
    assert CodeChunker(150).split(PYTHON, rulers[0]).notes == {"not_code": 1}, "a text without a name"


def test_a_header_file_is_read_as_c_or_as_cpp_whichever_fits() -> None:
    for text in (C, CPP):
        found = CodeChunker(150).split_all([Document("quay.h", text)], [CharUnit().measure(text)])[0]
        assert found.start.tolist() == split(text, 150, "c" if text is C else "cpp").start.tolist()
    assert split(CPP, 150, "c").start.tolist() == split(CPP, 150, "cpp").start.tolist()


def test_what_parsed_is_kept_where_a_part_did_not() -> None:
    broken = PYTHON.replace("await self.sink.write(self.lines)", "await self.sink.write(self.lines ?")
    assert 0 < error_bytes(parse("python", broken.encode())) < 0.25 * len(broken)
    found = texts(broken, split(broken, 150, "python"))
    assert found[0] == texts(PYTHON, split(PYTHON, 150, "python"))[0]
    assert any("# A boat knows its berth.\n@register" in chunk for chunk in found)
    assert split(broken, 150, "python").notes == {}
    assert CodeChunker(150, 0, "python", max_errors=0).split(broken, CharUnit().measure(broken)).notes == {"unparsed": 1}
    assert CodeChunker(150, 0, "python", max_errors=0).split(PYTHON, CharUnit().measure(PYTHON)).notes == {}


def test_one_brace_too_few_does_not_make_a_file_unparsed() -> None:
    functions = "".join(f"int f{number}(int a) {{\n  return a + {number};\n}}\n" for number in range(12))
    text = "namespace east {\n#ifdef A\nnamespace b {\n#endif\n" + functions
    assert split(text, 100, "cpp").notes == {}
    assert error_bytes(parse("cpp", text.encode())) < len(text) / 4
    assert error_bytes(parse("java", b"class A { int x = 1 }")) == 1, "a semicolon is missing"
    assert error_bytes(parse("cpp", b"the quay is closed; (on [Sunday. " * 40)) > 600


@pytest.mark.parametrize("changes", [{"language": "cobol"}, {"language": None}, {"max_errors": 1.5}, {"max_errors": "half"}, {"max_errors": True}])
def test_bad_parameters_are_named(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=f"strategy.{next(iter(changes))}="):
        CodeChunker(100, **changes)  # type: ignore[arg-type]


# Exact offsets


@pytest.mark.parametrize("language", LANGUAGES)
def test_line_ends_marks_and_other_scripts_move_no_boundary(language: str) -> None:
    text = SAMPLES[language]
    wanted = [chunk.split() for chunk in texts(text, split(text, 20, language, measure=WordUnit()))]
    assert len(wanted) > 3
    for end in ("\r\n", "\r"):
        other = text.replace("\n", end)
        assert [chunk.split() for chunk in texts(other, split(other, 20, language, measure=WordUnit()))] == wanted, repr(end)
    marked = f"\ufeff{text}"
    assert [chunk.lstrip("\ufeff").split() for chunk in texts(marked, split(marked, 20, language, measure=WordUnit()))] == wanted
    strange = re.sub(r"(///? |//! |^ *# |/\*\*? |^ \* )(\w+)", "\\1\\2\u00e9👩‍👩‍👧日\ud800", text, flags=re.MULTILINE)
    assert strange != text or language == "tsx", "there are comments"
    assert [len(chunk.split()) for chunk in texts(strange, split(strange, 20, language, measure=WordUnit()))] == list(map(len, wanted))


@given(text=st.text(st.sampled_from("a \t\n\r{},;(é日\ud800\udc00\x00\u2028\ufeff👍"), min_size=1, max_size=60), data=st.data())
@settings(max_examples=150, deadline=None)
def test_bytes_are_measured_as_the_ruler_measures_characters(text: str, data: st.DataObject) -> None:
    ruler = TiktokenUnit("cl100k_base").measure(text)
    measured = MeasuredBytes.of(text, ruler)
    places = np.array([len(well_formed(text[:place]).encode()) for place in range(len(text) + 1)], dtype=np.int64)
    assert len(measured.source) == places[-1]
    assert measured.to_char(places).tolist() == list(range(len(text) + 1))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, len(text)))
    trimmed = len(text[:end].rstrip())
    units = measured.ceil[int(places[end])] - measured.floor[int(places[start])]
    assert units == int(ruler.ceil(np.array(trimmed)) - ruler.floor(np.array(start)))


# The contract, on anything


@pytest.mark.parametrize("language", ["python", "javascript", "rust", "c"])
@pytest.mark.parametrize("unit_name", UNITS)
def test_contract_on_hostile_texts_taken_for_code(language: str, unit_name: str) -> None:
    for text in TEXTS.values():
        for size, overlap in ((1, 0), (7, 3), (20, 19), (64, 10), (5000, 500)):
            for max_errors in (0.25, 1):
                pieces = check_contract(text, CodeChunker(size, overlap, language, max_errors), unit(unit_name), overlap, size)
                assert bool(len(pieces.start)) == bool(text.strip())


_NOISE = st.sampled_from(
    ["", "{", "}", "(", ")", '"', "'", "/*", "*/", "//", "#", "\n", "\n\n", "\r", "  ", ";", "\x00", "\ud800", "👍🏽", "class ", "def "]
)


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data(), size=st.integers(1, 90), share=st.floats(0, 0.99), unit_name=st.sampled_from(UNITS))
@settings(max_examples=40, deadline=None)
def test_contract_on_damaged_samples(language: str, data: st.DataObject, size: int, share: float, unit_name: str) -> None:
    text = SAMPLES[language]
    for _ in range(data.draw(st.integers(0, 5))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 40)))
        text = text[:start] + data.draw(_NOISE) + text[end:]
    overlap = int(size * share)
    pieces = check_contract(text, CodeChunker(size, overlap, language, data.draw(st.sampled_from([0.25, 1]))), unit(unit_name), overlap, size)
    assert all(not context or context.endswith("\n") for context in contexts(pieces))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", "(" * 30_000 + "x" + ")" * 30_000),
        ("javascript", "function f(){" * 10_000 + "x" + "}" * 10_000),
        ("cpp", "namespace a {\n" * 10_000 + "int x;" + "}" * 10_000),
        ("java", "class A { int y;\n" * 10_000 + "}" * 10_000),
    ],
    ids=["brackets", "functions", "namespaces", "classes"],
)
def test_deep_nesting_is_no_trouble(language: str, text: str) -> None:
    check_contract(text, CodeChunker(400, 40, language), CharUnit(), 40, 400)
