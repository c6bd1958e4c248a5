"""Simulation in a process of its own, as JSON: for memory, for start-up times, and to be profiled."""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from benchmarks.process import peak_memory_bytes
from benchmarks.workload import Workload, configuration


def _since_start_s() -> float:
    """Seconds since the kernel started this process (its account is in clock ticks of 10 ms)."""
    fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ticks = int(fields[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Build, warm up, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_run", description=__doc__)
    parser.add_argument("--topology", default="1056", help="preset, by host count")
    parser.add_argument("--policy", default="min")
    parser.add_argument("--traffic", default="uniform")
    parser.add_argument("--load", type=float, default=0.8)
    parser.add_argument("--network", default="q-adaptive")
    parser.add_argument("--warmup-ns", type=float, default=20_000)
    parser.add_argument("--measure-ns", type=float, default=100_000)
    parser.add_argument("--threads", type=int, default=1)
    settings = vars(parser.parse_args())
    warmup_ns, measure_ns = settings.pop("warmup_ns"), settings.pop("measure_ns")
    workload = Workload(configuration(**settings), warmup_ns=0, sample_ns=measure_ns)
    ready_s, ready_bytes = _since_start_s(), peak_memory_bytes()
    workload.simulation.run(warmup_ns)
    measured = workload.slice()
    content = {
        "parameters": {**workload.parameters(), "warmup_ns": warmup_ns},
        "ready_s": ready_s,
        "ready_bytes": ready_bytes,
        "end_bytes": peak_memory_bytes(),
        "packet_hops": measured.packet_hops,
        "cpu_s": measured.cpu_s,
        "wall_s": measured.wall_s,
        "trace_hash": f"{workload.simulation.trace_hash():016x}",
    }
    print(json.dumps(content))


if __name__ == "__main__":
    main()
