"""Strategies: small networks of every kind, with any policy, traffic and load. Not everything drawn goes together."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.traffic import (
    DemandMatrix,
    HostMixture,
    Hotspot,
    Schedule,
    Trace,
    WeightedMixture,
    parse_traffic,
)
from tests.ready import ready

MOST_HOSTS = 100
SEEDS = st.integers(0, 2**64 - 1)
_CLOSED_LOOPS = [name for name in dfe.traffic_patterns() if parse_traffic(name).is_closed_loop]
_PATTERNS = [
    "uniform",
    "adv+1",
    "adv-2",
    *(name for name in dfe.traffic_patterns() if name not in _CLOSED_LOOPS),
]
_LATENCIES = (0.0, 1.0, 7.0, 30.0, 150.0)
_BANDWIDTHS = (1.0, 4.0, 10.0, 25.0)
_BUFFERS = (1, 2, 3, 10, 60)
_ARBITRATIONS = ("round-robin", "age", "least-recently-served")
_CHANGES: dict[str, tuple[Any, ...]] = {
    "host_bandwidth_gbytes_per_s": _BANDWIDTHS,
    "local_bandwidth_gbytes_per_s": _BANDWIDTHS,
    "global_bandwidth_gbytes_per_s": _BANDWIDTHS,
    "injection_bandwidth_gbytes_per_s": (None, float("inf"), *_BANDWIDTHS),
    "crossbar_bandwidth_gbytes_per_s": (100.0, 250.0),
    "injection_latency_ns": _LATENCIES,
    "ejection_latency_ns": _LATENCIES,
    "local_latency_ns": (0.001, 1.0, 30.0, 151.5),
    "global_latency_ns": (1.0, 50.0, 300.0, 1_234.567),
    "input_latency_ns": _LATENCIES,
    "output_latency_ns": _LATENCIES,
    "crossbar_latency_ns": _LATENCIES,
    "router_clock_ns": (0.5, 1.0, 3.2, 20.0),
    "host_buffer_packets": _BUFFERS,
    "local_buffer_packets": _BUFFERS,
    "global_buffer_packets": _BUFFERS,
    "output_buffer_packets": _BUFFERS,
    "output_queue": ("per-vc", "shared"),
    "link_start": ("immediate", "timer"),
    "switching": ("store-and-forward", "cut-through"),
    "arbitration": (*_ARBITRATIONS, *(f"transit-first-{name}" for name in _ARBITRATIONS)),
    "vc_scheme": ("stage", "ladder", "hop"),
    "local_vcs": (0, 3, 8, 15),
    "global_vcs": (0, 2, 8, 15),
    "decide_at": ("arrival", "head", "attempt", "retry-same-paths"),
    "routing_delay_ns": (0.0, 10.0, 100.0),
    "congestion_metric": ("port", "vc"),
    "nonminimal_avoid_destination_group": (True, False),
    "uniform_excludes_sender": (True, False),
}


@st.composite
def topologies(draw: st.DrawFn) -> dfe.Dragonfly:
    """Any Dragonfly of 2 to ``MOST_HOSTS`` hosts."""
    a = draw(st.integers(1, 6), label="a")
    h = draw(st.integers(1 if a == 1 else 0, 3), label="h")
    trunking = draw(st.sampled_from([t for t in range(1, a * h + 1) if a * h % t == 0] or [1]))
    groups = min(a * h // trunking + 1, MOST_HOSTS // a)
    g = draw(st.integers(min(2, groups), groups), label="g")
    p = draw(st.integers(1, max(1, min(3, MOST_HOSTS // (a * g)))), label="p")
    arrangement = draw(
        st.sampled_from(["palmtree", "palmtree-plus", "absolute", "relative", "circulant", "spread"])
    )
    if draw(st.booleans()) and a > 1:
        rows = draw(st.sampled_from([n for n in range(1, a + 1) if a % n == 0]))
        grid = f"grid:rows={rows},columns={a // rows},column_links={draw(st.integers(1, 3))}"
        return dfe.Dragonfly(p=p, a=a, h=h, g=g, trunking=trunking, arrangement=arrangement, group=grid)
    return dfe.Dragonfly(p=p, a=a, h=h, g=g, trunking=trunking, arrangement=arrangement)


@st.composite
def networks(draw: st.DrawFn) -> dfe.NetworkConfig:
    """A preset with a few fields changed."""
    names = draw(st.lists(st.sampled_from(list(_CHANGES)), max_size=5, unique=True))
    changes = {name: draw(st.sampled_from(_CHANGES[name]), label=name) for name in names}
    if any(name.endswith("bandwidth_gbytes_per_s") for name in names):
        changes.setdefault("crossbar_bandwidth_gbytes_per_s", 100.0)  # no slower than any link
    if draw(st.booleans()):
        flit_bytes = draw(st.sampled_from([10, 32, 100, 128]))
        packet_bytes = flit_bytes * draw(st.sampled_from([1, 2, 7, 10]))
        changes.update(flit_bytes=flit_bytes, packet_bytes=packet_bytes, payload_bytes=None)
    preset = draw(st.sampled_from(dfe.networks()))
    try:
        return dfe.NetworkConfig.preset(preset, **changes)
    except dfe.ConfigError:
        reject()  # the changes contradict each other


def _patterns(hosts: int) -> st.SearchStrategy[Any]:
    host = st.integers(0, hosts - 1)
    names = st.sampled_from(_PATTERNS)
    hotspot = st.builds(
        Hotspot, st.lists(host, min_size=1, max_size=4, unique=True), st.sampled_from([0.0, 0.2, 1.0])
    )
    single = names | hotspot
    weighted = st.lists(st.tuples(st.floats(0.1, 3.0), single), min_size=1, max_size=3).map(
        lambda parts: WeightedMixture(tuple(parts))
    )
    halves = st.tuples(st.permutations(range(hosts)), st.integers(1, hosts - 1), single, single).map(
        lambda drawn: HostMixture(((drawn[0][: drawn[1]], drawn[2]), (drawn[0][drawn[1] :], drawn[3])))
    )
    return single | weighted | halves


def _demand(hosts: int, seed: int) -> DemandMatrix:
    generator = np.random.default_rng(seed)
    matrix = generator.random((hosts, hosts)) * (generator.random((hosts, hosts)) < 0.3)
    matrix[0, hosts - 1] = 1.0
    return DemandMatrix(matrix)


def _trace(hosts: int, seed: int) -> Trace:
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(0, 60))
    return Trace.from_columns(
        time_ns=np.sort(generator.random(rows).round(3) * 1_000),
        src=generator.integers(0, hosts, rows),
        dst=generator.integers(0, hosts, rows),
        bytes=generator.choice([1, 127, 128, 129, 1_000], rows),
    )


@st.composite
def traffics(draw: st.DrawFn, hosts: int) -> Any:
    """Traffic in any form; it need not suit the topology."""
    kind = draw(st.sampled_from(["pattern", "pattern", "closed loop", "demand", "trace", "schedule"]))
    if kind == "closed loop":
        return draw(st.sampled_from(_CLOSED_LOOPS))
    if kind == "pattern":
        return draw(_patterns(hosts))
    if kind == "schedule":
        times = sorted(
            draw(st.sets(st.sampled_from([0.0, 0.1, 100.5, 300.0, 700.0]), min_size=1, max_size=3))
        )
        return Schedule(
            tuple((time, draw(_patterns(hosts)), draw(st.sampled_from([0.02, 0.5, 1.0]))) for time in times)
        )
    return (_demand if kind == "demand" else _trace)(hosts, draw(st.integers(0, 2**32)))


@st.composite
def settings_of_runs(draw: st.DrawFn) -> dict[str, Any]:
    """Keyword arguments of ``SimulationConfig``, each of which is legal alone."""
    topology = draw(topologies())
    fields: dict[str, Any] = {
        "topology": topology,
        "network": draw(networks()),
        "traffic": draw(traffics(topology.num_hosts)),
        "policy": ready(draw(st.sampled_from(dfe.policies()))),
        "load": draw(st.sampled_from([0.01, 0.3, 0.5, 0.9, 1.0])),
        "seed": draw(SEEDS),
    }
    optional: dict[str, st.SearchStrategy[Any]] = {
        "injection": st.sampled_from(["periodic", "bernoulli", "poisson"]),
        "message_packets": st.sampled_from([1, 2, 5]),
        "source_queue_packets": st.sampled_from([5, 20]),
        "source_queue_full": st.sampled_from(["stall", "lose"]),
        "group_latency": st.booleans(),
        "host_latency": st.booleans(),
        "series_bin_ns": st.sampled_from([100.0, 33.3]),
    }
    for name in draw(st.lists(st.sampled_from(list(optional)), max_size=3, unique=True)):
        fields[name] = draw(optional[name], label=name)
    return fields
