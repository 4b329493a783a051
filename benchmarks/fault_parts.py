"""Embedders that break their promise, and documents that change under a sweep."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from fault_bench import Bench, Row, _last_line, differences, results

BROKEN = ("not a number", "infinite", "narrow", "short", "flat", "zero", "text", "nothing", "late", "skips", "raises")
_CODE = '''"""Embedders of one's own that break their promise, each in one way."""

import numpy as np

from harness.embedding import HashingEmbedder


class Broken(HashingEmbedder):
    def __init__(self, how):
        super().__init__()
        self.how = how

    @property
    def identity(self):
        return "broken-" + self.how.replace(" ", "-")

    def vectors(self, inputs, rows):
        blocks = list(super().vectors(inputs, rows))
        for number, (block, found) in enumerate(blocks):
            if self.how != "skips":
                yield block, broken(self.how, found)


def broken(how, found):
    found = found.copy()
    if how == "not a number":
        found[0, 0] = np.nan
    if how == "infinite":
        found[0, 0] = np.inf
    if how == "narrow":
        return found[:, :-1]
    if how == "short":
        return found[:-1]
    if how == "flat":
        return found.reshape(-1)
    if how == "zero":
        found[-1] = 0
    if how == "text":
        return [str(row) for row in found]
    if how == "nothing":
        return None
    if how == "late":
        found[-1, -1] = np.nan
    if how == "raises":
        raise RuntimeError("the model\\nwent away")
    return found


class Plain:
    """Nothing but texts in, vectors out: no reader, so that nothing can be counted or cached."""

    name, dim, limit, identity = "plain", 256, 10**9, "plain"

    def __init__(self, how):
        self.unit = HashingEmbedder().unit

    def embed(self, texts, kind, progress=None):
        return HashingEmbedder().embed(texts, kind, progress)
'''


def broken_parts(bench: Bench) -> Iterator[Row]:
    """Every cell fails in a line that names the embedder; none has a result, none is in the cache."""
    own = bench.scratch / "own"
    (own / "embedder").mkdir(parents=True, exist_ok=True)
    (bench.scratch / "broken_harbour.py").write_text(_CODE, encoding="utf-8")
    for name in ("broken", "plain"):
        (own / "embedder" / f"{name}.yaml").write_text(f"_target_: broken_harbour.{name.title()}\nhow: ???\n", encoding="utf-8")
    problems, told = [], {}
    for how in BROKEN:
        with bench.room() as outputs:
            words = ("--config-dir", str(own), "embedder=broken", f"embedder.how={how}", "size=24")
            ran = bench.run(outputs, *words, first=_path(bench.scratch))
            problems += [f"{how}: {line}" for line in ran.trouble] + [f"{how}: status {ran.status}: {ran.err}"] * (ran.status != 1)
            problems += [f"{how}: a result"] * bool(list(outputs.glob("cells/*")))
            problems += [f"{how}: not told as broken: {ran.err}"] * (how != "raises" and "embedder hashing: " not in ran.err)
            told[how] = _last_line(ran.err)
    with bench.room() as outputs:
        problems += bench.again(outputs)
    seen = f"each cell FAILED in one line, status 1, no result; for example: `…{told['late'][-90:]}`"
    yield Row("an embedder that breaks its promise", ", ".join(BROKEN), seen, not problems, tuple(problems))
    with bench.room() as outputs:
        ran = bench.run(outputs, "--config-dir", str(own), "embedder=plain", "embedder.how=x", first=_path(bench.scratch))
        problems = ran.trouble + [f"status {ran.status}: {ran.err}"] * (ran.status != 2 or len(ran.err.splitlines()) != 1)
    yield Row("an embedder without a reader", "no `read`, no `vectors`", "refused before any work, in one line", None, tuple(problems))


def _path(folder: Path):  # type: ignore[no-untyped-def]
    def add() -> None:
        import sys

        sys.path.insert(0, str(folder))

    return add


def changing_documents(bench: Bench) -> Iterator[Row]:
    """A document that is written again between composition and embedding, and between two runs."""
    corpus = bench.corpus
    kept = bench.scratch / "kept"
    shutil.copytree(corpus, kept)
    victim = corpus / "documents" / "notice-0.md"
    before = victim.read_text(encoding="utf-8")
    after = before.replace("# Notice 0", "# Notice 0, changed since, with more of the tide and the anchor")

    def late_change() -> None:
        import harness.experiment
        import harness.runner

        prepare = harness.experiment.prepare

        def changed(*given, **named):  # type: ignore[no-untyped-def]
            victim.write_text(after, encoding="utf-8")
            return prepare(*given, **named)

        harness.runner.prepare = changed

    try:
        with bench.room() as outputs:
            ran = bench.run(outputs, first=late_change)
            problems = ran.trouble + [f"status {ran.status}"] * (ran.status != 0)
            problems += differences(bench.whole, results(outputs))
            second = bench.run(outputs)
            found = results(outputs)
            new = {name: value for name, value in found["cells"].items() if name not in bench.whole["cells"]}
            problems += second.trouble + [f"{len(new)} new cells of 6"] * (len(new) != 6)
            digests = [{record["corpus"]["digest"] for record, _ in cells.values()} for cells in (new, bench.whole["cells"])]
            problems += ["the new cells carry the old digest"] * bool(digests[0] & digests[1])
            victim.write_text(before, encoding="utf-8")
            problems += bench.again(outputs)
    finally:
        victim.write_text(before, encoding="utf-8")
    yield Row("a document changes", "written again after composition, before the first embedding; then run again; then put back",
              "the sweep is of the text that was read; the next run measures all 6 cells anew; the old text's results are found again",
              not problems, tuple(problems))  # fmt: skip
