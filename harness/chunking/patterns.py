"""Regular expressions that people give, searched for a limited time.

A pattern such as (a+)+$ takes exponential time on a text that it nearly matches. The module `regex` reads the patterns of Python's `re` and gives up
after a time that is asked for.
"""

from __future__ import annotations

from typing import Any

import regex  # type: ignore[import-untyped]

from harness.errors import ConfigError

SECONDS = 10.0
SECONDS_PER_MILLION = 2.0
"""Processor time that a pattern may take: so much for any text, and so much more for each million characters."""


def check_pattern(key: str, pattern: object, expected: str = "a regular expression, or null") -> None:
    """Raise ConfigError unless `pattern` is a regular expression."""
    if not isinstance(pattern, str) or not pattern:
        raise ConfigError(key, pattern, expected)
    try:
        regex.compile(pattern, regex.MULTILINE)
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        raise ConfigError(key, pattern, f"not a regular expression: {error or type(error).__name__}") from error


def matches(key: str, pattern: str, text: str) -> list[Any]:
    """All matches of `pattern` in `text`, from the left (`^` and `$` match at every line). Raises ConfigError where it takes too long."""
    limit = SECONDS + SECONDS_PER_MILLION * len(text) / 1e6
    try:
        return list(regex.finditer(pattern, text, regex.MULTILINE, timeout=limit))
    except TimeoutError as error:
        told = (
            f"took more than {limit:.3g} seconds on a text of {len(text):,} characters; a repeated group that itself repeats does that: a+ for (a+)+"
        )
        raise ConfigError(key, pattern, told) from error
    except MemoryError as error:
        raise ConfigError(key, pattern, f"needs more memory than there is on a text of {len(text):,} characters") from error
