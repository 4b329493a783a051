"""An endpoint that fails in every way we know of: no vector is lost, misplaced or paid twice, and what can't be had is said in one line."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_endpoint import KEY, Fake, serving, unit_of

from harness.embedding import http_endpoint as endpoint_module
from harness.embedding import with_cache
from harness.embedding.base import Embedder, spent
from harness.embedding.http_embedder import HttpEmbedder
from harness.embedding.http_pace import Pace
from harness.errors import PartError

TEXTS = [f"gauge {number} is read {'again ' * (number % 5)}at dusk" for number in range(40)]
TRANSIENT = [
    (429, {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}, [("Retry-After", "0.1")]),
    (429, "slow down"),
    (500, {"error": "oops"}),
    (502, "<html>bad gateway</html>"),
    (503, ""),
    (504, ""),
    "drop",
    (200, "<html>a proxy's page</html>"),
    (200, {"error": {"message": "inside a 200"}}),
    (200, {"data": {"embedding": [1.0]}}),
    "short",
    "twice",
    "shuffled",
    "base64",
    "nan",
    "infinite",
    "zero",
    "none",
    "narrow",
    "text",
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "_BACKOFF", 0.01)


@pytest.fixture
def fake() -> Iterator[Fake]:
    with serving() as running:
        yield running


def embedder(fake: Fake, **values: Any) -> HttpEmbedder:
    usual: dict[str, Any] = {"tokenizer": "words", "max_length": 100, "texts_a_batch": 4, "concurrency": 3, "timeout": 5.0}
    return HttpEmbedder(fake.url, "toy", **{**usual, **values})


def cached(fake: Fake, folder: Path, **values: Any) -> Embedder:
    return with_cache(embedder(fake, **values), folder, max_bytes=10**8)


def check(embedded: Any, texts: list[str] = TEXTS) -> None:
    np.testing.assert_allclose(embedded.vectors, np.stack([unit_of(text) for text in texts]), atol=1e-6)


def test_a_misplaced_vector_would_be_seen() -> None:
    wrong = type("Embedded", (), {"vectors": np.stack([unit_of(text) for text in [*TEXTS[1:], TEXTS[0]]])})
    with pytest.raises(AssertionError):
        check(wrong)


@pytest.mark.parametrize("fault", TRANSIENT, ids=str)
def test_a_passing_fault_loses_nothing_and_pays_nothing_twice(fake: Fake, fault: Any, tmp_path: Path) -> None:
    front = cached(fake, tmp_path)
    front.embed(["a"], "query")
    fake.script = [None, fault]
    check(front.embed(TEXTS, "passage"))
    assert set(fake.texts().values()) == {1}, "each text was answered rightly once"
    assert len(fake.texts()) == len(TEXTS)
    asked = len(fake.requests)
    check(front.embed(TEXTS[::-1], "passage"), TEXTS[::-1])
    check(cached(fake, tmp_path).embed(TEXTS, "passage"))
    assert len(fake.requests) == asked, "a second run asks nothing, not even the length of a vector"


def test_a_time_out_is_asked_again(fake: Fake) -> None:
    fake.script = ["hang"]
    found = embedder(fake, timeout=0.4, dimensions=16, concurrency=1).embed(TEXTS[:6], "passage")
    check(found, TEXTS[:6])
    assert set(fake.served.values()) == {1}


def test_what_stays_wrong_is_named_and_the_rest_of_the_answer_is_kept(fake: Fake, tmp_path: Path) -> None:
    front = cached(fake, tmp_path, concurrency=1)
    front.embed(["a"], "query")
    fake.script = ["nan", "nan"]
    with pytest.raises(PartError, match="twice a vector with NaN or infinity; text 'gauge 0 is read at dusk'") as caught:
        front.embed(TEXTS[:4], "passage")
    assert "\n" not in str(caught.value)
    assert fake.texts() == dict.fromkeys(TEXTS[1:4], 1)
    check(cached(fake, tmp_path).embed(TEXTS[:4], "passage"), TEXTS[:4])
    assert fake.texts() == dict.fromkeys(TEXTS[:4], 1)


def test_what_is_under_way_when_a_batch_fails_is_kept(tmp_path: Path) -> None:
    with serving(slow=0.15) as fake:
        front = cached(fake, tmp_path, dimensions=16, retries=0)
        fake.script = [(500, "broken")]
        with pytest.raises(PartError, match="500"):
            front.embed(TEXTS, "passage")
        kept = sum(fake.served.values())
        assert kept == 2 * 4, "what was under way came, and nothing new was asked for"
        check(cached(fake, tmp_path, dimensions=16).embed(TEXTS, "passage"))
        assert set(fake.served.values()) == {1}


def test_a_batch_that_is_too_large_is_halved() -> None:
    with serving(most_texts=3) as fake:
        check(embedder(fake, texts_a_batch=40).embed(TEXTS, "passage"))
        assert set(fake.texts().values()) == {1}
        assert max(len(request["input"]) for request in fake.requests) == 40
    with serving() as fake:
        fake.script = [None, (400, {"error": {"message": "Requested 400000 tokens, max 300000 tokens per request"}})]
        check(embedder(fake, concurrency=1).embed(TEXTS[:4], "passage"), TEXTS[:4])
        assert [len(request["input"]) for request in fake.requests] == [1, 4, 2, 2]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ((400, {"error": {"message": "model 'toy'\n not \x1b[31mfound"}}), r"400 Bad Request: model 'toy' not \[31mfound; check embedder.model"),
        ((401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), "401 Unauthorized: Incorrect API key provided: …; check the key"),
        ((403, {"message": "not for you"}), "403 Forbidden: not for you; check what the key"),
        ((404, {"detail": [{"msg": "nothing here"}]}), "404 Not Found: .*nothing here.*; check embedder.base_url"),
        ((429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}), "429 .*exceeded your current quota"),
        ((429, "later", [("Retry-After", "7200")]), "come back in 7200 s"),
        ((307, "", [("Location", "https://elsewhere.example/")]), "moved to 'https://elsewhere.example/'"),
        ((413, {"error": "too long"}), "413 .*: too long; a text of 6 tokens"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_will_not_pass_is_said_at_once(fake: Fake, fault: Any, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)
    fake.script = [fault]
    with pytest.raises(PartError, match=told) as caught:
        embedder(fake, dimensions=16, key_env="TOY_KEY").embed(TEXTS[:1], "passage")
    assert len(fake.requests) == 1
    assert str(caught.value).startswith(f"embedder toy at {fake.url}: ")
    assert KEY not in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


def test_retry_after_keeps_all_workers_back(fake: Fake) -> None:
    fake.script = [(429, "", [("Retry-After", "0.5")])]
    embedder(fake, dimensions=16, concurrency=1).embed(TEXTS[:8], "passage")
    times = [request["at"] for request in fake.requests]
    assert times[1] - times[0] >= 0.45


def test_retry_after_may_be_seconds_or_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < endpoint_module._retry_after(date) <= 100
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=100), usegmt=True)
    found = [endpoint_module._retry_after(value) for value in ("7.5", "-1", past, "soon", "")]
    assert found == [7.5, 0, 0, 0, 0]


def test_a_server_that_is_not_there_is_waited_for_once() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        gone = HttpEmbedder(url, "toy", "words", 100, retries=2, timeout=1.0)
        with pytest.raises(PartError, match=rf"embedder toy at {url}: can't be reached .*correct embedder.base_url \(3 attempts\)"):
            gone.embed(["one text"], "passage")
        with pytest.raises(PartError, match=r"can't be reached") as again:
            gone.embed(["one text"], "passage")
        assert "attempts" not in str(again.value)


def test_a_key_that_is_not_set_or_can_be_none_is_said_without_it(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOY_KEY", raising=False)
    with pytest.raises(PartError, match="TOY_KEY is not set"):
        embedder(fake, key_env="TOY_KEY").embed(["x"], "query")
    monkeypatch.setenv("TOY_KEY", f"{KEY}\r\nX-Other: 1")
    with pytest.raises(PartError, match="holds signs that no key has") as caught:
        embedder(fake, key_env="TOY_KEY").embed(["x"], "query")
    assert KEY not in str(caught.value)
    assert not fake.requests


def test_requests_run_at_once_up_to_the_bound() -> None:
    with serving(slow=0.05) as fake:
        embedder(fake, concurrency=3, texts_a_batch=2, dimensions=16).embed(TEXTS[:24], "passage")
        assert fake.most_at_once == 3


def test_the_pace_holds_for_all_workers_together() -> None:
    """With a clock that only moves when somebody sleeps."""
    now, lock = [0.0], threading.Lock()

    def sleep(seconds: float) -> None:
        with lock:
            now[0] += seconds

    requests, tokens = Pace(60, None, lambda: now[0]), Pace(None, 600, lambda: now[0])
    for _ in range(31):
        requests.wait(1, sleep)
    assert now[0] == pytest.approx(30)
    for _ in range(11):
        tokens.wait(100, sleep)
    assert now[0] == pytest.approx(30 + 10 * 10)
    requests.hold(7)
    requests.wait(1, sleep)
    assert now[0] == pytest.approx(137)


def test_a_configured_pace_is_kept(fake: Fake) -> None:
    began = time.monotonic()
    embedder(fake, requests_a_minute=600, dimensions=16).embed(TEXTS[:20], "passage")
    assert time.monotonic() - began >= 0.39
    fake.requests.clear()
    embedder(fake, tokens_a_minute=6000, dimensions=16, texts_a_batch=1).embed(["one two three four five six " + str(n) for n in range(5)], "passage")
    times = [request["at"] for request in fake.requests]
    assert times[-1] - times[0] >= 0.25


def test_who_stops_listening_waits_for_nothing() -> None:
    with serving(slow=1.0) as fake:
        toy = embedder(fake, dimensions=16)
        inputs = toy.read(TEXTS, "passage")
        blocks = toy.vectors(inputs, np.arange(len(TEXTS)))
        next(blocks)
        began = time.monotonic()
        blocks.close()
        assert time.monotonic() - began < 0.5
        time.sleep(0.1)
        assert len(fake.requests) <= 4


def test_the_bill_is_the_servers(fake: Fake) -> None:
    toy = embedder(fake, dimensions=16, price_per_million_tokens=2.0)
    toy.embed(TEXTS, "passage")
    assert spent(toy) == {"paid_tokens": fake.tokens, "cost_usd": pytest.approx(fake.tokens * 2e-6)}
    assert spent(toy) == {"paid_tokens": 0, "cost_usd": 0}
    fake.usage = False
    toy.embed(["three words here"], "passage")
    assert spent(toy)["paid_tokens"] == 3, "where the server does not say, our own count"
