"""Ctrl-C once finishes the cell in flight and says so; twice ends at once. Nothing that was done is lost either way."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from front_cases import experiment_on, planned, small_corpus

from harness.chunking.base import Pieces
from harness.chunking.fixed import FixedChunker
from harness.hydra_front.session import STOPPED, Session
from harness.hydra_front.stopping import FINISHING, Stopping
from harness.sweep import Select
from harness.tracking.silent import FilesOnly
from harness.types import Corpus
from harness.units.base import Ruler


@pytest.fixture(autouse=True)
def pythons_own_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("harbour"))


presses = [0]
"""How often Ctrl-C is pressed in the next cell that Pressing cuts; beside it, for it is no part of a cell's key."""


@dataclass(frozen=True)
class Pressing(FixedChunker):
    """A chunker during whose work somebody presses Ctrl-C."""

    def split(self, text: str, ruler: Ruler) -> Pieces:
        while presses[0]:
            presses[0] -= 1
            signal.raise_signal(signal.SIGINT)
        return super().split(text, ruler)


@dataclass
class Console:
    """A console that keeps what it was told."""

    warned: list[str] = field(default_factory=list)
    done: int = 0

    def warn(self, line: str) -> None:
        self.warned.append(line)

    def cell_finished(self, *given: Any) -> None:
        self.done += 1

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **named: None


def session(corpus: Corpus, outputs: Path, times: int, **changes: Any) -> tuple[int, Console]:
    """Three cells, in the second of which Ctrl-C is pressed."""
    presses[0] = times
    console: Any = Console()
    chunkers = [FixedChunker(9), Pressing(10), FixedChunker(11)]
    plans = [planned(experiment_on(corpus, chunker)) for chunker in chunkers]
    found = Session(outputs, FilesOnly(), console, Select("complete_at_5"), False, "try", "chunk-sweep run", report=False, **changes).run(plans)
    return found[1], console


def test_once_finishes_the_cell(corpus: Corpus, tmp_path: Path) -> None:
    status, console = session(corpus, tmp_path, 1)
    assert (status, console.done, console.warned.count(FINISHING)) == (STOPPED, 2, 1)
    assert len(list(tmp_path.glob("cells/[!.]*"))) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    status, console = session(corpus, tmp_path, 0)
    assert (status, console.done, console.warned) == (0, 3, [])


def test_twice_ends_at_once(corpus: Corpus, tmp_path: Path) -> None:
    status, console = session(corpus, tmp_path, 2)
    assert (status, console.done) == (STOPPED, 1)
    assert len(list(tmp_path.glob("cells/[!.]*"))) == 1
    status, console = session(corpus, tmp_path, 0)
    assert (status, console.done) == (0, 3)


def test_where_other_processes_run_the_cells_the_first_ends_them() -> None:
    with Stopping(lambda line: None, here=False), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_it_can_be_told_in_the_middle_of_a_write() -> None:
    """The handler waits for no lock that the interrupted code may hold."""
    held, told = threading.Lock(), list[str]()

    def tell(line: str) -> None:
        with held:
            told.append(line)

    with Stopping(tell) as stopping:
        with held:
            signal.raise_signal(signal.SIGINT)
            assert stopping.asked()
            assert told == []
        time.sleep(0.05)
    assert told == [FINISHING]


def test_an_interruption_that_a_finaliser_swallows_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    class Hungry:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def pressed_twice() -> None:
        signal.raise_signal(signal.SIGINT)
        hungry = Hungry()
        del hungry
        time.sleep(5)

    with Stopping(lambda line: None), pytest.raises(KeyboardInterrupt):
        pressed_twice()
    assert "Traceback" not in capsys.readouterr().err


def test_another_handler_and_another_thread_are_left_alone() -> None:
    heard = list[int]()
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    with Stopping(lambda line: None) as stopping:
        signal.raise_signal(signal.SIGINT)
        assert not stopping.asked()
    assert heard == [signal.SIGINT]
    failed = list[BaseException]()

    def elsewhere() -> None:
        try:
            with Stopping(lambda line: None):
                pass
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert failed == []
