"""The routers of a network as the agents of an RLlib ``MultiAgentEnv``.

======================  ====================================================================================
Agents                  ``router_0``, ``router_1``, ...: one per router
In the dictionaries     only routers that have a decision to make in this round; at the end of the episode all
                        that ever acted, for their last observation
Action space            ``Discrete(num_actions)``
Observation space       ``Dict(observations=Box float32, action_mask=Box(0, 1) float32)``: the keys and types that
                        RLlib's action-masking modules expect; the mask is in ``info["action_mask"]`` too
Reward                  the router's rewards since it acted last
Episode                 ``duration_ns``; truncated at its end, never terminated
======================  ====================================================================================

One step is one round: every router with pending packets decides about its earliest. Needs the extra ``[rllib]``.
RLlib's default modules take no ``Dict``: ``examples/rllib_ppo.py`` works, with RLlib's module for action
masks::

    router = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [32]})
    config = (
        PPOConfig()
        .environment(RouterMultiAgentEnv, env_config={"traffic": "adv+1", "load": 0.35}, disable_env_checking=True)
        .multi_agent(policies={"router"}, policy_mapping_fn=lambda agent, *_args, **_kwargs: "router")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"router": router}))
    )
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.decisions.actions import as_index
from dragonfly_env.envs._scenarios import check_changes
from dragonfly_env.envs.render import RENDER_MODES
from dragonfly_env.envs.views import Form, Turns, TurnsView, check_actions, frozen
from dragonfly_env.errors import IllegalActionError, StateError

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise ImportError(f"RouterMultiAgentEnv needs RLlib, an extra: {how_to_install('rllib')}") from error

Observation = dict[str, npt.NDArray[np.float32]]
IntArray = npt.NDArray[np.int64]


class RouterMultiAgentEnv(TurnsView, MultiAgentEnv):
    """Every router an agent of RLlib.

    Args:
        env_config: What RLlib hands over, all of it optional: ``config`` (a ``SimulationConfig`` or a mapping of its
            fields; absent: 72 hosts, ``adv+1`` at a load of 0.35; a list: networks next to each other, whose routers
            are numbered on from one to the next), ``for_policy``, ``illegal_action`` (``"remap"``: the minimal action
            is taken instead and counted in ``info["illegal_actions"]``, and the first one is warned about
            (``IllegalActionWarning``); ``"raise"``: an error, for which RLlib needs ``disable_env_checking=True``, as
            its check samples without the mask), ``render_mode``, ``mask_in`` and ``flat_observation`` (see
            ``dragonfly_v0``), and fields of ``SimulationConfig`` and options of ``BatchedRoutingEnv`` by name. The
            first episode has the configuration's seed in the first environment of RLlib, and another one in each
            further environment.

    Raises:
        ConfigError: For an unknown setting or a value out of range.

    Example:
        >>> from dragonfly_env.envs.rllib import RouterMultiAgentEnv
        >>> env = RouterMultiAgentEnv({"traffic": "adv+1", "load": 0.2})
        >>> seen, infos = env.reset(seed=1)
        >>> masks = {name: one["action_mask"] for name, one in seen.items()}
        >>> actions = {name: int(mask.argmax()) for name, mask in masks.items()}
        >>> seen, rewards, terminated, truncated, infos = env.step(actions)
        >>> truncated["__all__"]
        False
        >>> env.close()
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 10}  # noqa: RUF012  # as in gymnasium

    def __init__(self, env_config: Mapping[str, Any] | None = None) -> None:
        settings = dict(env_config or {})
        mask_in, flat = settings.pop("mask_in", "both"), settings.pop("flat_observation", False)
        self._open_core(
            settings.pop("config", None),
            settings,
            for_policy=settings.pop("for_policy", None),
            illegal_action=settings.pop("illegal_action", "remap"),
            render_mode=settings.pop("render_mode", None),
        )
        env = self._env
        self._first_seed = _seed_of_copy(env.config.seed, env_config)
        self._turns: Turns | None = None
        self._owed = np.zeros(env.num_agents)
        self._acted = np.zeros(env.num_agents, np.bool_)
        self._illegal = np.zeros(env.num_agents, np.int64)
        self._seen = np.zeros((env.num_agents, env.num_features), np.float32)
        self.possible_agents = [f"router_{i}" for i in range(env.num_agents)]
        self.agents = self.possible_agents[:]
        self._form = Form(
            mask_in,
            flat,
            env.layout,
            env.num_actions,
            feature_key="observations",
            mask_space=spaces.Box(0.0, 1.0, (env.num_actions,), np.float32),
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, self._form.space())
        self.action_spaces = dict.fromkeys(self.possible_agents, spaces.Discrete(env.num_actions))
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Of the traffic; None: the generator goes on.
            options: What is different in this episode: ``traffic``, ``load``, ``seed``. None: nothing.

        Returns:
            Observations and infos of the routers of the first round.

        Raises:
            ConfigError: For an option or an impossible seed.
        """
        (changes,) = check_changes(options)
        super().reset(seed=seed)
        first, self._first_seed = self._first_seed, None
        self._turns = None
        own = first if seed is None and "seed" not in changes else seed
        self._turns = turns = Turns(self._env, seed=own, options=changes)
        self._owed[:] = 0.0
        self._acted[:] = False
        self._illegal[:] = 0
        self._renderer.reset()
        self.agents = self.possible_agents[:]
        return self._show(turns)

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[
        dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
        """Give the actions of one round.

        Args:
            action_dict: An integer for every router of the last observations, and for no other.

        Returns:
            Observations, rewards, terminations, truncations (both with ``"__all__"``) and infos of the routers of the
            next round; when the time is over, of all that have acted, with the ``metrics`` of the episode in each info.

        Raises:
            IllegalActionError: For a missing or unknown agent and for what is no action; with
                ``illegal_action="raise"`` for actions that the mask forbids. Nothing has happened.
            StateError: Before ``reset``, after the end of the episode, or after a step that was broken off (Ctrl-C,
                ``DeadlockError``).
        """
        turns = self._check_open("step()")
        if turns.over:
            raise StateError("step(): the episode is over; call reset()")
        actions = self._read(turns, action_dict)
        replaced = turns.make_legal(
            actions, turns.masks(), self._illegal_actions, "router_{}", agents=turns.agents
        )
        self._illegal[replaced] += 1
        self._acted[turns.agents] = True
        self._turns = None  # in case that answering is broken off
        paid = turns.answer(actions)
        self._turns = turns
        if paid is not None:
            self._owed += paid
        over = turns.over
        observations, infos = self._show_last() if over else self._show(turns)
        shown = np.flatnonzero(self._acted) if over else turns.agents
        if over:
            last = self._metrics()
            for info, agent in zip(infos.values(), shown.tolist(), strict=True):
                info |= last[agent]
        rewards: dict[str, float] = dict(zip(observations, self._owed[shown].tolist(), strict=True))
        self._owed[shown] = 0.0
        terminations: dict[str, bool] = dict.fromkeys((*observations, "__all__"), False)
        truncations: dict[str, bool] = dict.fromkeys((*observations, "__all__"), over)
        return observations, rewards, terminations, truncations, infos

    def _seed_state(self) -> dict[str, Any]:
        return super()._seed_state() | {"first": self._first_seed}

    def _go_on(self, seeds: dict[str, Any]) -> None:
        super()._go_on(seeds)
        self._first_seed = seeds["first"]

    def _episode(self) -> dict[str, Any] | None:
        episode = super()._episode()
        if episode is None:
            return None
        return {**episode, "owed": frozen(self._owed), "acted": frozen(self._acted)}

    def _resume(self, episode: dict[str, Any], trusted: bool, changes: Mapping[str, Any]) -> None:
        super()._resume(episode, trusted, changes)
        self._owed[:], self._acted[:] = episode["owed"], episode["acted"]

    def _show(self, turns: Turns) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Observations and infos of this round's routers, in new arrays."""
        self._seen[turns.agents] = seen = turns.observations()
        return self._as_dicts(turns.agents, seen, turns.masks().astype(np.float32))

    def _show_last(self) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """What every router that has acted saw last; everything is allowed, as nothing follows."""
        acted = np.flatnonzero(self._acted)
        masks = np.ones((len(acted), self._env.num_actions), np.float32)
        return self._as_dicts(acted, self._seen[acted], masks)

    def _as_dicts(
        self, agents: IntArray, seen: npt.NDArray[np.float32], masks: npt.NDArray[np.float32]
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        names = [self.possible_agents[agent] for agent in agents.tolist()]
        observations = dict(zip(names, self._form.many(seen, masks), strict=True))
        infos: dict[str, dict[str, Any]] = {
            name: {"illegal_actions": count} | self._form.info(mask)
            for name, mask, count in zip(names, masks.copy(), self._illegal[agents].tolist(), strict=True)
        }
        return observations, infos

    def _read(self, turns: Turns, action_dict: Mapping[str, Any]) -> IntArray:
        """(n,) the actions of this round's routers, within the action space."""
        check_actions(action_dict)
        names = [self.possible_agents[agent] for agent in turns.agents.tolist()]
        for name in names:
            if name not in action_dict:
                raise IllegalActionError(
                    f"actions: {name} has a pending packet and no action; nothing has changed"
                )
        if len(action_dict) != len(names):
            extra = next(name for name in action_dict if name not in names)
            raise IllegalActionError(
                f"actions[{extra!r}]: no such agent has a pending packet; nothing has changed"
            )
        given = [as_index(action_dict[name], self._env.num_actions) for name in names]
        if None in given:
            name = names[given.index(None)]
            raise IllegalActionError(
                f"actions[{name!r}] = {action_dict[name]!r}: must be an integer from 0 to "
                f"{self._env.num_actions - 1}; nothing has changed"
            )
        return np.array(given, np.int64)


def _seed_of_copy(seed: int, env_config: object) -> int | None:
    """The seed of the first episode of one of several copies: RLlib numbers its workers and their environments."""
    copy = (getattr(env_config, "worker_index", 0), getattr(env_config, "vector_index", 0))
    if not any(copy):
        return None
    return int(np.random.SeedSequence([seed, *copy]).generate_state(1, np.uint64)[0])
