"""Short simulations of every policy, pattern, preset and thread count: something for the sanitizers to watch.

With the argument ``threads`` only those of several threads, which are what ThreadSanitizer looks at.

Exit code 1 with a message if a run loses a packet or a credit, or depends on the number of threads.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from pathlib import Path

import dragonfly_env as dfe
from dragonfly_env.policy import needs_weights

FOLDER = tempfile.TemporaryDirectory()
KINDS = (
    "min",
    "ugal-n",
    "par",
    "pb",
    "ugal-ideal",
    "pb-acor",
    "lia",
    "ad3",
    "mlp",
    "q-routing",
    "q-adaptive-queue",
)
"""Policies that differ in what they keep, hear and tell: the others run on one network, with one thread."""


def ready(name: str) -> dfe.Policy:
    """A policy of the registry; what needs weights gets some."""
    if not needs_weights(name):
        return dfe.make_policy(name)
    network = dfe.baselines.MlpNetwork.random(seed=3, scope="every", activation="tanh", output="softmax")
    return dfe.make_policy(name, weights=network.save(Path(FOLDER.name) / name))


def simulate(hosts: str, *, preset: str, policy: str, traffic: str, threads: int, duration_ns: float) -> int:
    """One run that is drained and checked; its trace hash."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(hosts),
        network=dfe.NetworkConfig.preset(preset),
        policy=ready(policy),
        traffic=traffic,
        load=0.9,
        seed=1,
        threads=threads,
    )
    simulation = dfe.Simulation(config)
    simulation.run(duration_ns / 2)
    simulation.check_invariants()
    simulation.reset_statistics()
    if not ready(policy).learns:
        simulation.set_policy(ready(policy))
    simulation.run(duration_ns / 2)
    delivered = simulation.metrics().packets_delivered
    if not simulation.drain():
        raise SystemExit(f"{policy} under {traffic} on {preset}: does not drain")
    simulation.check_invariants()
    if not delivered:
        raise SystemExit(f"{policy} under {traffic} on {preset}: nothing was delivered")
    return simulation.trace_hash()


def exchange(hosts: str, *, policy: str, threads: int) -> int:
    """An all-to-all exchange to its end; its trace hash."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(hosts),
        policy=policy,
        traffic="all-to-all:message_bytes=300,in_flight=2,placement=random",
        threads=threads,
    )
    simulation = dfe.Simulation(config)
    simulation.run(1_000)
    simulation.check_invariants()
    limit_ns = None if hosts == "72" else 3_000
    simulation.run_to_completion(limit_ns)
    if limit_ns is None and simulation.progress() < 1.0:
        raise SystemExit(f"{policy}: an exchange that does not end")
    simulation.drain()
    simulation.check_invariants()
    return simulation.trace_hash()


def route_from_outside(hosts: str, *, action: str, threads: int) -> None:
    """An episode of the batched environment with random answers, drained."""
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(hosts), traffic="adv+1", load=0.9, threads=threads
    )
    env = dfe.BatchedRoutingEnv(config, action=action, scope="all", reward="delivery", duration_ns=800)
    batch = env.reset()
    views = []
    while not env.done:
        legal = batch.mask.cumsum(axis=1)
        views.append(batch.obs)
        batch = env.step((batch.draws[:, :1] * legal[:, -1:] >= legal).sum(axis=1))
        if len(views) % 3 == 0:
            env.transitions()
    env.drain()
    if env.metrics().packets_in_flight or not len(env.transitions()):
        raise SystemExit(f"environment with {action} actions: packets or transitions are missing")
    env.reset()
    sum(float(view.sum()) for view in views)  # of an episode that is gone


def learn_outside(hosts: str, *, learner: str, preset: str, threads: int) -> None:
    """An episode in which the reference implementation of a learner decides, with feedback; then one without
    listeners.
    """
    config = dfe.SimulationConfig(
        topology=dfe.Dragonfly.preset(hosts), network=preset, traffic="adv+1", load=0.9, threads=threads
    )
    policy = dfe.make_policy(learner, epsilon=0.1)
    env = dfe.BatchedRoutingEnv.for_policy(
        config, policy, duration_ns=800, transitions=False, max_uncollected_bytes=200_000
    )
    reference = policy.reference(env)
    batch = env.reset()
    while not env.done:
        batch = env.step(reference.act(batch))
    inside = dfe.Simulation(config.replace(policy=policy))
    inside.run(800)
    if inside.trace_hash() != env.trace_hash() or (inside.q_table() != reference.table).any():
        raise SystemExit(f"{learner} on {preset}: the reference implementation decided otherwise")
    env.drain(reference)
    batch = env.reset()
    while not env.done:
        batch = env.step(batch.minimal_actions())


def go_on_after_a_fork(hosts: str) -> None:
    """A run with several threads goes on in a child, and in its parent."""
    simulation = dfe.Simulation(
        dfe.SimulationConfig(topology=dfe.Dragonfly.preset(hosts), policy="ugal-n", load=0.5, threads=3)
    )
    simulation.run(600)
    child = os.fork()
    if child == 0:
        simulation.run(600)
        simulation.check_invariants()
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit("a forked process cannot go on with several threads")
    simulation.run(600)
    simulation.check_invariants()


def with_one_thread() -> None:
    """Everything once on 72 hosts."""
    for policy in dfe.policies():
        simulate("72", preset="default", policy=policy, traffic="uniform", threads=1, duration_ns=3_000)
    for preset in ("q-adaptive", "lia", "aries"):
        for policy in KINDS:
            simulate("72", preset=preset, policy=policy, traffic="uniform", threads=1, duration_ns=3_000)
    for traffic in dfe.traffic_patterns():
        simulate("72", preset="q-adaptive", policy="min", traffic=traffic, threads=1, duration_ns=3_000)
    for policy in ("min", "ugal-n", "q-adaptive"):
        exchange("72", policy=policy, threads=1)
    answer_from_outside("72", threads=1)


def answer_from_outside(hosts: str, *, threads: int) -> None:
    """Episodes with every kind of action, and with reference implementations of learners."""
    for action in ("port", "path"):
        route_from_outside(hosts, action=action, threads=threads)
    for learner, preset in (("q-adaptive", "q-adaptive"), ("q-routing", "default")):
        learn_outside(hosts, learner=learner, preset=preset, threads=threads)


def with_several_threads() -> None:
    """Systems of several partitions, with one thread and with several."""
    for policy in KINDS:
        runs = [
            simulate(
                "1056", preset="q-adaptive", policy=policy, traffic="adv+1", threads=n, duration_ns=1_200
            )
            for n in (1, 3)
        ]
        if len(set(runs)) != 1:
            raise SystemExit(f"{policy}: trace hashes with 1 and 3 threads differ: {runs}")
    for policy in ("min", "ugal-n", "q-adaptive"):
        if len({exchange("1056", policy=policy, threads=n) for n in (1, 3)}) != 1:
            raise SystemExit(f"{policy}: an exchange depends on the number of threads")
    answer_from_outside("1056", threads=2)
    warnings.simplefilter("ignore", DeprecationWarning)  # of Python, about forks beside threads
    go_on_after_a_fork("1056")


if __name__ == "__main__":
    if sys.argv[1:] != ["threads"]:
        with_one_thread()
    with_several_threads()
    print("smoke: passed")
