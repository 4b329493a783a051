"""The log of a sweep, in the sweep's own folder."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from harness.errors import StoreError

log = logging.getLogger("harness")


class _Quiet(logging.FileHandler):
    """Where the disk is full, what can't be logged is lost: logging would show a traceback a line, and what is written next tells of the disk."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  logging's own name
        """Nothing."""

    def close(self) -> None:
        """Close, also where what waits can't be written any more."""
        with suppress(OSError):
            super().close()


class log_file:  # noqa: N801  a context manager reads as a verb
    """Our log goes to the file `path` while it runs. Raises StoreError where that can't be opened."""

    def __init__(self, path: Path) -> None:
        try:
            self._handler = _Quiet(path, encoding="utf-8")
        except OSError as error:
            raise StoreError(f"{path}: can't write here ({error.strerror}); choose another folder with outputs=…") from error
        self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))

    def __enter__(self) -> None:
        log.setLevel(logging.INFO)
        log.addHandler(self._handler)

    def __exit__(self, *_: object) -> None:
        log.removeHandler(self._handler)
        self._handler.close()
