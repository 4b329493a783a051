"""The process that reads documents: `python -m harness.importing.extract.worker`, driven by `pool` with JSON lines.

The first line holds the limits, every further one a file to read; each is answered with one line. Nothing but JSON goes between the two processes,
so a library that a document takes over can't send objects either.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from harness.importing.extract.base import Extracted, Source, UnreadableError
from harness.importing.extract.guard import lock

_GRACE = 5


def main() -> None:
    """Answer until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints must not mix with the answers
    limits = json.loads(sys.stdin.buffer.readline())
    lock(limits["megabytes"])
    for line in sys.stdin.buffer:
        # A backstop, in case the other process is killed and can't stop this one.
        if hasattr(signal, "alarm"):
            signal.alarm(int(limits["seconds"]) + _GRACE)
        answers.write(json.dumps(_answer(json.loads(line), limits)).encode("ascii") + b"\n")
        answers.flush()


def _answer(request: dict[str, Any], limits: dict[str, Any]) -> dict[str, Any]:
    try:
        module = importlib.import_module(f"harness.importing.extract.{request['module']}")
        found: Extracted = module.extract(Source(Path(request["path"]).read_bytes(), request["name"]))
    except UnreadableError as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": f"needs more than {limits['megabytes']:,} MB of memory to be read", "restart": True}
    except OSError as error:
        return {"refused": f"can't be read ({error.strerror or error})"}
    except Exception as error:  # noqa: BLE001 - whatever a library raises on damage that it did not expect, the other files are read
        return {"refused": f"can't be read ({type(error).__name__}: {' '.join(str(error).split())[:120]})"}
    if len(found.text) > limits["characters"]:
        return {"refused": f"gives {len(found.text):,} characters of text, more than {limits['characters']:,}"}
    return {"text": found.text, "title": found.title, "metadata": dict(found.metadata), "notes": list(found.notes)}


if __name__ == "__main__":
    main()
