"""Programs that somebody changed, and jobs as strings: refused, or the simulation runs with them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from dragonfly_env import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs import Motif
from dragonfly_env.simulation import Simulation
from tests.fuzz.outcome import Outcome
from tests.fuzz.tampering import in_bytes, in_text, refused_or_run

_TOPOLOGY = Dragonfly(2, 4, 2)
_TEXT = """# A ring, a result, and collectives.
ranks 6
*   compute ns=100
*   receive from=-1
*   send to=+1 bytes=1000
*   wait
0   send to=3 bytes=100 label=result
3   receive from=0 label=result bytes=100
3   wait label=result
0-5 allreduce bytes=8
*   begin name=all
*   alltoallv bytes=300
*   broadcast bytes=200 root=2
*   reduce bytes=200
*   barrier
*   end name=all
"""
_JOB = "placement=random-routers,iterations=2,start_ns=5,policy=par,all_to_all_policy=min,seed=3,name=x"


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A file of operations with lines, words or bytes changed; a job's string with the same."""
    file = folder / "fuzz.ops"
    lines = _TEXT.splitlines()
    while True:
        job = f"file:{file}"
        match random.randrange(4):
            case 0:
                file.write_bytes(in_bytes(random, _TEXT.encode(), [_TEXT.encode()]))
            case 1:
                file.write_bytes(in_text(random, _TEXT).encode("utf-8", "surrogatepass"))
            case 2:
                changed = [line for line in lines[2:] if random.random() < 0.9]
                if random.random() < 0.3:
                    random.shuffle(changed)
                file.write_text("\n".join(["ranks 6", *changed]), encoding="utf-8")
            case 3:
                program = random.choice([*Motif.classes, "all-to-all", "background-mix"])
                job = in_text(random, f"{program}:hosts=8,scale=0.0001,gap_ns=10,{_JOB}")
        yield functools.partial(refused_or_run, functools.partial(_run, job))


def _run(job: str) -> None:
    simulation = Simulation(SimulationConfig(topology=_TOPOLOGY, jobs=[job]))
    simulation.run(2_000)
    simulation.check_invariants()
