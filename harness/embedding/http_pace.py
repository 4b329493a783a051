"""How fast an endpoint may be asked: requests and tokens a minute, shared by all that work at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """Spreads requests evenly: in no minute do more begin than `requests` a minute and one, or than make `tokens` a minute and one request's.

    None is no bound. `hold` keeps everybody back, as a server asks for with Retry-After. `clock` gives seconds.
    """

    def __init__(self, requests: float | None, tokens: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = 60.0 / requests if requests else 0.0
        self._each = 60.0 / tokens if tokens else 0.0
        self._clock, self._lock = clock, threading.Lock()
        self._next_request = self._next_token = self._held_until = 0.0

    def wait(self, tokens: int, sleep: Callable[[float], None]) -> None:
        """Return when a request of `tokens` may begin; its share is taken. What `sleep` raises comes out."""
        while (seconds := self._take(tokens)) > 0:
            sleep(seconds)

    def _take(self, tokens: int) -> float:
        """Seconds to wait before asking again; 0 where the request's share was taken."""
        with self._lock:
            now = self._clock()
            begins = max(self._next_request, self._next_token, self._held_until)
            if begins > now:
                return begins - now
            self._next_request, self._next_token = now + self._every, now + tokens * self._each
            return 0.0

    def hold(self, seconds: float) -> None:
        """Let no request begin for so long."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + seconds)
