"""``dragonfly_env/PacketRouting-v0``: one packet's journey is one episode.

The agent travels with a tagged packet and answers for it at every router that asks; the other packets follow a
background policy, which may be a frozen copy of the learner. The next episode goes on in the same network with another
packet.

======================  ====================================================================================
Action space            ``Discrete(num_actions)``: ports, or with ``action="path"`` candidate paths
Observation space       ``Dict(observation=Box float32, action_mask=MultiBinary)``; the mask stands in
                        ``info["action_mask"]`` and ``action_masks()`` too
Reward                  ``"hop"``: minus the time from the decision to the packet's next one, or to its
                        delivery; ``"delivery"``: at the end, minus the time from the first decision. In units of
                        ``reward_scale_ns``
Episode                 from the first decision at the packet's source router to its delivery (terminated), or to the
                        end of the simulated time (truncated)
======================  ====================================================================================

Version history: v0, the first one.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import check_choice, check_integer, config_error, shown
from dragonfly_env.config.simulation import MAX_SEED, SimulationConfig
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs._background import Background, make_background
from dragonfly_env.envs._form import Form
from dragonfly_env.envs._illegal import Remapping
from dragonfly_env.envs._packet_env import PacketEnv
from dragonfly_env.envs._scenarios import check_changes
from dragonfly_env.envs._view import make_core
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.defaults import ILLEGAL_ACTIONS, view_config
from dragonfly_env.envs.recipe import ByRecipe, alone
from dragonfly_env.envs.render import RENDER_MODES, Renderer
from dragonfly_env.errors import IllegalActionError, StateError

Observation = dict[str, npt.NDArray[Any]]
BoolArray = npt.NDArray[np.bool_]

_REWARDS = ("hop", "delivery")


class PacketRouting(ByRecipe, gymnasium.Env[Any, np.int64]):
    """One tagged packet asks, all others follow a background policy.

    Args:
        config: What is simulated, or a mapping of its fields; None: 72 hosts, ``adv+1`` at a load of 0.35. Its policy
            routes the warm-up of the network, its seed is that of the first one.
        background: Who answers for all other packets: ``"min"`` (the minimal action); the name of another policy; any
            object with ``act(batch)``; or a model of Stable-Baselines3 that was trained here (what it answers against
            the mask becomes the minimal action). If it says which ``scope`` and ``action`` it needs, these are the
            environment's unless they are set. See ``set_background`` for frozen copies of the learner.
        reward: ``"hop"`` or ``"delivery"``.
        illegal_action: ``"remap"``: the minimal action is taken instead and counted in ``info["illegal_actions"]``; the
            first one is warned about (``IllegalActionWarning``). ``"raise"``: ``IllegalActionError``, and nothing has
            happened.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` (prints the text) or None.
        mask_in: Where the mask stands: ``"both"``, ``"observation"`` or ``"info"``. With ``"info"`` an observation is
            the features alone, a ``Box``.
        flat_observation: Observations are one ``Box``: the features, then (unless ``mask_in="info"``) the mask.
        **settings: Fields of ``SimulationConfig``, which replace those of ``config``, and options of
            ``BatchedRoutingEnv``: ``scope``, ``action``, ``features``, ``duration_ns`` (after so much simulated time a
            new network is made), ``warmup_ns``, ...

    Raises:
        ConfigError: For an unknown setting or a value out of range.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 10}  # noqa: RUF012  # as in gymnasium

    def __init__(
        self,
        config: SimulationConfig | Mapping[str, Any] | None = None,
        *,
        background: Any = "min",
        reward: str = "hop",
        illegal_action: str = "remap",
        render_mode: str | None = None,
        mask_in: str = "both",
        flat_observation: bool = False,
        **settings: Any,
    ) -> None:
        self._pays_hops = check_choice("reward", reward, _REWARDS) == "hop"
        self._raises = check_choice("illegal_action", illegal_action, ILLEGAL_ACTIONS) == "raise"
        if "transitions" in settings:
            raise config_error(
                "transitions", settings["transitions"], "cannot be set: this environment needs them"
            )
        self._background: Background = make_background(background)
        options = {"feedback": self._background.hears} | settings | {"transitions": True, "reward": "hop"}
        self._env = make_core(
            view_config(config),
            self._background.chooses_env,
            options,
            functools.partial(PacketEnv, background=self._background),
        )
        self._background.check(self._env)
        if not self._env.num_actions:
            topology = self._env.config.topology
            raise config_error("topology", topology, "must have routers with a choice of outputs")
        self._renderer = Renderer(self._env.config, render_mode)
        self.render_mode = render_mode

        self._form = Form(mask_in, flat_observation, self._env.layout, self._env.num_actions)
        self.observation_space = self._form.space()
        self.action_space = gymnasium.spaces.Discrete(self._env.num_actions)
        self._batch: DecisionBatch | None = None  # None: there is no network to go on with
        self._row = -1  # of the tagged packet in the batch; below 0: no episode
        self._started = False
        self._illegal = 0
        self._remapping = Remapping()
        self._first_ns = 0.0  # when the tagged packet asked first
        self._shown: Observation = {}
        self._packet: dict[str, int] = {}
        self._created_ns = 0.0

    @property
    def core(self) -> BatchedRoutingEnv:
        """The batched environment underneath, for metrics, layout and ``trace_hash()``. Stepping it breaks this
        view.
        """
        return self._env

    @property
    def decision(self) -> DecisionBatch:
        """What the tagged packet asks, as a batch of one row: for policies that act on batches. Valid until ``step``.

        Raises:
            StateError: Before ``reset``, or after the end of the episode.
        """
        with self._one_thread:
            if self._batch is None or self._row < 0:
                raise StateError("decision: no packet asks; call reset()")
            return self._batch.rows(slice(self._row, self._row + 1))

    @alone
    def set_background(self, background: Any) -> None:
        """From now on another policy answers for the other packets: a copy of the learner as it is now, for example.

        Args:
            background: As for the constructor, for the same scope and action mode.

        Raises:
            ConfigError: If it cannot answer the batches of this environment; the present one stays.
        """
        chosen = make_background(background)
        chosen.check(self._env)
        self._env.set_background(chosen)
        self._background = chosen
        self._recipe[1]["background"] = background  # copies have it too

    @alone
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Choose the next packet that asks its source router, at random among those that ask at the same time.

        Args:
            seed: Given: a new network with this seed. None: go on in the same network; in a new one, with the next
                seed, when its time is over.
            options: Given: a new network, in which these are different: ``traffic``, ``load``, ``seed``. They hold as
                long as this network does. None: nothing is different.

        Returns:
            What the packet's source router sees, and info.

        Raises:
            ConfigError: For an option or an impossible seed; or if no packet asks in the whole simulated time.
            DeadlockError: If nothing moved for ``watchdog_ns``.
        """
        (changes,) = check_changes(options)
        if seed is not None:
            seed = check_integer("seed", seed, 0, MAX_SEED)
        first = not self._started
        super().reset(seed=self._env.config.seed if seed is None and self._np_random is None else seed)
        fresh = first or bool(changes) or seed is not None or self._batch is None
        if fresh:
            self._rebuild(seed, changes)
        self._row = -1
        self._started = True
        self._tag(fresh)
        self._illegal = 0
        return self._copy_of_shown(), self._info()

    @alone
    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Answer for the tagged packet, and run until it asks again, is delivered, or the time is over.

        Args:
            action: An integer in [0, num_actions).

        Returns:
            The next observation (zeros after delivery, the last one again at the end of the time), reward, whether the
            packet was delivered, whether the time is over, info; after delivery with the packet's ``latency_ns``, and
            at the end of the episode with ``metrics``: what its network has measured so far, of all packets.

        Raises:
            IllegalActionError: For what is no action, and with ``illegal_action="raise"`` for an action that the mask
                forbids; nothing has happened. Also if the background policy answers with one.
            StateError: Before ``reset``, after the end of the episode, or after a step that was broken off.
            DeadlockError: If nothing moved for ``watchdog_ns``.
        """
        if not self._started:
            raise self._not_begun("step()")
        batch, row = self._batch, self._row
        if batch is None or row < 0:
            raise StateError("step(): the episode is over; call reset()")
        chosen, illegal = self._legal(batch, row, action)
        answers = self._answers(batch)
        answers[row] = chosen
        decision, asked_ns = int(batch.decision_ids[row]), float(batch.time_ns[row])
        while True:
            batch = self._advance(answers)
            self._row = -1  # not asked now
            completed = self._env.transitions()
            (found,) = np.nonzero(completed.decision_ids == decision)
            if len(found) or self._env.done:
                break
            answers = self._answers(batch)
        self._illegal += illegal
        if not len(found):  # out of time on its way
            last = self._end_episode()
            return self._copy_of_shown(), 0.0, False, True, self._info() | last
        leg = int(found[0])
        delivered = bool(completed.done[leg])
        reward = float(completed.rewards[leg]) if self._pays_hops else 0.0
        if delivered:
            end_ns = asked_ns + float(completed.latency_ns[leg])
            if not self._pays_hops:
                reward = -(end_ns - self._first_ns) / self._env.options.reward_scale_ns
            last = self._end_episode()
            self._shown = self._nothing()
            return (
                self._copy_of_shown(),
                reward,
                True,
                False,
                self._info() | {"latency_ns": end_ns - self._created_ns} | last,
            )
        self._show(batch, int(np.flatnonzero(batch.decision_ids == completed.next_decision_ids[leg])[0]))
        return self._copy_of_shown(), reward, False, False, self._info()

    @alone
    def action_masks(self) -> BoolArray:
        """(num_actions,) bool, the legal actions; sb3-contrib asks for it.

        Raises:
            StateError: Before ``reset``.
        """
        if not self._started:
            raise self._not_begun("action_masks()")
        return self._shown["action_mask"].astype(np.bool_)

    @alone
    def render(self) -> Any:
        """A frame of the network as ``render_mode`` says: a string, an image, or None after printing it.

        Raises:
            StateError: Before ``reset``, or without a ``render_mode``.
        """
        if not self._started:
            raise self._not_begun("render()")
        return self._renderer.render(self._env.metrics(), self._env.time_ns)

    @alone
    def close(self) -> None:
        """Forget the network; ``reset`` makes a new one."""
        self._batch = None
        self._row = -1

    def _rebuild(self, seed: int | None, changes: dict[str, Any]) -> None:
        """A new network, run to its first decisions."""
        self._batch = None
        self._batch = self._env.reset(seed=seed, options=changes)
        self._renderer.reset()

    def _answers(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """The background's to a batch, or room for them where the core has them."""
        return np.zeros(len(batch), np.int64) if self._env.inside else self._background.act(batch)

    def _advance(self, answers: npt.NDArray[np.int64] | None) -> DecisionBatch:
        """Answer the batch; with None the core's background does, which then seeks another packet."""
        try:
            self._batch = self._env.seek() if answers is None else self._env.step(answers)
        except IllegalActionError:
            raise  # of the background policy: nothing has changed
        except BaseException:  # Ctrl-C, or a deadlock: this network has come to its end
            self._batch = None
            raise
        return self._batch

    def _tag(self, fresh: bool) -> None:
        """Choose among the next packets that ask their source routers.

        Args:
            fresh: Whether that may be those of the present batch, the first one of a network. Of a later one the
                background has answered for all but the packet of the last episode.
        """
        rebuilt = False
        while True:
            assert self._batch is not None
            rows = np.flatnonzero(fresh & (self._batch.packets["hops"] == 0))
            if len(rows):
                break
            fresh = True
            if not self._env.done:
                self._advance(None if self._env.inside else self._background.act(self._batch))
                self._env.transitions()  # nobody's: they would pile up
            elif rebuilt:
                raise config_error(
                    "duration_ns",
                    self._env.options.duration_ns,
                    "is too short: no packet asks its source router in it",
                )
            else:
                rebuilt = True
                self._rebuild(None, {})
        row = int(rows[self.np_random.integers(len(rows))])
        if self._env.inside:
            self._batch, row = self._env.follow(row), 0
        packet = self._batch.packets[row]
        self._packet = {name: int(packet[name]) for name in ("source_host", "destination_host", "number")}
        self._created_ns = float(packet["created_ns"])
        self._first_ns = float(self._batch.time_ns[row])
        self._show(self._batch, row)

    def _show(self, batch: DecisionBatch, row: int) -> None:
        self._row = row
        self._shown = {
            "observation": batch.obs[row].copy(),
            "action_mask": batch.mask[row].astype(np.int8),
        }

    def _nothing(self) -> Observation:
        """What is seen after the delivery; every action is allowed, as none follows."""
        return {
            "observation": np.zeros(self._env.num_features, np.float32),
            "action_mask": np.ones(self._env.num_actions, np.int8),
        }

    def _end_episode(self) -> dict[str, Any]:
        """What the last info says of the episode."""
        self._row = -1
        if self._env.done:
            self._batch = None
        return {"metrics": self._env.metrics()}

    def _copy_of_shown(self) -> Observation:
        copies = {name: values.copy() for name, values in self._shown.items()}
        shown: Observation = self._form.one(copies["observation"], copies["action_mask"])
        return shown

    def _seed_state(self) -> dict[str, Any]:
        return self._env._seed_state() | {"generator": copy.deepcopy(self._np_random)}

    def _go_on(self, seeds: dict[str, Any]) -> None:
        self._env._go_on(seeds)
        self._np_random = seeds["generator"]

    def _info(self) -> dict[str, Any]:
        return {
            **self._packet,
            "time_ns": self._env.time_ns,
            "illegal_actions": self._illegal,
            **self._form.info(self._shown["action_mask"].copy()),
        }

    def _legal(self, batch: DecisionBatch, row: int, action: Any) -> tuple[int, bool]:
        """A legal action, and whether another one was given."""
        try:
            value = np.asarray(action)
        except Exception:  # whatever a user's class raises
            value = np.zeros(0)
        if value.ndim or value.dtype.kind not in "iu" or not 0 <= value < self._env.num_actions:
            allowed = f"must be an integer from 0 to {self._env.num_actions - 1}"
            raise IllegalActionError(f"action {shown(action)}: {allowed}; nothing has changed")
        chosen = int(value)
        if batch.mask[row, chosen]:
            return chosen, False
        legal = np.flatnonzero(batch.mask[row]).tolist()
        who = f"router {batch.agents[row]}, decision {batch.decision_ids[row]}"
        if self._raises:
            raise IllegalActionError(
                f"{who}: action {chosen} is illegal: must be one of {legal}; nothing has changed"
            )
        instead = int(self._env.minimal_action(batch)[row])
        self._remapping.warn(who, chosen, legal, instead, stacklevel=3)
        return instead, True
