"""What the views simulate when nobody says: small enough to learn on in minutes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dragonfly_env.checks.values import config_error
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.envs.options import Several
from dragonfly_env.jobs import Job

ILLEGAL_ACTIONS = ("remap", "raise")

# Times of the training views: long enough for several generations of packets, so that what an action costs is paid in
# the same episode.
TRAINING_TIMES: dict[str, Any] = {"duration_ns": 50_000.0, "warmup_ns": 2_000.0}

_PHASE_NS = 20_000.0
_PHASES = 50


def view_config(config: SimulationConfig | Mapping[str, Any] | None = None) -> SimulationConfig:
    """The configuration of a view.

    Args:
        config: A configuration; its fields as a mapping, as ``SimulationConfig.from_dict`` takes it; or None for the
            default: 72 hosts on 36 routers, every group sending to the next one (``adv+1``) at a load of 0.35, where
            minimal routing is congested and a detour helps.

    Raises:
        ConfigError: For anything else, or for what cannot be simulated.
    """
    if config is None:
        return SimulationConfig(topology=Dragonfly.preset("72"), traffic="adv+1", load=0.35)
    if isinstance(config, SimulationConfig):
        return config
    if isinstance(config, Mapping):
        return SimulationConfig.from_dict(config)
    raise config_error("config", config, "must be a SimulationConfig, a mapping of its fields, or None")


def view_configs(config: SimulationConfig | Several | Mapping[str, Any] | None) -> SimulationConfig | Several:
    """The configuration of a view that takes several, too: a list of them, or a function that makes them.

    Raises:
        ConfigError: As ``view_config``.
    """
    if isinstance(config, (list, tuple)):
        return [view_config(one) for one in config]
    if callable(config):
        return config
    if isinstance(config, Sequence):  # a string, say
        raise config_error(
            "config", config, "must be a SimulationConfig, a mapping of its fields, a list of them, or None"
        )
    return view_config(config)


def jobs_config() -> SimulationConfig:
    """The default of ``job_bias_v0``: an eighth of Theta on which MILC and HACC, each as it is on 256 nodes, run beside
    each other for ever, MILC dispersed over routers, HACC on consecutive hosts.
    """
    return SimulationConfig(
        topology=Dragonfly.preset("theta-m8"),
        network=NetworkConfig.preset("aries-256"),
        policy="ad0",
        jobs=(
            Job("milc:scale=0.02,stands_for=8", hosts=32, placement="random-routers", iterations="endless"),
            Job("hacc:scale=0.02", hosts=32, iterations="endless"),
        ),
    )


def changing_config() -> SimulationConfig:
    """The default of ``BiasControl``: 72 hosts under ``ugal-n`` whose traffic changes every 20 us, between ``uniform``
    at a load of 0.7, where minimal paths are best, and ``adv+1`` at 0.35, where detours are.
    """
    phases = (("uniform", 0.7), ("adv+1", 0.35))
    schedule = [(i * _PHASE_NS, *phases[i % 2]) for i in range(_PHASES)]
    return SimulationConfig(topology=Dragonfly.preset("72"), traffic=schedule, policy="ugal-n")
