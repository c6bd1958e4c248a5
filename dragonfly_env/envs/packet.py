"""``dragonfly_env/PacketRouting-v0``: one packet's journey is one episode.

The agent travels with a tagged packet and decides for it at every router that must; a background policy of the core
decides for the other packets. The next episode goes on in the same network with another packet.

======================  ====================================================================================
Action space            ``Discrete(num_actions)``: ports, or with ``action="path"`` candidate paths
Observation space       ``Dict(observation=Box float32, action_mask=MultiBinary)``; the mask is in
                        ``info["action_mask"]`` and ``action_masks()`` too
Reward                  ``"hop"``: minus the time from the decision to the packet's next one, or to its delivery;
                        ``"delivery"``: at the end, minus the time from the first decision. The end of the simulated
                        time counts as the end of the journey. In units of ``reward_scale_ns``. The return of an
                        episode is the time of one packet, and ``info["decision_id"]`` names its decisions
Episode                 from the first decision at the packet's source router to its delivery (terminated), or to the
                        end of the simulated time (truncated)
======================  ====================================================================================

Version history: v0, the first one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import MAX_SEED, check_choice, check_integer, config_error, shown
from dragonfly_env.decisions.batch import DecisionBatch
from dragonfly_env.envs.batched import BatchedRoutingEnv
from dragonfly_env.envs.options import IllegalAction, needed_options
from dragonfly_env.envs.render import RENDER_MODES, Renderer
from dragonfly_env.envs.rounds import IllegalActions
from dragonfly_env.envs.scenarios import check_changes
from dragonfly_env.envs.views import ENV_OPTIONS, split_settings, view_config, with_seed
from dragonfly_env.errors import IllegalActionError, StateError
from dragonfly_env.policy import Policy, parse_policy
from dragonfly_env.simulation.config import RunState, SimulationConfig
from dragonfly_env.simulation.snapshot import Snapshot

__all__ = ["PacketRouting"]

Observation = dict[str, npt.NDArray[Any]]
BoolArray = npt.NDArray[np.bool_]

# Options of BatchedRoutingEnv that this view sets itself: it has its own rewards, and collects the tagged packet's
# transitions.
_OPTIONS = ENV_OPTIONS - {"reward", "transitions", "feedback", "max_uncollected_bytes"}


class PacketRouting(gymnasium.Env[Any, np.int64]):
    """A tagged packet is the agent's, all others follow a background policy.

    Args:
        config: Configuration, or a mapping of its fields; None: 72 hosts, ``adv+1`` at a load of 0.35. Its policy
            routes the warm-up of the network, its seed is that of the first one. If neither a mapping nor the settings
            have a seed, the seed is drawn from the operating system; a ``SimulationConfig`` always has a seed, by
            default 1.
        background: The policy of the core that decides for all other packets: a name, perhaps with parameters
            (``"ugal-n"``, ``"par:bias_packets=10"``), or a policy object. It may not learn. A network that you trained
            can be one: ``"mlp:weights=file.npz"``. The environment has the ``scope``, the ``action`` and the candidates
            that it needs; ``"min"`` works with any.
        reward: ``"hop"`` or ``"delivery"``.
        illegal_action: ``"remap"``: the minimal action is taken instead and counted in ``info["illegal_actions"]``; the
            first one is warned about (``IllegalActionWarning``). ``"raise"``: ``IllegalActionError``, and nothing has
            happened.
        render_mode: ``"ansi"``, ``"rgb_array"``, ``"human"`` (prints the text) or None.
        **settings: Fields of ``SimulationConfig``, which replace those of ``config``, and options of
            ``BatchedRoutingEnv``: ``scope``, ``action``, ``features``, ``duration_ns`` (after so much simulated time a
            new network is made), ``warmup_ns``, ...

    In worker processes that do not import the package, name it in the id:
    ``"dragonfly_env:dragonfly_env/PacketRouting-v0"``.

    Attributes:
        core: The batched environment underneath, for metrics, layout and ``trace_hash()``. Stepping it breaks this
            view.

    Raises:
        ConfigError: For an unknown setting, a value out of range, or a background policy that cannot be one here.

    Example:
        >>> import gymnasium
        >>> env = gymnasium.make("dragonfly_env/PacketRouting-v0", duration_ns=5_000)
        >>> seen, info = env.reset(seed=1)
        >>> action = int(info["action_mask"].argmax())
        >>> seen, reward, terminated, truncated, info = env.step(action)
        >>> reward < 0
        True
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 10}  # noqa: RUF012  # gymnasium has a dict, too

    def __init__(
        self,
        config: SimulationConfig | Mapping[str, Any] | None = None,
        *,
        background: str | Policy | Mapping[str, Any] = "min",
        reward: Literal["hop", "delivery"] = "hop",
        illegal_action: IllegalAction = "remap",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        fields, options = split_settings(settings, _OPTIONS)
        run = view_config(config).replace(**with_seed(config, fields))
        policy = _background_policy(background)
        if policy.name != "min":
            needed = needed_options(policy, run.topology)
            for name in ("scope", "action"):
                if options.get(name, needed[name]) != needed[name]:
                    raise config_error(
                        name, options[name], f"the background policy needs {name}={needed[name]!r}"
                    )
            options = needed | options
        self.core = PacketEnv(run, policy, **options)
        num_actions = self.core.num_actions
        if not num_actions:
            raise config_error("topology", run.topology, "must have routers with a choice of outputs")
        layout = self.core.layout
        self.observation_space = gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(layout.low, layout.high, dtype=np.float32),
                "action_mask": gymnasium.spaces.MultiBinary(num_actions),
            }
        )
        self.action_space = gymnasium.spaces.Discrete(num_actions)
        self.render_mode = render_mode
        self._renderer = Renderer(run, render_mode)
        self._illegal_actions = IllegalActions(illegal_action)
        self._rewards_hops = check_choice("reward", reward, ("hop", "delivery")) == "hop"
        self._runs = False  # whether there is a network to go on with
        self._waits = False  # whether the tagged packet waits for a decision: the only row of the batch
        self._seen: Observation = {}
        self._packet: dict[str, int] = {}
        self._place = (0, 0)  # routers of the tagged packet and of its destination
        self._created_ns = 0.0
        self._first_ns = 0.0  # time of the tagged packet's first decision
        self._illegal = 0

    @property
    def decision(self) -> DecisionBatch:
        """The decision about the tagged packet, as a batch of one row: for policies that act on batches. Valid until
        ``step``.

        Raises:
            StateError: Before ``reset``, or after the end of the episode.
        """
        if not self._waits:
            raise StateError("no packet waits for a decision; call reset()")
        return self.core.pending

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
            What the packet's source router sees, and info; ``info["seed"]`` is the seed that all episodes follow from.

        Raises:
            ConfigError: For an option or an impossible seed; or if there is no decision in the whole simulated time.
            DeadlockError: If nothing moved for ``watchdog_ns``.
        """
        (changes,) = check_changes(options)
        if seed is not None:
            seed = check_integer("seed", seed, 0, MAX_SEED)
        first = self.core.episode == 0
        super().reset(seed=self.core.seed if first and seed is None else seed)
        self._waits = False
        if seed is not None or changes or not self._runs:
            self._begin_network(seed, changes)
            self._tag_packet(fresh=True)
        else:
            self._tag_packet(fresh=False)
        self._illegal = 0
        return self._copy_of_seen(), {**self._info(), "seed": self.np_random_seed}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Decide for the tagged packet, and run until its next decision, until it is delivered, or the time is over.

        Args:
            action: An integer in [0, num_actions).

        Returns:
            The next observation (zeros after delivery, the last one again at the end of the time), reward, whether the
            packet was delivered, whether the time is over, info. At the end of the episode info has the packet's
            ``latency_ns`` (NaN if it was not delivered), and ``metrics``: what its network has measured so far, of all
            packets.

        Raises:
            IllegalActionError: For what is no action, and with ``illegal_action="raise"`` for an action that the mask
                forbids; nothing has happened.
            StateError: Before ``reset``, after the end of the episode, or after a step that was broken off.
            DeadlockError: If nothing moved for ``watchdog_ns``.
        """
        batch = self.decision
        self._take(batch, action)
        decision, decided_ns = batch.decision_ids[0], float(batch.time_ns[0])
        self._waits = False
        while True:
            batch = self._run(self.core.go_on)
            legs = self.core.transitions()
            (found,) = np.nonzero(legs.decision_ids == decision)
            if len(found) or self.core.done:
                break  # go on if only the end of an earlier packet's journey was reported
        delivered = bool(legs.done[found].any())
        leg_ns = float(legs.latency_ns[found[0]]) if len(found) else self.core.time_ns - decided_ns
        end_ns = decided_ns + leg_ns
        truncated = self.core.done and not delivered
        self._runs = not self.core.done
        if delivered:  # every action is allowed, as none follows
            self._seen = {name: np.zeros_like(values) for name, values in self._seen.items()}
            self._seen["action_mask"] += 1
            self._place = (self._place[1], self._place[1])
        elif not truncated:
            self._see(batch)
        info = self._info()
        if delivered or truncated:
            info["latency_ns"] = end_ns - self._created_ns if delivered else math.nan
            info["metrics"] = self.core.metrics()
        charged_ns = leg_ns if self._rewards_hops else (delivered or truncated) * (end_ns - self._first_ns)
        reward = -charged_ns / self.core.options.reward_scale_ns
        return self._copy_of_seen(), reward, delivered, truncated, info

    def action_masks(self) -> BoolArray:
        """(num_actions,) bool, the legal actions; sb3-contrib calls it.

        Raises:
            StateError: Before ``reset``.
        """
        self._check_begun("action_masks()")
        return self._seen["action_mask"].astype(np.bool_)

    def render(self) -> Any:
        """A frame: utilisation of every global link since the frame before, with the hottest named, and the routers of
        the tagged packet and of its destination.

        Returns:
            As ``render_mode`` says: a string for ``"ansi"``, (800, 1100, 3) uint8 for ``"rgb_array"``, None for
            ``"human"``, which prints the string.

        Raises:
            StateError: Before the first reset, or without a ``render_mode``.
        """
        self._check_begun("render()")
        return self._renderer.render(self.core.metrics(), self.core.time_ns, self._place)

    def _check_begun(self, call: str) -> None:
        if not self._seen:
            raise StateError(f"{call}: call reset() first")

    def _run(self, call: Callable[..., DecisionBatch], *args: Any) -> DecisionBatch:
        """Run the network; one that is interrupted, or stuck, has come to its end."""
        self._runs = False
        batch = call(*args)
        self._runs = True
        return batch

    def _begin_network(self, seed: int | None, changes: Mapping[str, Any]) -> None:
        self._run(self.core.reset, seed, changes)
        self._renderer.reset()

    def _tag_packet(self, fresh: bool) -> None:
        """Choose among the packets that wait at their source routers now (in a fresh network), or next."""
        rebuilt = False
        while not fresh or not len(self.core.pending):
            if not self.core.done:
                self._run(self.core.seek)
                self.core.transitions()  # drop the transitions of the packet before
            elif not rebuilt:
                self._begin_network(None, {})
                rebuilt = True
            else:
                raise config_error(
                    "duration_ns",
                    self.core.options.duration_ns,
                    "is too short: no packet waits for a decision of its source router in it",
                )
            fresh = True
        batch = self.core.follow(int(self.np_random.integers(len(self.core.pending))))
        packet = batch.packets[0]
        self._packet = {name: int(packet[name]) for name in ("source_host", "destination_host", "number")}
        self._created_ns, self._first_ns = float(packet["created_ns"]), float(batch.time_ns[0])
        self._see(batch)

    def _see(self, batch: DecisionBatch) -> None:
        self._waits = True
        self._place = (int(batch.agents[0]), int(batch.packets[0]["destination_router"]))
        self._seen = {"observation": batch.obs[0].copy(), "action_mask": batch.mask[0].astype(np.int8)}

    def _copy_of_seen(self) -> Observation:
        return {name: values.copy() for name, values in self._seen.items()}

    def _info(self) -> dict[str, Any]:
        return {
            **self._packet,
            "decision_id": int(self.core.pending.decision_ids[0]) if self._waits else -1,
            "time_ns": self.core.time_ns,
            "illegal_actions": self._illegal,
            "action_mask": self._seen["action_mask"].copy(),
        }

    def _take(self, batch: DecisionBatch, action: Any) -> None:
        """Take the action, or the minimal one in place of an illegal one."""
        chosen, count = np.asarray(action), self.core.num_actions
        if chosen.ndim or chosen.dtype.kind not in "iu" or not 0 <= chosen < count:
            allowed = f"must be an integer from 0 to {count - 1}"
            raise IllegalActionError(f"action {shown(action)}: {allowed}; nothing has changed")
        if self.core.take_action(0, int(chosen)):
            return
        self._illegal_actions.found(f"router {batch.agents[0]}", int(chosen), batch)
        self._illegal += 1


