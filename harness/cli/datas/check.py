"""`chunk-sweep data check FOLDER`: what is in a labelled corpus, and what is wrong with it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from harness.cli.datas.progress import shown_progress
from harness.cli.datas.writing import check_free, write_new
from harness.cli.options import Options
from harness.corpus.folder import load_folder
from harness.embedding import minilm
from harness.errors import ConfigError
from harness.hydra_front.console import print_lines
from harness.importing.checking.page import SIZES, look
from harness.importing.checking.rendering import FORMATS, render
from harness.importing.fixing import fix_folder, fix_lines
from harness.units import unit_by_name
from harness.units.base import Unit

_ENDINGS = {".md": "markdown", ".markdown": "markdown", ".json": "json"}
_DESCRIBE = """What is in a labelled corpus, and what is wrong with it, on one page: counts, how far the evidence of an answer lies apart, what no
chunk of a size can hold, repeats, questions that quote their answer, broken characters, the language, and how small a difference
so many questions can show. Exit status: 0 with or without warnings, 1 where nothing could be scored, 2 where files or labels
can't be used."""
_EXAMPLE = """Examples:
  chunk-sweep data check my-labelled-docs
  chunk-sweep data check my-labelled-docs --sizes 128,256,512 --unit tokens --to check.md
  chunk-sweep data check my-labelled-docs --fix"""


def parser() -> Options:
    """The options."""
    words = Options(prog="chunk-sweep data check", description=_DESCRIBE, epilog=_EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path, help="a folder with documents/ (or corpus.jsonl) and questions.jsonl")
    words.add_argument("--sizes", default=",".join(map(str, SIZES)), metavar="S,S,…", help="the sizes that you will sweep (default: %(default)s)")
    words.add_argument("--unit", default="tokens", help="what they count: tokens (of the bundled MiniLM), tiktoken:ENCODING, words, chars")
    words.add_argument("--format", choices=FORMATS, help="default: text, or by the ending of --to (.md, .json)")
    words.add_argument("--to", type=Path, metavar="FILE", help="write the page to a file instead")
    words.add_argument("--overwrite", action="store_true", help="replace that file if it is there")
    words.add_argument("--warn", action="store_true", help="count labels that can't be placed as warnings instead of stopping at them")
    fixing = (
        "write the offsets of quotes that stand in their document but for white space, typography or markup into questions.jsonl; keeps the old file"
    )
    words.add_argument("--fix", action="store_true", help=fixing)
    words.add_argument("--fix-fuzzy", action="store_true", help="with --fix, take near matches too (look at what it says)")
    return words


def main(arguments: Sequence[str]) -> int:
    """Print or write the page."""
    options = parser().parse_args(arguments)
    sizes, unit = sizes_of(options.sizes), _unit(options.unit)
    if options.to:
        check_free(options.to, replace=options.overwrite)
    form = options.format or (_ENDINGS.get(options.to.suffix.lower(), "text") if options.to else "text")
    if options.fix or options.fix_fuzzy:
        print_lines(fix_lines(fix_folder(options.folder, fuzzy=options.fix_fuzzy)))
    with shown_progress() as progress:
        progress("reading", 0, 0)
        corpus = load_folder(options.folder, on_label_problem="warn" if options.warn else "error")
        page = look(corpus, unit, sizes, progress=progress)
    text = render(page, form)
    if options.to:
        write_new(options.to, text.encode("utf-8", "replace"), replace=options.overwrite)
        errors = sum(finding.severity == "error" for finding in page.findings)
        print_lines([f"{options.to}: {errors} errors, {len(page.findings) - errors} warnings"])
    else:
        print_lines(text.encode("utf-8", "replace").decode().splitlines())
    return 1 if page.failed else 0


def sizes_of(words: str) -> tuple[int, ...]:
    """The sizes in `words`, ascending. Raises ConfigError."""
    parts = [part.strip() for part in words.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise ConfigError("--sizes", words, "whole numbers from 1 up with commas between, for example 128,256,512")
    return tuple(sorted({int(part) for part in parts}))


def _unit(name: str) -> Unit:
    return minilm().unit if name == "tokens" else unit_by_name(name, None)
