"""Rulers are kept, so that a sweep tokenises each document once a unit however many sizes and strategies it tries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from harness.types import Document
from harness.units.base import Ruler, Unit

DEFAULT_BYTES = 512 * 2**20


class RulerCache:
    """The rulers used last, by unit and text, up to `limit` bytes in all. A ruler larger than that is made and not kept. Safe with threads."""

    def __init__(self, limit: int = DEFAULT_BYTES) -> None:
        self.limit = limit
        self.nbytes = 0
        self._rulers: OrderedDict[tuple[str, str], Ruler] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rulers)

    def measure(self, unit: Unit, text: str) -> Ruler:
        """The ruler of `text` in `unit`, measured only where it isn't kept."""
        key = (unit.identity, text)
        with self._lock:
            if key in self._rulers:
                self._rulers.move_to_end(key)
                return self._rulers[key]
        ruler = unit.measure(text)
        with self._lock:
            self._keep(key, ruler)
        return ruler

    def _keep(self, key: tuple[str, str], ruler: Ruler) -> None:
        if key in self._rulers or ruler.nbytes > self.limit:
            return
        self._rulers[key] = ruler
        self.nbytes += ruler.nbytes
        while self.nbytes > self.limit:
            self.nbytes -= self._rulers.popitem(last=False)[1].nbytes


_process = RulerCache()


def measure_all(unit: Unit, documents: Sequence[Document], cache: RulerCache | None = None) -> tuple[Ruler, ...]:
    """The ruler of each document, in order, by way of `cache` (without one: that of this process)."""
    keep = _process if cache is None else cache
    return tuple(keep.measure(unit, document.text) for document in documents)
