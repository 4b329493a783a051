"""Ctrl-C, once and twice: the first lets the cell in flight finish, the second ends at once.

The first only leaves a mark, which the runner looks at between cells, so no thread and no library sees an interruption. The second is Python's own
KeyboardInterrupt. Ctrl-C is ours only where Python's own handler stood (in the main thread, and where nobody else wants it), and where cells run
`here`: those that other processes run are ended by the first.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self

_LATER = 0.05
FINISHING = "finishing this cell; Ctrl-C again to stop now"


class Stopping:
    """While it is entered, `asked()` says whether a person pressed Ctrl-C once; `tell` is called with FINISHING then, from a thread of its own: a
    handler runs between any two steps of the program, so also in the middle of a write to the same console."""

    def __init__(self, tell: Callable[[str], None], *, here: bool = True) -> None:
        self._tell, self._here, self._asked = tell, here, False
        self._telling: threading.Thread | None = None
        self._before: Callable[[int, FrameType | None], object] | None = None
        self._unheard = sys.unraisablehook

    def asked(self) -> bool:
        """Whether the sweep is to end after the cell in flight."""
        return self._asked

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if self._here and main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.default_int_handler
            signal.signal(signal.SIGINT, self._hear)
            self._unheard, sys.unraisablehook = sys.unraisablehook, self._repeat
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            sys.unraisablehook = self._unheard
        if self._telling is not None:
            self._telling.join(timeout=1)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            signal.default_int_handler(number, frame)
        self._asked = True
        self._telling = threading.Thread(target=self._tell, args=(FINISHING,), daemon=True)
        self._telling.start()

    def _repeat(self, lost: sys.UnraisableHookArgs) -> None:
        """An interruption that falls into a finaliser or a callback of the garbage collector is swallowed there, so it is raised again a little
        later, when that is over."""
        if lost.exc_type is KeyboardInterrupt:
            threading.Timer(_LATER, _thread.interrupt_main).start()
        else:
            self._unheard(lost)
