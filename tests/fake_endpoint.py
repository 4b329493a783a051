"""An OpenAI-compatible embeddings server on a free port of this machine, with faults by script. Its vectors are digests of the texts."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIM = 16
KEY = "sk-The-Secret-0123456789"


def vector_of(text: str, dim: int = DIM) -> np.ndarray:
    """What the server gives for `text`: not of unit length."""
    numbers = np.frombuffer(hashlib.shake_256(text.encode()).digest(4 * dim), dtype=np.int32)
    return numbers / 2**28


def unit_of(text: str, dim: int = DIM) -> np.ndarray:
    """The same of unit length, in float32."""
    vector = vector_of(text, dim)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@dataclass
class Fake:
    """What the server does and what it saw. `script`: one fault for each request to come, in order of arrival; then all is well."""

    script: list[Any] = field(default_factory=list)
    key: str | None = None
    most_texts: int = 2048
    slow: float = 0.0
    usage: bool = True
    served: Counter[str] = field(default_factory=Counter)
    requests: list[dict[str, Any]] = field(default_factory=list)
    tokens: int = 0
    at_once: int = 0
    most_at_once: int = 0
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def texts(self) -> Counter[str]:
        """Texts answered rightly, but for the one that asks for the length of a vector."""
        return Counter({text: count for text, count in self.served.items() if text != "a"})

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        texts: list[str] = body["input"]
        with self.lock:
            self.requests.append({**body, "at": time.monotonic(), "key": handler.headers.get("Authorization")})
            fault = self.script.pop(0) if self.script else None
        if self.slow and fault is None:
            time.sleep(self.slow)
        if self.key is not None and handler.headers.get("Authorization") != f"Bearer {self.key}":
            said = {"error": {"message": f"Incorrect API key provided: {handler.headers.get('Authorization')}", "code": "invalid_api_key"}}
            reply(handler, 401, said)
        elif any(not text for text in texts):
            reply(handler, 400, {"error": {"message": "'$.input' is invalid."}})
        elif len(texts) > self.most_texts:
            reply(handler, 413, {"error": f"batch size {len(texts)} > maximum allowed batch size {self.most_texts}", "error_type": "Validation"})
        elif isinstance(fault, tuple):
            reply(handler, *fault)
        elif fault == "drop":
            handler.close_connection = True  # without a word
        elif fault == "hang":
            time.sleep(1.2)
        else:
            self._serve(handler, body, fault)

    def _serve(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], fault: Any) -> None:
        texts, dim = body["input"], body.get("dimensions") or DIM
        items = [{"object": "embedding", "index": place, "embedding": vector_of(text, dim).tolist()} for place, text in enumerate(texts)]
        good = set(range(len(texts)))
        if fault == "shuffled":
            items.reverse()
        elif fault == "short":
            good.discard(items.pop(len(items) // 2)["index"])
        elif fault == "twice":
            items[0]["index"] = items[-1]["index"] = 0
            good -= {0, len(texts) - 1}
        elif fault == "base64":
            for item in items:
                item["embedding"] = base64.b64encode(np.array(item["embedding"], dtype="<f4").tobytes()).decode()
        elif fault in ("nan", "infinite", "zero", "none", "narrow", "text"):
            wrong = {"nan": [float("nan")] * dim, "infinite": [1e999] * dim, "zero": [0] * dim, "none": None, "narrow": [1, 2, 3], "text": "??"}
            items[0]["embedding"] = wrong[fault]
            good.discard(0)
        said: dict[str, Any] = {"object": "list", "data": items, "model": body["model"]}
        words = sum(len(text.split()) for text in texts)
        if self.usage:
            said["usage"] = {"prompt_tokens": words, "total_tokens": words}
        with self.lock:
            self.tokens += words
            self.served.update(texts[place] for place in sorted(good))
        reply(handler, 200, said)


def reply(handler: BaseHTTPRequestHandler, status: int, said: Any, headers: Sequence[tuple[str, str]] = ()) -> None:
    content = said.encode() if isinstance(said, str) else json.dumps(said).encode()
    handler.send_response(status)
    for name, value in (*headers, ("Content-Length", str(len(content)))):
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content)


@contextmanager
def serving(**values: Any) -> Iterator[Fake]:
    """A running server."""
    fake = Fake(**values)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/embeddings":
                reply(self, 404, {"detail": "Not Found"})
                return
            with fake.lock:
                fake.at_once += 1
                fake.most_at_once = max(fake.most_at_once, fake.at_once)
            try:
                fake.answer(self, body)
            except OSError:  # the client went away
                self.close_connection = True
            finally:
                with fake.lock:
                    fake.at_once -= 1

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
