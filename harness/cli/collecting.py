"""How often Python looks for garbage in cycles: seldom, and not at all once the command is through."""

from __future__ import annotations

import atexit
import gc
import io
from contextlib import suppress

_YOUNG = 20_000
"""Objects made before Python looks through the youngest; its own is 700, and a command makes half a million that stay (imports, mostly)."""
_BUFFERED = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


def collect_seldom() -> None:
    """For a process that runs one command and ends: a sweep spends a twentieth of its time on this search otherwise, and more than a second at exit.

    At exit nothing is searched: the memory goes back with the process. So an object in a cycle is not told any more that it goes. What a file that
    somebody left open still holds is written here; whatever else has to be closed or removed is registered with atexit, as temporary folders, log
    files and databases are.
    """
    young, *older = gc.get_threshold()
    if 0 < young < _YOUNG:
        gc.set_threshold(_YOUNG, *older)
        atexit.register(_leave)


def _leave() -> None:
    for each in gc.get_objects():
        if issubclass(type(each), _BUFFERED):
            with suppress(OSError, ValueError):  # on a full disk; closed already, or open for reading alone
                each.flush()
    gc.freeze()
