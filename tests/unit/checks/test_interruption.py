"""Ctrl-C while a file is written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragonfly_env.agents.storage import read_agent, write_agent
from dragonfly_env.checks.interruption import uninterrupted


@pytest.fixture(autouse=True)
def usual_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_end_and_handlers_are_as_before(number: signal.Signals) -> None:
    heard: list[int] = []
    before = signal.signal(number, lambda told, _: heard.append(told))
    try:
        own = signal.getsignal(number)
        with uninterrupted():
            signal.raise_signal(number)
            signal.raise_signal(number)
            assert not heard
        assert heard == [number]
        assert signal.getsignal(number) is own
    finally:
        signal.signal(number, before)


def test_an_error_inside_gives_way_to_the_interrupt() -> None:
    def write() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("of the file")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_ignored_stays_ignored_and_other_threads_change_nothing() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    signal.signal(signal.SIGINT, signal.default_int_handler)
    seen: list[Any] = []

    def work() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_an_agent_that_is_being_saved_is_saved_whole(tmp_path: Path) -> None:
    class Interrupting(bytes):
        """Presses Ctrl-C when it is about to be compressed."""

        def __len__(self) -> int:
            signal.raise_signal(signal.SIGINT)
            return super().__len__()

    with pytest.raises(KeyboardInterrupt):
        write_agent(tmp_path / "a.zip", {"kind": "test"}, {"weights": Interrupting(b"1234")})
    assert [file.name for file in tmp_path.iterdir()] == ["a.zip"]
    header, members = read_agent(tmp_path / "a.zip", ("weights",), kind="test")
    assert header["kind"] == "test"
    assert members["weights"] == b"1234"
