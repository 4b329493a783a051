"""How often Python looks for garbage in cycles: seldom, and not at all once the command is through."""

from __future__ import annotations

import atexit
import gc
import io
import sys
from contextlib import suppress

_YOUNG = 20_000
"""Objects made before Python looks through the youngest; its own is 700, and a command makes half a million that stay (imports, mostly)."""
_BUFFERED = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)
_ENDING = (("gzip", "GzipFile"), ("bz2", "BZ2File"), ("lzma", "LZMAFile"), ("zipfile", "ZipFile"))
"""Files that have something more to write when they are closed."""


def collect_seldom() -> None:
    """For a process that runs one command and ends: a sweep spends a twentieth of its time on this search otherwise, and more than a second at exit.

    At exit nothing is searched: the memory goes back with the process. So an object in a cycle is not told any more that it goes. What a file that
    somebody left open still holds is written here, and compressed ones are closed; whatever else has to be closed or removed is registered with
    atexit, as temporary folders, log files and databases are.
    """
    young, *older = gc.get_threshold()
    if 0 < young < _YOUNG:
        gc.set_threshold(_YOUNG, *older)
        atexit.register(_leave)


def _leave() -> None:
    alive = gc.get_objects()
    for each in alive:
        if issubclass(type(each), _BUFFERED):
            with suppress(OSError, ValueError):  # on a full disk; closed already, or open for reading alone
                each.flush()
    ending = tuple(getattr(sys.modules[module], name) for module, name in _ENDING if module in sys.modules)
    for each in alive:
        if issubclass(type(each), ending):
            with suppress(OSError, ValueError):
                each.close()
    gc.freeze()
