"""MLflow's client, quiet: no usage reports, no bars, no long waiting. To import MLflow takes seconds, so that is done when it is needed."""

from __future__ import annotations

import atexit
import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import StoreError
from harness.redaction import redacted

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient
    from sqlalchemy import Connection
    from sqlalchemy.engine import Engine

_PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "20"}
"""MLflow's own is to try for minutes: a server that is away must not hold up a sweep whose results are safe in files. Set them to wait longer."""
_SQLITE = "sqlite:///"
_ahead: set[str] = set()
_closing: set[Engine] = set()


def quiet_client(uri: str) -> MlflowClient:
    """A client of the store behind `uri`. MLflow's usage reports are switched off before it is imported."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ["DO_NOT_TRACK"] = "true"
    os.environ["MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR"] = "false"
    for variable, value in {"GIT_PYTHON_REFRESH": "quiet", **_PATIENCE}.items():
        os.environ.setdefault(variable, value)
    for name in ("alembic", "mlflow.tracking"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # It prints the whole trace of an error (a full disk) that it raises as well, and that is told in a line.
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
    from mlflow.tracking import MlflowClient

    if uri.startswith(_SQLITE):
        _write_ahead(uri.removeprefix(_SQLITE))
    return MlflowClient(tracking_uri=uri)


def _write_ahead(database: str) -> None:
    """Let the SQLite file `database` keep a write-ahead log: a commit then waits for no disk, of which a cell has about twenty.

    What was committed outlives the death of the process; a loss of power may cost the last seconds, which our own files hold. At exit MLflow leaves
    its connections to the interpreter, which may not come to them; they are closed, and with the last one the log is in the file and gone.
    """
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    if not _ahead:
        event.listen(Engine, "connect", _set_pragmas)
        event.listen(Engine, "engine_connect", _close_at_exit)
    _ahead.add(str(Path(database).resolve()))


def _set_pragmas(connection: Any, _: object) -> None:
    if not isinstance(connection, sqlite3.Connection):
        return
    main = connection.execute("PRAGMA database_list").fetchone()
    if main is not None and str(Path(main[2]).resolve()) in _ahead:
        with suppress(sqlite3.Error):  # a file system without shared memory: it goes on as it did
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")


def _close_at_exit(connection: Connection) -> None:
    engine = connection.engine
    if engine.dialect.name == "sqlite" and engine not in _closing:
        _closing.add(engine)
        atexit.register(engine.dispose)


@contextmanager
def store_errors(uri: str) -> Iterator[None]:
    """Whatever MLflow raises inside comes out as a StoreError of one line that names the store, without a password."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise StoreError(redacted(f"MLflow at {uri}: {first[:300]}")) from error
