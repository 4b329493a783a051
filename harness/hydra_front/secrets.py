"""Secrets typed where they don't belong are refused before Hydra writes the command down."""

from __future__ import annotations

from omegaconf import DictConfig, OmegaConf

from harness.embedding.http_secrets import address, check_variable
from harness.errors import ConfigError
from harness.hydra_front.leaves import leaves
from harness.redaction import redacted


def check_secrets(config: DictConfig) -> None:
    """Raise ConfigError where an embedder of `config` (the cell's own, or a strategy's) has a key or a password in its address or `key_env`, and
    where any other value is written out with a password or a token in it."""
    for place in ("embedder", "strategy.embedder"):
        node = OmegaConf.select(config, place)
        if not isinstance(node, DictConfig):
            continue
        values = {str(name): value for name, value in node.items_ex(resolve=False)}
        if "key_env" in values:
            check_variable(values["key_env"])
        if "base_url" in values:
            address(str(values["base_url"]))
    for key, text in leaves(OmegaConf.to_container(config, resolve=False)):
        if isinstance(text, str) and not key.startswith("hydra.") and redacted(text) != text:
            hint = "must not hold a password or a token: it is kept with results. Put it into an environment variable and name that here"
            raise ConfigError(key, "…", f"{hint}: '{key}=\"${{oc.env:MY_VARIABLE}}\"'")