class PacketEnv(BatchedRoutingEnv):
    """The batched environment under ``PacketRouting``: a batch has either packets at their source routers, of which
    ``follow`` chooses one, or the packet that was chosen; the core decides for the others.
    """

    def __init__(self, config: SimulationConfig, background: Policy, **options: Any) -> None:
        self._background = background
        super().__init__(config, **options)

    def seek(self) -> DecisionBatch:
        """Leave all decisions to the background, and go on to packets that wait at their source routers."""
        self._require_running("seek")
        with self._marks_broken():
            self._batch = None
            self._core.seek()
        return self._take_batch()

    def follow(self, row: int) -> DecisionBatch:
        """Decide about the packet of this row of the batch only."""
        self._core.follow(row)
        return self._take_batch()

    def snapshot(self) -> Snapshot:
        """Refuse: a snapshot has no place for a background policy."""
        raise StateError("snapshot(): pickle or copy the PacketRouting environment instead")

    def _record(self, made: RunState) -> dict[str, Any]:
        return {**super()._record(made), "background": self._background.to_core()}


def _background_policy(given: object) -> Policy:
    if not isinstance(given, (str, Policy, Mapping)):
        allowed = "must be a policy of the core, such as 'ugal-n'; a trained network can be one: 'mlp:weights=file.npz'"
        raise config_error("background", given, allowed)
    policy = parse_policy(given)
    if policy.learns:
        raise config_error("background", policy.name, "must be a policy that does not learn")
    return policy
