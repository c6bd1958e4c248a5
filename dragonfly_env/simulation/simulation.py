"""``Simulation``: one run of the core, driven in steps of simulated time."""

from __future__ import annotations

import dataclasses
import math
import platform
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, SupportsIndex

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env._version import installed_version
from dragonfly_env.checks.values import (
    MAX_RUN_NS,
    MAX_TIME_PS,
    PS_PER_NS,
    check_integer,
    config_error,
    duration_ps_of,
    shown,
)
from dragonfly_env.errors import StateError
from dragonfly_env.metrics import Metrics
from dragonfly_env.metrics.counters import Counters, CounterWindows, most_windows
from dragonfly_env.metrics.series import check_series, limit_of_drain, series_end_ps
from dragonfly_env.metrics.stationarity import Mark, Marks
from dragonfly_env.policy import Policy, parse_policy
from dragonfly_env.simulation.config import RunState, SimulationConfig
from dragonfly_env.simulation.core_owner import CoreOwner, packet_log_of
from dragonfly_env.simulation.q_values import as_q_table
from dragonfly_env.simulation.snapshot import Snapshot, State, made_of

_KIND = "simulation"


class Simulation(CoreOwner):
    """A network, its traffic and its clock. One thread may use it at a time.

    The clock starts at 0 and statistics count from there until ``reset_statistics``.

    ``snapshot``, ``restore`` and ``fork`` copy its state; pickling and copying a simulation do the same.

    Args:
        config: Configuration to simulate.
        allowed_policies: Policies that ``set_policy`` and ``fork`` may choose later: names, or objects with
            parameters. The network gets the virtual channels and the trackers that all of them need. They must not
            learn, and must number virtual channels by the same rules.

    Raises:
        ConfigError: For what only the core can see, e.g. fewer VCs than the policy needs.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.2)
        >>> sim = dfe.Simulation(config)
        >>> sim.run(5_000)
        >>> sim.reset_statistics()
        >>> sim.run(5_000)
        >>> sim.time_ns
        10000.0
        >>> sim.metrics().latency_mean_ns > 0
        True
    """

    _STOPPED: ClassVar[str] = "this simulation stopped for good: {}"

    def __init__(self, config: SimulationConfig, *, allowed_policies: Iterable[Policy | str] = ()) -> None:
        self._make(RunState(config, tuple(parse_policy(policy) for policy in allowed_policies)))

    def _make(self, made: RunState) -> None:
        """Describe the parts at time 0."""
        self._made = made
        self._config = made.now
        self._closed_loop = made.config.ends
        self._ends = self._closed_loop or (self._config.traffic_object.is_trace and not made.config.jobs)
        self._jobs = tuple(job.info for job in made.config.placed_jobs())
        self._job_policies = [*made.config.policies, *made.job_policies]
        self._core = _core.Simulation(made.to_core())
        made.prepare(self._core)
        self._marks = Marks()
        self._window_ps = 0  # start of the window

    def __repr__(self) -> str:
        return f"<Simulation at {self.time_ns:g} ns of {self._config!r}>"

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """Pickled and copied as its snapshot."""
        return type(self).restore, (self.snapshot(),)

    def snapshot(self) -> Snapshot:
        """The state of this simulation, in memory: all packets, queues, tables and counts.

        ``Simulation.restore`` makes a simulation of it that goes on exactly as this one does; ``Snapshot.save`` writes
        it to a file.

        Raises:
            StateError: After a ``DeadlockError``.

        Example:
            >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72"))
            >>> sim.run(1_000)
            >>> snapshot = sim.snapshot()
            >>> again = dfe.Simulation.restore(snapshot)
            >>> sim.run(1_000)
            >>> again.run(1_000)
            >>> again.trace_hash() == sim.trace_hash()
            True
        """
        with self._marks_broken():
            about = {"made": self._made, "marks": self._marks.to_list(), "window_ps": self._window_ps}
            return Snapshot(_KIND, self._core.time_ps / PS_PER_NS, about, self._core.save())

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Simulation:
        """A new simulation that goes on where the snapshot was taken, with the same history bit for bit.

        Args:
            snapshot: A snapshot of a simulation, from memory or a file; it can be used again.

        Raises:
            ConfigError: If the snapshot is of an environment.
        """
        return cls._loaded(*snapshot.require(_KIND))

    def fork(
        self,
        policy: Policy | str | None = None,
        seed: int | None = None,
        traffic: Any = None,
        *,
        load: float | None = None,
    ) -> Simulation:
        """An independent simulation that goes on from this moment, perhaps with something else.

        What is in the network and in source queues is the same. What the arguments name changes from here on; without
        any, both simulations have the same future.

        Args:
            policy: Decides from now on, as with ``set_policy``: it needs the virtual channels and trackers that the
                simulation was made with (``allowed_policies``). A policy that learns may only become the same with
                other parameters, and keeps its tables.
            seed: Seed of all random numbers from now on: arrivals, destinations and paths. Jobs stay where they are.
            traffic: Traffic of hosts without a program from now on. Times of a schedule count from time 0 of the run.
            load: With that traffic, or with the present one.

        Raises:
            ConfigError: For what cannot be simulated, or cannot change in the middle of a run: closed-loop traffic, and
                traces that prescribe routes.
            StateError: As ``snapshot``.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
            >>> warm = dfe.Simulation(config, allowed_policies=["ugal-n"])
            >>> warm.run(5_000)
            >>> for policy in ("min", "ugal-n"):
            ...     one = warm.fork(policy=policy)
            ...     one.reset_statistics()
            ...     one.run(5_000)
            >>> one.config.policy, one.time_ns
            ('ugal-n', 10000.0)
        """
        given = {"seed": seed, "traffic": traffic, "load": load}
        changes = {name: value for name, value in given.items() if value is not None}
        chosen = None if policy is None else parse_policy(policy)
        return self._loaded(*self.snapshot().require(_KIND), changes, chosen)

    @classmethod
    def _loaded(
        cls,
        about: Mapping[str, Any],
        state: State,
        changes: Mapping[str, Any] | None = None,
        policy: Policy | None = None,
    ) -> Simulation:
        """A simulation of a snapshot; perhaps with other settings from now on."""
        simulation = cls.__new__(cls)
        made = made_of(about["made"])
        simulation._make(made)
        simulation._core.load(state)
        other = made.changed(simulation._core.clock_ps, changes or {}).decided_by(policy)
        if other != made:
            simulation._make(other)
            simulation._core.load(state)
            if changes:
                simulation._core.resync_source()
        simulation._window_ps = about["window_ps"]
        simulation._marks.set(about["marks"])
        return simulation

    @property
    def config(self) -> SimulationConfig:
        """The configuration of the run."""
        return self._config

    @property
    def time_ns(self) -> float:
        """The simulated time."""
        return self._core.time_ps / PS_PER_NS

    @property
    def num_partitions(self) -> int:
        """The parts, of whole groups, that the core simulates independently for one global-link latency."""
        return self._core.num_partitions

    def run(self, duration_ns: float) -> None:
        """Advance the simulated time; ``run(a)`` and ``run(b)`` equal ``run(a + b)``. Releases the GIL.

        Ctrl-C stops it within a second with ``KeyboardInterrupt``; the time then lies between the two ends
        and the run may be continued.

        Args:
            duration_ns: 0 or more, a whole number of picoseconds.

        Raises:
            ConfigError: If the duration is negative, NaN, or finer than a picosecond; or if it is too long for a
                time series with so narrow bins.
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: After a ``DeadlockError``.
        """
        duration_ps = duration_ps_of("duration_ns", duration_ns)
        if self._core.time_ps + duration_ps > MAX_TIME_PS:
            raise config_error("duration_ns", duration_ns, f"the clock ends at {MAX_RUN_NS:g} ns")
        if (bin_ns := self._config.series_bin_ns) is not None:
            check_series(bin_ns, self.num_partitions, self._core.time_ps + duration_ps)
        with self._marks_broken():
            for piece_ps in self._marks.pieces(self._window_ps, self._core.time_ps, duration_ps):
                self._core.run(piece_ps)
                if not self._closed_loop and self._marks.is_due(self._window_ps, self._core.time_ps):
                    self._marks.note(Mark.of(self._core.totals()))  # counts for the halves of the window

    def run_to_completion(self, limit_ns: float | None = None) -> Metrics:
        """Run closed-loop traffic or jobs until every task has done its work and every message has arrived, or a trace
        until all its messages have been delivered.

        The time is then that of the last completion (of a trace: the next whole microsecond after it), however the run
        was cut into pieces, and ``metrics().makespan_ns`` says when it was. If the limit comes first the metrics are
        those of an unfinished run: ``makespan_ns`` is NaN and ``progress()`` below 1; the next call goes on. Complete
        already: nothing happens. Ctrl-C as in ``run``.

        Args:
            limit_ns: The longest time to advance, a whole number of picoseconds; None: as long as it takes.

        Returns:
            ``metrics()`` at the end.

        Raises:
            ConfigError: If the limit is negative, NaN, or finer than a picosecond; or if the run gets too long for a
                time series with so narrow bins.
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: If the traffic has no end; if the workload can never complete, because programs wait for what
                no rank sends (the message names the first), or it was stopped by ``drain``; after a ``DeadlockError``.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="all-to-all")
            >>> sim = dfe.Simulation(config)
            >>> metrics = sim.run_to_completion()
            >>> metrics.makespan_ns == sim.time_ns
            True
        """
        limit_ps = None if limit_ns is None else duration_ps_of("limit_ns", limit_ns)
        self._require_end("run_to_completion")
        now_ps = self._core.time_ps
        end_ps = MAX_TIME_PS if limit_ps is None else min(now_ps + limit_ps, MAX_TIME_PS)
        bin_ns = self._config.series_bin_ns
        kept_ps = end_ps if bin_ns is None else series_end_ps(bin_ns, self.num_partitions)
        with self._marks_broken():
            complete = self._core.run_to_completion(max(0, min(end_ps, kept_ps) - now_ps))
        if not complete and bin_ns is not None and kept_ps < end_ps:
            check_series(bin_ns, self.num_partitions, end_ps)
        return self.metrics()

    def progress(self) -> float:
        """The share of the bytes of the workload or the trace that is delivered, counted in whole packets: 0 to 1.

        Raises:
            StateError: If the traffic has no end.
        """
        self._require_end("progress")
        return self._core.progress

    def _require_end(self, call: str) -> None:
        if not self._ends and self._config.jobs:
            raise StateError(f"{call}(): all jobs are endless; use run()")
        if not self._ends:
            spec = self._config.traffic_object.spec
            raise StateError(f"{call}(): traffic {shown(spec)} is open loop and has no end; use run()")

    def drain(self, max_ns: float | None = None) -> bool:
        """Stop all generators for good and run until the last packet is delivered. Programs of closed-loop traffic are
        told nothing more: what they gave to their source queues is delivered, and the workload stays unfinished.

        Args:
            max_ns: The longest time to advance; None: until empty (or the watchdog fires).

        Returns:
            Whether the network and all source queues are empty now.

        Raises:
            ConfigError: If ``max_ns`` is negative, NaN, or finer than a picosecond; or if it comes to a time that is
                too long for a time series with so narrow bins.
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: After a ``DeadlockError``.
        """
        limit_ps = MAX_TIME_PS if max_ns is None else duration_ps_of("max_ns", max_ns)
        limit_ps = min(limit_ps, MAX_TIME_PS - self._core.time_ps)
        if self._config.series_bin_ns is None:
            return self._drain(limit_ps)
        series_end_ps, error = limit_of_drain(self._config.series_bin_ns, self.num_partitions)
        series_ps = series_end_ps - self._core.time_ps
        if not (empty := self._drain(min(limit_ps, series_ps))) and series_ps < limit_ps:
            raise error
        return empty

    def _drain(self, limit_ps: int) -> bool:
        with self._marks_broken():
            return self._core.drain(limit_ps)

    def set_policy(self, policy: Policy | str) -> None:
        """Let another policy decide from now on; ``config`` then names it. What was decided stays decided.

        Args:
            policy: A name, or an object with parameters, that needs no other paths and no other trackers than the
                policies that the simulation was made with (``config.policy`` and ``allowed_policies``), and learns
                nothing.

        Raises:
            ConfigError: For what is no policy, or needs other paths or trackers (virtual channels were given to
                what the first policies needed); nothing has changed.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", policy="ugal-n")
            >>> sim = dfe.Simulation(config)
            >>> sim.set_policy("ugal-n:bias_packets=5")
            >>> sim.config.policy
            Policy('ugal-n', {'bias_packets': 5.0})
        """
        config = self._config.replace(policy=policy)
        self._core.set_policy(config.policy_object.to_core())
        self._config = config
        self._made = dataclasses.replace(self._made, policy=config.policy_object)

    def set_job_policy(
        self, job: int, policy: Policy | str | None, all_to_all_policy: Policy | str | None = None
    ) -> None:
        """Let other policies route what a job sends from now on: what is still in the source queues of its hosts, too.
        What is in the network stays with the policy that it had; ``config`` goes on naming the first ones.

        Args:
            job: Index into ``config.placed_jobs()``.
            policy: Policy of its packets: a name, or an object; None: the run's. It must share the rules for
                virtual channels with the policies that the simulation was made with and need no other paths and no
                other trackers than all of those together; and it must learn nothing.
            all_to_all_policy: Policy of the packets of its all-to-all operations; None: as ``policy``.

        Raises:
            ConfigError: For an unknown job, what is no policy, or one that is not possible here; nothing has changed.

        Example:
            >>> jobs = [dfe.Job("milc:scale=0.02", hosts=8, policy="ad0")]
            >>> config = dfe.SimulationConfig(topology="theta-m8", policy="ad0", jobs=jobs)
            >>> sim = dfe.Simulation(config)
            >>> sim.set_job_policy(0, "ad3")
        """
        if not self._jobs:
            raise config_error("job", job, "there are no jobs in this run")
        index = check_integer("job", job, 0, len(self._jobs) - 1)
        chosen = [None if given is None else parse_policy(given) for given in (policy, all_to_all_policy)]
        usual = self._number_of("policy", chosen[0])
        all_to_all = usual if chosen[1] is None else self._number_of("all_to_all_policy", chosen[1])
        self._core.set_job_policies(index, (usual, all_to_all))

    def _number_of(self, field: str, policy: Policy | None) -> int:
        if policy is None:
            return 0
        # Jobs never share number 0, the run's policy, even if equal: `set_policy` may replace it.
        if policy in self._job_policies[1:]:
            return self._job_policies.index(policy, 1)
        number = self._core.add_policy(field, policy.to_core())
        self._job_policies.append(policy)
        self._made = dataclasses.replace(self._made, job_policies=(*self._made.job_policies, policy))
        return number

    def q_table(self) -> npt.NDArray[np.float32]:
        """The tables of a policy that learns (``q-routing``, ``q-adaptive``), in ns.

        Returns:
            (m, rows, ports): router, destination (see the policy's class), port between routers (0 is the first
            local port). Infinite: the port is closed, or connected to nothing. A read-only view of the core's memory,
            without a copy: it changes while the simulation runs.

        Raises:
            StateError: If the policy has no tables.
        """
        table = self._core.q_table()
        if table is None:
            raise StateError(f"q_table(): policy {self._config.policy_object.name!r} has no tables")
        return table

    def load_q_table(self, values: npt.ArrayLike) -> None:
        """Replace the tables, e.g. by those of an earlier run.

        Args:
            values: (m, rows, ports) as ``q_table()`` returns them, in any real type; rounded to float32. Infinity
                closes a port: it is never chosen while another one of the row is finite, and learning never opens
                it. Values where no link is connected do not matter.

        Raises:
            ConfigError: If the shape is another, or a value where a link is connected is NaN or minus infinity (the
                message has its index), or too large for float32.
            StateError: If the policy has no tables.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", policy="q-adaptive")
            >>> learned, fresh = dfe.Simulation(config), dfe.Simulation(config)
            >>> learned.run(5_000)
            >>> fresh.load_q_table(learned.q_table())
        """
        shape = self.q_table().shape
        table = as_q_table(values, shape, self._config.topology)
        self._core.load_q_table(table)

    def reset_statistics(self) -> None:
        """Forget what was counted so far: the end of the warm-up. Packets in the network stay there.

        Example:
            >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72"))
            >>> sim.run(1_000)
            >>> sim.reset_statistics()
            >>> sim.metrics().packets_delivered
            0
        """
        self._core.reset_statistics()
        self._marks.clear()
        self._window_ps = self._core.time_ps

    def metrics(self) -> Metrics:
        """Measurements since the last ``reset_statistics``: a snapshot that later runs do not change."""
        config, middle = self._config, self._marks.middle(self._window_ps, self._core.time_ps)
        counted = self._core.statistics()
        return Metrics.from_statistics(
            counted, config.topology, config.network, middle, self._jobs, config.arrivals
        )

    def counters(self) -> Counters:
        """Counters of ports, hosts and jobs since the last ``reset_statistics``: a small part of ``metrics()``, to be
        read often. ``later.since(earlier)`` is what happened between two readings.

        Example:
            >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72"))
            >>> sim.run(1_000)
            >>> earlier = sim.counters()
            >>> sim.run(500)
            >>> sim.counters().since(earlier).duration_ns
            500.0
        """
        counted = self._core.counters()
        return Counters.from_statistics(counted, self._config.topology, self._config.network, self._jobs)

    def run_in_windows(self, window_ns: float, duration_ns: float | None = None) -> CounterWindows:
        """Advance the simulated time and read the counters again and again; the run is the same as without that.

        Args:
            window_ns: The time between two readings, a whole number of picoseconds above 0.
            duration_ns: As for ``run``; None: as ``run_to_completion``, to the end of closed-loop traffic or jobs. The
                last window is shorter if need be.

        Returns:
            What was counted in each window.

        Raises:
            ConfigError: If a time is out of range, or there would be too many windows to keep in memory.
            DeadlockError: If nothing moved for ``watchdog_ns``.
            StateError: As ``run`` or ``run_to_completion``.

        Example:
            >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72"))
            >>> windows = sim.run_in_windows(500, duration_ns=2_000)
            >>> len(windows), windows.time_ns
            (4, array([   0.,  500., 1000., 1500.]))
        """
        window_ps = duration_ps_of("window_ns", window_ns, above_0=True)
        left_ps = None if duration_ns is None else duration_ps_of("duration_ns", duration_ns)
        readings = [self.counters()]
        most = most_windows(readings[0])
        too_many = f"must be wider: of a system of this size {most} windows can be kept"
        if left_ps is not None and left_ps > most * window_ps:
            raise config_error("window_ns", window_ns, too_many)
        complete = False
        while not complete if left_ps is None else left_ps > 0:
            if len(readings) > most:
                raise config_error("window_ns", window_ns, too_many)
            if left_ps is None:
                complete = not math.isnan(self.run_to_completion(window_ps / PS_PER_NS).makespan_ns)
            else:
                step_ps = min(window_ps, left_ps)
                self.run(step_ps / PS_PER_NS)
                left_ps -= step_ps
            reading = self.counters()
            if reading.end_ps > readings[-1].end_ps:
                readings.append(reading)
        about = {
            "package_version": installed_version(),
            "platform": platform.platform(),
            "configuration": self._config.to_dict(),
        }
        return CounterWindows(readings, about)

    def trace_hash(self) -> int:
        """A 64-bit hash over every delivery since time 0; equal hashes mean equal histories."""
        return self._core.trace_hash()

    def packet_log(self) -> dict[str, npt.NDArray[Any]]:
        """Take the log: every packet delivered since ``reset_statistics`` or the last call, by time of
        delivery.

        Returns:
            Columns of n packets: ``src``, ``dst`` (hosts), ``number`` (of the packet at its source, from 0),
            ``created_ns``, ``injected_ns`` (left the source queue), ``delivered_ns``, ``hops``,
            ``minimal``, ``path_kind`` (an index into ``dragonfly_env.simulation.PATH_KINDS``: minimal, or the last
            kind of non-minimal path that the packet was sent on); and their routes one after the other in ``routers``,
            where packet i has ``routers[route_offsets[i]:route_offsets[i+1]]``. For a trace also ``message``, the row
            of the packet's message, and ``message_packets``, the packets of this message; not where messages are lost,
            next to jobs, and after ``fork`` with other traffic.

        Raises:
            StateError: If the configuration did not set ``packet_log``.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", packet_log=True)
            >>> sim = dfe.Simulation(config)
            >>> sim.run(2_000)
            >>> log = sim.packet_log()
            >>> len(log["hops"]) == sim.metrics().packets_delivered
            True
        """
        return packet_log_of(self._core, self._config, changed=bool(self._made.changes))

    def check_invariants(self) -> None:
        """Check the conservation of packets and credits everywhere; for tests.

        Raises:
            RuntimeError: With a report, if something is lost or invented.
        """
        self._core.check_invariants()
