"""One address that turns texts into vectors: asks it, again where that may help, and says in one line what went wrong.

The key is read from the environment for each request and is in no field, message or log.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from harness.embedding.http_answer import Answer, code_in, message_in, understand
from harness.embedding.http_pace import Pace
from harness.errors import PartError

Sleep = Callable[[float], None]
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_REFUSED = frozenset({400, 413, 422})
_SIZE = re.compile(r"token|too (?:long|large|many|big)|batch|length|maximum|exceed|limit|\$\.input", re.IGNORECASE)
_BACKOFF, _LONGEST_BACKOFF, _LONGEST_HOLD = 0.5, 30.0, 300.0
_HINTS = {
    400: "check embedder.model and embedder.dimensions",
    401: "check the key in the variable that embedder.key_env names",
    403: "check what the key in the variable that embedder.key_env names may do",
    404: "check embedder.base_url (it mostly ends in /v1) and embedder.model",
}
_log = logging.getLogger(__name__)


class TooLarge(PartError):
    """The server does not take so many texts, or so long ones, in one request."""


class _Passing(PartError):
    """What may be gone when asked again."""


class _Away(_Passing):
    """There was no answer at all."""


@dataclass(eq=False)
class Endpoint:
    """`url` without a trailing slash. `key_env` names the environment variable with the key (None: no key is sent). `timeout` in seconds, of each
    request; `retries` of each, with a random wait that doubles, or as long as the server asks for."""

    url: str
    model: str
    dimensions: int | None
    key_env: str | None
    timeout: float
    retries: int
    pace: Pace = field(repr=False)
    down: bool = field(default=False, init=False)

    def client(self, connections: int) -> httpx.Client:
        """Connections to it, to be closed by the caller."""
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        return httpx.Client(timeout=httpx.Timeout(self.timeout, connect=min(self.timeout, 10.0)), limits=limits)

    def ask(self, client: httpx.Client, texts: Sequence[str], tokens: int, dim: int | None, sleep: Sleep) -> Answer:
        """The vectors of `texts`, about `tokens` tokens, of `dim` numbers each. What `sleep` raises comes out.

        Raises TooLarge where fewer texts may do, PartError where the server refuses or stays away. A server that stayed away is asked once only from
        then on, until it answers: a grid of many cells should not wait out every retry in each.
        """
        attempts = 1 if self.down else 1 + self.retries
        retrying = Retrying(
            stop=stop_after_attempt(attempts), wait=_wait, retry=retry_if_exception_type(_Passing), sleep=sleep, before_sleep=_note, reraise=True
        )
        try:
            return retrying(self._once, client, texts, tokens, dim, sleep)
        except _Passing as error:
            self.down = isinstance(error, _Away)
            times = "" if attempts == 1 else f" ({attempts} attempts)"
            raise PartError(f"{error}{times}; vectors that it gave are kept: the same command goes on from there") from error.__cause__

    def _once(self, client: httpx.Client, texts: Sequence[str], tokens: int, dim: int | None, sleep: Sleep) -> Answer:
        body: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        key = self._key()
        self.pace.wait(tokens, sleep)
        try:
            response = client.post(f"{self.url}/embeddings", json=body, headers={"Authorization": f"Bearer {key}"} if key else {})
        except httpx.TimeoutException as error:
            within = f"no answer within {self.timeout:g} s"
            raise _Away(f"{self}: {within}; a larger embedder.timeout or a smaller embedder.texts_a_batch may do") from error
        except httpx.HTTPError as error:
            told = _masked(str(error), key) or type(error).__name__
            raise _Away(f"{self}: can't be reached ({told}); start the server, or correct embedder.base_url") from error
        self.down = False
        if response.status_code == httpx.codes.OK:
            return understand(response.content, len(texts), dim)
        raise self._refused(response, key)

    def _refused(self, response: httpx.Response, key: str) -> PartError:
        """The error of an answer that holds no vectors."""
        status, said = response.status_code, _masked(message_in(response.content), key)
        told = f"{self}: {status} {response.reason_phrase}{': ' if said else ''}{said}"
        if status in _PASSING and code_in(response.content) != "insufficient_quota":
            seconds = _retry_after(response.headers.get("Retry-After", ""))
            if seconds > _LONGEST_HOLD:
                return PartError(f"{told}; it asks to come back in {seconds:.0f} s: the same command goes on from here then")
            self.pace.hold(seconds)
            return _Passing(told)
        if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE or (status in _REFUSED and _SIZE.search(said)):
            return TooLarge(told)
        if 300 <= status < 400:
            return PartError(f"{told}; it has moved to {_masked(response.headers.get('Location', '?'), key)[:200]!r}")
        return PartError(f"{told}; {_HINTS[status]}" if status in _HINTS else told)

    def _key(self) -> str:
        if self.key_env is None:
            return ""
        key = os.environ.get(self.key_env, "").strip()
        if not key:
            told = "is not set; it must hold the key. For a server that wants none, embedder.key_env=null"
            raise PartError(f"{self}: the environment variable {self.key_env} {told}")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise PartError(f"{self}: the environment variable {self.key_env} holds signs that no key has")
        return key

    def __str__(self) -> str:
        return f"embedder {self.model} at {self.url}"


def _masked(said: str, key: str) -> str:
    return said.replace(key, "…") if key else said


def _retry_after(value: str) -> float:
    """Seconds that a Retry-After header asks for: a number, or a date; 0 where it says neither."""
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return 0.0


def _wait(state: RetryCallState) -> float:
    return float(wait_random_exponential(multiplier=_BACKOFF, max=_LONGEST_BACKOFF)(state))


def _note(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    _log.info("%s; asking again", error)
