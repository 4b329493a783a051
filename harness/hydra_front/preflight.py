"""Composes a command line once before Hydra runs it, to tell mistakes in one line each instead of Hydra's several.

Hydra itself composes again, so nothing that this look-ahead lets pass is lost: it is only reported in Hydra's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from harness.errors import ConfigError, HarnessError


class CommandLineError(HarnessError):
    """A word of the command line can't be used."""


def check(words: Sequence[str], conf: Path) -> None:
    """Raise CommandLineError or ConfigError where the words don't compose. Costs a fraction of a second a swept value."""
    parsed = get_args_parser().parse_args(list(words))
    if parsed.help or parsed.hydra_help or parsed.cfg or parsed.info or parsed.shell_completion:
        return
    overrides = _parse(parsed.overrides)
    searched = [f"hydra.searchpath=[{Path(parsed.config_dir).resolve()}]"] if parsed.config_dir else []
    plain = [override.input_line for override in overrides if not override.is_sweep_override()]
    if any(override.is_sweep_override() for override in overrides) and not parsed.multirun:
        _refuse_forgotten_multirun(overrides)
    for line in _lines(overrides):
        _compose(conf, [*searched, *plain, *([line] if line else [])])


def _parse(words: Sequence[str]) -> list[Override]:
    overrides = []
    for word in words:
        try:
            overrides.extend(OverridesParser.create().parse_overrides([word]))
        except HydraException as error:
            raise CommandLineError(_grammar_hint(word)) from error
    return overrides


def _grammar_hint(word: str) -> str:
    if "=" not in word:
        return f"{word!r} is not KEY=VALUE (for example strategy=recursive); chunk-sweep run --help lists the keys"
    key, value = word.split("=", 1)
    quoted = value.replace('"', "")
    return f"""{word!r} has a character that Hydra takes for its own: quote the value twice, '{key}="{quoted}"'"""


def _refuse_forgotten_multirun(overrides: Sequence[Override]) -> None:
    swept = next(override.input_line for override in overrides if override.is_sweep_override())
    raise CommandLineError(f"{swept} gives several values: add --multirun to run them as a grid")


def _lines(overrides: Sequence[Override]) -> Iterator[str]:
    """Each value of each swept key by itself; an empty line first, for everything that is not swept."""
    yield ""
    for override in overrides:
        if override.is_sweep_override() and override.is_discrete_sweep():
            for value in override.sweep_string_iterator():
                yield f"{override.get_key_element()}={value}"


def _compose(conf: Path, lines: Sequence[str]) -> None:
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(conf), job_name="chunk-sweep", version_base="1.3"):
            compose("config", overrides=list(lines))
    except (HydraException, OmegaConfBaseException) as error:
        raise _in_one_line(error, lines) from error
    finally:
        GlobalHydra.instance().clear()


def _in_one_line(error: Exception, lines: Sequence[str]) -> HarnessError:
    text = f"{error}\n{error.__cause__ or ''}"
    last = lines[-1] if lines else ""
    if found := re.search(r"Could not find '([\w/.-]+)'", text):
        group, _, name = found[1].rpartition("/")
        options = re.findall(r"^\s+(\S+)$", text.split("Available options", 1)[-1], flags=re.MULTILINE) if "Available options" in text else []
        return ConfigError(group or name, name, f"there is no such choice; {', '.join(options) or 'see chunk-sweep run --help'} would do")
    if found := re.search(r"Key '([^']+)' (?:is not in struct|not in)", text):
        return CommandLineError(f"{last}: there is no key {found[1]!r}; chunk-sweep run --help lists the keys")
    if found := re.search(r"Value '(.*)' of type '\w+' could not be converted to (\w+)", text):
        key = re.search(r"full_key: (\S+)", text)
        return ConfigError(key[1] if key else last.split("=")[0], found[1], f"must be {_KINDS.get(found[2], found[2])}")
    first = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    return CommandLineError(f"{last}: {first}" if last else first)


_KINDS = {"Integer": "a whole number", "Float": "a number", "Boolean": "true or false", "String": "text"}
