"""What the setting `screen` says, and what is told of a look (harness.hydra_front.screening)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.course import Impossible, ScreenedOut
from harness.errors import ConfigError
from harness.hydra_front.console import SweepConsole, print_sections
from harness.hydra_front.screening import Screen, look_through
from harness.hydra_front.workshop import Workshop
from harness.planned import Planned
from harness.report.verdict import Section
from harness.summary import Select

_KEYS = ("embedder", "keep", "fewest", "cheapest")


def screen_of(node: Any, workshop: Workshop) -> Screen | None:
    """What `screen` says, None where there is none. Raises ConfigError."""
    if node is None:
        return None
    if not (isinstance(node, DictConfig) and OmegaConf.is_dict(node) and "embedder" in node):
        raise ConfigError("screen", OmegaConf.to_container(node) if OmegaConf.is_config(node) else node, "screen=static or null would do")
    if unknown := [str(name) for name in node if name not in _KEYS]:
        raise ConfigError(f"screen.{unknown[0]}", node[unknown[0]], f"there is no such setting; {', '.join(_KEYS)} are those there are")
    said = {name: node[name] for name in _KEYS[1:] if name in node}
    return Screen(workshop.embedder(node.embedder), **said)


def screened(
    node: Any,
    plans: Sequence[Planned | Impossible],
    workshop: Workshop,
    select: Select,
    console: SweepConsole,
    *,
    finished: Callable[[Planned], bool],
    only: bool,
) -> tuple[list[Planned | Impossible], dict[int, ScreenedOut]]:
    """`look_through` by what `screen` says, told in a line a corpus; with the dropped cells by name where `only` that is asked for."""
    screen = screen_of(node, workshop)
    if screen is None:
        return list(plans), {}
    are = "would not be" if only else "are not"
    kept, dropped = look_through(screen, plans, select, console.warn, finished)
    for found in dropped.values():
        console.tell(
            f"{found.by} looked at the grid first and put {len(found.cells)} cells behind, which {are} measured; that saves {found.tokens:,} tokens"
        )
    if only and dropped:
        names = [f"would be screened out: {cell.label}" for found in dropped.values() for cell in found.cells]
        print_sections([Section("Screen", tuple(names))])
    return kept, dropped
