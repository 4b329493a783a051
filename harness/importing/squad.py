"""SQuAD and all that took its form: versions 1 and 2, XQuAD, JaQuAD, …: {"data": [{"title", "paragraphs": [{"context", "qas": [...]}]}]}.

Paragraphs are too short to be chunked: those of one article are joined by blank lines to one document, and offsets move with them. An answer of a
word or two says little about a chunk, so by default the sentence around it is the evidence. Answers that fall on the same evidence are one
alternative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.corpus.problems import excerpt
from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.errors import ConfigError, DataError
from harness.importing.base import Imported, Note, Progress, silent
from harness.importing.sentences import enclosing, sentences
from harness.importing.sources import get, read_json
from harness.types import Document

Evidence = Literal["sentence", "answer"]
_BETWEEN = "\n\n"


def read_squad(source: Path, *, evidence: Evidence = "sentence", prefix: str = "squad", progress: Progress = silent) -> Imported:
    """The articles and questions of one file, or of all *.json in a folder (articles of one title are one document).

    Document ids are `prefix`-0000 and on. An answer whose text does not stand at its offset is looked for in its paragraph: found once, it is
    repaired, else dropped; a question that loses all its answers so is dropped too. Raises DataError for files of another form.
    """
    if evidence not in ("sentence", "answer"):
        raise ConfigError("--evidence", evidence, "sentence or answer")
    articles: dict[str, _Article] = {}
    desk = _Desk(evidence)
    files = sorted(source.glob("*.json")) if source.is_dir() else [source]
    if not files:
        raise DataError(source, "holds no .json file")
    for path in files:
        for number, found in enumerate(get(read_json(path), "data", list, path, "the file")):
            where = f"data[{number}]"
            title = found.get("title") if isinstance(found, dict) else None
            name = str(title or f"{path.stem} {number}")
            if name in articles:
                desk.notes.append(
                    Note(
                        "noted",
                        "article",
                        excerpt(name),
                        f"{where} of {path.name} has the title of an earlier article: one document, {articles[name].id}",
                    )
                )
            article = articles.setdefault(name, _Article(f"{prefix}-{len(articles):04}", name.replace("_", " ")))
            desk.take(article, get(found, "paragraphs", list, path, where), path, where)
            progress(f"reading {path.name}", number + 1, 0)
    documents = tuple(Document(it.id, _BETWEEN.join(it.paragraphs), it.title, {"paragraphs": len(it.paragraphs)}) for it in articles.values())
    return Imported(source.stem, documents, tuple(desk.labels), tuple(desk.notes))


@dataclass(slots=True)
class _Article:
    id: str
    title: str
    paragraphs: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, paragraph: str) -> int:
        """Where the paragraph begins in the document."""
        begins = self.length + (len(_BETWEEN) if self.paragraphs else 0)
        self.paragraphs.append(paragraph)
        self.length = begins + len(paragraph)
        return begins


@dataclass(slots=True)
class _Desk:
    evidence: Evidence
    labels: list[QuestionLabel] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def take(self, article: _Article, paragraphs: list[Any], path: Path, where: str) -> None:
        for number, paragraph in enumerate(paragraphs):
            place = f"{where}.paragraphs[{number}]"
            context = get(paragraph, "context", str, path, place)
            begins = article.add(context)
            cuts = sentences(context) if self.evidence == "sentence" else []
            for which, found in enumerate(get(paragraph, "qas", list, path, place)):
                self._question(found, article.id, context, begins, cuts, path, f"{place}.qas[{which}]")

    def _question(self, found: Any, doc: str, context: str, begins: int, cuts: list[tuple[int, int]], path: Path, where: str) -> None:
        text = get(found, "question", str, path, where).strip()
        identifier = str(found.get("id") if found.get("id") is not None else where)
        answers = [] if found.get("is_impossible") is True else get(found, "answers", list, path, where)
        if identifier in self.seen or not text:
            self.notes.append(Note("dropped", "question", identifier, "its id stands already before it" if text else "its text is blank"))
            return
        self.seen.add(identifier)
        if text != found["question"]:
            self.notes.append(Note("repaired", "question", identifier, "white space at its ends dropped"))
        spans = dict.fromkeys(self._spans(answers, identifier, context, cuts, path, where))
        if answers and not spans:
            self.notes.append(Note("dropped", "question", identifier, "none of its answers stands in its paragraph"))
            return
        labels = tuple((EvidenceLabel(doc, context[start:end], begins + start, begins + end),) for start, end in spans)
        self.labels.append(QuestionLabel(len(self.labels) + 1, identifier, text, labels))

    def _spans(
        self, answers: list[Any], identifier: str, context: str, cuts: list[tuple[int, int]], path: Path, where: str
    ) -> Iterator[tuple[int, int]]:
        for number, answer in enumerate(answers):
            place = f"{where}.answers[{number}]"
            text, start = get(answer, "text", str, path, place), get(answer, "answer_start", int, path, place)
            found = self._stands(context, text, start, identifier)
            if found is not None:
                span = enclosing(cuts, *found) if cuts else found
                yield trimmed(context, *span)

    def _stands(self, context: str, text: str, start: int, identifier: str) -> tuple[int, int] | None:
        """Where the answer stands, less white space at its ends. Mends an offset that is off where the text stands once."""
        bare = text.strip()
        if not bare:
            self.notes.append(Note("dropped", "answer", identifier, "it is blank"))
            return None
        if start >= 0 and context.startswith(text, start):
            return trimmed(context, start, start + len(text))
        if context.count(bare) == 1:
            at = context.find(bare)
            self.notes.append(Note("repaired", "answer", identifier, f"{excerpt(bare)} is not at {start} but at {at} of its paragraph"))
            return at, at + len(bare)
        count = context.count(bare)
        self.notes.append(Note("dropped", "answer", identifier, f"{excerpt(bare)} is not at {start} of its paragraph, where it stands {count} times"))
        return None


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span less white space at its ends."""
    passage = text[start:end]
    return start + len(passage) - len(passage.lstrip()), start + len(passage.rstrip())
