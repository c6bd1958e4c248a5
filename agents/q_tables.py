"""Q-tables in files: what one run has learnt, for another to start from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dragonfly_env._validate import config_error

if TYPE_CHECKING:
    from dragonfly_env.simulation import Simulation

_FORMAT = 1
# What the rows and columns of a table mean depends on these; the other parameters may differ.
_MEANING = ("rows",)


def save_q_table(simulation: Simulation, path: str | Path) -> Path:
    """Save the tables of a learner with the topology and the policy that they belong to.

    Args:
        simulation: Of a policy that learns.
        path: Where to; ``.npz`` is added if it is missing.

    Returns:
        The path of the file.

    Raises:
        StateError: If the policy has no tables.
    """
    target = Path(path)
    if target.suffix != ".npz":
        target = target.with_name(target.name + ".npz")
    table = simulation.q_table()
    about = {
        "format": _FORMAT,
        "topology": simulation.config.topology.to_dict(),
        "policy": simulation.config.policy_object.to_dict(),
        "time_ns": simulation.time_ns,
    }
    with target.open("wb") as file:
        np.savez_compressed(file, values=table, about=np.array(json.dumps(about, sort_keys=True)))
    return target


def load_q_table(simulation: Simulation, path: str | Path) -> dict[str, Any]:
    """Start from saved tables.

    Args:
        simulation: Of the same policy on the same topology; learning rates, thresholds and seeds may differ.
        path: Of a file that ``save_q_table`` wrote.

    Returns:
        What the file says about its origin: ``topology``, ``policy``, ``time_ns``.

    Raises:
        ConfigError: If the file cannot be read, or belongs to another topology, policy or kind of rows.
        StateError: If the policy has no tables.
    """
    source = Path(path)
    try:
        with np.load(source, allow_pickle=False) as archive:
            values, about = archive["values"], json.loads(str(archive["about"]))
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise config_error("path", str(source), f"must be a file of save_q_table: {error}") from None
    simulation.q_table()
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
    simulation.load_q_table(values)
    return {name: about[name] for name in ("topology", "policy", "time_ns")}
