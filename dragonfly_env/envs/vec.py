"""``RouterVecEnv``: the routers of one network, or of several next to each other, as the slots of a Stable-Baselines3
``VecEnv``, for one shared policy.

======================  ====================================================================================
Slots                   one per router; of several networks those of the first, then those of the second, ...
Action space            ``Discrete(num_actions + 1)``; the last one is ``idle``, the only legal action of a
                        router without a pending packet, and of no other
Observation space       ``Box`` float32, the features of ``layout``; a router without a pending packet is
                        shown what it saw last (zeros at first)
Reward                  the router's rewards, when they are given
Episode                 ``duration_ns``; truncated at its end in all slots at once, never terminated. Networks
                        whose workload is complete earlier idle until the others are done
======================  ====================================================================================

One step is one round: every router with pending packets decides about its earliest. Time stops until all decisions of
a batch are made, so rewards come with the last round of a batch. Needs the extra ``[sb3]``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.values import MAX_SEED, check_integer, check_items, config_error
from dragonfly_env.envs._scenarios import Changes, check_changes
from dragonfly_env.envs.views import GivenConfig, Turns, TurnsView
from dragonfly_env.errors import ConfigError, IllegalActionError

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(f"RouterVecEnv needs Stable-Baselines3, an extra: {how_to_install('sb3')}") from error

FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Indices = int | Iterable[int] | None

_OPTIONS = "must be a mapping of what is different in the next episode, or a list with that of each slot"


class RouterVecEnv(TurnsView, VecEnv):
    """All routers of one network, or several, behind one shared policy. ``MaskablePPO`` finds the action masks.

    Args:
        config: What is simulated, or a mapping of its fields; None: 72 hosts, ``adv+1`` at a load of 0.35. A list:
            networks next to each other, see ``BatchedRoutingEnv``; or a function that makes them for each episode.
        for_policy: Take scope, action mode and candidates from this policy.
        illegal_action: ``"remap"``: the minimal action (or idle) is taken instead and counted in
            ``info["illegal_actions"]``; the first one is warned about (``IllegalActionWarning``). ``"raise"``:
            ``IllegalActionError``, and nothing has happened.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` or None.
        **settings: Fields of ``SimulationConfig``, which replace those of ``config``, and options of
            ``BatchedRoutingEnv``: ``scope``, ``action``, ``reward``, ``features``, ``duration_ns``, ...

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
    _options: list[Any]

    def __init__(
        self,
        config: GivenConfig = None,
        *,
        for_policy: Any = None,
        illegal_action: str = "remap",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self._open_core(
            config, settings, for_policy=for_policy, illegal_action=illegal_action, render_mode=render_mode
        )
        env = self._env
        self._idle = env.num_actions
        self._turns: Turns | None = None
        self._actions: Any = None
        self._illegal = np.zeros(env.num_agents, np.int64)
        self._seen = np.zeros((env.num_agents, env.num_features), np.float32)
        super().__init__(
            env.num_agents,
            gymnasium.spaces.Box(env.layout.low, env.layout.high, dtype=np.float32),
            gymnasium.spaces.Discrete(env.num_actions + 1),
        )

    def reset(self) -> FloatArray:
        """Start an episode, with the seed given to ``seed`` before, if any, and with what ``set_options`` said is
        different in it: ``traffic``, ``load``, ``seed``; the same in all slots of a network.

        Returns:
            (num_routers, F) float32 observations.

        Raises:
            ConfigError: For an option that is unknown or impossible, or not the same in the slots of a network.

        Example:
            >>> env = dfe.RouterVecEnv()
            >>> env.reset().shape == (env.num_envs, *env.observation_space.shape)
            True
        """
        options = self._options_of_networks()
        seed = None if any("seed" in changes for changes in options) else self._seeds[0]
        self._reset_seeds()
        self._reset_options()
        return self._restart(seed, options)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed the next episode.

        Args:
            seed: Of the traffic; None: a random one, as in other vector environments.

        Returns:
            A seed per slot; the first one counts.

        Raises:
            ConfigError: If it is no integer in [0, 2^64).

        Example:
            >>> env = dfe.RouterVecEnv()
            >>> env.seed(7)[0]
            7
        """
        if seed is not None:
            seed = check_integer("seed", seed, 0, MAX_SEED)
        return list(super().seed(seed))

    def set_options(self, options: Any = None) -> None:
        """Say what is different in the next episode.

        Args:
            options: ``traffic``, ``load`` and ``seed``, some of them; or a list with those of each slot, the same in
                all slots of a network. None: nothing is different.

        Raises:
            ConfigError: If it is something else.

        Example:
            >>> env = dfe.RouterVecEnv()
            >>> env.set_options({"load": 0.2})
            >>> seen = env.reset()
            >>> env.core.config.load
            0.2
        """
        if options is None or isinstance(options, Mapping):
            (changes,) = check_changes(options)
            given = [changes] * self.num_envs
        else:
            each = check_items("options", options, _OPTIONS)
            if len(each) != self.num_envs:
                raise config_error(
                    "options", f"{len(each)} of them", f"{_OPTIONS}: {self.num_envs}, one for each slot"
                )
            given = list(check_changes(each, self.num_envs))
        before, self._options = self._options, given
        try:
            self._env.check_changes(self._options_of_networks())
        except ConfigError:
            self._options = before
            raise

    def step_async(self, actions: Any) -> None:
        """Take the actions of one round.

        Args:
            actions: (num_routers,) integers.

        Example:
            >>> env = dfe.RouterVecEnv()
            >>> seen = env.reset()
            >>> env.step_async(env.action_masks().argmax(axis=1))
            >>> len(env.step_wait())
            4
        """
        self._actions = actions

    def step_wait(self) -> tuple[FloatArray, FloatArray, BoolArray, list[dict[str, Any]]]:
        """Give the actions of one round. At the end of the episode the next one is started.

        Returns:
            (num_routers, F) float32 observations, (num_routers,) float32 rewards, (num_routers,) whether the episode
            is over, and an info per slot: ``illegal_actions`` of this episode so far; at its end also
            ``terminal_observation`` and ``TimeLimit.truncated``, and in the first slot of each network ``metrics`` and
            ``trace_hash`` of the episode; in the first of all also ``decisions`` and ``simulated_ns``.

        Raises:
            IllegalActionError: For actions of another shape, type or range; with ``illegal_action="raise"`` for
                actions that the masks forbid. Nothing has happened.
            StateError: Before ``reset``, and after a step that was broken off (Ctrl-C, ``DeadlockError``).
            DeadlockError: If nothing moved for ``watchdog_ns``.

        Example:
            >>> env = dfe.RouterVecEnv()
            >>> seen = env.reset()
            >>> env.step_async(env.action_masks().argmax(axis=1))
            >>> seen, rewards, dones, infos = env.step_wait()
            >>> infos[0]["illegal_actions"]
            0
        """
        turns = self._check_open("step()")
        actions = self._check(self._actions)
        replaced = turns.make_legal(actions, turns.masks_of_all(), self._illegal_actions, "router {}")
        self._illegal[replaced] += 1
        self._turns = None  # in case that answering is broken off
        paid = None if turns.over else turns.answer(actions[turns.agents])
        self._turns = turns
        rewards = np.zeros(self.num_envs, np.float32) if paid is None else paid.astype(np.float32)
        dones = np.full(self.num_envs, turns.over)
        infos: list[dict[str, Any]] = [{"illegal_actions": count} for count in self._illegal.tolist()]
        if not turns.over:
            return self._observe(turns), rewards, dones, infos
        for info, last in zip(infos, self._seen.copy(), strict=True):
            info["terminal_observation"] = last
            info["TimeLimit.truncated"] = True
        for scenario, first in enumerate(self._env.first_agents.tolist()):
            infos[first] |= {
                "metrics": self._env.metrics(scenario),
                "trace_hash": self._env.trace_hash(scenario),
            }
        infos[0] |= {"decisions": turns.decisions, "simulated_ns": self._env.time_ns}
        return self._restart(None), rewards, dones, infos

    def action_masks(self) -> BoolArray:
        """(num_routers, num_actions + 1) what each router may do now; ``MaskablePPO`` calls it.

        Raises:
            StateError: Before ``reset``.

        Example:
            >>> env = dfe.RouterVecEnv()
            >>> seen = env.reset()
            >>> bool(env.action_masks().any(axis=1).all())
            True
        """
        return self._check_open("action_masks()").masks_of_all()

    def render(self, mode: str | None = None) -> Any:
        """A frame of the (first) network as ``render_mode`` says: a string, an image, or None after printing it.

        Args:
            mode: None or the ``render_mode`` of this environment.

        Raises:
            ConfigError: For another mode.
            StateError: Before ``reset``, or without a ``render_mode``.

        Example:
            >>> env = dfe.RouterVecEnv(render_mode="rgb_array")
            >>> seen = env.reset()
            >>> env.render().dtype
            dtype('uint8')
        """
        if mode is not None and mode != self.render_mode:
            raise config_error("mode", mode, f"is render_mode = {self.render_mode!r} in this environment")
        return super().render()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of this environment, once per slot; ``action_masks`` is a method of each slot.

        Args:
            attr_name: The name of the attribute.
            indices: Slots; None: all.

        Raises:
            AttributeError: If there is none of this name.

        Example:
            >>> env = dfe.RouterVecEnv()
            >>> env.get_attr("num_envs", indices=[0, 1])
            [36, 36]
        """
        slots = self._slots(indices)
        if attr_name == "action_masks":
            return [functools.partial(self._mask_of, slot) for slot in slots]
        return [getattr(self, attr_name)] * len(slots)

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Refused: the slots are one network, whose settings hold from its making.

        Args:
            attr_name: The name of an attribute.
            value: What it would be set to.
            indices: Slots.

        Raises:
            AttributeError: Always.

        Example:
            >>> try:
            ...     dfe.RouterVecEnv().set_attr("load", 0.2)
            ... except AttributeError as error:
            ...     print(str(error)[:21])
            'load' cannot be set:
        """
        raise AttributeError(
            f"{attr_name!r} cannot be set: the slots of a RouterVecEnv are one network; make a new one"
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method: ``action_masks`` gives each slot's row, every other one is called once for all slots.

        Args:
            method_name: The name of the method.
            *method_args: Its arguments.
            indices: Slots; None: all.
            **method_kwargs: Its keyword arguments.

        Raises:
            AttributeError: If there is none of this name.

        Example:
            >>> env = dfe.RouterVecEnv()
            >>> seen = env.reset()
            >>> env.env_method("action_masks", indices=[0])[0].dtype
            dtype('bool')
        """
        slots = self._slots(indices)
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        return [result[slot] for slot in slots] if method_name == "action_masks" else [result] * len(slots)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """False for every slot: there are no single environments that could be wrapped.

        Args:
            wrapper_class: A class of wrappers.
            indices: Slots; None: all.

        Example:
            >>> from stable_baselines3.common.monitor import Monitor
            >>> any(dfe.RouterVecEnv().env_is_wrapped(Monitor))
            False
        """
        return [False] * len(self._slots(indices))

    def _options_of_networks(self) -> list[dict[str, Any]]:
        """What the slots' options change, network by network."""
        firsts = self._env.first_agents.tolist()
        found = []
        for first, end in zip(firsts, [*firsts[1:], self.num_envs], strict=True):
            changes = self._options[first]
            for slot in range(first + 1, end):
                other = self._options[slot]
                if other is changes:
                    continue
                if other.keys() != changes.keys() or not all(
                    np.array_equal(other[name], changes[name]) for name in changes
                ):
                    allowed = f"must be as in slot {first}: both are of one network"
                    raise config_error(f"options[{slot}]", other, allowed)
            found.append(changes)
        return found

    def _restart(self, seed: int | None, options: Changes = None) -> FloatArray:
        self._turns = None
        self._turns = turns = Turns(self._env, seed=seed, options=options)
        self._illegal[:] = 0
        self._seen[:] = 0.0
        self._renderer.reset()
        return self._observe(turns)

    def _observe(self, turns: Turns) -> FloatArray:
        self._seen[turns.agents] = turns.observations()
        return self._seen.copy()

    def _check(self, actions: object) -> IntArray:
        """(num_routers,) integers in the action space; for everything else ``IllegalActionError``."""
        try:
            array = np.asarray(actions)
        except ValueError:  # ragged
            array = np.empty(0, object)
        if array.dtype.kind not in "iu" or array.shape != (self.num_envs,):
            raise IllegalActionError(
                f"actions: must be {self.num_envs} integers, one per router; got {array.dtype} of shape {array.shape}"
            )
        outside = (array < 0) | (array > self._idle)
        if outside.any():
            slot = int(outside.argmax())
            raise IllegalActionError(
                f"actions[{slot}] = {array[slot]}: must be from 0 to {self._idle}, which is idle"
            )
        return array.astype(np.int64)  # a copy

    def _mask_of(self, slot: int) -> BoolArray:
        mask: BoolArray = self.action_masks()[slot]
        return mask

    def _slots(self, indices: Indices) -> list[int]:
        return list(self._get_indices(indices))
