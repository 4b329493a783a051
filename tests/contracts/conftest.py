from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from embedding_cases import LONG, tiny_model
from fake_endpoint import serving


@pytest.fixture(scope="session")
def tiny_model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def tiny_long_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny_long"), length=LONG)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """The address of a server of embeddings."""
    with serving() as fake:
        yield fake.url
