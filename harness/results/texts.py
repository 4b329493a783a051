"""The text of the questions that were asked, where the corpus is still at hand."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from harness.errors import HarnessError

_LOADERS = "harness.corpus."


def question_texts(dataset: Mapping[str, Any], questions_digest: str) -> dict[str, str]:
    """Id to text of the questions that `dataset` (a resolved configuration) loads.

    Empty where it can't be loaded any more, where its questions are no longer those with `questions_digest`, or where its loader is not one of this
    package's: a file of results must not decide what code runs.
    """
    module, _, name = str(dataset.get("_target_", "")).rpartition(".")
    if not module.startswith(_LOADERS):
        return {}
    try:
        corpus = getattr(import_module(module), name)(**{key: value for key, value in dataset.items() if not key.startswith("_")})
    except (HarnessError, ImportError, AttributeError, TypeError):
        return {}
    if corpus.questions_digest != questions_digest:
        return {}
    return {question.id: question.text for question in corpus.questions}
