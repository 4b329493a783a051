"""A guess at the language of a text: by its script, and for Latin and Cyrillic letters by the small words that every sentence needs.

No model and no package: what is wanted is "is this a language that the embedder knows", and twenty thousand characters of prose answer that. A text
that does not answer clearly gets "".
"""

from __future__ import annotations

import re
from collections import Counter

_SAMPLE = 20_000
_LEAST_WORDS = 20
_LEAST_SHARE = 0.12
_LEAST_DIFFERENT = 5
_LEAD = 1.25
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_SCRIPTS = (
    ("ja", "\u3040", "\u30ff", 0.05),
    ("ko", "\uac00", "\ud7af", 0.3),
    ("zh", "\u4e00", "\u9fff", 0.3),
    ("ar", "\u0600", "\u06ff", 0.3),
    ("he", "\u0590", "\u05ff", 0.3),
    ("el", "\u0370", "\u03ff", 0.3),
    ("hi", "\u0900", "\u097f", 0.3),
    ("th", "\u0e00", "\u0e7f", 0.3),
)
_SMALL_WORDS = {
    "en": "the of and to in is that it for as with are be this on by not or from at you can if which an",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden",
    "fr": "de la le et les des en un une du que est pour qui dans par sur au pas plus ce il ne sont",
    "es": "de la que el en y los se del las un por con una su para es al lo como más o pero sus",
    "it": "di e che il la in un per è una del non sono con le si da dei come al più della i gli",
    "pt": "de a que o e do da em um para com não uma os no se na por mais as dos como mas ao",
    "nl": "de van het een en in is dat op te zijn met voor niet aan er die om ook als bij of door",
    "sv": "och i att det som en på är av för med till den har de inte om ett var vid kan från",
    "da": "og i at det en den til er som på de med for af der ikke et har fra vi kan var",
    "nb": "og i det er til som en på for med at av ikke den har de et fra kan om ble",
    "fi": "ja on ei se että oli hän tai joka ovat mutta myös kun kuin niin jos voi mukaan",
    "pl": "w i na z do nie się że o jest to jak po od za przez dla są oraz lub który",
    "cs": "a v na se je že o s z do to i pro jako za od po by jsou ale nebo který",
    "tr": "ve bir bu için ile da de olarak daha çok olan gibi en ya ne veya her sonra kadar",
    "ro": "și de în la a cu pe care este o un din nu pentru mai sau ca prin se al",
    "hu": "a az és hogy nem is egy ez meg de van vagy csak ha mint már volt el",
    "ru": "и в не на что с по как это для из к от а но или у о при его",
    "uk": "і в на не що з до як та це для від за у або але про при його є",
}
_SETS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}


def language_of(text: str) -> str:
    """A two-letter code (ISO 639-1) or "". Fenced code is not looked at; of a mixed text the language with most of it counts."""
    sample = _CODE.sub(" ", text[: 4 * _SAMPLE])[:_SAMPLE]
    letters = [letter for letter in sample if letter.isalpha()]
    if len(letters) < _LEAST_WORDS:
        return ""
    for language, first, last, share in _SCRIPTS:
        if sum(first <= letter <= last for letter in letters) > share * len(letters):
            return language
    return _by_small_words(_WORD.findall(sample.lower()))


def _by_small_words(words: list[str]) -> str:
    if len(words) < _LEAST_WORDS:
        return ""
    counts = Counter(words)
    hits = sorted(((sum(counts[word] for word in small), language) for language, small in _SETS.items()), reverse=True)
    if len(_SETS[hits[0][1]] & counts.keys()) < _LEAST_DIFFERENT:
        return ""  # the letters of numbers and codes
    (best, language), (second, _) = hits[0], hits[1]
    return language if best >= _LEAST_SHARE * len(words) and best >= _LEAD * second else ""
