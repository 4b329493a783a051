"""Office files are zip archives: what they claim to hold is looked at before anything is unpacked."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from harness.importing.extract.base import UnreadableError
from harness.importing.extract.plainly import plain

_MOST_BYTES = 300_000_000
_MOST_PARTS = 10_000
_MOST_RATIO = 200
_SMALL = 10_000_000
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_CORE = "docProps/core.xml"
_TERMS = {
    "title": "{http://purl.org/dc/elements/1.1/}title",
    "language": "{http://purl.org/dc/elements/1.1/}language",
    "modified": "{http://purl.org/dc/terms/}modified",
    "created": "{http://purl.org/dc/terms/}created",
}


def check_archive(raw: bytes, kind: str) -> None:
    """Raise UnreadableError for what is no archive, is encrypted, or would unpack to more than 300 MB, 200 times its size, or 10,000 parts.

    The sizes are those that the archive states; zipfile stops reading a part at its stated size, so a lie gives a damaged file and no flood.
    """
    if raw.startswith(_OLE):
        raise UnreadableError(f"is encrypted, or an old office file and no {kind}; save a copy as {kind} without its password")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise UnreadableError(f"is no {kind} file, or a damaged one") from error
    size = sum(part.file_size for part in parts)
    if len(parts) > _MOST_PARTS:
        raise UnreadableError(f"holds {len(parts):,} parts, more than {_MOST_PARTS:,}; it is not opened")
    if size > _MOST_BYTES or (size > _SMALL and size > _MOST_RATIO * len(raw)):
        raise UnreadableError(f"would unpack to {size / 1e6:,.0f} MB from {len(raw) / 1e6:,.1f} MB (a zip bomb?); it is not opened")
    if any(part.flag_bits & 1 for part in parts):
        raise UnreadableError("is encrypted; save a copy without its password")


def properties(raw: bytes) -> tuple[str, dict[str, Any]]:
    """The title and the metadata (date, language) of an office file; empty where it names none or they can't be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            root = ElementTree.fromstring(archive.read(_CORE))
    except (KeyError, zipfile.BadZipFile, ElementTree.ParseError, DefusedXmlException, NotImplementedError, OSError, ValueError):
        return "", {}
    found = {name: str(plain((root.findtext(tag) or "").strip())) for name, tag in _TERMS.items()}
    metadata = {}
    if date := (found["modified"] or found["created"])[:10]:
        metadata["date"] = date
    if found["language"]:
        metadata["language"] = found["language"].split("-")[0].lower()
    return found["title"], metadata
