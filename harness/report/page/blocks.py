"""Data inside a page: JSON that no HTML parser can mistake for markup, and digests for the page's content security policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

from markupsafe import Markup

from harness.tracking.files import finite

_DANGEROUS = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_LONE = re.compile("[\ud800-\udfff]")


def block(value: Any) -> Markup:
    """`value` as JSON for <script type="application/json">: nothing in it can end the element, whatever the texts say.

    Numbers that are not finite become null; halves of surrogate pairs, which no file can hold, become U+FFFD. Every text keeps its length.
    """
    try:
        text = _json(value)
    except (TypeError, ValueError):  # a number that is not finite, or one of NumPy's: rare, and to look for them costs more than to write
        text = _json(finite(value))
    return Markup(_LONE.sub("\ufffd", text).translate(_DANGEROUS))  # noqa: S704  escaped here, by hand


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def weight(text: str) -> int:
    """Bytes in the file."""
    return len(text.encode("utf-8"))


def digest(text: str) -> str:
    """How a content security policy names an inline script or style: 'sha256-…'."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
