"""The watchdog reports packets that wait for each other in a circle. It is silent while the network works:
``test_every_policy_and_pattern.py``.
"""

from __future__ import annotations

import re

import pytest

import dragonfly_env as dfe
from dragonfly_env import _core

SMALL = dfe.Dragonfly.preset("72")
WATCHDOG_NS = 20_000.0


def tiny_buffers(**changes: object) -> dfe.NetworkConfig:
    """A network in which a few packets fill everything."""
    return dfe.NetworkConfig.preset(
        "q-adaptive",
        host_buffer_packets=1,
        local_buffer_packets=1,
        global_buffer_packets=1,
        output_buffer_packets=1,
    ).replace(**changes)


def broken_core(network: dfe.NetworkConfig, policy: str, traffic: str, threads: int = 1) -> _core.Simulation:
    """A saturated network whose packets never change their VC, which the public face does not offer."""
    params = {**network.to_core(watchdog_ns=WATCHDOG_NS), "vc_scheme": "unsafe-single"}
    config = dfe.SimulationConfig(
        topology=SMALL, network=network, traffic=traffic, load=1.0, policy=policy, threads=threads
    )
    return _core.Simulation({**config.to_core(), "network": params})


@pytest.mark.parametrize("policy", ["val-n", "par"])
@pytest.mark.parametrize(
    "mechanism",
    [
        {},
        {"output_queue": "shared"},
        {"link_start": "immediate", "switching": "cut-through"},
        {"decide_at": "arrival", "routing_delay_ns": 100.0},
    ],
    ids=["per-vc queues", "shared queues", "cut-through", "decisions on arrival"],
)
def test_a_broken_vc_assignment_is_reported_in_bounded_time(
    mechanism: dict[str, object], policy: str
) -> None:
    core = broken_core(tiny_buffers(**mechanism), policy, "adv+1")
    with pytest.raises(dfe.DeadlockError) as caught:
        core.run(int(50 * WATCHDOG_NS * 1000))
    report = str(caught.value).splitlines()
    assert re.fullmatch(
        r"no progress for 20000 ns \(at \d+ ns\): packets wait for each other in a circle:", report[0]
    )
    assert len(report) > 2
    lines = re.compile(
        r"  packet \d+ of host \d+ to host \d+, \d+ hops, at router \d+ port \d+ VC 0 since [\d.e+]+ ns, "
        r"waits for port \d+ VC 0 \(\d+ packets queued there, \d+ of \d+ credits\)"
    )
    assert sum(bool(lines.fullmatch(line)) for line in report[1:]) >= 2
    assert not [line for line in report[1:] if not lines.fullmatch(line) and "more" not in line]
    assert len(str(caught.value)) < 4000


def test_the_books_of_a_deadlocked_network_still_balance() -> None:
    core = broken_core(tiny_buffers(), "val-n", "adv+1")
    with pytest.raises(dfe.DeadlockError):
        core.run(2_000_000_000)
    core.check_invariants()
    assert core.statistics()["in_network"] > 0


def test_draining_a_deadlocked_network_raises_instead_of_hanging() -> None:
    core = broken_core(tiny_buffers(), "val-n", "adv+1")
    core.run(int(WATCHDOG_NS * 1000))
    with pytest.raises(dfe.DeadlockError):
        core.drain(10**12)
