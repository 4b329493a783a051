"""What keeps the token states of documents, for whoever asks for them: the contract, and one that keeps nothing."""

from __future__ import annotations

from typing import Protocol

from harness.embedding.pooling import DocumentStates


class StateStore(Protocol):
    """States of documents, kept by key."""

    def find(self, key: str) -> DocumentStates | None:
        """What is kept under `key`, if it is sound."""
        ...

    def holds(self, key: str) -> bool:
        """Whether something is kept under `key`, sound or not."""
        ...

    def save(self, key: str, states: DocumentStates) -> None:
        """Keep `states`, where there is room. Never raises for a store that can't be written."""
        ...


class NoStates:
    """Keeps nothing."""

    def find(self, key: str) -> DocumentStates | None:
        """Nothing."""
        return None

    def holds(self, key: str) -> bool:
        """Never."""
        return False

    def save(self, key: str, states: DocumentStates) -> None:
        """Forgets it."""
