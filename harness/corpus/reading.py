"""Bytes to text, in the one form that every offset counts in.

The text of a file is its bytes decoded as UTF-8, less a byte order mark at the very beginning. Nothing else is changed: CRLF stays two characters,
lone CR stays, nothing is normalised. Offsets made on text whose line ends were folded therefore disagree with their quotes and are refused.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from harness.errors import DataError

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NotUtf8Error(ValueError):
    """Bytes that are not UTF-8; the message says where and what would do."""


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises DataError where it can't be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror or error})") from error


def decode(raw: bytes) -> tuple[str, bool]:
    """The text of `raw` and whether a byte order mark was dropped. Raises NotUtf8Error."""
    if raw.startswith(_WIDE):
        raise NotUtf8Error("begins with the byte order mark of UTF-16; save it as UTF-8")
    marked = raw.startswith(codecs.BOM_UTF8)
    try:
        return raw.decode("utf-8-sig"), marked
    except UnicodeDecodeError as error:
        # utf-8-sig counts from behind the mark; a person's editor counts from the first byte.
        place = error.start + (len(codecs.BOM_UTF8) if marked else 0)
        raise NotUtf8Error(
            f"byte 0x{raw[place]:02x} at byte position {place} is not UTF-8; save it as UTF-8 (for example: iconv -f WINDOWS-1252 -t UTF-8)"
        ) from error
