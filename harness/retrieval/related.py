"""Documents that name each other: where one is found, the best of those that it names comes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import ConfigError, DataError
from harness.retrieval.around import Around, IndexAround
from harness.retrieval.base import Queries, Shelf
from harness.retrieval.orders import Rows, as_ranking, behind, check_text, check_whole, read
from harness.types import Candidates, Document, Ints, Probes, Ranking

Links = tuple[tuple[int, ...], ...]
"""For each document the documents that it links to, in its own order, each once, itself never."""


@dataclass(frozen=True)
class RelatedRetriever(Around):
    """Pulls up chunks of the documents that the best ones link to.

    The first `from_top` chunks of `first` are taken in their order; right behind each stand, for every document that its own links to, the `each`
    best chunks of that document: best by what `first` says of the linked documents by themselves. A document comes along once, behind the first chunk
    that links to it; a chunk that stands above already stays there. Only candidates are pulled up. The rest of the ranking follows as it was.

    Links are the ids in the metadata's `field`: a list, or one alone. Ids that no document has are passed over (the corpus may be a part of a larger
    one). With `backward`, a document also links to those that name it, after those that it names, in document order. The best place keeps its score,
    and scores fall by 1 a place from there: they mean the order. Statistics are NaN. Raises ConfigError for numbers under 1 and where no document
    links to another, DataError where the field of a document holds anything but ids.
    """

    field: str = "related"
    from_top: int = 3
    each: int = 1
    backward: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_text("field", self.field)
        check_whole("from_top", self.from_top, 1)
        check_whole("each", self.each, 1)
        if not isinstance(self.backward, bool):
            raise ConfigError("retriever.backward", self.backward, "true or false would do")

    def check_documents(self, documents: Sequence[Document]) -> None:
        """Raises ConfigError where no document links to another, DataError for links that are no ids."""
        super().check_documents(documents)
        self._links(documents)

    def _links(self, documents: Sequence[Document]) -> Links:
        links = links_of(documents, self.field, backward=self.backward)
        if len(documents) and not any(links):
            raise ConfigError("retriever.field", self.field, "no document links to another there; a list of document ids in the metadata would do")
        return links

    def build(self, shelf: Shelf) -> RelatedIndex:
        """The index of `first`, and the links of every document."""
        links = self._links(shelf.documents)
        return RelatedIndex(shelf.index(self.first), shelf.doc, links, self.from_top, self.each)


@dataclass(eq=False)
class RelatedIndex(IndexAround):
    """The index within, the document of every chunk, the links of every document, and the parameters."""

    doc: Ints
    links: Links
    from_top: int
    each: int

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` places. Costs two inner searches: one over all candidates, one over the linked documents alone."""
        rows, found = read(self.first, queries, candidates, max(depth, self.from_top))
        wanted = self._wanted(rows, candidates)
        best = self._best(queries, wanted, candidates.documents.shape[1])
        heads = [self._head(question, chunks, wanted.get(question, {}), best) for question, chunks in self._top(rows).items()]
        pairs = np.array([pair for head in heads for pair in head], dtype=np.int64).reshape(-1, 2)
        stride = max(len(self.doc), 1)
        left = ~np.isin(rows.question * stride + rows.chunk, pairs[:, 0] * stride + pairs[:, 1])
        order = Rows(
            np.concatenate([pairs[:, 0], rows.question[left]]),
            np.concatenate([pairs[:, 1], rows.chunk[left]]),
            np.zeros(len(pairs) + int(left.sum())),
        )
        order = order.where(np.argsort(order.question, kind="stable"))
        leads = order.place == 0
        leading = order.where(leads)._replace(score=rows.score[rows.place == 0])
        return as_ranking(behind(leading, order.where(~leads)), found, depth, probes)

    def _top(self, rows: Rows) -> dict[int, list[int]]:
        """The first chunks of every question that has any."""
        top: dict[int, list[int]] = {}
        upper = rows.where(rows.place < self.from_top)
        for question, chunk in zip(upper.question.tolist(), upper.chunk.tolist(), strict=True):
            top.setdefault(question, []).append(chunk)
        return top

    def _wanted(self, rows: Rows, candidates: Candidates) -> dict[int, dict[int, int]]:
        """For each question, the linked documents among its candidates, and the chunk that each stands behind."""
        wanted: dict[int, dict[int, int]] = {}
        for question, chunks in self._top(rows).items() if self.links else ():
            allowed = candidates.documents[candidates.group[question]]
            for chunk in chunks:
                for document in self.links[self.doc[chunk]]:
                    if allowed[document]:
                        wanted.setdefault(question, {}).setdefault(document, chunk)
        return wanted

    def _best(self, queries: Queries, wanted: dict[int, dict[int, int]], documents: int) -> dict[tuple[int, int], list[int]]:
        """The best chunks of each wanted (question, document)."""
        groups = {key: number for number, key in enumerate(dict.fromkeys(frozenset(linked) for linked in wanted.values()))}
        masks = np.zeros((len(groups), documents), dtype=bool)
        for linked, number in groups.items():
            masks[number, list(linked)] = True
        asked = np.array(list(wanted), dtype=np.int64)
        fewer = Queries(tuple(queries.texts[question] for question in asked), queries.vectors[asked])
        group = np.array([groups[frozenset(linked)] for linked in wanted.values()], dtype=np.int64)
        rows, _ = read(self.first, fewer, Candidates(group, masks), len(self.doc)) if len(asked) else (Rows(asked, asked, np.zeros(0)), asked)
        return self._firsts(rows._replace(question=asked[rows.question]))

    def _firsts(self, rows: Rows) -> dict[tuple[int, int], list[int]]:
        """The first `each` chunks of every (question, document)."""
        document = self.doc[rows.chunk]
        order = np.lexsort((np.arange(len(document)), document, rows.question))
        question, document, chunk = rows.question[order], document[order], rows.chunk[order]
        begins = np.append(True, (np.diff(question) != 0) | (np.diff(document) != 0))[: len(order)]
        kept = np.arange(len(order)) - np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0)) < self.each
        best: dict[tuple[int, int], list[int]] = {}
        for row in np.flatnonzero(kept).tolist():
            best.setdefault((int(question[row]), int(document[row])), []).append(int(chunk[row]))
        return best

    def _head(self, question: int, chunks: list[int], linked: dict[int, int], best: dict[tuple[int, int], list[int]]) -> list[tuple[int, int]]:
        """The first chunks of a question with those that come along, as (question, chunk)."""
        pulled: dict[int, list[int]] = {}
        for document, chunk in linked.items():
            pulled.setdefault(chunk, []).extend(best.get((question, document), []))
        order: list[int] = []
        for chunk in chunks:
            if chunk not in order:
                order.append(chunk)
            place = order.index(chunk) + 1
            order[place:place] = list(dict.fromkeys(new for new in pulled.get(chunk, []) if new not in order))
        return [(question, chunk) for chunk in order]


def links_of(documents: Sequence[Document], field: str, *, backward: bool = False) -> Links:
    """The links of every document."""
    number = {document.id: place for place, document in enumerate(documents)}
    found: list[list[int]] = [[number[name] for name in _ids(document, field) if name in number] for document in documents]
    if backward:
        forward = [list(named) for named in found]
        for place, named in enumerate(forward):
            for other in named:
                found[other].append(place)
    return tuple(tuple(other for other in dict.fromkeys(named) if other != place) for place, named in enumerate(found))


def _ids(document: Document, field: str) -> list[str]:
    value = document.metadata.get(field)
    names = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise DataError(document.id, f"metadata {field!r}: found {value!r}; a list of document ids would do")
    return list(names)
