"""Jobs: what they may be, where they live, what is measured of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.traffic.workloads import PLACEMENTS

TOPOLOGY = dfe.Dragonfly(p=2, a=4, h=2)  # 72 hosts
SMALL = "milc:scale=0.001,gap_ns=2000"


def config(*given: Any, **settings: Any) -> dfe.SimulationConfig:
    return dfe.SimulationConfig(topology=TOPOLOGY, network="q-adaptive", jobs=list(given), **settings)


def complete(*given: Any, **settings: Any) -> tuple[dfe.Metrics, int]:
    simulation = dfe.Simulation(config(*given, **settings))
    metrics = simulation.run_to_completion()
    simulation.check_invariants()
    return metrics, simulation.trace_hash()


def test_a_job_has_a_run_time_and_its_operations_are_measured() -> None:
    metrics, _ = complete(dfe.Job(SMALL, hosts=16, start_ns=5000, iterations=3), dfe.Job("all-to-all", 20))
    milc, exchange = metrics.jobs
    assert milc.complete
    assert exchange.complete
    assert milc.run_time_ns > 3 * 2000 * 0.9
    assert metrics.makespan_ns == pytest.approx(5000 + milc.run_time_ns)
    assert exchange.run_time_ns < milc.run_time_ns
    assert math.isnan(exchange.mpi_share)
    assert milc.operations.keys() == {"wait", "allreduce"}
    # Per iteration and rank: two parities with two halves, two all-reduces.
    assert milc.operations["wait"].count == 16 * 3 * 4
    assert milc.operations["allreduce"].count == 16 * 3 * 2
    assert milc.iterations.count == 16 * 3
    for operation in milc.operations.values():
        assert 0 < operation.mean_ns <= operation.max_ns < milc.run_time_ns
    # The time between operations is computation: 2000 ns an iteration, with jitter.
    computing = milc.iterations.total_ns - sum(operation.total_ns for operation in milc.operations.values())
    assert computing / milc.iterations.count == pytest.approx(2000, rel=0.01)
    assert milc.mpi_share == pytest.approx(1 - computing / milc.iterations.total_ns)
    assert metrics.jobs[0].to_dict()["operations"]["wait"]["count"] == 192


@pytest.mark.parametrize("program", [name for name in dfe.programs() if name not in ("graph500", "halo3d")])
def test_a_program_has_the_same_bits_for_any_threads_and_any_pieces(program: str) -> None:
    is_motif = program in ("milc", "milc-reorder", "nek5000", "hacc", "qbox", "rayleigh", "llm", "moe")
    spec = f"{program}:scale=0.0005" if is_motif else program
    if program in ("llm", "moe"):
        spec = f"{program}:scale=0.00003,layers=2,pp=2,micro_batches=3,tp=3,tp_network=true"
    job = dfe.Job(spec, hosts=18, placement="random-routers")
    other = dfe.Job("nek5000:scale=0.05,gap_ns=1000", hosts=30, placement="random")
    hashes = set()
    for threads in (1, 2, 3, 8):
        metrics, trace = complete(job, other, threads=threads, policy="ugal-n")
        hashes.add((trace, metrics.jobs[0].run_time_ns, metrics.jobs[1].run_time_ns))
    simulation = dfe.Simulation(config(job, other, policy="ugal-n", threads=2))
    while math.isnan((metrics := simulation.run_to_completion(1234.5)).makespan_ns):
        pass
    hashes.add((simulation.trace_hash(), metrics.jobs[0].run_time_ns, metrics.jobs[1].run_time_ns))
    assert len(hashes) == 1


def test_seeds_change_jitter_and_placement_of_the_jobs_that_follow_the_run() -> None:
    seeded = dfe.Job(SMALL, hosts=8, placement="random", seed=7)
    follows = dfe.Job(SMALL, hosts=8, placement="random")
    placed = [config(seeded, follows, seed=seed).placed_jobs() for seed in (1, 2)]
    assert placed[0][0].hosts == placed[1][0].hosts
    assert placed[0][1].hosts != placed[1][1].hosts
    assert len({complete(follows.replace(placement="consecutive"), seed=seed)[1] for seed in (1, 2)}) == 2


def test_background_sends_from_the_other_hosts() -> None:
    job = dfe.Job(SMALL, hosts=16, iterations=2)
    alone, _ = complete(job)
    loaded = dfe.Simulation(config(job, traffic="uniform", load=0.5, packet_log=True))
    metrics = loaded.run_to_completion()
    log = loaded.packet_log()
    by_job = log["src"] < 16
    assert by_job.any()
    assert (~by_job).any()
    assert set(log["src"][~by_job]) == set(range(16, 72))
    assert (log["dst"][by_job] < 16).all()
    assert metrics.jobs[0].run_time_ns > alone.jobs[0].run_time_ns


def test_policies_of_jobs() -> None:
    same = [dfe.Job(SMALL, hosts=16, placement="random"), dfe.Job("all-to-all", hosts=30)]
    _, alone = complete(*same, policy="par")
    _, given = complete(*(job.replace(policy="par") for job in same), policy="min")
    _, mixed = complete(same[0].replace(policy="par"), same[1], policy="min")
    _, plain = complete(*same, policy="min")
    assert alone == given
    assert len({alone, mixed, plain}) == 3


def test_jobs_go_to_toml_and_json_and_back() -> None:
    every = config(
        dfe.Job("milc:scale=0.5", hosts=8, placement="groups=2", policy="par", iterations=4, start_ns=1.5),
        dfe.Job(jobs.Hacc(short=True, gap_ns=10), hosts=4, placement="random", seed=3, name="mine"),
        dfe.Job(lambda rank, ranks: jobs.barrier(rank, range(ranks)), hosts=3, placement=[70, 71, 60]),
        dfe.Job("all-to-all:message_bytes=99", hosts=4, policy=dfe.make_policy("ugal-n", bias_packets=2)),
        dfe.Job(lambda rank, ranks: [jobs.compute(5)], hosts=2, iterations="endless"),
        policy="ugal-n",
    )
    for again in (
        dfe.SimulationConfig.from_toml(every.to_toml()),
        dfe.SimulationConfig.from_json(every.to_json()),
        every.replace(seed=1),
    ):
        assert again == every
    assert every.traffic == "none"
    plain = dfe.SimulationConfig(topology=TOPOLOGY, load=0.3)
    assert plain.replace(jobs=["milc:hosts=4"], traffic=None).traffic == "none"
    assert plain.replace(jobs=["milc:hosts=4"]).traffic == "uniform"
    assert every.ends
    assert config(dfe.Job(SMALL, 4), traffic="uniform").replace(jobs=[]).traffic == "uniform"
    assert dfe.SimulationConfig(topology=TOPOLOGY).traffic == "uniform"


def test_jobs_as_strings() -> None:
    given = config(
        "milc:hosts=8,placement=random-routers,scale=0.25,policy=par,iterations=4,start_ns=2.5",
        "qbox:placement=70;60",
        "all-to-all:message_bytes=99,hosts=4,iterations=1",
        "nek5000:hosts=3,iterations=endless,name=beside",
    )
    assert given.jobs == (
        dfe.Job("milc:scale=0.25", 8, "random-routers", policy="par", iterations=4, start_ns=2.5),
        dfe.Job("qbox", placement=[70, 60]),
        dfe.Job("all-to-all:message_bytes=99", 4),
        dfe.Job("nek5000", 3, iterations="endless", name="beside"),
    )


@pytest.mark.parametrize("placement", [*PLACEMENTS, "groups=3"])
def test_placements_give_each_job_hosts_of_its_own(placement: str) -> None:
    placed = config(*(dfe.Job(SMALL, hosts=9, placement=placement) for _ in range(5))).placed_jobs()
    taken = [host for job in placed for host in job.hosts]
    assert len(set(taken)) == 45
    assert set(taken) <= set(range(72))


def test_what_placements_say() -> None:
    def hosts(placement: Any, count: int = 8) -> tuple[int, ...]:
        return config(dfe.Job("nek5000", hosts=count, placement=placement)).placed_jobs()[0].hosts

    assert hosts("consecutive") == tuple(range(8))
    routers = [host // 2 for host in hosts("random-routers")]
    assert routers[::2] == routers[1::2]
    assert len(set(routers)) == 4
    assert sorted(routers) != routers
    groups = [host // 8 for host in hosts("groups=3")]
    assert sorted(map(groups.count, set(groups))) == [2, 3, 3]
    assert hosts([5, 3, 9], 3) == (5, 3, 9)
    # Jobs with lists come first, the others take what is left.
    first, second = config(dfe.Job("nek5000", 4), dfe.Job("nek5000", placement=[0, 2])).placed_jobs()
    assert (first.hosts, second.hosts) == ((1, 3, 4, 5), (0, 2))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([dfe.Job(SMALL, 70), dfe.Job(SMALL, 3)], r"jobs\[1\].hosts = 3: must be at most 2"),
        (
            [dfe.Job(SMALL, placement=[1, 2]), dfe.Job(SMALL, placement=[2, 3])],
            r"jobs\[1\].placement = 2: must not be a host of jobs\[0\]",
        ),
        ([dfe.Job(SMALL, placement=[1, 72])], r"jobs\[0\].placement = 72: must be a host, 0 to 71"),
        ([dfe.Job(SMALL, 30, placement="groups=2")], r"jobs\[0\].placement = 'groups=2': must find 15"),
        (
            [dfe.Job(SMALL, 30, placement="groups=10")],
            r"jobs\[0\].placement = 'groups=10': must be at most 9",
        ),
        ([{"program": "milk", "hosts": 4}], r"jobs\[0\].program = 'milk': .*did you mean 'milc'"),
        ([{"hosts": 4}], r"jobs\[0\].program = None: must be given"),
        ([{"program": "milc"}], r"jobs\[0\].hosts = None: must be given"),
        ([{"program": "milc", "hosts": 1}], r"jobs\[0\].hosts = 1: must be at least 2"),
        ([{"program": "milc:size=2", "hosts": 4}], r"jobs\[0\].size = 2: program 'milc' has no such setting"),
        (
            [{"program": "uniform", "hosts": 4}],
            r"jobs\[0\].program = 'uniform': is unknown; 'dragonfly-env info'",
        ),
        ([{"program": "milc", "hosts": 4, "policy": "mim"}], r"jobs\[0\].policy = 'mim'"),
        ([{"program": "milc", "hosts": 4, "iterations": 0}], r"jobs\[0\].iterations = 0"),
        ([{"program": "milc", "hosts": 4, "iterations": "ever"}], r"jobs\[0\].iterations = 'ever'"),
        ([{"program": "milc", "hosts": 4, "start_ns": -1}], r"jobs\[0\].start_ns = -1"),
        ([{"program": "milc", "hosts": 4, "placement": "near"}], r"jobs\[0\].placement = 'near'"),
        ([{"program": "milc", "hosts": 4, "placement": [1, 1]}], r"jobs\[0\].placement = 1: must list each"),
        ([{"program": "milc", "hosts": 4, "nodes": 3}], r"jobs\[0\].nodes = 3: a job has no such setting"),
        ([{"program": "all-to-all", "hosts": 4, "iterations": 2}], r"jobs\[0\].iterations = 2: must be 1"),
        ([{"program": "all-to-all:placement=random", "hosts": 4}], r"must leave the placement to the job"),
        ([{"program": "halo3d:grid=2;2;2", "hosts": 4}], r"jobs\[0\]\..*x \* y \* z = 4"),
        ([5], r"jobs\[0\] = 5: must be a Job"),
        (["milc"], r"jobs\[0\].hosts = None: must be given"),
        (["milc:hosts"], r"jobs\[0\].job = 'hosts': must have the form name=value"),
        (["milc:hosts=4,hostz=3"], r"jobs\[0\].hostz = 3: program 'milc' has no such setting"),
        (["milc:hosts=4,placement=1;x"], r"jobs\[0\].placement = '1;x': must be one of"),
        ("milc", r"jobs = 'milc': must be a list of jobs"),
        (
            [dfe.Job("qbox", 36, iterations=2**31 - 1)],
            r"jobs\[0\].iterations = 2147483647: must be at most 7602",
        ),
    ],
)
def test_impossible_jobs_name_their_field(given: Any, says: str) -> None:
    with pytest.raises(dfe.ConfigError, match=says):
        dfe.Simulation(dfe.SimulationConfig(topology=TOPOLOGY, jobs=given))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"traffic": "all-to-all"}, "traffic = 'all-to-all': must be open loop, or none, next to jobs"),
        ({"source_queue_full": "lose"}, "source_queue_full = 'lose': must be 'stall' next to jobs"),
    ],
)
def test_what_jobs_rule_out(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(dfe.ConfigError, match=says):
        config(dfe.Job(SMALL, hosts=4), **settings)
    with pytest.raises(dfe.ConfigError, match="traffic = 'none': must be some traffic"):
        dfe.SimulationConfig(topology=TOPOLOGY, traffic="none")


def test_an_environment_runs_jobs_too() -> None:
    given = config(dfe.Job(SMALL, hosts=16), dfe.Job("all-to-all", hosts=8, policy="par"), policy="ugal-n")
    env = dfe.BatchedRoutingEnv(given, scope="source", action="path", duration_ns=100_000)
    reference = dfe.make_policy("min").reference(env)
    batch = env.reset(seed=1)
    while not env.done:
        batch = env.step(reference.act(batch))
    metrics = env.metrics()
    assert metrics.jobs[0].name == given.jobs[0].name
    assert metrics.jobs[1].complete
    assert metrics.minimal_fraction == 1.0  # the environment decides, not the policies of jobs


def test_an_operation_inside_another_one_counts_once_in_the_mpi_share() -> None:
    def exchange(rank: int, ranks: int) -> Iterator[jobs.Operation]:
        yield jobs.begin("all")
        yield from jobs.barrier(rank, range(ranks))
        yield jobs.end("all")
        yield jobs.compute(1000.0)
        yield jobs.begin("last")
        yield jobs.compute(500.0)
        yield jobs.end("last")

    job = complete(dfe.Job(exchange, hosts=4, iterations=3))[0].jobs[0]
    assert set(job.operations) == {"all", "barrier", "last"}
    assert 0 < job.operations["barrier"].total_ps == job.operations["all"].total_ps
    assert job.operations_total_ps == job.operations["all"].total_ps + job.operations["last"].total_ps
    assert job.mpi_share == job.operations_total_ps / job.iterations.total_ps < 1
