"""Readers: processes that turn files into text, each with a limit on memory and on the time of one file. One that overruns is ended and replaced."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.errors import ConfigError
from harness.importing.extract.base import Extracted, UnreadableError

_HOME = str(Path(__file__).resolve().parents[3])


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost. `max_megabytes` is its size on disk (millions of bytes), `max_seconds` the time to read it; memory is bounded at
    `memory_megabytes` (MiB), and the text it gives at `max_megabytes` million characters. Raises ConfigError for values that are not above 0."""

    max_megabytes: float = 50.0
    max_seconds: float = 120.0
    memory_megabytes: int = 2048

    def __post_init__(self) -> None:
        for name, least in (("max_megabytes", 0.0), ("max_seconds", 0.0), ("memory_megabytes", 255)):
            if not getattr(self, name) > least:
                raise ConfigError(f"--{name.replace('_', '-')}", getattr(self, name), f"a number above {least:g}")

    @property
    def bytes(self) -> int:
        """The largest file that is opened."""
        return int(self.max_megabytes * 1e6)


class Reader:
    """One process. Not to be used by two threads at once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def read(self, path: Path, module: str, name: str) -> Extracted:
        """The text of a file by the extractor `module`. Raises UnreadableError; whatever happens, the next file can be read."""
        process = self._running()
        request = json.dumps({"path": str(path), "module": module, "name": name}).encode("ascii")
        try:
            assert process.stdin is not None  # noqa: S101 - it was opened with a pipe
            process.stdin.write(request + b"\n")
            process.stdin.flush()
            line = self._lines.get(timeout=self._limits.max_seconds)
        except queue.Empty:
            self.close()
            raise UnreadableError(f"took more than {self._limits.max_seconds:g} s to read and was given up (--max-seconds)") from None
        except OSError:
            line = b""
        if not line:
            status = process.wait(timeout=10)
            self.close()
            raise UnreadableError(
                f"made its reader fall over (status {status}): damaged, or more memory needed than {self._limits.memory_megabytes:,} MB"
            )
        return self._taken(json.loads(line))

    def close(self) -> None:
        """End the process. The reader can be used again: it starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _shut(pipe)

    def _taken(self, answer: dict[str, Any]) -> Extracted:
        if answer.get("restart"):
            self.close()
        if "refused" in answer:
            raise UnreadableError(answer["refused"])
        return Extracted(answer["text"], answer["title"], answer["metadata"], tuple(answer["notes"]))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        limits = self._limits
        process = subprocess.Popen(  # our own module by our own interpreter
            [sys.executable, "-P", "-m", "harness.importing.extract.worker"],  # -P: no module is taken from the current folder
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_module_places()), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        assert process.stdin is not None  # noqa: S101 - opened with a pipe, as is stdout
        assert process.stdout is not None  # noqa: S101
        values = {"megabytes": limits.memory_megabytes, "seconds": limits.max_seconds, "characters": limits.bytes}
        self._lines = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(process.stdout, self._lines), daemon=True).start()
        with suppress(OSError):  # it died at once: reading says so
            process.stdin.write(json.dumps(values).encode("ascii") + b"\n")
            process.stdin.flush()
        self._process = process
        return process


def _module_places() -> list[str]:
    """Where the reader finds modules: as this process, but for the current folder, which may be the very one that strangers' files lie in."""
    here = os.path.realpath(os.getcwd())
    return [_HOME, *(place for place in sys.path if place and os.path.realpath(place) != here)]


def _listen(stream: Any, lines: queue.SimpleQueue[bytes]) -> None:
    """Pass on lines; an empty one says that the process is gone."""
    with suppress(OSError, ValueError):
        for line in stream:
            lines.put(line)
    lines.put(b"")


def _shut(pipe: Any) -> None:
    with suppress(OSError):
        pipe.close()
