"""Fixtures that several suites share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("DO_NOT_TRACK", "true")


def extra_data_folder() -> Path:
    """The folder of real corpora that are not part of the project."""
    return Path(os.environ.get("HARNESS_EXTRA_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def extra_data() -> Path:
    """That folder, or a skip with its reason. Where HARNESS_REQUIRE_DATA is set, its absence is a failure."""
    folder = extra_data_folder()
    if folder.is_dir():
        return folder
    if os.environ.get("HARNESS_REQUIRE_DATA"):
        pytest.fail(f"HARNESS_REQUIRE_DATA is set, but {folder} does not exist")
    pytest.skip(f"real corpora are not here ({folder}); set HARNESS_EXTRA_DATA")
