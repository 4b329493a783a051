"""What is said of cells that a cheap look dropped: which they are, and that nothing else is known of them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.course import Course


def unmeasured(run: Course) -> list[str]:
    """Lines where cells were screened out, else none."""
    if run.screened is None:
        return []
    tokens = run.screened.tokens
    saved = f"that saved {tokens:,} tokens through the model" if tokens else "their vectors were in the cache, so that saved no tokens"
    return [
        f"{run.screened.by} put {len(run.screened.cells)} cells behind at a first look; {saved}",
        *left_out([c.label for c in run.screened.cells]),
    ]


def left_out(labels: Sequence[str]) -> list[str]:
    """The cells by name, and what that means for the rest."""
    return [
        f"screened out, not measured ({len(labels)}): {', '.join(labels)}",
        "Nothing is claimed of these: winner, ties and costs below are of the measured cells alone. The same command with screen=null measures all, "
        "and measures nothing twice.",
    ]
