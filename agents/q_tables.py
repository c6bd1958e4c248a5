"""Q-tables in files: what one run has learnt, for another to start from."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from dragonfly_env.checks.archives import read_arrays, write_arrays
from dragonfly_env.checks.documents import parse_json
from dragonfly_env.checks.outside import check_mapping, check_path, parsing
from dragonfly_env.checks.values import MAX_RUN_NS, check_instance, check_real, config_error

if TYPE_CHECKING:
    from dragonfly_env.simulation import Simulation

_FORMAT = 1
# What the rows and columns of a table mean depends on these; the other parameters may differ.
_MEANING = ("rows",)
_FILE = "must be a file of save_q_table"
_MOST_VALUE_BYTES = 16  # of one value, whatever type somebody wrote it in
_MOST_ABOUT_BYTES = 2**16


def save_q_table(simulation: Simulation, path: str | Path) -> Path:
    """Save the tables of a learner with the topology and the policy that they belong to.

    Args:
        simulation: Of a policy that learns.
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
    from dragonfly_env.simulation import Simulation

    check_instance("simulation", simulation, Simulation)
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
        simulation: Of the same policy on the same topology; learning rates, thresholds and seeds may differ.
        path: Of a file that ``save_q_table`` wrote.

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
    from dragonfly_env.simulation import Simulation

    check_instance("simulation", simulation, Simulation)
    source = check_path("path", path)
    shape = simulation.q_table().shape
    most_bytes = {"values": math.prod(shape) * _MOST_VALUE_BYTES, "about": _MOST_ABOUT_BYTES}
    arrays = read_arrays(source, most_bytes, field="path", allowed=_FILE)
    about = _read_about(arrays["about"], str(source))
    topology = simulation.config.topology.to_dict()
    if about["topology"] != topology:
        raise config_error("path", str(source), f"was learnt on {about['topology']}, this is {topology}")
    policy = simulation.config.policy_object.to_dict()
    for name in ("name", *_MEANING):
        if about["policy"].get(name) != policy.get(name):
            raise config_error(
                "path",
                str(source),
                f"was learnt with {name} = {about['policy'].get(name)!r}, not {policy.get(name)!r}",
            )
    simulation.load_q_table(arrays["values"])
    return about


def _read_about(array: npt.NDArray[Any], shown: str) -> dict[str, Any]:
    """Where a table comes from, checked."""
    if array.dtype.kind != "U" or array.ndim != 0:
        raise config_error("path", shown, f"{_FILE} (its description is no text)")
    with parsing("path", shown, _FILE):
        text = str(array[()])
    about = parse_json(text, "path", file=shown, allowed=_FILE)
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise config_error("path", shown, f"{_FILE} of format {_FORMAT}")
    known: dict[str, Any] = {
        name: check_mapping(f"path: {name}", about.get(name)) for name in ("topology", "policy")
    }
    known["time_ns"] = check_real("path: time_ns", about.get("time_ns"), 0.0, MAX_RUN_NS, unit="ns")
    return known
