"""``RouterVecEnv``: the routers of one network, or of several next to each other, as the slots of a Stable-Baselines3
``VecEnv``, for one shared policy.

======================  ====================================================================================
Slots                   one per router; of several scenarios those of the first, then those of the second, ...
Action space            ``Discrete(num_actions + 1)``; the last one is ``idle``, the only legal action of a
                        router without a pending packet, and of no other
Observation space       ``Box`` float32, the features of ``layout``; a router without a pending packet is
                        shown what it saw last (zeros at first)
Reward                  the router's rewards, when they are given
Episode                 ``duration_ns``; truncated at its end in all slots at once, never terminated. Scenarios
                        whose workload is complete earlier idle until the others are done
======================  ====================================================================================

One step is one round: every router with pending packets decides about its earliest. Time stops until all
decisions of a batch are made, so rewards come with the last round of a batch. Needs the extra ``[sb3]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.values import MAX_SEED, check_integer
from dragonfly_env.envs.options import IllegalAction
from dragonfly_env.envs.render import Renderer
from dragonfly_env.envs.rounds import BoolArray, IllegalActions, Info, Rounds
from dragonfly_env.envs.scenarios import Changes
from dragonfly_env.envs.views import GivenConfig, make_core
from dragonfly_env.errors import IllegalActionError, StateError

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(f"RouterVecEnv needs Stable-Baselines3, an extra: {how_to_install('sb3')}") from error

FloatArray = npt.NDArray[np.float32]
Indices = int | Iterable[int] | None


class RouterVecEnv(VecEnv):
    """All routers of one network, or several, behind one shared policy. ``MaskablePPO`` finds the action masks.

    Stable-Baselines3's ``evaluate_policy`` counts a slot as an episode, and all slots are one episode here. Give
    ``n_eval_episodes=env.num_envs``: with fewer it returns the rewards of the last routers only.

    Args:
        config: A ``SimulationConfig`` or a mapping of its fields; None: 72 hosts, ``adv+1`` at a load of 0.35. Several
            in a list, or a function that makes them: see ``BatchedRoutingEnv``. If neither a mapping nor the settings
            have a seed, the seed is drawn from the operating system: ``core.seed``. A ``SimulationConfig`` always has a
            seed, by default 1.
        for_policy: Take scope, action mode and candidates from this policy, or the policy of this name.
        illegal_action: ``"remap"``: the minimal action (or idle) is taken instead and counted in
            ``info["illegal_actions"]``; the first one is warned about (``IllegalActionWarning``). ``"raise"``:
            ``IllegalActionError``, and nothing has happened.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` or None.
        **settings: Fields of ``SimulationConfig``, which replace those of ``config``, and options of
            ``BatchedRoutingEnv``: ``scope``, ``action``, ``reward``, ``features``, ``duration_ns``, ...

    Attributes:
        core: The batched environment underneath, for metrics, layout, ``seed`` and ``trace_hash()``. Stepping it breaks
            this view.

    Raises:
        ConfigError: For an unknown setting or a value out of range.

    Example:
        >>> env = dfe.RouterVecEnv(traffic="adv+1", duration_ns=2_000)
        >>> seen = env.reset()
        >>> actions = env.action_masks().argmax(axis=1)
        >>> seen, rewards, dones, infos = env.step(actions)
        >>> env.num_envs, seen.shape[0], rewards.dtype
        (36, 36, dtype('float32'))
    """

    render_mode: str | None = None

    def __init__(
        self,
        config: GivenConfig = None,
        *,
        for_policy: Any = None,
        illegal_action: IllegalAction = "remap",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.core = make_core(config, settings, for_policy)
        self.render_mode = render_mode
        self._renderer = Renderer(self.core.config, render_mode)
        self._illegal_actions = IllegalActions(illegal_action)
        self._rounds: Rounds | None = None
        self._changes: Changes = None
        layout = self.core.layout
        super().__init__(
            self.core.num_agents,
            gymnasium.spaces.Box(layout.low, layout.high, dtype=np.float32),
            gymnasium.spaces.Discrete(self.core.num_actions + 1),
        )

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed the next episode, whether ``reset`` begins it or the end of the present one.

        Args:
            seed: Seed of the traffic; None: a random one, as in other vector environments.

        Returns:
            A seed per slot; the first one counts.

        Raises:
            ConfigError: If it is no integer in [0, 2^64).
        """
        return list(super().seed(seed if seed is None else check_integer("seed", seed, 0, MAX_SEED)))

    def set_options(self, options: Changes = None) -> None:
        """Set what is different in the next episode, whether ``reset`` begins it or the end of the present one.

        Args:
            options: ``traffic``, ``load`` and ``seed``, some of them; or a list with those of each scenario. None:
                nothing is different.

        Raises:
            ConfigError: For an option that is unknown or impossible.
        """
        self.core.check_changes(options)
        self._changes = options

    def reset(self) -> FloatArray:
        """Start an episode, with the seed of ``seed()`` and the changes of ``set_options()``, if any.

        Returns:
            (num_routers, F) float32 observations.
        """
        changes, self._changes = self._changes, None
        each = changes if isinstance(changes, (list, tuple)) else [changes]
        has_seed = any("seed" in options_of_scenario for options_of_scenario in each if options_of_scenario)
        seed = None if has_seed else self._seeds[0]
        self._rounds = rounds = Rounds(self.core, self._illegal_actions, seed, changes, table=True)
        self._reset_seeds()
        self._renderer.reset()
        self.reset_infos = rounds.infos()
        return self._observe(rounds)

    def step_async(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Take the (num_routers,) actions of one round."""
        self._actions = actions

    def step_wait(self) -> tuple[FloatArray, FloatArray, BoolArray, list[Info]]:
        """Do the round. At the end of the episode the next one is started.

        Returns:
            (num_routers, F) float32 observations, (num_routers,) float32 rewards, (num_routers,) whether the episode
            is over, and an info per slot: ``decision_id`` of the decision that the router makes now, -1 for none;
            ``completed``, the ``Outcomes`` of its decisions that were completed in this step; ``illegal_actions`` of
            this episode so far, and the packets ``generated`` by the router's hosts and ``delivered`` from them in this
            step. ``reset_infos`` has the infos of the first round of an episode. At the end of an episode also
            ``terminal_observation`` and ``TimeLimit.truncated``, and in the first slot of each scenario ``metrics`` and
            ``trace_hash`` of the episode; in the first of all also ``decisions`` and ``simulated_ns``.

        Raises:
            IllegalActionError: For actions of another shape or out of range; with ``illegal_action="raise"`` for
                actions that the masks forbid. Nothing has happened.
            StateError: Before ``reset``, and after a step that was broken off (Ctrl-C, ``DeadlockError``).
            DeadlockError: If nothing moved for ``watchdog_ns``.
        """
        rounds = self._check_open("step()")
        actions = np.array(self._actions, np.int64)
        if actions.shape != (self.num_envs,):
            raise IllegalActionError(f"actions: must have shape ({self.num_envs},), not {actions.shape}")
        rounds.act(actions)
        infos = rounds.infos()
        rewards = np.zeros(self.num_envs, np.float32)
        if rounds.time_went_on:
            rewards[:] = rounds.rewards
        dones = np.full(self.num_envs, rounds.over)
        if not rounds.over:
            return self._observe(rounds), rewards, dones, infos
        self._describe_end(rounds, infos)
        return self.reset(), rewards, dones, infos

    def action_masks(self) -> BoolArray:
        """(num_routers, num_actions + 1) what each router may do now; ``MaskablePPO`` calls it.

        Raises:
            StateError: Before ``reset``.
        """
        return self._check_open("action_masks()").mask_table()

    def render(self, mode: str | None = None) -> Any:
        """A frame of the (first) network as ``render_mode`` says: a string, an image, or None after printing it."""
        self._check_open("render()")
        return self._renderer.render(self.core.metrics(scenario=0), self.core.time_ns)

    def close(self) -> None:
        """Forget the episode; ``reset`` starts a new one."""
        self._rounds = None

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of this environment, once per slot; ``action_masks`` is a method of each slot."""
        slots = self._get_indices(indices)
        if attr_name == "action_masks":
            return [partial(self._mask_of, slot) for slot in slots]
        return [getattr(self, attr_name) for _ in slots]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Refused with ``AttributeError``: the slots are one network, whose settings do not change."""
        raise AttributeError(
            f"{attr_name!r} cannot be set: the slots of a RouterVecEnv are one network; make a new one"
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method: ``action_masks`` gives each slot's row, every other one is called once for all slots."""
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        slots = self._get_indices(indices)
        return [result[slot] if method_name == "action_masks" else result for slot in slots]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """False for every slot and ``wrapper_class``: no single environments could be wrapped."""
        return [False for _ in self._get_indices(indices)]

    @staticmethod
    def _observe(rounds: Rounds) -> FloatArray:
        seen: FloatArray = rounds.seen.copy()
        return seen

    def _describe_end(self, rounds: Rounds, infos: list[Info]) -> None:
        """Add to infos what the last ones of an episode have."""
        for info, last in zip(infos, self._observe(rounds), strict=True):
            info |= {"terminal_observation": last, "TimeLimit.truncated": True}
        for scenario, first in enumerate(self.core.first_agents.tolist()):
            infos[first] |= {
                "metrics": self.core.metrics(scenario),
                "trace_hash": self.core.trace_hash(scenario),
            }
        infos[0] |= {"decisions": rounds.decisions, "simulated_ns": self.core.time_ns}

    def _mask_of(self, slot: int) -> BoolArray:
        mask: BoolArray = self.action_masks()[slot]
        return mask

    def _check_open(self, call: str) -> Rounds:
        if self._rounds is None or self._rounds.interrupted:
            raise StateError(f"{call}: call reset() first")
        return self._rounds
