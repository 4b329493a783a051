"""Standard output that may go away: a full disk, a pipe that nobody reads any more."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

CLOSED, FAILED = 141, 2
"""The exit status where the reader of a pipe is gone, as shells have it, and where there is no room."""


class Output:
    """A stream that ends the program with one line, wherever it can't be written, and without a word where nobody reads it any more."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or end the program."""
        with self._ended():
            written: int = self._stream.write(text)
        return written

    def flush(self) -> None:
        """Write what waits, or end the program."""
        with self._ended():
            self._stream.flush()

    @contextlib.contextmanager
    def _ended(self) -> Iterator[None]:
        """SystemExit where this can't be written: Hydra would make a traceback of any other exception."""
        try:
            yield
        except BrokenPipeError:
            self._silence()
            raise SystemExit(CLOSED) from None
        except OSError as error:
            self._silence()
            sys.stderr.write(f"chunk-sweep: standard output can't be written ({error.strerror}); what is in files already is kept\n")
            raise SystemExit(FAILED) from None

    def _silence(self) -> None:
        """What is still waiting goes nowhere, or Python would fail on it once more at exit."""
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


@contextlib.contextmanager
def guarded_output() -> Iterator[None]:
    """Standard output as an Output; what it holds is written when the block ends."""
    plain = sys.stdout
    sys.stdout = Output(plain)
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout = plain
