"""Several Python threads on one object: StateError for whoever comes second, and the books stay in order."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import dragonfly_env as dfe
from tests.views import VIEWS

CONFIG = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.6)
LARGE = CONFIG.replace(topology=dfe.Dragonfly.preset("1056"))  # a step takes long enough to look into it
ALLOWED = (dfe.StateError, dfe.IllegalActionError)


@contextmanager
def hasty_threads() -> Iterator[None]:
    """Python changes threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def next_to(main: Callable[[], None], *others: Callable[[], None]) -> list[BaseException]:
    """What the others met that is not allowed, while they were called over and over next to ``main``."""
    met: list[BaseException] = []
    over = threading.Event()

    def repeat(action: Callable[[], None]) -> None:
        while not over.is_set():
            try:
                action()
            except ALLOWED:
                pass
            except BaseException as error:
                met.append(error)
                return

    threads = [threading.Thread(target=repeat, args=(action,)) for action in others]
    with hasty_threads():
        for thread in threads:
            thread.start()
        try:
            main()
        finally:
            over.set()
            for thread in threads:
                thread.join()
    return met


def persistently(call: Callable[[], object]) -> object:
    """What a call gives once no other thread is in its way."""
    while True:
        try:
            return call()
        except dfe.StateError as error:
            if "another thread" not in str(error):
                raise


def test_who_looks_at_an_environment_while_it_steps_gets_whole_rows_or_a_state_error() -> None:
    env = dfe.BatchedRoutingEnv(LARGE, duration_ns=10_000)
    env.reset()
    seen: list[int] = []

    def look() -> None:
        batch = env.pending
        draws = batch.draws
        if draws.shape != (len(batch), 2):
            raise AssertionError(f"{draws.shape[0]} draws for {len(batch)} rows")
        seen.append(len(draws))

    def ask() -> None:
        repr(env)
        if not env.done:
            env.metrics()
            env.transitions()
            env.payments()
            env.state()
            assert env.time_ns >= 0

    def play() -> None:
        while not env.done:
            actions = persistently(lambda: env.pending.minimal_actions())
            try:
                env.step(actions)
            except ALLOWED:
                continue

    assert next_to(play, look, look, ask) == []
    assert seen
    persistently(env.drain)
    env._core.simulation.check_invariants()
    assert env.metrics().packets_in_flight == 0


def test_draws_of_an_answered_batch_are_refused_and_those_of_a_copy_stay() -> None:
    env = dfe.BatchedRoutingEnv(CONFIG, duration_ns=2_000)
    batch = env.reset()
    rows = batch.rows(slice(0, 1))
    following = env.step(batch.minimal_actions())
    for stale in (batch, rows):
        with pytest.raises(dfe.StateError, match="draws: this batch has been answered"):
            _ = stale.draws
    kept = following.copy()
    draws = following.draws
    env.step(following.minimal_actions())
    np.testing.assert_array_equal(kept.draws, draws)


@pytest.mark.parametrize("threads", [1, 2])
def test_actions_that_another_thread_changes_during_a_step_are_refused_or_used_as_they_were_checked(
    threads: int,
) -> None:
    """A step takes what it has checked: were it to read again, actions out of range would go to the core."""
    env = dfe.BatchedRoutingEnv(LARGE.replace(threads=threads), duration_ns=10_000)
    env.reset()
    actions = np.zeros(100_000, dtype=np.int64)

    def disturb() -> None:
        actions[:] = 2**31 - 1
        actions[:] = 0

    def play() -> None:
        for _ in range(150):
            if env.done:
                env.reset()
            right = env.pending.minimal_actions()
            given = actions[: len(right)]
            given[:] = right
            try:
                env.step(given)
            except dfe.IllegalActionError:
                env.step(right)

    assert next_to(play, disturb) == []
    while not env.done:
        env.step(env.pending.minimal_actions())
    env.drain()
    env._core.simulation.check_invariants()
    assert env.metrics().packets_in_flight == 0


def test_who_looks_at_a_simulation_while_it_runs_gets_figures_or_a_state_error() -> None:
    simulation = dfe.Simulation(CONFIG.replace(policy="q-adaptive", network="q-adaptive", packet_log=True))
    table = simulation.q_table().copy()

    def look() -> None:
        repr(simulation)
        simulation.metrics()
        simulation.packet_log()
        simulation.load_q_table(table)
        simulation.reset_statistics()
        simulation.check_invariants()

    def run() -> None:
        for _ in range(150):
            persistently(lambda: simulation.run(100))

    assert next_to(run, look, look) == []
    assert simulation.time_ns == 15_000
    simulation.check_invariants()


ROUTERS = ("batched", "parallel", "raw", "aec", "slots")
FINAL = ("parallel", "raw", "aec")  # what is closed stays closed


@pytest.mark.parametrize("name", VIEWS)
def test_four_threads_on_one_environment_get_steps_or_state_errors(name: str) -> None:
    view = VIEWS[name]
    env = view.make(**{**view.short, **({"config": CONFIG} if name in ROUTERS else {})})
    persistently(env.reset)

    def play() -> None:
        view.step(env)

    def begin() -> None:
        env.reset()

    def end() -> None:
        if name not in FINAL and hasattr(env, "close"):
            env.close()
        if hasattr(env, "state"):
            env.state()

    def main() -> None:
        for _ in range(60):
            for call in (env.reset, play, play, play, end):
                with suppress(*ALLOWED):
                    call()

    assert next_to(main, play, begin, end) == []
    persistently(env.reset)  # and it still works
    persistently(lambda: view.step(env))
