"""Where the files of a model lie, and the digest that stands for them. Nothing here imports torch."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.errors import ModelError

_DECIDING = {".json", ".txt", ".model", ".safetensors", ".bin", ".py"}
_WEIGHTS = (".safetensors", ".bin")


def model_folder(model: str, revision: str | None, *, key: str, otherwise: str) -> Path:
    """The folder of `model`: a local folder as it is, else the files of that name on the Hugging Face hub, downloaded or from its local cache.

    Raises ModelError, in one line, where neither is there: it names the configuration's `key`, and ends with what `otherwise` would do.
    """
    local = Path(model).expanduser()
    if local.is_dir():
        return local
    if local.is_absolute() or model.startswith((".", "~")) or model.count("/") > 1:
        raise ModelError(f"{key}={model}: no such folder")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    def fetch(*weights: str) -> Path:
        kinds = ["*.json", "*.txt", "*.model", "*.py", *weights]
        return Path(snapshot_download(model, revision=revision, allow_patterns=kinds, ignore_patterns=["onnx/*", "openvino/*"]))

    try:
        folder = fetch("*.safetensors")
        return folder if any(folder.rglob("*.safetensors")) else fetch("*.bin")
    except (OSError, ValueError, HFValidationError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise ModelError(
            f"{key}={model}: neither a local folder nor to be had from the Hugging Face hub ({type(error).__name__}); "
            f"check the name and the network, give the path of a downloaded model, or {otherwise}"
        ) from error


def read_json(path: Path, default: Any) -> Any:
    """What a configuration file of a model holds, `default` where there is no such file. Raises ModelError where it can't be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return default
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: can't be read as JSON ({error})") from error


@lru_cache(maxsize=256)
def _sha256(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes, computed once a process for each size and time of change. Raises ModelError where it can't be read."""
    try:
        state = os.stat(path)
        return _sha256(path, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise ModelError(f"{path}: can't be read ({error.strerror})") from error


def folder_digest(folder: Path, parts: Iterable[Path], *, without: frozenset[str]) -> str:
    """Digest of weights, tokenizer and configuration in the folders `parts` under `folder` (not of folders in them), `without` files so named.

    Cards and the folder's own name play no part; where there are weights as safetensors, other weights play none either.
    """
    digest = hashlib.sha256()
    for part in dict.fromkeys(parts):
        paths = sorted(path for path in part.glob("*") if path.is_file() and path.suffix in _DECIDING and path.name not in without)
        safe = any(path.suffix == _WEIGHTS[0] for path in paths)
        for path in paths:
            if not (safe and path.suffix == _WEIGHTS[1]):
                digest.update(f"{path.relative_to(folder).as_posix()} {file_digest(path)}\n".encode())
    return digest.hexdigest()
