"""Some threads that work at the same time for one that waits. They never keep a process from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import Generic, TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")


class Stopped(BaseException):
    """Nobody waits for this work any more."""


class Crew(Generic[Task, Found]):
    """At most `size` threads that do `work`. Leaving the context stops what sleeps, and does not wait for what is under way."""

    def __init__(self, work: Callable[[Task], Found], size: int) -> None:
        self._work, self._size = work, size
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._found: SimpleQueue[Found | BaseException] = SimpleQueue()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self.busy = 0

    @property
    def free(self) -> bool:
        """Whether a task that is given now begins at once."""
        return self.busy < self._size

    def give(self, task: Task) -> None:
        """Have it done."""
        if self.busy == len(self._threads):
            self._threads.append(threading.Thread(target=self._serve, daemon=True, name="chunk-sweep-http"))
            self._threads[-1].start()
        self.busy += 1
        self._tasks.put(task)

    def take(self) -> Found:
        """What came of a task, whichever is done first; what it raised is raised."""
        found = self._found.get()
        self.busy -= 1
        if isinstance(found, BaseException):
            raise found
        return found

    def sleep(self, seconds: float) -> None:
        """For those who work: wait. Raises Stopped where nobody waits for the work any more."""
        if self._stop.wait(seconds):
            raise Stopped

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                self._found.put(self._work(task))
            except BaseException as error:  # noqa: BLE001  it is raised where somebody waits
                self._found.put(error)

    def __enter__(self) -> Crew[Task, Found]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        for _ in self._threads:
            self._tasks.put(None)
