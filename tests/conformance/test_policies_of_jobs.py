from __future__ import annotations

import pytest

import dragonfly_env as dfe
from dragonfly_env.policy import needs_weights
from tests.ready import ready

TOPOLOGY = dfe.Dragonfly(p=2, a=4, h=2)
BESIDE = ("min", "ugal-n", "par", "pb")


@pytest.mark.parametrize("policy", [name for name in dfe.policies() if not needs_weights(name)])
def test_a_policy_runs_next_to_others_or_is_refused(policy: str) -> None:
    jobs = [
        dfe.Job("all-to-all:message_bytes=700,in_flight=3", hosts=16, placement="random", policy=ready(name))
        for name in (policy, *(name for name in BESIDE if name != policy))
    ]
    config = dfe.SimulationConfig(topology=TOPOLOGY, network="q-adaptive", policy="min", jobs=jobs[:4])
    if dfe.make_policy(policy).learns:
        with pytest.raises(dfe.ConfigError, match=r"jobs\[0\].policy = .*must learn nothing"):
            dfe.Simulation(config)
        return
    traces = set()
    for threads in (1, 2):
        simulation = dfe.Simulation(config.replace(threads=threads))
        metrics = simulation.run_to_completion()
        assert all(job.complete for job in metrics.jobs)
        simulation.check_invariants()
        assert simulation.drain()
        traces.add(simulation.trace_hash())
    assert len(traces) == 1


@pytest.mark.parametrize("policy", ["min", "ugal-n", "par", "pb", "tpr", "lia", "val-n"])
def test_jobs_that_all_have_one_policy_are_a_run_with_that_policy(policy: str) -> None:
    def trace(of_run: str, of_jobs: str | None) -> int:
        job = dfe.Job(
            "all-to-all:message_bytes=700,in_flight=2", hosts=72, placement="random", policy=of_jobs
        )
        simulation = dfe.Simulation(dfe.SimulationConfig(topology=TOPOLOGY, policy=of_run, jobs=[job]))
        simulation.run_to_completion()
        return simulation.trace_hash()

    assert trace(policy, None) == trace(policy, policy) == trace("min", policy)
