"""What may stand in a configuration of an endpoint. Configurations are kept with results, so a secret in one is refused, and never repeated."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from harness.errors import ConfigError

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


def check_variable(key_env: object) -> None:
    """Raise ConfigError where `key_env` is neither None nor the name of an environment variable: it may be the key itself."""
    if key_env is not None and not (isinstance(key_env, str) and _VARIABLE.fullmatch(key_env)):
        hint = "must be the name of an environment variable, in capitals (OPENAI_API_KEY); the key itself belongs into that variable, never here"
        raise ConfigError("embedder.key_env", "…", hint)


def address(base_url: str) -> str:
    """`base_url` as it is called: without a trailing slash or /embeddings. Raises ConfigError where it is none, or carries a secret."""
    try:
        parts = urlsplit(str(base_url))
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("embedder.base_url", "…" if "@" in str(base_url) else base_url, "an address such as https://api.openai.com/v1 would do")
    if parts.username is not None or parts.query or parts.fragment:
        hint = "must hold no user name, password, ? or #: it is kept with results. A key goes into the variable that embedder.key_env names"
        raise ConfigError("embedder.base_url", f"{parts.scheme}://{parts.hostname}…", hint)
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/').removesuffix('/embeddings')}"
