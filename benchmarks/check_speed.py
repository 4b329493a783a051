"""How long does `data check` take on 100 MB of text, and how much memory?

    python benchmarks/check_speed.py [--megabytes 100] [--documents 1000]

Text is made of 20,000 invented words, with some repeated paragraphs; 2,000 questions of two pieces of evidence. Each form of storage is checked in a
process of its own. Memory is the largest resident set; it is told how far that is above what the program takes before it reads, in bytes of
UTF-8 text. Linux only. Python keeps a text with a single emoji at four bytes a character.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

FORMS = ("documents/", "corpus.jsonl", "corpus.jsonl, one document", "corpus.jsonl with emoji", "documents/, Japanese")
_CHECK = """
import sys
from harness.cli.datas.check import main

def peak():  # not ru_maxrss, which a process inherits from the one that started it
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))

began = peak()
status = main([sys.argv[1], "--to", sys.argv[2], "--format", "json"])
print(status, began, peak())
"""


def write(folder: Path, form: str, megabytes: int, documents: int) -> int:
    """Write the corpus; gives the bytes of text."""
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz" if "Japanese" not in form else "あいうえおかきくけこさしすせそたちつてと水車小屋麦月曜日"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(20_000)]
    documents = 1 if "one document" in form else documents
    per, total, rows = megabytes * 1_000_000 // documents, 0, []
    lines = (folder / "corpus.jsonl").open("w", encoding="utf-8") if form.startswith("corpus") else None
    (folder / "documents").mkdir() if lines is None else None
    for number in range(documents):
        parts, size = [f"# Document {number}"], 0
        while size < per:
            parts.append(" ".join(draw.choices(words, k=80)) + ("." if "emoji" not in form else ". 🙂"))
            size += len(parts[-1].encode()) + 2
        text, name = "\n\n".join(parts) + "\n", f"{number:05}.md"
        total += len(text.encode())
        if lines:
            lines.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
        else:
            (folder / "documents" / name).write_text(text, encoding="utf-8")
        for place in range(max(2000 // documents, 1)):
            starts = sorted(draw.sample(range(20, len(text) - 200), 2))
            evidence = [{"doc": name, "start": start, "end": start + 90} for start in starts]
            question = " ".join(draw.choices(words, k=9))
            rows.append(json.dumps({"id": f"{number}-{place}", "question": question, "answers": [{"evidence": evidence}]}, ensure_ascii=False))
    (folder / "questions.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    if lines:
        lines.close()
    return total


def main() -> None:
    """Print a row a form."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--megabytes", type=int, default=100)
    words.add_argument("--documents", type=int, default=1000)
    options = words.parse_args()
    sys.stdout.write(f"{date.today()}: {options.megabytes} MB, {options.documents} documents\n\n")
    sys.stdout.write("| text in | seconds | memory | growth, times the text |\n|---|---:|---:|---:|\n")
    for form in FORMS:
        with tempfile.TemporaryDirectory() as place:
            size = write(Path(place), form, options.megabytes, options.documents)
            began = time.perf_counter()
            command = [sys.executable, "-c", _CHECK, place, str(Path(place) / "page.json")]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            own, peak = int(told[-2]) * 1024, int(told[-1]) * 1024
        sys.stdout.write(f"| {form} | {time.perf_counter() - began:.1f} | {peak / 1e6:,.0f} MB | {(peak - own) / size:.1f} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
