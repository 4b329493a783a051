"""The page of `data check`: everything that is counted of a labelled corpus, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.corpus.card import card
from harness.corpus.check import Finding, check
from harness.importing.base import Progress, silent
from harness.importing.checking.characters import line_ends, signs
from harness.importing.checking.coverage import coverage
from harness.importing.checking.doubles import repeated_paragraphs, same_documents, same_questions
from harness.importing.checking.findings import Facts, findings
from harness.importing.checking.lengths import fits
from harness.importing.checking.power import DISAGREE, power
from harness.importing.checking.reach import Reach, reach
from harness.importing.checking.tongues import tongues
from harness.importing.checking.wording import wording
from harness.types import Corpus, Ints
from harness.units.base import Unit

SIZES = (64, 128, 256, 512)


@dataclass(frozen=True, slots=True)
class Bars:
    """A histogram: `counts` of what lies in each of `labels`."""

    title: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of (name, value in words), and histograms."""

    title: str
    rows: tuple[tuple[str, str], ...]
    bars: tuple[Bars, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What was found. `values` holds the same numbers for programs, ready for JSON."""

    name: str
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...]
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether a finding is an error."""
        return any(finding.severity == "error" for finding in self.findings)


def look(corpus: Corpus, unit: Unit, sizes: Sequence[int] = SIZES, *, progress: Progress = silent) -> Page:
    """Look at everything. Linear in the text but for sorting; about half a second a million characters at worst."""
    facts = _facts(corpus, unit, sizes, progress)
    numbers = card(corpus)
    found = [*check(corpus), *(Finding("warning", line) for line in corpus.warnings), *findings(corpus, facts)]
    found.sort(key=lambda it: it.severity != "error")
    sections = (_documents(numbers, facts), _questions(corpus, numbers, facts), _evidence(numbers, facts), _sizes(facts), _sure(facts))
    return Page(corpus.name, sections, tuple(found), {**numbers, "check": _values(facts)})


def _facts(corpus: Corpus, unit: Unit, sizes: Sequence[int], progress: Progress) -> Facts:
    steps: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("evidence and sizes", lambda: reach(corpus, unit, sizes)),
        ("documents and sizes", lambda: fits(corpus.documents, unit, sizes)),
        ("characters", lambda: signs(corpus.documents)),
        ("line ends", lambda: line_ends(corpus.documents)),
        ("documents that repeat", lambda: same_documents(corpus.documents)),
        ("paragraphs that repeat", lambda: repeated_paragraphs(corpus.documents)),
        ("questions that repeat", lambda: same_questions(corpus.questions)),
        ("wording of questions", lambda: wording(corpus)),
        ("what is asked about", lambda: coverage(corpus)),
        ("languages", lambda: tongues(corpus)),
        ("how sure", lambda: power(corpus)),
    )
    results: list[Any] = []
    for place, (name, step) in enumerate(steps):
        progress(name, place, len(steps))
        results.append(step())
    lengths = np.array([document.length for document in corpus.documents], dtype=np.int64)
    return Facts(unit.name, tuple(sorted(sizes)), lengths, *results)


def _documents(numbers: dict[str, Any], facts: Facts) -> Section:
    it, ends, covered = numbers["documents"], facts.ends, facts.covered
    languages = ", ".join(f"{language or 'not clear'} {count}" for language, count in facts.tongues.documents.items())
    rows = (
        ("documents", f"{it['count']:,}, {it['characters']:,} characters ({_number(it['characters_median'])} in the middle one)"),
        ("blank", f"{it['blank']:,}"),
        ("the same text twice", f"{len(facts.same):,} documents; {facts.paragraphs.share:.0%} of the text are paragraphs that stood before"),
        ("language", f"{languages or 'not clear'} (guessed from {facts.tongues.sampled})"),
        ("line ends", ", ".join(f"{name}: {len(ids):,}" for name, ids in ends.items() if ids) or "line feeds"),
        ("metadata", ", ".join(it["metadata_fields"]) or "none"),
        (
            "no question touches",
            f"{_of(covered.untouched, covered.documents)} documents, {_of(covered.untouched_characters, covered.characters)} characters",
        ),
    )
    return Section("Documents", rows, (histogram("characters a document", facts.lengths),))


def _questions(corpus: Corpus, numbers: dict[str, Any], facts: Facts) -> Section:
    it = numbers["questions"]
    shared = facts.wording.shared
    rows = (
        ("questions", f"{it['count']:,}"),
        ("without an answer", _of(it["unanswerable"], it["count"])),
        ("several answers", f"{it['several_answers']:,}"),
        ("need several documents", f"{it['multi_document']:,}"),
        ("with a filter", f"{it['with_filter']:,}"),
        ("by kind", _counts(it["by_kind"])),
        ("quote their answer", f"{len(facts.wording.quote) + len(facts.wording.near):,}"),
        ("words that stand in the evidence too", "-" if shared is None else f"{shared:.0%} of the question's, in the middle question"),
        ("asked twice", f"{len(facts.twins.same) + len(facts.twins.torn):,}, nearly: {len(facts.twins.near):,}"),
    )
    words = np.array([len(question.text) for question in corpus.questions], dtype=np.int64)
    asked = np.array(facts.covered.asked, dtype=np.int64)
    return Section("Questions", rows, (histogram("characters a question", words), histogram("questions a document that has any", asked)))


