"""Bytes to text where nobody says how they are encoded.

In this order: a byte order mark; UTF-8, if every byte agrees; UTF-16 without a mark, if every other byte is zero; the guess of charset-normalizer.
What was assumed is said, for a wrong guess changes letters. Line ends and everything else stay as they are.
"""

from __future__ import annotations

import codecs
import re

import charset_normalizer

from harness.importing.extract.base import UnreadableError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 1 << 16
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS = 0.02
_WESTERN = frozenset("àâäáãåæçéèêëíìîïñóòôöõøœúùûüßÿÀÂÄÁÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜ\u00a0€£§©®°·«»¿¡“”„‘’‚–—…•")
_MAGIC = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive or an office file",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"\x1f\x8b": "compressed",
    b"\x7fELF": "a program",
    b"\xd0\xcf\x11\xe0": "an old office file",
}


def decode(raw: bytes, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text and a note on what was assumed, if anything was. `declared` is what the file says of itself; it goes before any guess.

    Raises UnreadableError for bytes that are no text.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            notes = () if encoding == "utf-8-sig" else (f"read as {encoding.upper()}, as its byte order mark says",)
            return _strictly(raw, encoding), notes
    kind = next((kind for magic, kind in _MAGIC.items() if raw.startswith(magic)), None)
    if kind:
        raise UnreadableError(f"is {kind} under another name, not text")
    text = _as(raw, "utf-8")
    if text is not None and not _binary(raw):
        return text, ()
    if declared and not _binary(raw) and (text := _as(raw, declared)) is not None:
        return text, ()
    return _guessed(raw)


def _guessed(raw: bytes) -> tuple[str, tuple[str, ...]]:
    wide = _wide(raw[:_SAMPLE])
    if wide and (text := _as(raw, wide)) is not None:
        return text, (f"read as {wide.upper()}, guessed, for every other byte is zero; check its letters",)
    if _binary(raw):
        raise UnreadableError("is binary, not text")
    sample = _informative(raw)
    guess = None if _western(sample) else charset_normalizer.from_bytes(sample).best()
    encoding = guess.encoding if guess else "cp1252"
    text = _as(raw, encoding)
    if text is None:
        text, encoding = raw.decode("cp1252", "replace"), "cp1252"
    lost = text.count("\ufffd")
    damage = f", and {lost} bytes are no letters in it" if lost else ""
    return text, (f"is not UTF-8: read as {encoding}, guessed{damage}; check its letters, or save it as UTF-8",)


def _western(sample: bytes) -> bool:
    """Whether, as Windows-1252, all that is not ASCII is what Western European languages write, and rarer than ASCII letters.

    On a few accents alone the guess goes astray.
    """
    text = _as(sample, "cp1252")
    if text is None:
        return False
    foreign = [letter for letter in text if not letter.isascii()]
    return all(letter in _WESTERN for letter in foreign) and 3 * len(foreign) < sum(letter.isascii() and letter.isalpha() for letter in text) + 6


def _informative(raw: bytes) -> bytes:
    """A part of `raw` that shows its encoding: the guess looks at the lines with bytes above 127, since all others say nothing."""
    lines = [line for line in raw[: 64 * _SAMPLE].splitlines() if not line.isascii()]
    return b"\n".join(lines)[:_SAMPLE]


def _strictly(raw: bytes, encoding: str) -> str:
    text = _as(raw, encoding)
    if text is None:
        raise UnreadableError(f"begins with the byte order mark of {encoding.removesuffix('-sig').upper()}, but is not valid in it")
    return text


def _as(raw: bytes, encoding: str) -> str | None:
    try:
        return raw.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _wide(sample: bytes) -> str | None:
    """UTF-16 of mostly Latin text: zeros in one half of the bytes and hardly any in the other."""
    pairs = len(sample) // 2
    if pairs < 4:
        return None
    even, odd = sample[0 : 2 * pairs : 2].count(0) / pairs, sample[1 : 2 * pairs : 2].count(0) / pairs
    if odd > 0.4 and even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 and odd < 0.05 else None


def _binary(raw: bytes) -> bool:
    sample = raw[:_SAMPLE]
    return b"\0" in raw or len(_CONTROLS.findall(sample)) > _MOST_CONTROLS * len(sample)
