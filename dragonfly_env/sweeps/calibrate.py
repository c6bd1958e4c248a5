"""Finding the computing time of a program that gives it a wanted MPI share, in an isolated run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dragonfly_env.checks.files import read_json, write_text
from dragonfly_env.checks.values import check_real, config_error
from dragonfly_env.config.network import NetworkConfig, networks
from dragonfly_env.jobs import Job, Motif
from dragonfly_env.jobs.program import PAPER_SHARES
from dragonfly_env.simulation import Simulation
from dragonfly_env.simulation.config import SimulationConfig

KEYS = ("program", "hosts", "scale", "stands_for", "topology", "network", "policy")
"""The run for which a row has the calibrated gap."""

_MOST_ROUNDS = 16
_QUICK_ROUNDS = 3
_CLOSE = 0.005


def mpi_share(
    config: SimulationConfig, program: Motif, hosts: int, gap_ns: float, iterations: int
) -> tuple[float, float]:
    """Result of a job that is alone on the machine, its hosts by number.

    Returns:
        The share of its iterations' time that ranks spend in operations, and the mean of the rest of an iteration's
        time: what they spend in operations, in ns.
    """
    job = Job(dataclasses.replace(program, gap_ns=gap_ns), hosts, iterations=iterations)
    metrics = Simulation(config.replace(traffic=None, jobs=[job])).run_to_completion()
    (measured,) = metrics.jobs
    return measured.mpi_share, measured.mpi_share * measured.iterations.mean_ns


def calibrate_gap(
    config: SimulationConfig,
    program: str,
    hosts: int,
    *,
    scale: float = 1.0,
    share: float | None = None,
    iterations: int = 3,
    stands_for: int = 1,
) -> dict[str, Any]:
    """The gap with which a program has a wanted MPI share.

    The time in operations hardly depends on the gap, so that the gap follows from it in a few rounds. ``share`` is the
    wanted share; None: the paper's (``PAPER_SHARES``).

    Returns:
        A row of ``data/gaps.json``.
    """
    if program not in Motif.classes:
        raise config_error("program", program, f"must be one of {', '.join(Motif.classes)}")
    if share is None and program not in PAPER_SHARES:
        raise config_error("share", None, f"must be given for {program}: no paper states its share")
    wanted = check_real("share", PAPER_SHARES[program] if share is None else share, 0.01, 0.99)
    settings = {} if stands_for == 1 else {"stands_for": stands_for}
    motif = Motif.classes[program].from_dict({"scale": scale, **settings})
    gap_ns, found = 0.0, 1.0
    for attempt in range(_MOST_ROUNDS):
        found, in_operations_ns = mpi_share(config, motif, hosts, gap_ns, iterations)
        if gap_ns and abs(found - wanted) < _CLOSE:
            break
        estimate_ns = in_operations_ns * (1.0 - wanted) / wanted
        # If ranks that fall out of step wait longer after a longer gap, estimates swing about the solution.
        gap_ns = float(round(estimate_ns if attempt < _QUICK_ROUNDS else (gap_ns + estimate_ns) / 2))
    else:
        raise config_error(
            "share", wanted, f"cannot be had; {program} came to {found:.3f} with {gap_ns:g} ns"
        )
    return {
        "program": program,
        "hosts": hosts,
        "scale": scale,
        "stands_for": stands_for,
        "topology": config.topology.to_dict(),
        "network": _named(config.network),
        "policy": config.policy_object.to_dict(),
        "seed": config.seed,
        "iterations": iterations,
        "bytes_per_host": round(motif.bytes_per_host(hosts)),
        "gap_ns": gap_ns,
        "mpi_share": round(found, 4),
    }


def _named(network: NetworkConfig) -> dict[str, Any]:
    """A preset, and what differs from it as little as can be."""
    values = network.to_dict()

    def changes(preset: str) -> dict[str, Any]:
        usual = NetworkConfig.preset(preset).to_dict()
        return {name: value for name, value in values.items() if usual.get(name) != value}

    # A field that a preset sets and the network leaves out cannot be written as a change of the preset.
    fitting = [name for name in networks() if NetworkConfig.preset(name).to_dict().keys() <= values.keys()]
    preset = min(fitting, key=lambda name: len(changes(name)))
    return {"preset": preset, **changes(preset)}


def read_gaps(path: Path) -> list[dict[str, Any]]:
    """The rows of a file like ``data/gaps.json``; none if there is no file."""
    if not path.is_file():
        return []
    allowed = "must be a file of gaps"
    document = read_json(path, "gaps", allowed=allowed)
    rows = document.get("gaps") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise config_error("gaps", str(path), allowed)
    return rows


def merge_gaps(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows into a file like ``data/gaps.json``, in the place of those for the same run."""
    known: dict[str, dict[str, Any]] = {}
    for row in [*read_gaps(path), *rows]:
        known[json.dumps([row.get(key) for key in KEYS], sort_keys=True)] = row
    ordered = sorted(
        known.values(), key=lambda row: (row["program"], row["hosts"], row["scale"], row.get("stands_for", 1))
    )
    lines = ",\n".join("  " + json.dumps(row, sort_keys=True) for row in ordered)
    write_text(f'{{"gaps": [\n{lines}\n]}}\n', path)
