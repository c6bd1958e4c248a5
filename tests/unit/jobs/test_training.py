"""Training of language models as programs: parameters, bytes and times next to formulas derived by hand."""

from __future__ import annotations

import math
from collections import Counter

import pytest

import dragonfly_env as dfe
from dragonfly_env import jobs
from dragonfly_env.jobs.models import MODELS
from dragonfly_env.jobs.operations import RECEIVE, SEND, SEND_ALL_TO_ALL, Operation
from dragonfly_env.jobs.programs.moe import expert_shares

SENDS = (SEND, SEND_ALL_TO_ALL)


@pytest.mark.parametrize(
    ("model", "billions", "active"),
    [
        ("llama-7b", 6.7, 6.7),
        ("llama-65b", 65.2, 65.2),
        ("llama2-70b", 69, 69),
        ("gpt3-175b", 175, 175),
        ("mixtral-8x7b", 47, 13),
        ("deepseek-moe-16b", 16.4, 2.8),
    ],
)
def test_a_model_has_the_parameters_that_its_paper_states(model: str, billions: float, active: float) -> None:
    assert MODELS[model].parameters / 1e9 == pytest.approx(billions, rel=0.011)
    assert MODELS[model].active_parameters / 1e9 == pytest.approx(active, rel=0.011)


def sent_by(program: jobs.Program, rank: int, ranks: int) -> Counter[str]:
    """Bytes that a rank sends, by the first word of labels."""
    total: Counter[str] = Counter()
    for operation in program.operations(rank, ranks):
        if operation.kind in SENDS:
            total[operation.label.split()[0]] += operation.amount
    return total


def test_a_rank_of_a_dense_model_sends_what_megatron_says() -> None:
    llm = jobs.Llm(dp=4, tp=2, pp=2, micro_batches=5, layers=4)
    layer = 4 * 4096**2 + 3 * 4096 * 11_008
    for rank in (0, 7, 8, 15):  # both stages
        sent = sent_by(llm, rank, 16)
        assert sent["from"] == 5 * 2048 * 4096 * 2 // 2
        of_stage = 2 * layer + 32_000 * 4096 * 4 / 32
        assert sent["gradients"] == pytest.approx(2 * 3 / 4 * of_stage * 2 / 2, rel=1e-6)
    over_network = sent_by(llm.replace(tp_network=True), 0, 16)
    # Two all-reduces of a layer in each direction, each 2 (tp - 1) / tp of the activations.
    assert over_network["activations"] == 2 * 5 * 2 * 2 * (2048 * 4096 * 2)


def test_a_rank_of_a_mixture_sends_each_token_to_its_experts_and_gets_it_back() -> None:
    moe = jobs.Moe(dp=8, ep=4, layers=3, micro_batches=2)
    sent = sent_by(moe, 5, 8)
    token_bytes = 4096 * 6 * 2048 * 2
    exchanges = 3 * 2 * 2  # layers, micro-batches, directions
    assert sent["dispatch"] == sent["combine"] == exchanges * token_bytes * 3 // 4
    expert = 3 * 2048 * 1408
    assert sent["gradients"] == pytest.approx(
        2 * 7 / 8 * 2 * (3 * (4 * 2048**2 + 2 * expert) + 2 * 102_400 * 2048 * 3 / 28), rel=1e-6
    )
    assert sent["experts"] == pytest.approx(2 * 1 / 2 * 2 * 3 * 16 * expert, rel=1e-6)


def test_popular_experts_get_the_shares_of_zipf() -> None:
    shares = expert_shares(32, 32, 0.2, 7)
    harmonic = sum(k**-0.2 for k in range(1, 33))
    assert sorted(shares, reverse=True) == pytest.approx([k**-0.2 / harmonic for k in range(1, 33)])
    assert expert_shares(32, 32, 0.2, 8) != shares
    grouped = expert_shares(64, 8, 1.0, 0)
    assert math.fsum(grouped) == pytest.approx(1.0)
    moe = jobs.Moe(dp=8, ep=8, layers=1, micro_batches=1, skew=1.0)
    rows = [
        [
            operation.amount
            for operation in moe.operations(rank, 8)
            if operation.kind in SENDS and "dispatch" in operation.label
        ][:7]
        for rank in (0, 3)
    ]
    token_bytes = 4096 * 6 * 2048 * 2
    assert rows[0] == [round(grouped[to] * token_bytes) for to in range(1, 8)]
    assert rows[1] == [round(grouped[(3 + step) % 8] * token_bytes) for step in range(1, 8)]


ONE_SWITCH = dfe.Dragonfly(p=16, a=1, h=1, g=1)
AT_ONCE = dfe.NetworkConfig(link_start="immediate")


def run_time_ns(program: object, hosts: int, **changes: object) -> float:
    job = dfe.Job(program, hosts=hosts)
    config = dfe.SimulationConfig(topology=ONE_SWITCH, network=AT_ONCE, jobs=[job]).replace(**changes)
    return dfe.Simulation(config).run_to_completion().jobs[0].run_time_ns


def alone_ns(packets: int) -> float:
    """A message of so many packets through an idle switch."""
    first = dfe.bounds.zero_load_latency_ns(AT_ONCE, ONE_SWITCH, [])
    return first + (packets - 1) * 32.0


