"""`chunk-sweep VERB …`: finds the verb and turns our own errors into one line."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib import metadata

from harness.cli.collecting import collect_seldom
from harness.cli.output import guarded_output
from harness.errors import SHOW_ALL, HarnessError, unforeseen
from harness.redaction import redacted
from harness.visible import visible

VERBS = {
    "run": "run one cell or a grid (everything after `run` is Hydra's: chunk-sweep run --help)",
    "data": "your own documents: import, draft questions, check labels, show evidence",
    "report": "show stored sweeps again, without running anything",
    "gate": "compare two results for your own CI: exit status 1 where quality fell",
}
_HELP = """chunk-sweep: how should I chunk my documents for retrieval? Measure it, on your own documents.

  chunk-sweep run experiment=quickstart      the bundled handbook, 12 cells, a leaderboard at the end
  chunk-sweep run strategy=recursive size=256 overlap=10% embedder=minilm
  chunk-sweep run dataset=folder 'dataset.path="~/my-labelled-docs"' --multirun size=128,256,512

Verbs
{verbs}

`chunk-sweep VERB --help` says more. It measures chunking and retrieval; it generates no answers.
"""


def help_text() -> str:
    """What `chunk-sweep --help` prints."""
    return _HELP.format(verbs="\n".join(f"  {verb:<8}{meaning}" for verb, meaning in VERBS.items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb. Exit status: 0 done, 1 something failed or fell, 2 a mistake in what was typed or in the data, 130 stopped by Ctrl-C."""
    if arguments is None:  # the command itself, and not a program that calls it
        collect_seldom()
    with guarded_output():
        return _main(list(sys.argv[1:] if arguments is None else arguments))


def _main(words: Sequence[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(help_text())
        return 0
    if words[0] in ("-V", "--version"):
        sys.stdout.write(f"chunk-sweep {metadata.version('chunk-sweep')}\n")
        return 0
    if words[0] not in VERBS:
        sys.stderr.write(f"chunk-sweep: there is no verb {words[0]!r}; {', '.join(VERBS)} would do (chunk-sweep --help)\n")
        return 2
    return _run_verb(words[0], words[1:])


def _run_verb(verb: str, words: Sequence[str]) -> int:
    module = importlib.import_module(f"harness.cli.{verb}")
    try:
        status: int = module.main(words)
    except HarnessError as error:
        sys.stderr.write(visible(redacted(f"chunk-sweep {verb}: {error}\n")))
        return 2
    except KeyboardInterrupt:
        sys.stderr.write(f"chunk-sweep {verb}: stopped\n")
        return 130
    except Exception as error:
        if os.environ.get(SHOW_ALL):
            raise
        sys.stderr.write(visible(redacted(f"chunk-sweep {verb}: {unforeseen(error)}\n")))
        return 1
    return status
