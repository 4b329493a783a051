"""Options of the verbs that are not Hydra's."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from harness.errors import CommandLineError


class Options(argparse.ArgumentParser):
    """A parser that raises CommandLineError instead of printing its usage, so that a mistake is told in one line like any other."""

    def error(self, message: str) -> NoReturn:
        """Refuse what was typed."""
        raise CommandLineError(f"{message} ({self.prog} --help)")


def with_outputs(words: Options) -> Options:
    """Add the option that says where results lie."""
    words.add_argument("--outputs", type=Path, default=Path("outputs"), help="the folder that holds results (default: outputs)")
    return words


def with_own_code(words: Options) -> Options:
    """Add the option that lets a stored result run code that is not of this package."""
    said = "these results are your own: run the code, and reach the addresses, that they name beside this package's"
    words.add_argument("--own-code", action="store_true", help=said)
    return words
