"""A batched environment in which one packet asks; of the others the core decides by itself, if it can."""

from __future__ import annotations

import dataclasses
from typing import Any

from dragonfly_env import _core
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs._background import Background
from dragonfly_env.envs._scenarios import Configs
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.needs import needed_options
from dragonfly_env.envs.options import EnvOptions
from dragonfly_env.errors import ConfigError

# What a policy is asked and how draws are made. The core's policy draws for itself: what it answers is only the same
# as the twin's if both draw alike.
_ASK_ONCE = ("source", "source-any", "source-around")
_DRAWN = ("minimal_candidates", "detour_candidates", "gateways", "avoid_destination_group")


class PacketEnv(BatchedRoutingEnv):
    """The batched environment under ``PacketRouting``.

    With a background policy of the core a batch shows either packets that ask their source router, one of which
    ``follow`` chooses, or the packet that was chosen. Otherwise it shows all, as the base class does.

    Args:
        config: As for the base class.
        background: Who answers for the other packets.
        **options: Fields of ``EnvOptions``.
    """

    def __init__(self, config: SimulationConfig, *, background: Background, **options: Any) -> None:
        self._background = background
        self._in_core: tuple[str, dict[str, Any]] | None = None
        self._inside = False
        super().__init__(config, **options)

    @property
    def inside(self) -> bool:
        """Whether the core answers for the other packets."""
        return self._inside

    def set_background(self, background: Background) -> None:
        """Who answers from now on. In the core only from the next network on, unless it is the present one.

        Raises:
            ConfigError: If the core alone has the policy, and it is not the one that decides in the present network.
        """
        before, self._background = self._background, background
        same = self._inside and self._runs_in_core(self.config) == self._in_core
        if not same:
            try:
                self._require_reference("is not the policy of the network that is running")
            except ConfigError:
                self._background = before
                raise
        if self._inside and not same:
            with self._alone:
                self._core.ask_outside()
            self._inside = False

    def seek(self) -> DecisionBatch:
        """Leave what is asked to the background, and go on to packets that ask their source routers.

        Raises:
            As ``step``.
        """
        with self._alone:
            self._require_running("seek")
            with self._marks_broken():
                self._batch = None
                self._core.seek()
            return self._take_batch()

    def follow(self, row: int) -> DecisionBatch:
        """Ask about the packet of this row of the batch only."""
        with self._alone:
            self._require_running("follow")
            self._core.follow(row)
            return self._take_batch()

    def _build(self, configs: Configs) -> _core.RoutingEnvironment:
        (config,) = configs
        self._in_core = self._runs_in_core(config)
        self._inside = self._in_core is not None
        if not self._inside:
            self._require_reference(
                "would see other candidates, features or virtual channels here than in the core"
            )
        options = self._options
        return _core.RoutingEnvironment(
            *config.core_arguments(),
            options.spec(config.network, config.topology),
            options.warmup_ps,
            options.duration_ps,
            self._in_core,
        )

    def _require_reference(self, why: str) -> None:
        """Refuse a background that the core alone has, where the core cannot decide for it."""
        policy = self._background.built_in
        if policy is not None and not policy.has_reference:
            raise config_error(
                "background",
                policy.name,
                f"{why}, and it has no implementation in NumPy; 'min', 'ugal-n', 'lia' and others have one, or make "
                "the environment with it as background and the options that it needs",
            )

    def _runs_in_core(self, config: SimulationConfig) -> tuple[str, dict[str, Any]] | None:
        """The background policy as the core takes it; None: it must be asked from Python.

        That is where it learns, or is the user's own; and where what it is shown here is not what it would see in the
        core, so that its answers might differ.
        """
        policy, options = self._background.built_in, self._options
        if policy is None or policy.learns or options.feedback:
            return None
        if policy.name == "min":
            drawn = options.action == "path" and options.minimal_candidates > 1
            return None if drawn else (policy.name, policy.core_parameters())
        if options.warmup_ns > 0 and not self._warms_up_alike(config):
            return None
        needed = needed_options(policy, config.topology)
        usual = EnvOptions(**needed)
        here, there = (_as_seen(each, config) for each in (options, usual))
        if any(here[name] != there[name] for name in (*needed, *_DRAWN)):
            return None
        return policy.name, policy.core_parameters()

    def _warms_up_alike(self, config: SimulationConfig) -> bool:
        """Whether the paths of the warm-up leave the first virtual channels of packets as they are: a policy that may
        think again in the source group needs one more there, and the core's policies look at the one that they would
        use without it.
        """
        warming = config.policy_object
        usual = warming.action == "port" or warming.scope in (*_ASK_ONCE, self._options.scope)
        return usual and all(job.policy is job.all_to_all_policy is None for job in config.jobs)


def _as_seen(options: EnvOptions, config: SimulationConfig) -> dict[str, Any]:
    """Options with what the network says where they say nothing."""
    spec = options.spec(config.network, config.topology)
    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    return given | {name: spec[name] for name in ("avoid_destination_group", "max_hops")}
