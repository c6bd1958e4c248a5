"""``Simulation.set_job_policy``: another policy for one job in the middle of a run."""

from __future__ import annotations

from typing import Any

import pytest

import dragonfly_env as dfe

TOPOLOGY = dfe.Dragonfly.preset("72")
MACHINE = dfe.Dragonfly(
    p=2, group=dfe.Grid(rows=2, columns=3, column_links=2), g=4, links_between_groups=6, arrangement="xc"
)


def jobs(*policies: Any, **settings: Any) -> tuple[dfe.Job, ...]:
    program = "milc:scale=0.002,gap_ns=2000"
    first, second = (*policies, None, None)[:2]
    return (
        dfe.Job(program, hosts=16, placement="random", policy=first, iterations=4, **settings),
        dfe.Job(
            "rayleigh:scale=0.002,gap_ns=1000", hosts=16, placement="random", policy=second, iterations=3
        ),
    )


def simulation(*policies: Any, policy: str = "ad0", threads: int = 1, **settings: Any) -> dfe.Simulation:
    return dfe.Simulation(
        dfe.SimulationConfig(
            topology=MACHINE,
            network="aries-256",
            policy=policy,
            jobs=jobs(*policies, **settings),
            threads=threads,
        )
    )


def end(run: dfe.Simulation) -> int:
    run.run_to_completion()
    run.check_invariants()
    return run.trace_hash()


def test_set_before_anything_is_sent_it_is_the_job_s_policy() -> None:
    for mode in ("ad1", "ad3"):
        changed = simulation()
        changed.set_job_policy(0, mode)
        assert end(changed) == end(simulation(mode)) != end(simulation())
    both = simulation()
    both.set_job_policy(0, "ad3")
    both.set_job_policy(1, dfe.make_policy("ad3"))
    assert end(both) == end(simulation(policy="ad3"))


def test_the_same_policy_changes_nothing_and_none_is_the_run_s() -> None:
    changed, left = simulation("ad3"), simulation("ad3")
    for _ in range(4):
        changed.run(2_000)
        changed.set_job_policy(0, "ad3")
        changed.set_job_policy(1, None)
        left.run(2_000)
    assert end(changed) == end(left)
    back = simulation("ad3")
    back.set_job_policy(0, None)
    assert end(back) == end(simulation())


def test_all_to_all_operations_may_have_their_own() -> None:
    changed = simulation()
    changed.set_job_policy(1, None, "ad3")
    config = changed.config.replace(jobs=(jobs()[0], jobs()[1].replace(all_to_all_policy="ad3")))
    assert end(changed) == end(dfe.Simulation(config)) != end(simulation())


def test_the_time_of_the_change_counts_and_threads_and_pieces_do_not() -> None:
    def run(change_ns: float, threads: int, pieces: int) -> int:
        changed = simulation(threads=threads)
        for _ in range(pieces):
            changed.run(change_ns / pieces)
        changed.set_job_policy(0, "ad3")
        changed.set_job_policy(1, "ad2")
        changed.run(4_000)
        changed.set_job_policy(0, "ad1")
        return end(changed)

    hashes = {run(6_000, threads, pieces) for threads, pieces in ((1, 1), (2, 3), (3, 2))}
    assert len(hashes) == 1
    assert run(7_000, 1, 1) not in hashes


def test_what_waits_in_source_queues_is_routed_anew_and_what_is_on_its_way_is_not() -> None:
    """Send a message of 400 packets to another group: those sent before the change go minimally, the others around."""

    def one_message(rank: int, _ranks: int) -> Any:
        from dragonfly_env.jobs import receive, send, wait

        yield send(1, 400 * 128) if rank == 0 else receive(0)
        yield from wait()

    def run(change_ns: float | None) -> dfe.Metrics:
        job = dfe.Job(one_message, hosts=2, placement=(0, 40), policy="min")
        around = dfe.Job(one_message, hosts=2, placement=(3, 43), policy="val-n")
        config = dfe.SimulationConfig(
            topology=TOPOLOGY, network="q-adaptive", policy="min", jobs=[job, around], packet_log=True
        )
        simulation = dfe.Simulation(config)
        if change_ns is not None:
            simulation.run(change_ns)
            simulation.set_job_policy(0, "val-n")
        simulation.run_to_completion()
        log = simulation.packet_log()
        mine = log["src"] == 0
        if change_ns is not None:
            before = log["injected_ns"][mine] <= change_ns
            assert log["minimal"][mine][before].all()
            assert before.any()
            assert not log["minimal"][mine][~before].any()
        else:
            assert log["minimal"][mine].all()
        assert int(mine.sum()) == 400
        return simulation.metrics()

    run(None)
    run(3_000.0)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("par", "must need no other paths"),
        ("q-adaptive", "must learn nothing"),
        ("tpr", "must need no "),
        ("ad5", "is unknown; did you mean"),
        (3, "must be a policy"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(policy: Any, message: str) -> None:
    def run() -> dfe.Simulation:
        changed = dfe.Simulation(
            dfe.SimulationConfig(topology=TOPOLOGY, network="q-adaptive", policy="ugal-n", jobs=jobs())
        )
        changed.run(3_000)
        return changed

    changed = run()
    with pytest.raises(dfe.ConfigError, match=rf"^policy = .*{message}"):
        changed.set_job_policy(0, policy)
    with pytest.raises(dfe.ConfigError, match=r"^all_to_all_policy = 'ad5'|^policy = 'ad5'"):
        changed.set_job_policy(0, "ugal-n", "ad5")
    assert end(changed) == end(run())
