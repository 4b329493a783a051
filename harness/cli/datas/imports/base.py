"""What a format adds to `chunk-sweep data import`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from harness.cli.options import Options
from harness.importing.base import Imported, Progress


def _nothing(words: Options) -> None:
    """A format without options of its own."""


@dataclass(frozen=True, slots=True)
class Format:
    """`describe` is what `--help` says, `example` a whole command line below it. `options` adds what only this format takes; `read` does the work.

    `read` finds the source (a Path, or for `hf` a name) as `source` among the options.
    """

    describe: str
    source: str
    example: str
    read: Callable[[argparse.Namespace, Progress], Imported]
    options: Callable[[Options], None] = _nothing
