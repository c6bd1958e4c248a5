"""Ctrl-C stops a simulation within a second of any work, and the books are in order afterwards."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# A thread of the process sends the signal. What follows it is measured as processor time: how much work was still
# done does not depend on what else the machine does.
SCRIPT = """
import json, os, signal, sys, threading, time
import dragonfly_env as dfe

settings = json.loads(sys.argv[1])
topology = dfe.Dragonfly.preset(settings.pop("preset"))
network = dfe.NetworkConfig(**settings.pop("network", {}))
warmup_ns = settings.pop("warmup_ns", 0)
action = settings.pop("action")
config = dfe.SimulationConfig(topology=topology, network=network, **settings)
simulation = dfe.Simulation(config)
simulation.run(warmup_ns)

def interrupt():
    global sent
    time.sleep(0.5)
    sent = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
before = simulation.time_ns
try:
    if action == "run":
        simulation.run(1e12)
    elif action == "drain":
        simulation.drain()
    else:
        simulation.run_to_completion()
except KeyboardInterrupt:
    work = time.process_time() - sent
else:
    sys.exit("was not interrupted")
simulation.check_invariants()
stopped = simulation.time_ns
simulation.run(100)
simulation.check_invariants()
m = simulation.metrics()
assert m.packets_generated == m.packets_delivered + m.packets_in_flight
assert simulation.time_ns == stopped + 100
print(json.dumps({"work": work, "advanced": stopped > before}))
"""

FULL = {"load": 1.0, "traffic": "adv+1"}
LONG = {"global_latency_ns": 100_000, "router_clock_ns": 4, "crossbar_bandwidth_gbytes_per_s": 32}
CASES: dict[str, dict[str, object]] = {
    "a run": {"action": "run", "preset": "1056", "load": 0.8, "policy": "par"},
    "two threads": {"action": "run", "preset": "2550", "load": 0.8, "policy": "ugal-n", "threads": 2},
    "a workload": {"action": "complete", "preset": "1056", "traffic": "all-to-all:message_bytes=100000"},
}
SLOW_CASES: dict[str, dict[str, object]] = {
    "a drain": {"action": "drain", "preset": "1056", **FULL, "warmup_ns": 150_000},
    "a drain, two threads": {"action": "drain", "preset": "2550", **FULL, "warmup_ns": 100_000, "threads": 2},
    "a workload with two threads": {
        "action": "complete",
        "preset": "2550",
        "threads": 2,
        "traffic": "all-to-all:message_bytes=100000,in_flight=4",
    },
    "very many hosts": {"action": "run", "preset": "83232", "load": 0.8},
    "very long links": {"action": "run", "preset": "2550", "load": 0.9, "network": LONG},
}


@pytest.mark.parametrize(
    "case", [*CASES, *(pytest.param(case, marks=pytest.mark.slow) for case in SLOW_CASES)]
)
def test_ctrl_c_stops_within_a_second_of_work_and_the_run_may_go_on(case: str) -> None:
    settings = {**CASES, **SLOW_CASES}[case]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(settings)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["advanced"]
    assert seen["work"] < 1.0 * int(str(settings.get("threads", 1)))
