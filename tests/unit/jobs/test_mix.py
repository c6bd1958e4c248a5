"""The production mix: how full, of what, and where."""

from __future__ import annotations

from collections import Counter

import pytest

import dragonfly_env as dfe
from dragonfly_env.jobs import BackgroundMix, Milc
from dragonfly_env.jobs.mix import SHARES

MACHINE = dfe.Dragonfly(p=4, a=8, h=4, g=18)  # 576 hosts, as many as an eighth of Theta


def test_a_mix_fills_its_part_of_the_machine_with_jobs_of_three_sizes() -> None:
    hosts: Counter[str] = Counter()
    sizes: Counter[int] = Counter()
    rules: Counter[str] = Counter()
    for seed in range(60):
        jobs = list(BackgroundMix().jobs(MACHINE, 32, seed))
        assert sum(job.num_hosts for job in jobs) <= 0.9 * 576 - 32
        assert all(job.is_endless and 0 <= job.start_ns <= 200_000 for job in jobs)
        for job in jobs:
            hosts[job.program.name] += job.num_hosts
            sizes[job.num_hosts] += job.num_hosts
            rules[job.placement] += 1
    assert set(sizes) == {16, 32, 64}
    assert min(sizes.values()) > 0.6 * max(sizes.values())
    total = 60 * (0.9 * 576 - 32)
    for name, share in SHARES.items():
        assert name == "silent" or hosts[name] / total == pytest.approx(share, abs=0.07)
    assert rules["consecutive"] / rules.total() == pytest.approx(0.5, abs=0.1)


def test_a_job_runs_among_the_mix_until_it_is_done() -> None:
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly(p=2, a=4, h=2),
        network="q-adaptive",
        policy="min",
        jobs=["milc:hosts=16,scale=0.001,gap_ns=1000", "background-mix:scale=0.0005,phase_ns=100,policy=par"],
    )
    assert config.jobs[1] == BackgroundMix(scale=0.0005, phase_ns=100, policy="par")
    assert dfe.SimulationConfig.from_toml(config.to_toml()) == config
    assert BackgroundMix(stands_for=8)._program("milc") == Milc(stands_for=8)
    times = {}
    for seed in (1, 2):
        chosen = config.replace(seed=seed)
        placed = chosen.placed_jobs()
        metrics = dfe.Simulation(chosen).run_to_completion()
        assert len(metrics.jobs) == len(placed) > 2
        assert [job.endless for job in metrics.jobs] == [False] + [True] * (len(placed) - 1)
        assert [job.complete for job in metrics.jobs] == [True] + [False] * (len(placed) - 1)
        taken = [host for job in placed for host in job.hosts]
        assert len(set(taken)) == len(taken) <= 0.9 * 72
        times[seed] = metrics.jobs[0].run_time_ns
        assert {policy["name"] for policy in chosen.to_core()["job_policies"]} == {"par"}
    assert times[1] != times[2]


def test_a_mix_is_the_last_job() -> None:
    with pytest.raises(dfe.ConfigError, match=r"jobs\[0\] = 'background-mix': must be the last"):
        dfe.SimulationConfig(topology=MACHINE, jobs=["background-mix", "milc:hosts=4"])
    with pytest.raises(dfe.ConfigError, match=r"jobs\[0\].hosts = 3: 'background-mix' has no such setting"):
        dfe.SimulationConfig(topology=MACHINE, jobs=["background-mix:hosts=3"])
