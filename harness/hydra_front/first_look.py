"""The cheap part of `data check`, before a sweep: what would make its numbers empty is refused, what would make them mislead is told first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.corpus.check import check
from harness.course import Impossible
from harness.errors import DataError
from harness.hydra_front.price_tag import price_tags
from harness.importing.checking.findings import degenerate
from harness.importing.checking.lengths import fits
from harness.importing.checking.tongues import foreign
from harness.planned import Planned
from harness.types import Corpus
from harness.units.base import Unit

_SAMPLE = 300
"""Documents that are measured: a second's work at most."""


def first_look(plans: Sequence[Planned | Impossible]) -> list[str]:
    """Warnings of one line each, once for each corpus: sizes that leave most documents whole, a model that does not know the language,
    and what embedding will cost.

    Raises DataError where no question can be scored.
    """
    possible = [plan for plan in plans if isinstance(plan, Planned)]
    corpora = {id(plan.experiment.corpus): plan.experiment.corpus for plan in possible}
    several = len(corpora) > 1
    lines = []
    for corpus in corpora.values():
        mine = [plan for plan in possible if plan.experiment.corpus is corpus]
        lines += [f"{corpus.name}: {line}" if several else line for line in _of(corpus, mine) if line]
    return lines


def _of(corpus: Corpus, plans: Sequence[Planned]) -> Iterator[str]:
    for finding in check(corpus):
        if finding.severity == "error":
            raise DataError(corpus.name, finding.text)
    units: dict[str, tuple[Unit, set[int]]] = {}
    for plan in plans:
        if plan.cell.size is not None:
            units.setdefault(plan.experiment.unit.identity, (plan.experiment.unit, set()))[1].add(plan.cell.size)
    for unit, sizes in units.values():
        yield degenerate(fits(corpus.documents, unit, sorted(sizes), sample=_SAMPLE), unit.name)
    for name in dict.fromkeys(plan.experiment.embedder.name for plan in plans):
        yield foreign(corpus, name)
    yield from price_tags(corpus, plans)
