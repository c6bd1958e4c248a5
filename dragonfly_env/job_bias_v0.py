"""PettingZoo environments in which every job chooses its routing mode, as ``MPICH_GNI_ROUTING_MODE`` does on Aries.

=====================  ===========================================================================================
Agents                 ``job_0`` ... : one per job of the configuration (those of a background mix are none)
Action space           ``Discrete(len(modes))``: the mode of the job's packets in the next interval
Observation space      ``Box (F,) float32``: the job's *local view* of the last interval, named by ``env.layout``
State                  ``Box (S,) float32``: the same counters of the whole machine (``env.state_layout``)
Rewards                ``reward="job"``: the job's progress in the interval, as the load that its hosts accepted;
                       ``"team"``: the load that the whole machine accepted, for everybody
End                    a job terminates when it is complete (endless ones never); all are truncated after
                       ``duration_ns``. The last ``info`` of a job has the ``metrics`` of the episode
=====================  ===========================================================================================

An observation has one 1 among ``mode_0_ad0`` ... (none after ``reset``); the job's reward as ``accepted_load``; for
each class of tiles of its routers ``.._flit_rate`` (flits received, as a share of what the links carry) and
``.._stalls_to_flits``; for each operation its share of the ranks' time (``wait_share`` ...; an operation counts where
it ends, so the share may exceed 1); and the mean time of its messages, in intervals. Figures without a value are 0.

Settings, the same for all three:

* ``config``, by position or by name: a ``SimulationConfig`` with jobs; None: MILC and HACC on 32 hosts each of
  ``theta-m8``, for ever. Its policies, and those of its jobs, route a warm-up. Any of its fields may be given or
  changed here. A job's ``all_to_all_policy``, if it has one, stays; otherwise the mode is for its all-to-all
  operations, too.
* ``modes``: policies to choose from, by name or as objects (default ``ad0`` ... ``ad3``). They must need no other paths
  than the policies of the configuration, and learn nothing.
* ``interval_ns`` (20,000) between two choices; ``duration_ns`` (400,000), a whole number of them; ``warmup_ns`` (0).
* ``reward``: ``"job"`` or ``"team"``.
* ``render_mode``: ``"rgb_array"``, ``"ansi"``, ``"human"`` (prints the text) or None.

A mode is that of packets that leave their source queue from then on. ``env.counters()`` has all counters of the last
interval, ``env.trace_hash()`` says whether two runs are the same; they are, for every number of threads.

``pettingzoo.make("parallel", job_bias_v0.ENV_ID, **settings)`` (or ``"aec"``) does the same. Environments can be
pickled and copied; a copy has settings and seeds, not the running episode.

Version history: v0, the first.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from dragonfly_env.envs.defaults import with_config
from dragonfly_env.envs.intervals import FloatArray
from dragonfly_env.envs.job_bias import AecJobBias, ParallelJobBias
from dragonfly_env.envs.registration import JOB_BIAS as ENV_ID
from dragonfly_env.envs.views import GivenConfig

__all__ = ["ENV_ID", "env", "parallel_env", "raw_env"]


def parallel_env(config: GivenConfig = None, /, **settings: Any) -> ParallelJobBias:
    """The parallel environment; the module's documentation lists the settings.

    Args:
        config: A ``SimulationConfig`` with jobs, a mapping of its fields, or None for MILC and HACC on
            ``theta-m8``.
        **settings: See the documentation of the module.

    Raises:
        ConfigError: For an unknown setting or an impossible value.

    Example:
        >>> from dragonfly_env import job_bias_v0
        >>> env = job_bias_v0.parallel_env(interval_ns=1_000, duration_ns=2_000)
        >>> env.possible_agents, [mode.name for mode in env.modes]
        (['job_0', 'job_1'], ['ad0', 'ad1', 'ad2', 'ad3'])
    """
    return ParallelJobBias(**with_config(config, settings))


def env(config: GivenConfig = None, /, **settings: Any) -> OrderEnforcingWrapper[str, FloatArray, int]:
    """The AEC environment, in PettingZoo's wrapper that enforces the order of calls.

    Args:
        config: A ``SimulationConfig`` with jobs, a mapping of its fields, or None for MILC and HACC on
            ``theta-m8``.
        **settings: See the documentation of the module.

    Raises:
        ConfigError: For an unknown setting or an impossible value.

    Example:
        >>> from dragonfly_env import job_bias_v0
        >>> env = job_bias_v0.env(interval_ns=1_000, duration_ns=2_000)
        >>> env.reset(seed=1)
        >>> env.agent_selection
        'job_0'
    """
    return OrderEnforcingWrapper(AecJobBias(**with_config(config, settings)))


def raw_env(config: GivenConfig = None, /, **settings: Any) -> AecJobBias:
    """The AEC environment without wrappers.

    Args:
        config: A ``SimulationConfig`` with jobs, a mapping of its fields, or None for MILC and HACC on
            ``theta-m8``.
        **settings: See the documentation of the module.

    Raises:
        ConfigError: For an unknown setting or an impossible value.

    Example:
        >>> from dragonfly_env import job_bias_v0
        >>> job_bias_v0.raw_env(reward="team").action_space("job_0")
        Discrete(4)
    """
    return AecJobBias(**with_config(config, settings))
