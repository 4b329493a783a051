"""Audits the pinned dependencies against the Python advisory database, and holds each finding to a written answer.

    python .ci/audit.py PIP_AUDIT     the program pip-audit, installed apart from the project

Exit status 0: every pin was looked up, and each finding has its row in docs/security-audit.md; or the database could not be asked, which is then
said and is no success. 1: a finding without an answer, or an answer to a finding that is no more.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\|\s*`?((?:PYSEC|GHSA|CVE)-[\w-]+)`?\s*\|\s*`?([\w.-]+)`?\s*\|\s*(\S.*?)\s*\|\s*(\d{4}-\d\d-\d\d)\s*\|\s*$", re.MULTILINE)


def answers(text: str) -> dict[str, str]:
    """Id to package of the findings that the document answers: rows with an id, a package, why, and since when."""
    return {found[1]: found[2].lower() for found in _ROW.finditer(text)}


def findings(report: str) -> tuple[dict[str, tuple[str, set[str]]], list[str]]:
    """Of pip-audit's JSON: id to package and other ids of each finding; and the packages that could not be looked up."""
    found: dict[str, tuple[str, set[str]]] = {}
    unknown = []
    for item in json.loads(report)["dependencies"]:
        if "skip_reason" in item:
            unknown.append(item["name"])
        for one in item.get("vulns", ()):
            found[one["id"]] = (f"{item['name']} {item['version']}", {one["id"], *one.get("aliases", ())})
    return found, unknown


def judged(report: str, document: str) -> tuple[int, list[str]]:
    """The exit status, and what to say."""
    found, unknown = findings(report)
    answered = answers(document)
    lines = [f"{name}: {package} has no answer in docs/security-audit.md" for name, (package, ids) in found.items() if not ids & answered.keys()]
    known = {name for _, ids in found.values() for name in ids}
    stale = [f"{name}: {package} is answered, but is no finding any more: delete its row" for name, package in answered.items() if name not in known]
    status = 1 if lines or (stale and not unknown) else 0
    told = [*lines, *stale, f"{len(found)} findings, {len(unknown)} packages that could not be looked up"]
    if unknown:
        told.append(f"NOT AUDITED: {', '.join(unknown[:5])}{' and more' if len(unknown) > 5 else ''}")
    return status, told


def asked(program: Path, pins: list[str]) -> str:
    """pip-audit's JSON on the pins. Raises RuntimeError where it gives none: without a network, say."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "pins.txt"
        place.write_text("\n".join(pins) + "\n", encoding="utf-8")
        words = [program, "--requirement", place, "--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", "20"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)  # noqa: S603  our own words
    if not done.stdout.lstrip().startswith("{"):
        raise RuntimeError((done.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1][:300])
    return done.stdout


def main() -> int:
    """Say how it came out."""
    pins = [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "==" in line and not line.startswith("#")]
    try:
        program = Path(sys.argv[1])
        if not program.exists():
            raise RuntimeError("pip-audit could not be installed")
        # One pin first: a mirror of the index may have no advisories, and is then not asked hundreds of times for them.
        report = asked(program, pins[:1])
        if findings(report)[1]:
            raise RuntimeError(f"it knows nothing of {pins[0]}")
        report = asked(program, pins)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        sys.stdout.write(f"NOT AUDITED: the advisory database can't be asked from here ({error}); run make audit where it can be\n")
        return 0
    status, lines = judged(report, (ROOT / "docs" / "security-audit.md").read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(lines) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