def _evidence(numbers: dict[str, Any], facts: Facts) -> Section:
    it, found = numbers["evidence"], facts.reach
    gaps = found.gaps
    apart = f"{_number(float(np.median(gaps)))} characters in the middle case, {int(gaps.max()):,} at most" if len(gaps) else "-"
    rows = (
        ("pieces of evidence", f"{it['count']:,}, {_number(it['characters_median'])} characters in the middle one"),
        ("share of the text", _of(facts.covered.evidence, facts.covered.characters)),
        ("pieces an answer", _counts(it["evidence_per_answer"])),
        ("roles", _counts(it["by_role"])),
        ("stand elsewhere too, word for word", f"{it['with_copies']:,}"),
        ("between the pieces of an answer", apart),
        ("answers in several documents", f"{found.apart:,}"),
    )
    return Section("Evidence", rows, (histogram("characters from the first to the last piece of an answer", found.characters),))


def _sizes(facts: Facts) -> Section:
    found, fitting = facts.reach, facts.fits
    rows = []
    for size in facts.sizes:
        lost = f"{_of(found.lost[size], found.answers)} answers fit in no chunk, so answer existence is at most {_bound(found, size)}"
        about = "about " if fitting.measured < fitting.documents else ""
        rows.append((f"{size} {facts.unit}", f"{lost}; {about}{fitting.whole[size]:.0%} of the documents are one chunk"))
    return Section("Sizes", tuple(rows))


def _bound(found: Reach, size: int) -> str:
    """The most that `answer_existence` can be: questions that need several documents are not in it."""
    scored = found.questions - found.questions_apart
    return f"{1 - (found.lost_questions[size] - found.questions_apart) / scored:.3f}" if scored else "-"


def _sure(facts: Facts) -> Section:
    found = facts.power
    clear = f"a difference of {found.smallest:.3f} or more" if found.smallest <= 1 else "none: there are too few questions"
    needed = f"{found.needed:,}" if found.needed is not None else "-"
    rows = (
        ("two cells can be told apart by", f"{clear} (4 times in 5, if they disagree on {DISAGREE:.0%} of the questions; a whole sweep needs more)"),
        (f"questions for a difference of {found.target:g}", needed),
    )
    return Section("How sure", rows)


def _values(facts: Facts) -> dict[str, Any]:
    found, covered = facts.reach, facts.covered
    return {
        "unit": facts.unit,
        "sizes": {
            str(size): {
                "answers_in_no_chunk": found.lost[size],
                "questions_in_no_chunk": found.lost_questions[size],
                "documents_in_one_chunk": facts.fits.whole[size],
            }
            for size in facts.sizes
        },
        "answers": found.answers,
        "answers_in_several_documents": found.apart,
        "questions_in_several_documents": found.questions_apart,
        "documents_measured": facts.fits.measured,
        "gap_characters_median": float(np.median(found.gaps)) if len(found.gaps) else None,
        "untouched_documents": covered.untouched,
        "untouched_characters": covered.untouched_characters,
        "evidence_characters": covered.evidence,
        "same_documents": facts.same,
        "repeated_paragraph_share": facts.paragraphs.share,
        "same_questions": facts.twins.same,
        "same_questions_other_answers": facts.twins.torn,
        "near_questions": facts.twins.near,
        "questions_that_quote": facts.wording.quote,
        "questions_near_their_evidence": facts.wording.near,
        "question_words_in_evidence": facts.wording.shared,
        "characters": {sign.name: {"count": sign.count, "documents": sign.documents, "first": sign.first} for sign in facts.signs},
        "line_ends": facts.ends,
        "languages": facts.tongues.documents,
        "question_language": facts.tongues.questions,
        "letters_the_tokenizer_breaks": facts.tongues.broken,
        "smallest_difference": facts.power.smallest if np.isfinite(facts.power.smallest) else None,
        "questions_for_target": facts.power.needed,
    }


def histogram(title: str, values: Ints) -> Bars:
    """Counts by powers of two, from the first to the last that occurs; zeros apart."""
    if not len(values):
        return Bars(title, (), ())
    powers = np.frexp(np.maximum(values, 0).astype(np.float64))[1]  # 0 for 0, 1 for 1, 2 for 2 to 3, 3 for 4 to 7 …
    counts = np.bincount(powers)
    first = int(powers.min())
    labels = tuple(_label(power) for power in range(first, len(counts)))
    return Bars(title, labels, tuple(counts[first:].tolist()))


def _label(power: int) -> str:
    low, high = 1 << max(power - 1, 0), (1 << power) - 1
    return "0" if power == 0 else f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.0%})" if whole else "0 of 0"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in counts.items()) or "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
