"""``dragonfly_env/PacketRouting-v0``: one packet's journey is one episode.

The agent travels with a tagged packet and decides for it at every router that must; the other packets follow a
background policy, which may be a frozen copy of the learner. The next episode goes on in the same network with another
packet.

======================  ====================================================================================
Action space            ``Discrete(num_actions)``: ports, or with ``action="path"`` candidate paths
Observation space       ``Dict(observation=Box float32, action_mask=MultiBinary)``; the mask is in
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

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env.batch_policy import AN_OBJECT
from dragonfly_env.checks.values import MAX_SEED, check_choice, check_integer, config_error, shown
from dragonfly_env.decisions.actions import as_index
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs._scenarios import check_changes
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.defaults import view_config
from dragonfly_env.envs.options import EnvOptions, needed_options
from dragonfly_env.envs.render import RENDER_MODES
from dragonfly_env.envs.views import CoreView, Form
from dragonfly_env.errors import ConfigError, IllegalActionError, StateError
from dragonfly_env.policies import Policy as BuiltIn
from dragonfly_env.policies import make_policy
from dragonfly_env.simulation.config import Made, SimulationConfig

__all__ = ["PacketRouting"]

Observation = dict[str, npt.NDArray[Any]]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

_REWARDS = ("hop", "delivery")
_NEEDS = ("scope", "action")
# The decisions of a policy and how its random numbers are drawn. The core's policy draws for itself: it decides the
# same as the reference implementation's if both draw alike.
_ASK_ONCE = ("source", "source-all", "source-around")
_DRAWN = ("minimal_candidates", "nonminimal_candidates", "gateways", "avoid_destination_group")


class PacketRouting(CoreView, gymnasium.Env[Any, np.int64]):
    """One tagged packet is the agent's, all others follow a background policy.

    Args:
        config: What is simulated, or a mapping of its fields; None: 72 hosts, ``adv+1`` at a load of 0.35. Its policy
            routes the warm-up of the network, its seed is that of the first one.
        background: What decides for all other packets: ``"min"`` (the minimal action); the name of another policy; any
            object with ``act(batch)``; or a model of Stable-Baselines3 that was trained here (what it chooses against
            the mask becomes the minimal action). If it says which ``scope`` and ``action`` it needs, these are the
            environment's unless they are set. See ``set_background`` for frozen copies of the learner.
        reward: ``"hop"`` or ``"delivery"``.
        illegal_action: ``"remap"``: the minimal action is taken instead and counted in ``info["illegal_actions"]``; the
            first one is warned about (``IllegalActionWarning``). ``"raise"``: ``IllegalActionError``, and nothing has
            happened.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` (prints the text) or None.
        mask_in: Where the mask is: ``"both"``, ``"observation"`` or ``"info"``. With ``"info"`` an observation is
            the features alone, a ``Box``.
        flat_observation: Observations are one ``Box``: the features, then (unless ``mask_in="info"``) the mask.
        **settings: Fields of ``SimulationConfig``, which replace those of ``config``, and options of
            ``BatchedRoutingEnv``: ``scope``, ``action``, ``features``, ``duration_ns`` (after so much simulated time a
            new network is made), ``warmup_ns``, ...

    Raises:
        ConfigError: For an unknown setting or a value out of range.

    Example:
        >>> import gymnasium
        >>> env = gymnasium.make("dragonfly_env/PacketRouting-v0", duration_ns=5_000)
        >>> seen, info = env.reset(seed=1)
        >>> action = int(info["action_mask"].argmax())
        >>> seen, reward, terminated, truncated, info = env.step(action)
        >>> reward < 0
        True
    """

    _env: PacketEnv
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
        if "transitions" in settings:
            raise config_error(
                "transitions", settings["transitions"], "cannot be set: this environment needs them"
            )
        self._background: Background = make_background(background)
        options = {"feedback": self._background.hears} | settings | {"transitions": True, "reward": "hop"}
        self._open_core(
            view_config(config),
            options,
            for_policy=self._background.chooses_env,
            illegal_action=illegal_action,
            render_mode=render_mode,
            make=functools.partial(PacketEnv, background=self._background),
        )
        self._background.check(self._env)
        if not self._env.num_actions:
            topology = self._env.config.topology
            raise config_error("topology", topology, "must have routers with a choice of outputs")
        self._form = Form(mask_in, flat_observation, self._env.layout, self._env.num_actions)
        self.observation_space = self._form.space()
        self.action_space = gymnasium.spaces.Discrete(self._env.num_actions)
        self._batch: DecisionBatch | None = None  # None: there is no network to go on with
        self._row = -1  # of the tagged packet in the batch; below 0: no episode
        self._started = False
        self._illegal = 0
        self._first_ns = 0.0  # when the tagged packet asked first
        self._shown: Observation = {}
        self._packet: dict[str, int] = {}
        self._created_ns = 0.0

    @property
    def decision(self) -> DecisionBatch:
        """The decision about the tagged packet, as a batch of one row: for policies that act on batches. Valid until
        ``step``.

        Raises:
            StateError: Before ``reset``, or after the end of the episode.
        """
        if self._batch is None or self._row < 0:
            raise StateError("decision: no packet waits for one; call reset()")
        return self._batch.rows(slice(self._row, self._row + 1))

    def set_background(self, background: Any) -> None:
        """From now on another policy decides for the other packets: a copy of the learner as it is now, for example.

        Args:
            background: As for the constructor, for the same scope and action mode.

        Raises:
            ConfigError: If it cannot decide the batches of this environment; the present one stays.

        Example:
            >>> from dragonfly_env.envs.packet import PacketRouting
            >>> env = PacketRouting(background="min")
            >>> env.set_background("min")
        """
        chosen = make_background(background)
        chosen.check(self._env)
        self._env.set_background(chosen)
        self._background = chosen

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Choose the next packet that waits at its source router, at random among those of the same time.

        Args:
            seed: Given: a new network with this seed. None: go on in the same network; in a new one, with the next
                seed, when its time is over.
            options: Given: a new network, in which these are different: ``traffic``, ``load``, ``seed``. They hold as
                long as this network does. None: nothing is different.

        Returns:
            What the packet's source router sees, and info.

        Raises:
            ConfigError: For an option or an impossible seed; or if there is no decision in the whole simulated time.
            DeadlockError: If nothing moved for ``watchdog_ns``.

        Example:
            >>> from dragonfly_env.envs.packet import PacketRouting
            >>> seen, info = PacketRouting().reset(seed=1, options={"load": 0.2})
            >>> sorted(seen)
            ['action_mask', 'observation']
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

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Decide for the tagged packet, and run until its next decision, until it is delivered, or the time is over.

        Args:
            action: An integer in [0, num_actions).

        Returns:
            The next observation (zeros after delivery, the last one again at the end of the time), reward, whether the
            packet was delivered, whether the time is over, info; after delivery with the packet's ``latency_ns``, and
            at the end of the episode with ``metrics``: what its network has measured so far, of all packets.

        Raises:
            IllegalActionError: For what is no action, and with ``illegal_action="raise"`` for an action that the mask
                forbids; nothing has happened. Also if the background policy chooses one.
            StateError: Before ``reset``, after the end of the episode, or after a step that was broken off.
            DeadlockError: If nothing moved for ``watchdog_ns``.

        Example:
            >>> from dragonfly_env.envs.packet import PacketRouting
            >>> env = PacketRouting(action="path", scope="source")
            >>> seen, info = env.reset(seed=1)
            >>> seen, reward, terminated, truncated, info = env.step(0)
            >>> terminated, info["latency_ns"] > 0
            (True, True)
        """
        self._check_open("step()")
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

    def action_masks(self) -> BoolArray:
        """(num_actions,) bool, the legal actions; sb3-contrib calls it.

        Raises:
            StateError: Before ``reset``.

        Example:
            >>> from dragonfly_env.envs.packet import PacketRouting
            >>> env = PacketRouting()
            >>> seen, info = env.reset(seed=1)
            >>> env.action_masks().shape == (env.action_space.n,)
            True
        """
        self._check_open("action_masks()")
        return self._shown["action_mask"].astype(np.bool_)

    def close(self) -> None:
        """Forget the network; ``reset`` makes a new one.

        Example:
            >>> from dragonfly_env.envs.packet import PacketRouting
            >>> PacketRouting().close()
        """
        self._batch = None
        self._row = -1

    def _check_open(self, call: str) -> None:
        if not self._started:
            raise StateError(f"{call}: call reset() first")

    def _rebuild(self, seed: int | None, changes: dict[str, Any]) -> None:
        """A new network, run to its first decisions."""
        self._batch = None
        self._batch = self._env.reset(seed=seed, options=changes)
        self._renderer.reset()

    def _answers(self, batch: DecisionBatch) -> npt.NDArray[np.int64]:
        """The background's to a batch, or room for them where the core has them."""
        return np.zeros(len(batch), np.int64) if self._env.inside else self._background.act(batch)

    def _advance(self, answers: npt.NDArray[np.int64] | None) -> DecisionBatch:
        """Give the actions of the batch; with None the core's background does, which then seeks another packet."""
        try:
            self._batch = self._env.seek() if answers is None else self._env.step(answers)
        except IllegalActionError:
            raise  # of the background policy: nothing has changed
        except BaseException:  # Ctrl-C, or a deadlock: this network has come to its end
            self._batch = None
            raise
        return self._batch

    def _tag(self, fresh: bool) -> None:
        """Choose among the next packets that wait at their source routers.

        Args:
            fresh: Whether that may be those of the present batch, the first one of a network. Of a later one the
                background has decided for all but the packet of the last episode.
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
                self._env.transitions()  # not used: they would pile up
            elif rebuilt:
                raise config_error(
                    "duration_ns",
                    self._env.options.duration_ns,
                    "is too short: no packet waits for a decision of its source router in it",
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

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_batch": self._batch is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._background.check(self._env)
        self._batch = self._env.pending if state["_batch"] else None

    def _info(self) -> dict[str, Any]:
        return {
            **self._packet,
            "time_ns": self._env.time_ns,
            "illegal_actions": self._illegal,
            **self._form.info(self._shown["action_mask"].copy()),
        }

    def _legal(self, batch: DecisionBatch, row: int, action: Any) -> tuple[int, bool]:
        """A legal action, and whether another one was given."""
        chosen = as_index(action, self._env.num_actions)
        if chosen is None:
            allowed = f"must be an integer from 0 to {self._env.num_actions - 1}"
            raise IllegalActionError(f"action {shown(action)}: {allowed}; nothing has changed")
        if batch.mask[row, chosen]:
            return chosen, False
        legal = np.flatnonzero(batch.mask[row]).tolist()
        who = f"router {batch.agents[row]}, decision {batch.decision_ids[row]}"
        instead = int(self._env.minimal_action(batch)[row])
        self._illegal_actions.found(who, chosen, legal, instead)
        return instead, True


class PacketEnv(BatchedRoutingEnv):
    """The batched environment under ``PacketRouting``.

    With a background policy of the core a batch shows either packets at their source router, one of which
    ``follow`` chooses, or the packet that was chosen. Otherwise it shows all, as the base class does.

    Args:
        config: As for the base class.
        background: What decides for the other packets.
        **options: Fields of ``EnvOptions``.
    """

    def __init__(self, config: SimulationConfig, *, background: Background, **options: Any) -> None:
        self._background = background
        self._in_core: _core.PolicyRecord | None = None
        self._inside = False
        super().__init__(config, **options)

    @property
    def inside(self) -> bool:
        """Whether the core decides for the other packets."""
        return self._inside

    def set_background(self, background: Background) -> None:
        """Replace the background policy. The new one decides in the core from the next network on, unless the present
        network has it as its policy already.
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
            self._core.ask_outside()
            self._inside = False

    def seek(self) -> DecisionBatch:
        """Leave all decisions to the background, and go on to packets that wait at their source routers."""
        self._require_running("seek")
        with self._marks_broken():
            self._batch = None
            self._core.seek()
        return self._take_batch()

    def follow(self, row: int) -> DecisionBatch:
        """Decide about the packet of this row of the batch only."""
        self._require_running("follow")
        self._core.follow(row)
        return self._take_batch()

    def _new_core(self, made: tuple[Made, ...]) -> _core.RoutingEnvironment:
        self._in_core = self._runs_in_core(made[0].config)
        self._inside = self._in_core is not None
        if not self._inside:
            self._require_reference(
                "would see other candidates, features or virtual channels here than in the core"
            )
        return super()._new_core(made)

    def _record(self, made: Made) -> dict[str, Any]:
        run = super()._record(made)
        return run if self._in_core is None else {**run, "background": self._in_core}

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

    def _runs_in_core(self, config: SimulationConfig) -> _core.PolicyRecord | None:
        """The background policy as the core takes it; None: it must decide from Python.

        That is where it learns, or is the user's own; and where what it is shown here is not what it would see in the
        core, so that its actions might differ.
        """
        policy, options = self._background.built_in, self._options
        if policy is None or policy.learns or options.feedback:
            return None
        if policy.name == "min":
            drawn = options.action == "path" and options.minimal_candidates > 1
            return None if drawn else policy.to_core()
        if options.warmup_ns > 0 and not self._warms_up_alike(config):
            return None
        needed = needed_options(policy, config.topology)
        usual = EnvOptions(**needed)
        here, there = (_as_seen(each, config) for each in (options, usual))
        if any(here[name] != there[name] for name in (*needed, *_DRAWN)):
            return None
        return policy.to_core()

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


class Background:
    """A policy that decides batches.

    Args:
        policy: Anything with ``act(batch)``; None: the minimal action.
    """

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self._answers = policy

    def __reduce__(self) -> tuple[Any, ...]:
        return Background, (
            self._policy,
        )  # an implementation for the copied environment is made by ``check``

    @property
    def chooses_env(self) -> Any:
        """The policy, if it says which environment it needs; None otherwise."""
        says = all(isinstance(getattr(self._policy, name, None), str) for name in _NEEDS)
        return self._policy if says else None

    @property
    def built_in(self) -> BuiltIn | None:
        """The policy, if it is one of the core's."""
        if self._policy is None:
            return make_policy("min")
        return self._policy if isinstance(self._policy, BuiltIn) else None

    @property
    def hears(self) -> bool:
        """Whether it needs the environment's feedback."""
        return isinstance(self._policy, BuiltIn) and self._policy.learns

    def check(self, env: BatchedRoutingEnv) -> None:
        """Whether it can decide the batches of an environment."""
        for name, given in zip(_NEEDS, (env.scope, env.action), strict=True):
            needed = getattr(self._policy, name, given)
            if needed != given:
                raise config_error(name, given, f"the background policy needs {name}={needed!r}")
        if isinstance(self._policy, BuiltIn):
            if self._policy.has_reference:  # the others decide in the core
                self._answers = self._policy.reference(env)
        elif hasattr(self._policy, "prepare"):
            self._policy.prepare(env)

    def act(self, batch: DecisionBatch) -> IntArray:
        """(N,) the actions, in an array that belongs to the caller."""
        if self._policy is None:
            return batch.minimal_actions()
        answers = np.asarray(self._answers.act(batch))
        if answers.shape != (len(batch),) or answers.dtype.kind not in "iu":
            raise IllegalActionError(
                f"the background policy chose {answers.dtype} of shape {answers.shape} instead of "
                f"{len(batch)} integers"
            )
        return answers.astype(np.int64)


class _Predicts:
    """A model of Stable-Baselines3 that was trained on ``PacketRouting``, as a policy that decides batches."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._vector = ""  # which form of flat observations it takes
        self._asks_masks = "action_masks" in inspect.signature(model.predict).parameters

    def prepare(self, env: BatchedRoutingEnv) -> None:
        space = self._model.observation_space
        shapes = {name: part.shape for name, part in getattr(space, "spaces", {}).items()}
        needed = {"observation": (env.num_features,), "action_mask": (env.num_actions,)}
        flat = {(env.num_features,): "features", (env.num_features + env.num_actions,): "both"}
        self._vector = "" if shapes else flat.get(space.shape, "")
        if shapes != needed and not self._vector:
            raise config_error(
                "background",
                type(self._model).__name__,
                f"sees {shapes or space}; here it would see {needed}",
            )

    def act(self, batch: DecisionBatch) -> IntArray:
        # Copies, as PyTorch cannot have arrays that are read only.
        masks = {"action_masks": batch.mask.copy()} if self._asks_masks else {}
        seen: Any = {"observation": batch.obs.copy(), "action_mask": batch.mask.astype(np.int8)}
        if self._vector == "features":
            seen = seen["observation"]
        elif self._vector:
            seen = np.concatenate([batch.obs, batch.mask.astype(np.float32)], axis=1)
        actions: IntArray = np.asarray(self._model.predict(seen, deterministic=True, **masks)[0], np.int64)
        legal = batch.mask[np.arange(len(batch)), actions]
        return np.where(legal, actions, batch.minimal_actions())


def make_background(policy: Any) -> Background:
    """The background policy that a setting names."""
    if isinstance(policy, str):
        made = make_policy(policy)
        return Background(None if made.name == "min" else made)
    if callable(getattr(policy, "act", None)):
        return Background(policy)
    if callable(getattr(policy, "predict", None)) and hasattr(policy, "observation_space"):
        return Background(_Predicts(policy))
    raise config_error(
        "background",
        policy,
        f"must be the name of a policy, such as 'ugal-n', {AN_OBJECT}, or a model with predict()",
    )
