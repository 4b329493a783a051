"""Secrets in texts that are shown or kept: found, and taken out.

Known by their form (a user name or password in an address, a token with a provider's beginning) or by being the value of an environment variable
that is named like a secret. No form catches every secret; what has none of these forms passes.
"""

from __future__ import annotations

import os
import re

_GONE = "…"
_SHORTEST = 8
"""Values of variables that are shorter may stand anywhere by chance ("true", a port)."""
_NAMED_SECRET = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE)
_FORMS = (
    # What stands before the @ of an address: without a slash, or user:password where the password may have one (a port with a path is none).
    (re.compile(r"(?<=://)(?:[^\s/?#\"'<>]+|[^\s/\"'<>@:]*:(?!\d+/)[^\s\"'<>]*)(?=@)"), _GONE),
    (re.compile(r"(?i)([?&;](?:password|passwd|pwd|token|access_token|api_?key|key|secret|signature|sig)=)[^&\s\"'<>]+"), rf"\1{_GONE}"),
    (re.compile(r"(?i)(authorization[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic)\s+)?[^\s\"']+"), rf"\1{_GONE}"),
    (re.compile(r"\b(Bearer\s+)[\w.~+/=-]{16,}"), rf"\1{_GONE}"),
    # Hugging Face, OpenAI and its like, GitHub, AWS, Databricks.
    (re.compile(r"\b(hf_|sk-|gh[opsu]_|github_pat_|AKIA|dapi)[\w-]{16,}"), rf"\1{_GONE}"),
)


def redacted(text: str) -> str:
    """`text` with "…" where a secret stands. A text without one comes back as it is."""
    for value in _values():
        text = text.replace(value, _GONE)
    for form, instead in _FORMS:
        text = form.sub(instead, text)
    return text


def _values() -> list[str]:
    """The secrets of this environment, the longest first: one may be part of another."""
    found = {value for name, value in os.environ.items() if len(value) >= _SHORTEST and _NAMED_SECRET.search(name)}
    return sorted(found, key=len, reverse=True)
