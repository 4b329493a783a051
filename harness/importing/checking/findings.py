"""What of the counts a person should act on, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.corpus.check import Finding
from harness.corpus.problems import excerpt
from harness.importing.checking.characters import Sign
from harness.importing.checking.coverage import Coverage
from harness.importing.checking.doubles import Paragraphs, Twins
from harness.importing.checking.lengths import Fits
from harness.importing.checking.reach import Reach
from harness.importing.checking.tongues import Tongues, foreign_line
from harness.importing.checking.wording import Wording
from harness.statistics.sizing import Sizing
from harness.types import Corpus, Ints

MOST_ONE_CHUNK = 0.5
"""Share of documents that are one chunk from which on a size has little to cut."""
_MUCH_REPEATED = 0.2
_MUCH_LOST = 0.1
_ONE_DOCUMENT = 0.5


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that was counted; `lengths` are the characters of each document."""

    unit: str
    sizes: tuple[int, ...]
    lengths: Ints
    reach: Reach
    fits: Fits
    signs: list[Sign]
    ends: dict[str, list[str]]
    same: list[tuple[str, str]]
    paragraphs: Paragraphs
    twins: Twins
    wording: Wording
    covered: Coverage
    tongues: Tongues
    power: Sizing


def findings(corpus: Corpus, facts: Facts) -> Iterator[Finding]:
    """Warnings beyond those of `harness.corpus.check.check`."""
    lines = (
        degenerate(facts.fits, facts.unit),
        *_lost(facts),
        foreign_line(facts.tongues),
        *_twice(facts),
        *_worded(facts),
        *(sign.line() for sign in facts.signs),
        *_line_ends(facts.ends),
        *_spread(corpus, facts),
    )
    return (Finding("warning", line) for line in lines if line)


def degenerate(found: Fits, unit: str) -> str:
    """One line where a size leaves most documents whole; "" where none does."""
    idle = [(size, share) for size, share in found.whole.items() if share >= MOST_ONE_CHUNK]
    if not idle:
        return ""
    shares = ", ".join(f"{size}: {share:.0%}" for size, share in idle)
    about = f" (of {found.measured:,} that were measured)" if found.measured < found.documents else ""
    if all(share == 1 for share in found.whole.values()) and len(idle) == len(found.whole):
        return f"every document{about} is shorter than the smallest size ({idle[0][0]} {unit}): all strategies give the same chunks"
    return f"many documents are no longer than one chunk, by size in {unit} {shares}{about}: there strategies and sizes can't differ"


def _lost(facts: Facts) -> Iterator[str]:
    found = facts.reach
    idle = [size for size in facts.sizes if found.questions and found.lost_questions[size] > _MUCH_LOST * found.questions]
    if idle:
        shares = ", ".join(f"{size}: {found.lost_questions[size] / found.questions:.0%}" for size in idle)
        yield f"the evidence of many questions is longer than a chunk, by size in {facts.unit} {shares}: no strategy can keep it whole there"


def _twice(facts: Facts) -> Iterator[str]:
    twins = facts.twins
    if facts.same:
        yield f"{len(facts.same)} documents are the same as another but for white space (first: {_pair(facts.same)}); their chunks tie"
    if facts.paragraphs.share > _MUCH_REPEATED:
        yield f"{facts.paragraphs.share:.0%} of the text are paragraphs that stood before; retrieval can't tell such chunks apart"
    if twins.torn:
        pair = _pair(twins.torn)
        yield f"{len(twins.torn)} questions ask what another asks, but have another answer (first: {pair}); make them answers of one question"
    if twins.same:
        yield f"{len(twins.same)} questions stand twice (first: {_pair(twins.same)}); they count double"
    if twins.near:
        yield f"{len(twins.near)} pairs of questions are nearly the same (first: {_pair(twins.near)}); they are no independent evidence"


def _worded(facts: Facts) -> Iterator[str]:
    if facts.wording.near:
        near = facts.wording.near
        yield f"{len(near)} questions nearly quote their evidence, so lexical search finds them too easily (first: {excerpt(near[0])})"


def _line_ends(ends: dict[str, list[str]]) -> Iterator[str]:
    means = {
        "mixed": "have line ends of several kinds",
        "CR": "end lines with CR alone, which few programs take for a line end",
        "long line": "have a line of 20,000 characters or more; they may be data, or extracted without line ends",
    }
    for name, what in means.items():
        if ends[name]:
            yield f"{len(ends[name])} documents {what} (first: {excerpt(ends[name][0])})"


def _spread(corpus: Corpus, facts: Facts) -> Iterator[str]:
    if len(corpus.documents) > 1 and facts.covered.most > _ONE_DOCUMENT:
        yield f"{facts.covered.most:.0%} of the answerable questions are about one document; a sweep then tells of that one"


def _pair(pairs: Sequence[tuple[str, str]]) -> str:
    one, two = pairs[0]
    return f"{excerpt(one)} and {excerpt(two)}"