@pytest.mark.parametrize("packets", [1, 16])
def test_collectives_on_a_switch_take_the_time_of_their_laws(packets: int) -> None:
    num_bytes = 16 * packets * 128

    def of(collective: object, **settings: object) -> float:
        def program(rank: int, ranks: int) -> list[Operation]:
            return list(collective(rank, range(ranks), num_bytes, **settings))

        return run_time_ns(jobs.RecordedProgram.of(program, 16, piece_bytes=2**20), 16)

    steps = 15 * alone_ns(packets)
    assert of(jobs.reduce_scatter) == pytest.approx(steps, rel=0.005)
    assert of(jobs.allgather) == pytest.approx(steps, rel=0.005)
    assert of(jobs.ring_allreduce) == pytest.approx(2 * steps, rel=0.005)
    two_levels = 2 * 3 * alone_ns(4 * packets) + 2 * 3 * alone_ns(packets)
    assert of(jobs.hierarchical_allreduce, local=4) == pytest.approx(two_levels, rel=0.005)
    # Reduction: the root waits for its last child, whose message comes after log2(n) levels.
    assert of(jobs.tree_allreduce) == pytest.approx(8 * alone_ns(16 * packets), rel=0.01)


def test_all_collectives_reduce_every_part_to_every_member() -> None:
    """Interpret sends as sets of ranks whose part is in the message."""
    members, count = [3, 1, 4, 0, 5, 2], 6
    parts = {rank: [{rank} for _ in range(count)] for rank in members}
    for first, offset in ((0, 0), (1, 1)):
        for step in range(count - 1):
            moved = {
                (place + 1) % count: (
                    (place + offset - step) % count,
                    parts[members[place]][(place + offset - step) % count],
                )
                for place in range(count)
            }
            for place, (part, ranks) in moved.items():
                here = parts[members[place]]
                here[part] = set(ranks) if first else here[part] | ranks
    assert all(part == set(members) for row in parts.values() for part in row)
    sizes = [
        operation.amount for operation in jobs.ring_allreduce(4, members, 600 + 3) if operation.kind == SEND
    ]  # parts 0, 1 and 2 have a byte more
    places = [(2 + offset - step) % count for offset in (0, 1) for step in range(count - 1)]
    assert sizes == [100 + (place < 3) for place in places]


@pytest.mark.parametrize(("stages", "micro_batches"), [(2, 2), (4, 4), (4, 12)])
def test_a_pipeline_takes_the_time_of_1f1b(stages: int, micro_batches: int) -> None:
    llm = jobs.Llm(
        dp=1, pp=stages, layers=stages, micro_batches=micro_batches, gap_ns=4e6, scale=1e-6, jitter=0.0
    )
    law = 4e6 * (micro_batches + stages - 1) / micro_batches
    assert run_time_ns(llm, stages) == pytest.approx(law, rel=0.002)


def test_computing_takes_the_operations_over_the_rate_of_the_accelerator() -> None:
    llm = jobs.Llm(dp=2, micro_batches=4, accelerator="a100", efficiency=0.5, jitter=0.0)
    model = MODELS["llama-7b"]
    in_layers = model.parameters - 2 * model.embedding
    flops = 4 * 2048 * (6 * in_layers + 12 * 32 * 4096 * 2048)
    assert llm.gap(2) == pytest.approx(flops / (0.5 * 312e12) * 1e9)
    computed = sum(operation.amount for operation in llm.operations(0, 2) if operation.kind == 5) / 1000
    assert computed == pytest.approx(llm.gap(2), rel=1e-6)


@pytest.mark.parametrize(
    "program",
    [
        "llm:dp=1,pp=4,layers=5,micro_batches=2",
        "llm:dp=2,tp=3,pp=3,layers=3,micro_batches=7,tp_network=true,collective=tree",
        "llm:dp=3,tp=2,collective=recursive-doubling,layers=1,micro_batches=1",
        "moe:dp=4,ep=2,tp=2,pp=2,layers=2,micro_batches=3,skew=1",
        "moe:model=mixtral-8x7b,dp=8,ep=8,layers=1,micro_batches=1",
    ],
)
def test_no_program_waits_in_a_circle_and_all_that_is_sent_is_received(program: str) -> None:
    job = dfe.Job(program)
    ranks = job.num_hosts
    assert job.program.graph(ranks).num_ranks == ranks
    kinds = Counter(
        operation.kind in SENDS
        for rank in range(ranks)
        for operation in job.program.operations(rank, ranks)
        if operation.kind in (*SENDS, RECEIVE)
    )
    assert kinds[True] == kinds[False] > 0


@pytest.mark.parametrize(
    ("program", "hosts", "message"),
    [
        ("llm:model=mixtral-8x7b", 4, "model = 'mixtral-8x7b': must be one of"),
        ("moe:model=llama-7b", 4, "model = 'llama-7b': must be one of"),
        ("llm:dp=4,pp=2", 4, r"hosts = 4: must be dp \* tp \* pp = 8"),
        ("llm:pp=3", 4, r"hosts = 4: must be a multiple of tp \* pp = 3"),
        ("llm:pp=4,layers=3", 4, "pp = 4: must be at most the number of layers, 3"),
        ("moe:ep=3,dp=6", 6, "ep = 3: must divide dp = 6 and the number of experts, 64"),
    ],
)
def test_what_does_not_fit_is_refused(program: str, hosts: int, message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        dfe.Job(program, hosts=hosts)
