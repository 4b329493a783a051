"""Composes a command line once before Hydra runs it, to tell mistakes in one line each instead of Hydra's several.

Hydra itself composes again, so nothing that this look-ahead lets pass is lost: it is only reported in Hydra's own words.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from harness.errors import CommandLineError, ConfigError, HarnessError, StoreError, reason
from harness.hydra_front.composing import Composer
from harness.hydra_front.schema import RootConfig
from harness.hydra_front.secrets import check_secrets
from harness.tracking.files import folder_for

_NONE_ANYWAY = ("screen=null", "experiment=null")


def in_order(words: Sequence[str]) -> list[str]:
    """Options first, then overrides: Hydra understands no options between overrides. Raises CommandLineError for an option that it does not have."""
    options = list(words)
    overrides = _parsed(words).overrides
    for override in overrides:
        options.remove(override)
    return [*options, *overrides]


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = get_args_parser()
    parser.error = _refuse
    found: argparse.Namespace = parser.parse_intermixed_args(list(words))
    return found


def check(words: Sequence[str], conf: Path) -> None:
    """Raise CommandLineError or ConfigError where the words don't compose, StoreError where outputs can't be written.

    Costs a fraction of a second, and as much again for each swept choice.
    """
    parsed = _parsed(words)
    if parsed.help or parsed.hydra_help or parsed.shell_completion or parsed.config_path or parsed.experimental_rerun:
        return
    overrides = _parse(parsed.overrides)
    conf, searched = _places(conf, parsed.config_dir, parsed.config_name)
    name = parsed.config_name or "config"
    plain = [*searched, *(override.input_line for override in overrides if not override.is_sweep_override())]
    swept = [override for override in overrides if override.is_sweep_override()]
    with _hydra(conf):
        composer = Composer(GlobalHydra.instance().config_loader(), name, partial(_by_hydra, name))
        whole = _compose(composer, conf, plain)
        grid = parsed.multirun or str(whole.hydra.mode).endswith("MULTIRUN")
        if swept and not grid:
            raise CommandLineError(f"{swept[0].input_line} gives several values: add --multirun to run them as a grid")
        _check_intervals(swept, str(whole.hydra.runtime.choices.get("hydra/sweeper")))
        named = _parse([f"{key}={value}" for key, value in whole.hydra.sweeper.params.items()]) if grid and whole.hydra.sweeper.params else []
        for line in _lines([*named, *swept]):
            _compose(composer, conf, [*plain, line])
    if not (parsed.cfg or parsed.info):
        _check_writable(Path(os.path.expanduser(whole.outputs)))


def _check_intervals(swept: Sequence[Override], sweeper: str) -> None:
    """A grid has points; only a search can draw from an interval."""
    for override in swept:
        if override.is_interval_sweep() and sweeper != "optuna":
            raise CommandLineError(
                f"{override.input_line}: an interval is for hydra/sweeper=optuna; values (size=64,128) or range(64,257,64) would do"
            )


def _refuse(message: str) -> None:
    raise CommandLineError(f"{message} (chunk-sweep run --help)")


def _places(conf: Path, config_dir: str | None, config_name: str | None) -> tuple[Path, list[str]]:
    """The folder that holds the primary configuration, and the override that makes `compose` look into the other one too."""
    if config_dir is None:
        return conf, []
    folder = Path(os.path.expanduser(config_dir)).resolve()
    if not folder.is_dir():
        raise ConfigError("--config-dir", config_dir, "there is no such folder")
    primary, other = (folder, conf) if config_name and (folder / f"{config_name.removesuffix('.yaml')}.yaml").exists() else (conf, folder)
    quoted = str(other).replace("\\", "\\\\").replace("'", "\\'")
    return primary, [f"hydra.searchpath=['file://{quoted}']"]


def _check_writable(outputs: Path) -> None:
    if not os.access(folder_for(outputs), os.W_OK):
        raise StoreError(f"{outputs}: can't write here; choose another folder with outputs=…")


def _parse(words: Sequence[str]) -> list[Override]:
    overrides = []
    for word in words:
        if word.startswith("="):
            raise CommandLineError(_grammar_hint(word))
        try:
            overrides.extend(OverridesParser.create().parse_overrides([word]))
        except HydraException as error:
            raise CommandLineError(_grammar_hint(word)) from error
    return overrides


def _grammar_hint(word: str) -> str:
    if "=" not in word[1:]:
        return f"{word!r} is not KEY=VALUE (for example strategy=recursive); chunk-sweep run --help lists the keys"
    key, value = word.split("=", 1)
    quoted = value.replace('"', "")
    return f"""{word!r} has a character that Hydra takes for its own: quote the value twice, '{key}="{quoted}"'"""


def _lines(swept: Sequence[Override]) -> Iterator[str]:
    """Each value of each swept key by itself."""
    for override in swept:
        if not override.is_sweep_override():
            yield override.input_line
        elif override.is_discrete_sweep():
            for value in _values(override):
                yield f"{override.get_key_element()}={value}"


def without_nulls(words: Sequence[str]) -> list[str]:
    """Choices that are none unless they are given, typed as none: Hydra takes no null for a choice."""
    return [word for word in words if word not in _NONE_ANYWAY]


def _values(override: Override) -> list[str]:
    try:
        return list(override.sweep_string_iterator())
    except ValueError as error:
        raise CommandLineError(f"{override.input_line}: {reason(error).removeprefix('ValueError: ')}") from error


@contextmanager
def _hydra(conf: Path) -> Iterator[None]:
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(conf), job_name="chunk-sweep", version_base="1.3"):
            yield
    finally:
        GlobalHydra.instance().clear()


def _by_hydra(name: str, words: list[str]) -> DictConfig:
    composed: DictConfig = compose(name, overrides=words, return_hydra_config=True)
    return composed


def _compose(composer: Composer, conf: Path, lines: Sequence[str]) -> DictConfig:
    try:
        composed = composer.compose(lines)
        check_secrets(composed)
        _check_whole(composed)
        return composed
    except (HydraException, OmegaConfBaseException) as error:
        raise _in_one_line(error, lines) from error
    except ValueError as error:  # Hydra's own, for a choice that is null or a number
        raise _no_choice(error, conf, lines) from error


def _no_choice(error: ValueError, conf: Path, lines: Sequence[str]) -> HarnessError:
    """The last word whose key is a folder of choices and whose value is none of them."""
    for line in reversed(lines):
        key, _, value = line.partition("=")
        choices = sorted(path.stem for path in (conf / key).glob("*.yaml")) if key and not key.startswith(".") else []
        if choices and value not in choices:
            return ConfigError(key, value, f"one of {', '.join(choices)} would do")
    return CommandLineError(f"{' '.join(lines[-1:])}: {reason(error).removeprefix('ValueError: ')}")


def _check_whole(composed: DictConfig) -> None:
    """A key can be left out (~strategy, ~size), but nothing runs without it."""
    for name in (entry.name for entry in fields(RootConfig)):
        if name not in composed or OmegaConf.is_missing(composed, name):
            raise ConfigError(name, "''", "must have a value; chunk-sweep run --help says which")


def _blamed(text: str, lines: Sequence[str]) -> str:
    """The word that an error is about: one whose key ends in the name that it quotes, else the last."""
    for name in re.findall(r"'([\w@./-]+)'", text):
        for line in reversed(lines):
            if line.lstrip("+~").partition("=")[0].endswith(name):
                return line
    return lines[-1] if lines else ""


def _in_one_line(error: Exception, lines: Sequence[str]) -> HarnessError:
    text = f"{error}\n{error.__cause__ or ''}"
    last = _blamed(text, lines)
    if found := re.search(r"Could not override '([^']+)'", text):
        what = f"there is no key {found[1]!r}; chunk-sweep run --help lists the keys"
        shared = " (a grid over several parts can set only what all of them have)" if re.match(r"\w+[.@]", found[1]) else ""
        return CommandLineError(f"{last}: {what}{shared}" if last else f"{what}{shared}")
    if found := re.search(r"Could not find '([\w/.-]+)'", text):
        group, _, name = found[1].rpartition("/")
        options = re.findall(r"^\s+(\S+)$", text.split("Available options", 1)[-1], flags=re.MULTILINE) if "Available options" in text else []
        return ConfigError(group or name, name, f"there is no such choice; {', '.join(options) or 'see chunk-sweep run --help'} would do")
    if found := re.search(r"Key '([^']+)' (?:is not in struct|not in)", text):
        return CommandLineError(f"{last}: there is no key {found[1]!r}; chunk-sweep run --help lists the keys")
    if found := re.search(r"Value '(.*)' of type '\w+' could not be converted to (\w+)", text):
        key = re.search(r"full_key: (\S+)", text)
        return ConfigError(key[1] if key else last.split("=")[0], found[1], f"must be {_KINDS.get(found[2], found[2])}")
    if found := re.search(r"Value '(.*)' is not a valid (\w+)", text):
        return ConfigError(last.split("=")[0], found[1], f"must be {_KINDS.get(found[2], found[2])}")
    if found := re.search(r"field '([^']+)' is not Optional", text):
        return ConfigError(found[1], "null", _WOULD_DO.get(found[1], "must have a value; chunk-sweep run --help says which"))
    if found := re.search(r"Cannot merge (Dict|List)Config with|Cannot convert '(?:list|dict)' to (string)", text):
        name, _, value = last.partition("=")
        return ConfigError(
            name,
            value,
            "must be text" if found[2] else f"must be {'a list: [one, two]' if found[1] == 'Dict' else 'names and values: {name: value}'}",
        )
    told = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Error merging override")]
    first = told[0] if told else type(error).__name__
    return CommandLineError(f"{last}: {first}" if last else first)


_WOULD_DO = {
    "size": "a whole number of units, 1 or more",
    "overlap": "a whole number of units, 0 or more (40), or a share of size with its sign (10%)",
    "unit": "tokens, tiktoken:cl100k_base, words or chars",
    "context": "none, title, heading_path, metadata:KEY or before:UNITS",
    "returned": "chunk, neighbours:N, parent:SIZE, section or document",
    "min_size": "a whole number of units; 0 for no least size",
    "short": "merge, drop or keep",
    "vectors": "one, heading+body or signature+body",
}
"""What a root key that was set to null may be."""
_KINDS = {"Integer": "a whole number", "Float": "a number", "Boolean": "true or false", "bool": "true or false", "String": "text"}
