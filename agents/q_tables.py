"""Q-tables in files: what one run has learnt, for another to start from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragonfly_env.checks.files import parse_json, read_arrays, write_arrays
from dragonfly_env.checks.values import config_error

if TYPE_CHECKING:
    from dragonfly_env.simulation import Simulation

_FORMAT = 1
_FILE = "must be a file of save_q_table"


def save_q_table(simulation: Simulation, path: str | Path) -> Path:
    """Save the tables of a learner with the topology and the policy that they belong to.

    Args:
        simulation: Simulation of a policy that learns.
        path: Where to; ``.npz`` is added if it is missing.

    Returns:
        The path of the file.

    Raises:
        ConfigError: If the file cannot be written.
        StateError: If the policy has no tables.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", policy="q-routing")
        >>> dfe.agents.save_q_table(dfe.Simulation(config), "tables").name
        'tables.npz'
    """
    table = simulation.q_table()
    about = {
        "format": _FORMAT,
        "topology": simulation.config.topology.to_dict(),
        "policy": simulation.config.policy_object.to_dict(),
        "time_ns": simulation.time_ns,
    }
    arrays = {"values": table, "about": json.dumps(about, sort_keys=True)}
    return write_arrays(path, arrays, compressed=True)


def load_q_table(simulation: Simulation, path: str | Path) -> dict[str, Any]:
    """Start from saved tables.

    Args:
        simulation: Simulation of the same policy on the same topology; learning rates, thresholds and seeds may differ.
        path: Path of a file that ``save_q_table`` wrote.

    Returns:
        What the file says about its origin: ``topology``, ``policy``, ``time_ns``.

    Raises:
        ConfigError: If the file cannot be read, belongs to another topology, policy or kind of rows, or holds values
            that ``Simulation.load_q_table`` refuses.
        StateError: If the policy has no tables.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", policy="q-routing")
        >>> file = dfe.agents.save_q_table(dfe.Simulation(config), "tables.npz")
        >>> dfe.agents.load_q_table(dfe.Simulation(config), file)["time_ns"]
        0.0
    """
    arrays = read_arrays(path, ("values", "about"), field="path", allowed=_FILE)
    about: dict[str, Any] = parse_json(str(arrays["about"]), "path", file=path, allowed=_FILE)
    if about["format"] != _FORMAT:
        raise config_error("path", str(path), f"{_FILE} of format {_FORMAT}, not {about['format']}")
    topology = simulation.config.topology.to_dict()
    if about["topology"] != topology:
        raise config_error("path", str(path), f"was learnt on {about['topology']}, this is {topology}")
    policy = simulation.config.policy_object.to_dict()
    for name in ("name", "rows"):  # meaning of rows and columns of a table; the other parameters may differ
        if about["policy"].get(name) != policy.get(name):
            known = about["policy"].get(name)
            raise config_error(
                "path", str(path), f"was learnt with {name} = {known!r}, not {policy.get(name)!r}"
            )
    simulation.load_q_table(arrays["values"])
    del about["format"]
    return about
