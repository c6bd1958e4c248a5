"""On which network a learner was trained, and a warning where it is asked about another one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.links import buffer_unit_packets
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.decisions.layout import OCCUPANCY_FEATURES

if TYPE_CHECKING:
    from dragonfly_env.envs.batched import BatchedRoutingEnv

_PARTS = ("topology", "network")
_MOST_SHOWN = 4


class OtherNetworkWarning(UserWarning):
    """A trained agent routes in another network than it was trained in. It may do well there, or badly."""


def network_of(config: SimulationConfig) -> dict[str, Any]:
    """What an agent remembers of a network: plain values."""
    return {"topology": config.topology.to_dict(), "network": config.network.to_dict()}


def warn_elsewhere(trained_on: Mapping[str, Any], config: SimulationConfig, who: str) -> None:
    """Warn of an agent that was trained in another network.

    Args:
        trained_on: As `network_of` gives it, or a whole configuration's ``to_dict``; what is absent or empty is
            not known.
        config: Where it acts now.
        who: The agent, for the message.
    """
    here = network_of(config)
    known = {part: trained_on.get(part) for part in _PARTS}
    found = [
        text
        for part, there in known.items()
        if isinstance(there, Mapping) and there
        for text in _differences(there, here[part], part)
    ]
    if found:
        more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        warnings.warn(
            f"{who} was trained in another network than this one: {', '.join(found[:_MOST_SHOWN])}{more}",
            OtherNetworkWarning,
            stacklevel=3,
        )


def refuse_other_unit(trained_on: Mapping[str, Any], env: BatchedRoutingEnv, who: str) -> None:
    """Refuse to show an agent occupancies in another unit than it was trained with.

    Args:
        trained_on: As for `warn_elsewhere`.
        env: Where it acts now.
        who: The agent, for the message.

    Raises:
        ConfigError: If the unit follows from the buffers and stands for another number of packets here.
    """
    topology, network = (trained_on.get(part) for part in _PARTS)
    shown = any(name in env.layout for name in OCCUPANCY_FEATURES)
    if env.options.occupancy_unit != "buffers" or not shown:
        return
    if not isinstance(topology, Mapping) or not isinstance(network, Mapping):
        return
    trained = buffer_unit_packets(NetworkConfig.from_dict(network), Dragonfly.from_dict(topology))
    for config in env.configs:
        here = buffer_unit_packets(config.network, config.topology)
        if here != trained:
            raise config_error(
                "occupancy_unit",
                "buffers",
                f"stands for {here} packets in this network, but for {trained} where {who} was trained: an agent "
                "whose env_options() have occupancy_unit='packets' (or 'ns') sees the same everywhere",
            )


def _differences(there: Mapping[str, Any], here: Mapping[str, Any], name: str) -> Iterator[str]:
    for key in (*here, *(key for key in there if key not in here)):
        was, is_now = there.get(key), here.get(key)
        if isinstance(was, Mapping) and isinstance(is_now, Mapping):
            yield from _differences(was, is_now, f"{name}.{key}")
        elif was != is_now:
            yield f"{name}.{key} was {was!r} and is {is_now!r}"
