"""The cases of the fuzz: command lines, files and labels, each drawn from its number alone."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fault_bench import QUICK
from fault_labels import LABELS
from fault_words import SENSIBLE, STRANGE, WORDS

_BASE = ("run", *QUICK, "dataset=folder", "strategy=fixed", "size=24")


@dataclass(frozen=True)
class Case:
    """One case. `prepare` writes its files below a folder and gives the words; `refuse` and `accept` say why it must, or must not, be refused;
    `runs`: the command makes results; `reads`: quotes may be held against the files."""

    kind: str
    prepare: Callable[[Path], list[str]]
    refuse: str = ""
    accept: str = ""
    runs: bool = False
    reads: bool = False


def case(number: int) -> Case:
    """Case `number`: of ten, four configurations, three data sets, three files of labels."""
    draw = random.Random(f"case {number}")
    return (_configuration if number % 10 < 4 else _data_set if number % 10 < 7 else _labels)(draw)


def _configuration(draw: random.Random) -> Case:
    words = [
        f"{key}={draw.choice(STRANGE if draw.random() < 0.3 else SENSIBLE[key])}" for key in draw.sample(sorted(SENSIBLE), draw.choice((1, 1, 2, 3)))
    ]
    if draw.random() < 0.25:
        words += draw.choice(WORDS)
    keys = {word.split("=")[0] for word in words if "=" in word}

    def prepare(room: Path) -> list[str]:
        _corpus(room / "harbour")
        base = [word for word in _BASE if word.split("=")[0] not in keys]
        return [*base, f"dataset.path={room}/harbour", f"outputs={room}/outputs", f"hydra.run.dir={room}/hydra", *words]

    return Case("configuration", prepare, runs=True, reads=True)


def _corpus(folder: Path) -> list[dict[str, Any]]:
    """Two small documents and their questions, as rows."""
    (folder / "documents").mkdir(parents=True)
    rows = []
    for number in range(2):
        lines = [
            f"## Part {part}\n\nThe ferry {number}.{part} leaves at {part} past the tide. Nobody boards it after dusk, the pilot says."
            for part in range(3)
        ]
        (folder / "documents" / f"notice-{number}.md").write_text(f"# Notice {number}\n\n" + "\n\n".join(lines) + "\n", encoding="utf-8")
        for part in range(3):
            evidence = {"doc": f"notice-{number}.md", "quote": f"The ferry {number}.{part} leaves at {part} past the tide."}
            rows.append({"id": f"q{number}.{part}", "question": f"When does ferry {number}.{part} leave?", "answers": [{"evidence": [evidence]}]})
    _write(folder, rows)
    return rows


def _write(folder: Path, rows: list[Any]) -> None:
    (folder / "questions.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8", errors="surrogatepass"
    )


def _checked(room: Path) -> list[str]:
    return ["data", "check", f"{room}/harbour", "--unit", "words", "--sizes", "8,24"]


def _data_set(draw: random.Random) -> Case:
    """Bytes of one file changed, cut, doubled or replaced; a folder, a link or nothing in its place."""
    target = draw.choice(
        ("questions.jsonl", "documents/notice-0.md", "documents/notice-1.md", "documents/metadata.jsonl", "metadata.jsonl", "corpus.jsonl")
    )
    changes = [draw.choice(_CHANGES) for _ in range(draw.choice((1, 1, 2)))]
    seed = draw.random()
    runs = draw.random() < 0.15

    def prepare(room: Path) -> list[str]:
        _corpus(room / "harbour")
        path, mine = room / "harbour" / target, random.Random(seed)
        if not path.exists():
            path.write_bytes(
                b'{"id": "notice-0.md", "title": "One", "text": "The ferry"}\n{"id": "notice-1.md", "metadata": {"year": 1, "tags": ["a"]}}\n'
            )
        for change in changes:
            if path.is_file() and not path.is_symlink():
                change(mine, path)
        return [*_BASE, f"dataset.path={room}/harbour", f"outputs={room}/outputs"] if runs else _checked(room)

    return Case("data set", prepare, runs=runs, reads=True)


def _bytes(change: Callable[[random.Random, bytes], bytes]) -> Callable[[random.Random, Path], None]:
    return lambda draw, path: (path.write_bytes(change(draw, path.read_bytes())), None)[1]


def _at(draw: random.Random, old: bytes, new: bytes) -> bytes:
    place = draw.randrange(len(old) + 1)
    return old[:place] + new + old[place:]


def _folder_instead(draw: random.Random, path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link_instead(draw: random.Random, path: Path) -> None:
    path.unlink()
    path.symlink_to(draw.choice(("/etc/hostname", "nowhere", path.name, "/dev/null", "..")))


_SPLICES = [
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\r",
    b"\xe2\x80\xa8",
    b"\x0c",
    b"\xed\xa0\x80",
    b"\n\n\n",
    b"{}\n",
    b"null\n",
    b"[" * 2000,
    b'"',
    b"\\ud800",
]
_SPLICES += [b"\x1b[31m", b"<script>", b"e\xcc\x81", b"\xf0\x9f\x98\x80", b",", b"}", b"1e999", b"NaN", b'{"id": "q0.0"}\n', b"9" * 5000]
_CHANGES: list[Callable[[random.Random, Path], None]] = [
    _bytes(lambda draw, old: _at(draw, old, draw.choice(_SPLICES))),
    _bytes(lambda draw, old: _at(draw, old, draw.choice(_SPLICES))),
    _bytes(lambda draw, old: old[: draw.randrange(len(old) + 1)]),
    _bytes(
        lambda draw, old: (
            old[: (place := draw.randrange(len(old)))] + bytes([old[place] ^ (1 << draw.randrange(8))]) + old[place + 1 :] if old else old
        )
    ),
    _bytes(lambda draw, old: old + old),
    _bytes(lambda draw, old: draw.choice((b"", b"\n", b" \t\n", b"{", b"[]", b"null", b"\xef\xbb\xbf", b"\x00" * 100, b"x" * 100_000, b"\n" * 5000))),
    _bytes(lambda draw, old: old.replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\n", b" ")))),
    _bytes(lambda draw, old: old.decode("utf-8", "replace").encode(draw.choice(("utf-16", "utf-8-sig", "utf-32")))),
    _folder_instead,
    _link_instead,
    lambda draw, path: path.unlink(),
    lambda draw, path: path.chmod(0),
]


def _labels(draw: random.Random) -> Case:
    """One label changed in a way of which it is known whether it must be refused."""
    change, refuse, accept = draw.choice(LABELS)
    seed = draw.random()
    runs = draw.random() < 0.15

    def prepare(room: Path) -> list[str]:
        rows = _corpus(room / "harbour")
        victim = random.Random(seed).choice(rows)
        change(victim, victim["answers"][0]["evidence"][0], rows)
        _write(room / "harbour", rows)
        return [*_BASE, f"dataset.path={room}/harbour", f"outputs={room}/outputs"] if runs else _checked(room)

    return Case("labels", prepare, refuse, accept, runs=runs, reads=True)
