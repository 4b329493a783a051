"""An embedder behind an endpoint: what is sent, what decides its identity, what is refused before any work, and what is asked when."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_endpoint import DIM, KEY, Fake, serving, unit_of

from harness.embedding import StoredEmbedder, from_endpoint, minilm, with_cache
from harness.embedding.base import priced
from harness.embedding.http_embedder import HttpEmbedder
from harness.embedding.http_secrets import address
from harness.embedding.http_text import counter
from harness.embedding.http_work import batches
from harness.errors import ConfigError


@pytest.fixture
def fake() -> Iterator[Fake]:
    with serving() as running:
        yield running


def embedder(url: str = "http://localhost:1/v1", **values: Any) -> HttpEmbedder:
    return HttpEmbedder(url, "toy", **{"tokenizer": "words", "max_length": 50, **values})


WORDS = " ".join(f"word{number}" for number in range(300))
TRICKY = "Cafe\u0301 👩‍👩‍👧‍👦 受付は九時に\r\n\tspelled <|endoftext|> [SEP] " * 40


@pytest.mark.parametrize("tokenizer", ["words", "chars", "minilm", "tiktoken:cl100k_base"])
@pytest.mark.parametrize("text", [WORDS, TRICKY, "x" * 3000, "   a" * 400, "👍🏽" * 300])
def test_a_text_is_cut_on_a_token_boundary_and_what_is_cut_off_is_counted(tokenizer: str, text: str) -> None:
    counted = counter(tokenizer)
    reader = embedder(tokenizer=tokenizer, query_prompt="ask: ")
    found = reader.read([text], "passage")
    (sent,) = found.sent
    assert text.startswith(sent)
    room = 50 - counted.marks
    assert reader.limit == room
    assert counted.unit.measure(sent).total <= room, "the model reads all that is sent"
    assert found.tokens[0] == counted.unit.measure(text).total
    read = int(found.tokens[0] - found.unread[0])
    assert min(room, found.tokens[0]) - 8 <= read <= room, "no more is cut off than must be"
    assert found.lengths[0] == read + counted.marks
    (asked,) = reader.read([text], "query").sent
    assert asked.startswith("ask: ")
    assert counted.unit.measure(asked).total <= room + 1


def test_prompts_are_applied_and_set_readings_apart() -> None:
    reader = embedder(query_prompt="ask: ", passage_prompt="tell: ")
    asked, told = reader.read(["a text"], "query"), reader.read(["a text"], "passage")
    assert (asked.sent, told.sent) == (("ask: a text",), ("tell: a text",))
    assert asked.keys != told.keys
    plain = embedder()
    assert plain.read(["a text"], "query").keys == plain.read(["a text"], "passage").keys


def test_what_is_sent_is_what_was_read(fake: Fake) -> None:
    """Blank texts are never sent, repeats and heads in common once, and a lone surrogate as U+FFFD."""
    texts = ["", " \n ", "twice", "twice", "\ud83d", WORDS, WORDS + " and more"]
    toy = embedder(fake.url, dimensions=DIM, key_env=None)
    found = toy.embed(texts, "passage")
    head = " ".join(WORDS.split()[:50])
    assert fake.served == {"twice": 1, "\ufffd": 1, head: 1}
    np.testing.assert_allclose(found.vectors[2:5], np.stack([unit_of(text) for text in ("twice", "twice", "\ufffd")]), atol=1e-6)
    assert np.array_equal(found.vectors[5], found.vectors[6])
    assert found.unread.tolist() == [0, 0, 0, 0, 0, 250, 252]
    assert found.vectors[0].tolist() == found.vectors[1].tolist() == [1.0] + [0.0] * (DIM - 1)
    (request,) = fake.requests
    assert set(request) - {"at", "key"} == {"model", "input", "encoding_format", "dimensions"}
    assert request["key"] is None


def test_the_key_goes_in_the_header_alone(fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake.key = KEY
    monkeypatch.setenv("TOY_KEY", KEY + "\n")
    toy = embedder(fake.url, key_env="TOY_KEY")
    front = with_cache(toy, tmp_path, max_bytes=10**8)
    front.embed(["one"], "query")
    assert fake.served == {"a": 1, "one": 1}
    for shown in (repr(toy), repr(front), str(toy._endpoint), repr(toy._endpoint), repr(vars(toy)), repr(vars(toy._endpoint))):
        assert KEY not in shown
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_batches_keep_to_both_bounds() -> None:
    lengths = np.array([3, 3, 3, 50, 1, 1, 1, 1, 9, 2])
    found = [batch.rows for batch in batches(range(10), lengths, tokens=9, texts=3)]
    assert found == [(0, 1, 2), (3,), (4, 5, 6), (7,), (8,), (9,)]


CHANGES: list[dict[str, Any]] = [
    {"dimensions": 8},
    {"query_prompt": "q"},
    {"passage_prompt": "q"},
    {"max_length": 51},
    {"tokenizer": "chars"},
]


def test_identity_follows_what_decides_a_vector_and_nothing_else() -> None:
    plain = embedder()
    others = [embedder(**change).identity for change in CHANGES]
    others += [embedder("http://localhost:2/v1").identity, HttpEmbedder("http://localhost:1/v1", "other", "words", 50).identity]
    assert len({plain.identity, *others}) == len(others) + 1
    same = embedder("HTTP://LOCALHOST:1/v1/embeddings", concurrency=9, timeout=3, retries=0, key_env="OTHER", price_per_million_tokens=1.0)
    assert same.identity == plain.identity
    assert counter("minilm").unit.identity == minilm().unit.identity, "documents are tokenised once for both"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"url": "api.openai.com/v1"}, "embedder.base_url=api.openai.com/v1: an address such as"),
        ({"url": "ftp://localhost/v1"}, "embedder.base_url"),
        ({"url": "http://localhost:port/v1"}, "embedder.base_url"),
        ({"url": f"https://me:{KEY}@host.example/v1"}, "embedder.base_url=https://host.example…: must hold no user name"),
        ({"url": f"https://host.example/v1?key={KEY}"}, "embedder.base_url=https://host.example…: must hold no"),
        ({"url": f"me:{KEY}@host.example"}, "embedder.base_url=…"),
        ({"key_env": KEY}, "embedder.key_env=…: must be the name of an environment variable"),
        ({"key_env": "hf_abcdefghij"}, "embedder.key_env=…"),
        ({"tokenizer": "cl100k_base"}, "embedder.tokenizer=cl100k_base: no such file; tiktoken:cl100k_base"),
        ({"tokenizer": "tiktoken:none"}, "embedder.tokenizer=tiktoken:none"),
        ({"tokenizer": "/nowhere/tokenizer.json"}, "embedder.tokenizer=/nowhere/tokenizer.json: no such file"),
        ({"max_length": 0}, "embedder.max_length=0"),
        ({"query_prompt": "word " * 50}, "embedder.query_prompt='word .*embedder.max_length=50"),
        ({"max_length": None}, "embedder.max_length=null: a whole number from 1 up would do"),
        ({"dimensions": 1.5}, "embedder.dimensions=1.5: a whole number from 2 up would do, or null"),
        ({"concurrency": 0}, "embedder.concurrency=0"),
        ({"timeout": -1.0}, "embedder.timeout=-1.0"),
        ({"requests_a_minute": 0}, "embedder.requests_a_minute=0: a number above 0 would do, or null"),
        ({"retries": -1}, "embedder.retries=-1"),
        ({"price_per_million_tokens": -0.1}, "embedder.price_per_million_tokens"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_can_not_be_is_refused_at_composition_without_the_secret(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        embedder(**values)
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.__cause__)


def test_a_damaged_tokenizer_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"embedder.tokenizer=.*can't read the tokenizer"):
        embedder(tokenizer=str(tmp_path / "tokenizer.json"))


@pytest.mark.parametrize("url", ["http://H:8080/v1", "http://h:8080/v1/", "http://h:8080/v1/embeddings", "http://h:8080/v1/embeddings/"])
def test_an_address_is_one_however_it_is_written(url: str) -> None:
    assert address(url) == "http://h:8080/v1"


def test_nothing_is_asked_before_a_vector_is_needed(tmp_path: Path) -> None:
    front = with_cache(from_endpoint("http://127.0.0.1:9/v1", "toy", tokenizer="words", max_length=50), tmp_path, max_bytes=10**8)
    assert front.identity
    assert front.limit == 50
    assert front.unit.name == "words"
    assert not list(tmp_path.iterdir())


def test_the_length_of_a_vector_is_asked_once_and_then_known_from_the_cache(fake: Fake, tmp_path: Path) -> None:
    front = with_cache(embedder(fake.url), tmp_path, max_bytes=10**8)
    assert front.embed([], "query").vectors.shape == (0, DIM)
    front.embed(["one"], "query")
    assert front.dim == DIM
    assert [request["input"] for request in fake.requests] == [["a"], ["one"]]
    again = with_cache(embedder(fake.url), tmp_path, max_bytes=10**8)
    assert again.dim == DIM
    again.embed(["one"], "query")
    assert len(fake.requests) == 2
    for path in tmp_path.glob("*.sqlite*"):
        path.write_bytes(b"no database any more")
    assert with_cache(embedder(fake.url), tmp_path, max_bytes=10**8).dim == DIM, "a damaged cache only costs the question"


def test_vectors_can_be_kept_shorter_over_one_cache(fake: Fake, tmp_path: Path) -> None:
    def front(**values: Any) -> Any:
        return with_cache(from_endpoint(fake.url, "toy", tokenizer="words", max_length=50, **values), tmp_path, max_bytes=10**8)

    whole = front().embed(["one", "two"], "passage").vectors
    shorter = front(dim=4, storage="int8", dimensions=None)
    assert isinstance(shorter, StoredEmbedder)
    found = shorter.embed(["one", "two"], "passage").vectors
    cut = whole[:, :4] / np.linalg.norm(whole[:, :4], axis=1, keepdims=True)
    np.testing.assert_allclose(found, cut, atol=0.01)
    assert fake.texts() == {"one": 1, "two": 1}
    assert priced(shorter) is not None
    assert priced(minilm()) is None


def test_units_can_be_pickled() -> None:
    unit = embedder(tokenizer="minilm").unit
    assert pickle.loads(pickle.dumps(unit)).identity == unit.identity
