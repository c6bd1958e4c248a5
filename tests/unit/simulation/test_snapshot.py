"""``Snapshot``, and what a simulation that goes on from one may change."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace

CONFIG = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3, seed=5)


def begun(config: dfe.SimulationConfig = CONFIG, ns: float = 2_000, **more: Any) -> dfe.Simulation:
    simulation = dfe.Simulation(config, **more)
    simulation.run(ns)
    return simulation


def test_a_snapshot_does_not_change_and_can_be_used_again() -> None:
    simulation = begun()
    snapshot = simulation.snapshot()
    simulation.run(1_000)
    hashes = set()
    for _ in range(3):
        other = dfe.Simulation.restore(snapshot)
        assert (other.time_ns, snapshot.time_ns, snapshot.kind) == (2_000.0, 2_000.0, "simulation")
        other.run(1_000)
        hashes.add(other.trace_hash())
    assert hashes == {simulation.trace_hash()}
    assert snapshot.num_bytes > 100_000


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda run: pickle.loads(pickle.dumps(run))])
def test_a_simulation_is_copied_and_pickled_with_its_state(made: Any) -> None:
    simulation = begun()
    copied = made(simulation)
    for run in (simulation, copied):
        run.run(2_000)
    assert copied.trace_hash() == simulation.trace_hash()
    assert copied.metrics().to_dict() == simulation.metrics().to_dict()
    assert copied.config == simulation.config
    snapshot = simulation.snapshot()
    assert dfe.Simulation.restore(made(snapshot)).time_ns == 4_000.0


def test_the_window_of_statistics_goes_on() -> None:
    simulation = begun(ns=3_000)
    simulation.reset_statistics()
    simulation.run(7_000)
    other = dfe.Simulation.restore(simulation.snapshot())
    for run in (simulation, other):
        run.run(7_000)
    assert other.metrics().to_dict() == simulation.metrics().to_dict()
    assert other.metrics().saturated is not None


def test_what_was_changed_in_a_run_stays_changed(tmp_path: Path) -> None:
    jobs = [dfe.Job("milc:scale=0.02", hosts=8, policy="ad0"), dfe.Job("milc:scale=0.02", hosts=8)]
    config = dfe.SimulationConfig(topology="theta-m8", policy="ad0", jobs=jobs)
    simulation = dfe.Simulation(config)
    simulation.run(1_000)
    simulation.set_job_policy(0, "ad3")
    simulation.set_policy(dfe.make_policy("ad2"))
    simulation.run(1_000)
    simulation.snapshot().save(tmp_path / "run")
    other = dfe.Simulation.restore(dfe.Snapshot.load(tmp_path / "run"))
    assert other.config.policy == "ad2"
    for run in (simulation, other):
        run.run(1_000)
        run.set_job_policy(1, "ad3")
        run.run(2_000)
    assert other.trace_hash() == simulation.trace_hash()


def test_a_drained_run_stays_drained() -> None:
    simulation = begun()
    assert simulation.drain()
    other = dfe.Simulation.restore(simulation.snapshot())
    for run in (simulation, other):
        run.run(5_000)
    assert other.metrics().to_dict() == simulation.metrics().to_dict()
    assert other.metrics().packets_in_flight == 0


# Forks.


def test_futures_of_one_moment_are_independent() -> None:
    warm = begun(CONFIG.replace(policy="ugal-n"))
    before = warm.trace_hash()
    forks = [warm.fork() for _ in range(100)]
    for number, run in enumerate(forks):
        run.run(10 * number)
    assert warm.time_ns == 2_000.0
    assert warm.trace_hash() == before
    again = warm.fork()
    again.run(990)
    assert again.trace_hash() == forks[-1].trace_hash()


def test_a_fork_with_another_seed_has_the_same_past_and_another_future() -> None:
    config = CONFIG.replace(traffic="uniform", injection="poisson", source_queue_full="stall")
    warm = begun(config)
    same, other, again = warm.fork(seed=5), warm.fork(seed=6), warm.fork(seed=6)
    assert same.trace_hash() == other.trace_hash() == warm.trace_hash()
    for run in (warm, same, other, again):
        run.run(3_000)
        run.check_invariants()
    assert other.trace_hash() == again.trace_hash() != warm.trace_hash()
    assert other.config.seed == 6
    assert abs(other.metrics().packets_generated - warm.metrics().packets_generated) < 500


@pytest.mark.parametrize("queue", [None, 4])
@pytest.mark.parametrize("injection", ["periodic", "bernoulli", "poisson"])
def test_a_fork_sends_other_traffic_from_then_on(injection: str, queue: int | None) -> None:
    config = CONFIG.replace(
        traffic="adv+1", load=0.02, injection=injection, source_queue_packets=queue, packet_log=True
    )
    warm = begun(config)
    warm.packet_log()
    fork = warm.fork(traffic="uniform", load=0.5)
    fork.run(3_000)
    fork.check_invariants()
    log = fork.packet_log()
    per_group = fork.config.topology.num_hosts // fork.config.topology.num_groups
    groups = [log[end].astype(int) // per_group for end in ("src", "dst")]
    offsets = (groups[1] - groups[0]) % fork.config.topology.num_groups
    new = log["created_ns"] > 2_000
    assert set(offsets[~new].tolist()) <= {1}
    assert len(set(offsets[new].tolist())) == fork.config.topology.num_groups
    # 72 hosts, 3,000 ns at 0.5; a packet takes as long as NetworkConfig says.
    expected = 72 * 3_000 * 0.5 / fork.config.network.packet_time_ns
    generated = fork.metrics().packets_generated - warm.metrics().packets_generated
    assert 0.9 < generated / expected < 1.1
    fork.snapshot()
    again = fork.fork(traffic="adv+1", seed=77)  # a fork of a fork
    for run in (again, dfe.Simulation.restore(again.snapshot())):
        run.run(1_000)
        run.check_invariants()
    assert again.config.traffic == "adv+1"


def burst_sizes(simulation: dfe.Simulation, after_ns: float) -> list[set[int]]:
    """Per host: how many packets it generates at a time."""
    log = simulation.packet_log()
    sizes = []
    for host in range(72):
        created = log["created_ns"][(log["src"] == host) & (log["created_ns"] > after_ns)]
        sizes.append(set(np.unique(created, return_counts=True)[1].tolist()))
    return sizes


@pytest.mark.parametrize("changes", [{"seed": 9}, {"traffic": "random-neighbors:min=7,max=7"}])
def test_a_fork_sends_whole_bursts(changes: dict[str, Any]) -> None:
    """A host of random-neighbors sends to all its targets at once, and their number follows from the seed."""
    config = CONFIG.replace(traffic="random-neighbors", packet_log=True)
    fork = begun(config, 500).fork(**changes)
    fork.run(10_000)
    fork.drain()
    sizes = burst_sizes(fork, 500.0)
    assert {len(run) for run in sizes} == {1}
    assert set().union(*sizes) == ({7} if "traffic" in changes else set(range(6, 21)))


def test_a_step_of_a_schedule_begins_with_whole_bursts() -> None:
    steps = [(0.0, "uniform", 0.2), (3_000.0, "random-neighbors:min=7,max=7", 0.3)]
    simulation = begun(CONFIG.replace(traffic=steps, packet_log=True), 10_000)
    simulation.drain()
    assert burst_sizes(simulation, 3_000.0) == [{7}] * 72


def test_a_fork_of_a_schedule_counts_from_time_0() -> None:
    warm = begun(CONFIG.replace(traffic="uniform"))
    later = warm.fork(traffic=[(0.0, "adv+1", 0.2), (3_000.0, "uniform", 0.6)])
    never = warm.fork(traffic=[(9_000.0, "uniform", 0.6)])
    for run in (later, never):
        run.run(500)
        run.reset_statistics()
        run.run(400)
    assert never.metrics().packets_generated == 0
    assert 0.15 < later.metrics().offered_load < 0.25
    later.run(600)
    later.reset_statistics()
    later.run(1_000)
    assert 0.55 < later.metrics().offered_load < 0.65


def test_a_fork_of_a_learner_keeps_its_tables() -> None:
    config = CONFIG.replace(policy="q-adaptive")
    warm = begun(config)
    frozen = warm.fork(policy=dfe.make_policy("q-adaptive", alpha=0.0, beta=0.0))
    assert (frozen.q_table() == warm.q_table()).all()
    before = warm.q_table().copy()
    for run in (frozen, warm):
        run.run(3_000)
    assert (frozen.q_table() == before).all()
    assert (warm.q_table() != before).any()


def test_what_cannot_change_is_refused_and_says_why() -> None:
    warm = begun()
    with pytest.raises(dfe.ConfigError, match=r"^policy = 'par'.*need no other paths.*allowed_policies"):
        warm.fork(policy="par")
    with pytest.raises(dfe.ConfigError, match=r"^seed = -1"):
        warm.fork(seed=-1)
    with pytest.raises(
        dfe.ConfigError, match=r"^traffic = 'all-to-all': must be left out: the traffic that follows"
    ):
        warm.fork(traffic="all-to-all")
    closed = begun(dfe.SimulationConfig(topology="72", traffic="all-to-all"), 100)
    with pytest.raises(dfe.ConfigError, match="closed loop, and its programs go on"):
        closed.fork(traffic="uniform")
    assert closed.fork(seed=3).config.seed == 3
    trace = Trace.from_columns(time_ns=[0.0], src=[0], dst=[2], bytes=[100], routers=[[0, 1]])
    with pytest.raises(dfe.ConfigError, match="a trace with routes"):
        warm.fork(traffic=trace)
    with pytest.raises(dfe.ConfigError, match=r"^allowed_policies = .*'q-adaptive'"):
        dfe.Simulation(CONFIG, allowed_policies=["q-adaptive"])
    with pytest.raises(dfe.ConfigError, match="no-such"):
        dfe.Simulation(CONFIG, allowed_policies=["no-such"])


def test_a_fork_names_the_policy_that_decides() -> None:
    """After a change of the seed, too, and back again."""
    warm = begun(CONFIG.replace(policy="q-adaptive"))
    first, second = warm.config.policy, dfe.make_policy("q-adaptive", alpha=0.0, beta=0.0)
    other = warm.fork(seed=5).fork(policy=second)
    assert (other.config.policy, other.config.seed) == (second, 5)
    back = other.fork(policy=first)
    assert back.config.policy == first
    for run in (same := warm.fork(seed=5), other, back):
        run.run(3_000)
    assert back.trace_hash() == same.trace_hash() != other.trace_hash()


def test_policies_that_were_named_may_take_over_in_forks() -> None:
    warm = begun(CONFIG.replace(network="lia"), allowed_policies=["par", "lia", "pb"])
    hashes = {}
    for policy in ("min", "par", "lia", "pb"):
        run = warm.fork(policy=policy)
        run.run(4_000)
        run.check_invariants()
        hashes[policy] = run.trace_hash()
        assert run.drain()
    assert len(set(hashes.values())) == 4


# Files.


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "run.snapshot"
    begun().snapshot().save(path)
    return path


@pytest.mark.parametrize("length", [0, 5, 40, 5_000, -33, -1])
def test_a_file_that_is_cut_off_is_refused(written: Path, length: int) -> None:
    written.write_bytes(written.read_bytes()[:length])
    with pytest.raises(dfe.ConfigError, match=r"^path = .*undamaged"):
        dfe.Snapshot.load(written)


def test_a_damaged_file_is_refused(written: Path) -> None:
    whole = written.read_bytes()
    for at in range(0, len(whole), len(whole) // 50):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        written.write_bytes(damaged)
        with pytest.raises(dfe.ConfigError, match=r"^path = .*undamaged"):
            dfe.Snapshot.load(written)


def test_files_of_others_and_of_other_versions_are_refused(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("hello")
    for path in (tmp_path / "none", tmp_path, tmp_path / "text"):
        with pytest.raises(dfe.ConfigError, match=r"^path = "):
            dfe.Snapshot.load(path)
    monkeypatch.setattr("dragonfly_env.simulation.snapshot.installed_version", lambda: "99")
    with pytest.raises(dfe.ConfigError, match=r"^path = .*was written with version .* not '99'"):
        dfe.Snapshot.load(written)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no-folder"):
        begun().snapshot().save(tmp_path / "no-folder" / "run")
    assert list(tmp_path.iterdir()) == []
