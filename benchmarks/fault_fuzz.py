"""A thousand configurations, data sets and label files that nobody meant, drawn from a seed: an exit status and a clear line, never more nor less."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from fault_bench import Bench, Row
from fault_cases import Case, case
from fault_oracle import wrong_labels, wrong_results

CASES = 1000
_SECONDS, _LINES, _WIDEST = 60, 14, 4000
_FOREIGN = re.compile(r"(?<![\w.])(?!OSError|MemoryError)[A-Z]\w+(?:Error|Exception): ")
"""The name of an exception that is not ours: something failed that should have been refused."""


class TooLongError(BaseException):
    """No Exception, for a runner goes on after any of these."""


def fuzzed(bench: Bench) -> Iterator[Row]:
    """The cases by kind; each kind is a row."""
    cases = int(os.environ.get("FUZZ_CASES", CASES))
    found = run_all(bench.scratch / "fuzz", cases)
    for kind in ("configuration", "data set", "labels"):
        told = [one for one in found if one["kind"] == kind]
        counts = Counter(one["status"] for one in told)
        problems = tuple(f"case {one['number']} ({one['words']}): {one['problem']}" for one in told if one["problem"])
        seen = ", ".join(f"{count} times status {status}" for status, count in sorted(counts.items(), key=str))
        yield Row(f"fuzz: {kind}", f"{len(told)} of {cases}, from a seed; a minute each at most", seen, None, problems)


def run_all(scratch: Path, cases: int) -> list[dict[str, Any]]:
    """Every case, in as many processes as there are cores; one that hangs or dies is told as a problem of its case."""
    workers = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2, 4)
    scratch.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("fork")
    running = [context.Process(target=_many, args=(scratch, range(place, cases, workers), place)) for place in range(workers)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    found = [json.loads(line) for place in range(workers) for line in (scratch / f"told-{place}.jsonl").read_text().splitlines()]
    lost = set(range(cases)) - {one["number"] for one in found}
    return found + [
        {"kind": case(number).kind, "number": number, "status": None, "words": "", "problem": "its process died"} for number in sorted(lost)
    ]


def _many(scratch: Path, numbers: Sequence[int], place: int) -> None:
    room = scratch / f"room-{place}"
    with (scratch / f"told-{place}.jsonl").open("w", encoding="utf-8") as told:
        for number in numbers:
            shutil.rmtree(room, ignore_errors=True)
            room.mkdir()
            told.write(json.dumps(try_case(case(number), room, number)) + "\n")
            told.flush()


def try_case(one: Case, room: Path, number: int) -> dict[str, Any]:
    """Run a case in this process; what came of it, with the `problem` in words, empty where there is none."""
    words = one.prepare(room)
    status, out, err = said(words)
    problem = judged(one, room, status, out, err)
    return {"kind": one.kind, "number": number, "status": status, "words": " ".join(words)[-300:], "problem": problem}


def said(words: Sequence[str]) -> tuple[int | str, str, str]:
    """`chunk-sweep WORDS` here: its status (or "hang", or the name of what escaped), and both outputs."""
    from harness.cli.main import main

    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["chunk-sweep"]
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_SECONDS)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status: int | str = main(list(words))
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else str(ended.code)
    except TooLongError:
        status = "hang"
    except BaseException:  # noqa: BLE001  whatever escapes is what this looks for
        status = "escaped"
        err.write(traceback.format_exc())
    finally:
        signal.alarm(0)
        sys.argv = before
    return status, out.getvalue(), err.getvalue()


def _too_long(*_: object) -> None:
    raise TooLongError


def judged(one: Case, room: Path, status: int | str, out: str, err: str) -> str:
    """What is wrong with how a command ended."""
    if status not in (0, 1, 2):
        return f"{status}: {err.strip()[-600:]}"
    if "Traceback" in err + out:
        return f"a traceback: {err.strip()[-400:]}"
    if status and not (err + out).strip():
        return f"status {status} without a word"
    if status == 2 and (len(err.splitlines()) > _LINES or len(err) > _WIDEST):
        return f"{len(err.splitlines())} lines, {len(err)} characters for one mistake: {err[:200]!r}"
    if found := _FOREIGN.search(err):
        return f"told as {found[0]} {err.strip()[-300:]!r}"
    if one.refuse and status == 0:
        return f"taken without a word, though {one.refuse}"
    if one.accept and status == 2:
        return f"refused, though {one.accept}: {err.strip()[:300]}"
    return wrong_results(room, one) if one.runs else wrong_labels(room, one) if status == 0 else ""
