"""MLflow's client, quiet: no usage reports, no bars, no long waiting. To import MLflow takes seconds, so that is done when it is needed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.errors import StoreError

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "20"}
"""MLflow's own is to try for minutes: a server that is away must not hold up a sweep whose results are safe in files. Set them to wait longer."""


def quiet_client(uri: str) -> MlflowClient:
    """A client of the store behind `uri`. MLflow's usage reports are switched off before it is imported."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ["DO_NOT_TRACK"] = "true"
    os.environ["MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR"] = "false"
    for variable, value in {"GIT_PYTHON_REFRESH": "quiet", **_PATIENCE}.items():
        os.environ.setdefault(variable, value)
    for name in ("alembic", "mlflow.store.db.utils", "mlflow.tracking"):
        logging.getLogger(name).setLevel(logging.WARNING)
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking_uri=uri)


@contextmanager
def store_errors(uri: str) -> Iterator[None]:
    """Whatever MLflow raises inside comes out as a StoreError of one line that names the store."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise StoreError(f"MLflow at {uri}: {first[:300]}") from error
