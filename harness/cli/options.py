"""Options of the verbs that are not Hydra's."""

from __future__ import annotations

import argparse
from typing import NoReturn

from harness.errors import CommandLineError


class Options(argparse.ArgumentParser):
    """A parser that raises CommandLineError instead of printing its usage, so that a mistake is told in one line like any other."""

    def error(self, message: str) -> NoReturn:
        """Refuse what was typed."""
        raise CommandLineError(f"{message} ({self.prog} --help)")
