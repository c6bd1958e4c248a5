"""The PettingZoo environments: every router of a Dragonfly network is an agent that forwards packets.

=====================  ===========================================================================================
Agents                 ``router_0`` ... : one per router
Action space           ``Discrete(A + 1)``: the A actions of the batched environment (with ``action="port"``: ports to
                       other routers, the first local one is 0; with ``action="path"``: candidate paths, the minimal
                       ones first), then ``idle``, the one legal action of a router without a pending packet
Observation space      ``Dict(observation=Box (F,) float32, action_mask=MultiBinary (A + 1,) int8)``; the mask is in
                       ``info["action_mask"]`` too. ``env.unwrapped.core.layout`` names the features. Without a pending
                       packet the observation is what the router saw last (zeros at first)
State                  ``Box (num_routers, S)``: ``BatchedRoutingEnv.state()``, for a central critic
Rewards                what the router was rewarded with since it acted last; see ``reward``
Infos                  ``decision_id`` of the decision that the router makes now, -1 for none; ``illegal_actions`` of
                       the episode so far; ``generated`` and ``delivered``: packets that the router's hosts generated,
                       and that were delivered from them, in the step. Not listed, but there by name: ``completed``, the
                       ``Outcomes`` of the router's decisions whose packet was delivered or handed on in the step, or
                       cut off by the end of the episode; ``action_mask``
End                    all agents are truncated when the time is up (or after ``max_cycles`` rounds); none terminates.
                       Then every ``info["metrics"]`` has what the episode measured in the agent's network
=====================  ===========================================================================================

``parallel_env`` goes round by round: every router with pending packets decides about its earliest (of several at the
same time, the one with the lowest decision id), the others idle, and time stops until all decisions of the batch
are made. ``env`` and ``raw_env`` (AEC) select only routers with a pending packet, in the same order. Each decision
shows the router as it was when the decision was raised, so the order of rounds and turns changes nothing in the
network.

A policy that takes batches, such as those of ``make_policy``, acts on ``env.round_batch``, the decisions of the present
round, or on ``env.selected_batch`` (AEC), the decision of the selected router: it then gives the run that it gives in
the core. ``env.core.pending`` is not that batch: it has the decisions of all rounds.

Settings, the same for all three:

* ``config``: a ``SimulationConfig``, or a mapping of its fields; None: 72 hosts, ``adv+1`` at a load of 0.35. Its
  policy routes the packets of a warm-up. Any of its fields may be given or changed here: ``topology="1056"``,
  ``traffic="uniform"``, ``load=0.4``, ``network="q-adaptive"``, ``policy="ugal-n"``, ``seed=7``, ... A list, or a
  function that makes one (see ``BatchedRoutingEnv``): networks next to each other, whose routers are numbered on from
  one to the next. If neither a mapping nor a setting has a
  seed, the seed is drawn from the operating system: ``env.unwrapped.core.seed``. A ``SimulationConfig`` always has a
  seed, by default 1.
* those of ``BatchedRoutingEnv``: ``scope``, ``action``, ``reward``, ``duration_ns`` (default 50,000), ``warmup_ns``
  (default 0), ``features``, ``nonminimal_kinds``, ``max_hops``, ``reward_scale_ns``, ... ``for_policy="ugal-n"`` sets
  scope, action and candidates as that policy needs them.
* ``illegal_action``: ``"remap"`` (default) sends the packet minimally and counts in ``info["illegal_actions"]``, per
  agent and episode; each environment warns of the first one (``dragonfly_env.errors.IllegalActionWarning``).
  ``"raise"`` raises ``IllegalActionError`` and changes nothing.
* ``max_cycles``: rounds after which the episode is truncated; None: only time ends it. Packets that are open then are
  not charged, as they are at the end of ``duration_ns``, which is what training should use.
* ``render_mode``: ``"rgb_array"``, ``"ansi"``, ``"human"`` (prints the text) or None.

Wrappers of SuperSuit and of the frameworks make other forms of observations. ``pettingzoo.make("parallel",
dragonfly_v0.ENV_ID, **settings)`` (or ``"aec"``) does the same as these functions.

``reset(options={"traffic": "adv+1", "load": 0.3, "seed": 5})`` changes the episode that begins; what is not named is as
the environment was made.

Environments can be pickled and copied, in the middle of an episode too.

Version history: v0, the first.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from dragonfly_env.envs.aec import AecRoutingEnv
from dragonfly_env.envs.parallel import ParallelRoutingEnv
from dragonfly_env.envs.views import GivenConfig, Observation
from dragonfly_env.registration import PETTINGZOO as ENV_ID

__all__ = ["ENV_ID", "env", "parallel_env", "raw_env"]


def parallel_env(config: GivenConfig = None, **settings: Any) -> ParallelRoutingEnv:
    """The parallel environment; the documentation of the module lists the settings.

    Example:
        >>> from dragonfly_env import dragonfly_v0
        >>> env = dragonfly_v0.parallel_env(topology="72", traffic="adv+1", load=0.3)
        >>> len(env.possible_agents)
        36
    """
    return ParallelRoutingEnv(config, **settings)


def env(config: GivenConfig = None, **settings: Any) -> OrderEnforcingWrapper[str, Observation, int]:
    """The AEC environment in PettingZoo's wrapper that enforces the order of calls; settings as for the module.

    Example:
        >>> from dragonfly_env import dragonfly_v0
        >>> env = dragonfly_v0.env(for_policy="ugal-n")
        >>> env.reset(seed=1)
        >>> env.agent_selection.startswith("router_")
        True
    """
    return OrderEnforcingWrapper(AecRoutingEnv(config, **settings))


def raw_env(config: GivenConfig = None, **settings: Any) -> AecRoutingEnv:
    """The AEC environment without wrappers; settings as for the module."""
    return AecRoutingEnv(config, **settings)
