"""Which documents a question may be answered from: filters against plain loops, and the three scopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError, FilterError
from harness.filters import candidates_of, matches
from harness.types import Answer, Document, Evidence, Question, Span

DATES = ["2023-05-01", "2024-05-01", "2025-05-01", "2026-05-01"]
DOCUMENTS = [
    Document(
        f"d{number}.md",
        "text",
        metadata={"status": "superseded" if number % 3 else "current", "date": DATES[number % 4], "tags": ["a", "b"][: number % 3]},
    )
    for number in range(9)
] + [Document("bare.md", "text")]


def question(number: int, wanted: dict[str, Any] | None = None, docs: tuple[int, ...] = ()) -> Question:
    return Question(f"q{number}", "what", tuple(Answer((Evidence(Span(doc, 0, 4)),)) for doc in docs), wanted or {})


def allowed(questions: list[Question], **how: Any) -> list[list[int]]:
    found = candidates_of(DOCUMENTS, questions, **how)
    return [np.flatnonzero(found.documents[group]).tolist() for group in found.group]


conditions = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["current", "superseded", ["current", "draft"], "lost"]),
        "date": st.dictionaries(st.sampled_from(["gte", "lte", "gt", "lt"]), st.sampled_from(DATES), min_size=1),
        "tags": st.sampled_from(["a", ["b", "z"]]),
        "doc": st.sampled_from(["d3.md", ["d1.md", "bare.md"], "nowhere.md"]),
    },
)


def holds(document: Document, wanted: dict[str, Any]) -> bool:
    """The rule in plain words, condition by condition."""
    for name, want in wanted.items():
        value = document.id if name == "doc" else document.metadata.get(name)
        values = value if isinstance(value, list) else [] if value is None else [value]
        signs = {"gte": lambda a, b: a >= b, "lte": lambda a, b: a <= b, "gt": lambda a, b: a > b, "lt": lambda a, b: a < b}
        if isinstance(want, dict):
            if not any(all(signs[sign](one, bound) for sign, bound in want.items()) for one in values):
                return False
        elif not set(values) & set(want if isinstance(want, list) else [want]):
            return False
    return True


@given(own=st.lists(conditions, min_size=1, max_size=6), run=conditions)
def test_candidates_are_those_of_a_plain_loop(own: list[dict[str, Any]], run: dict[str, Any]) -> None:
    questions = [question(number, wanted) for number, wanted in enumerate(own)]
    expected = [[place for place, document in enumerate(DOCUMENTS) if holds(document, wanted) and holds(document, run)] for wanted in own]
    assert allowed(questions, wanted=run) == expected
    assert allowed(questions, scope="corpus", wanted=run) == [[p for p, document in enumerate(DOCUMENTS) if holds(document, run)]] * len(own)


def test_the_scope_of_one_document_is_where_the_evidence_lies() -> None:
    asked = [question(0, {"status": "current"}, (4,)), question(1, {}, (2, 5)), question(2, {"status": "current"})]
    assert allowed(asked, scope="document") == [[4], [2, 5], [0, 3, 6]]
    assert allowed(asked, scope="question") == [[0, 3, 6], list(range(10)), [0, 3, 6]]
    assert allowed(asked, scope="document", wanted={"date": {"gte": "2025-01-01"}}) == [[], [2], [3, 6]]


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"scope.*needle.*question, corpus, document"):
        candidates_of(DOCUMENTS, [question(0)], "needle")
    with pytest.raises(FilterError, match="between"):
        matches(DOCUMENTS[0], {"date": {"between": "2024"}})
    with pytest.raises(FilterError, match="can't be compared"):
        matches(DOCUMENTS[0], {"date": {"gte": 2024}})
