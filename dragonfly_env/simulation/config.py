"""``SimulationConfig``: everything that determines a run, checked, and nothing else.

Two equal configurations give the same history bit for bit, with any ``threads``. A configuration goes to
plain dictionaries, JSON and TOML and back. ``RunState`` adds what has changed since a run began.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from dragonfly_env import _core
from dragonfly_env.checks.files import dump_toml, parse_json, parse_toml, read_toml
from dragonfly_env.checks.values import (
    MAX_SEED,
    check_load,
    check_mapping,
    config_error,
    ns_to_ps,
    parse_time,
    reading,
    split_settings,
)
from dragonfly_env.config.events import LinkEvent, check_events, parse_events
from dragonfly_env.config.failures import parse_failures
from dragonfly_env.config.groups import SETTINGS
from dragonfly_env.config.network import NetworkConfig, networks, read_field
from dragonfly_env.config.rows import (
    MACHINE,
    SYSTEM,
    TRAFFIC,
    Flag,
    Record,
    as_typed,
    boolean,
    choice,
    core_values,
    integer,
    record,
    setting,
    show_changes,
    time_flag,
    time_ns,
)
from dragonfly_env.config.systems import FIELDS, INSTEAD
from dragonfly_env.config.topology import Dragonfly, read_topology, topologies
from dragonfly_env.jobs.job import as_policy
from dragonfly_env.jobs.workload import (
    JobPolicies,
    PlacedJob,
    expand_jobs,
    job_source,
    parse_jobs,
    place_jobs,
)
from dragonfly_env.metrics.stationarity import Arrivals
from dragonfly_env.policy import Policy, parse_policy
from dragonfly_env.traffic import (
    ClosedLoop,
    DemandMatrix,
    NoTraffic,
    Pattern,
    Schedule,
    Trace,
    Traffic,
    parse_traffic,
    traffic_from_dict,
)
from dragonfly_env.traffic.base import check_programs
from dragonfly_env.traffic.demand import UNITS

FIRST_MESSAGE_NS = 1.0
"""Origin of periodic arrivals and of Bernoulli trials, as in the simulator of the HPDC'21 paper."""

EVENT_NOTICE_NS = 1_000.0
"""Usual time until routers know of the event of a link: notices from switch to switch (docs/network/failures.md)."""

_ROUND_TRIPS = 4

Injection: TypeAlias = Literal["auto", "periodic", "bernoulli", "poisson", "trace", "program"]
SourceQueueFull: TypeAlias = Literal["stall", "lose"]


UNBOUNDED = "unbounded"


def _read_queue(row: str, text: str) -> int | None:
    try:
        return None if text.strip() == UNBOUNDED else int(text)
    except ValueError:
        raise config_error(row, text, f"must be a number of packets or {UNBOUNDED}") from None


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class RunSettings(Record):
    """Settings that all runs of a scenario have in common: the system, how its hosts send, and what is recorded.

    The rows have the flags of the command line.
    """

    topology: Dragonfly = record(
        dataclasses.MISSING,
        Dragonfly,
        doc='The wiring; the name of a preset (``"1056"``, ``1056``, ``"theta"``) or a table of parameters is '
        "understood too.",
        flags=(
            Flag(
                "--topology -t",
                "A system, e.g. 72, theta or p=4,a=8,h=4.",
                SYSTEM,
                usual="1056",
                read=read_topology,
                decides=(*FIELDS, *INSTEAD, *SETTINGS),
                names_of_values=topologies,
            ),
            Flag(
                "--arrangement",
                "Wiring of the global ports.",
                SYSTEM,
                usual="palmtree",
                read=lambda row, text: {"arrangement": text.strip()},
                is_part=True,
                decides=("arrangement",),
                names_of_values=_core.arrangements,
            ),
            Flag(
                "--fail",
                "Dead links and routers, degraded links, e.g. global_links=0.02,seed=1.",
                SYSTEM,
                "SHARES",
                "none",
                read=lambda row, text: {"failed": parse_failures(text)},
                is_part=True,
                decides=("failed",),
            ),
        ),
    )
    network: NetworkConfig = record(
        NetworkConfig(),
        NetworkConfig,
        doc="Links, routers and buffers; a preset's name or a table of settings is understood too.",
        flags=(
            Flag(
                "--network -n",
                "Preset of links and routers, e.g. lia.",
                SYSTEM,
                usual="default",
                read=lambda row, text: {"preset": text.strip()},
                names_of_values=networks,
            ),
            Flag(
                "--set",
                "Fields of the network, e.g. global_latency_ns=200.",
                SYSTEM,
                "FIELD=VALUE",
                split=split_settings,
                read=read_field,
                is_part=True,
                decides=tuple(field.name for field in dataclasses.fields(NetworkConfig)),
                names_of_values=lambda: [f"{field.name}=" for field in dataclasses.fields(NetworkConfig)],
            ),
        ),
    )
    events: tuple[LinkEvent, ...] = setting(
        (),
        parse_events,
        "",
        "Links that fail or come back during the run (``LinkEvent``, its table or its text). Becomes a tuple in the "
        "order of time.",
        allowed="a list; in text 50us:17:9:down",
        flags=(
            Flag(
                "--event",
                "A link that fails or comes back, e.g. 50us:17:9:down.",
                SYSTEM,
                "TIME:ROUTER:PORT:down|up",
                "none",
                split=lambda text: text.split(","),
                read=as_typed,
            ),
        ),
    )
    event_notice_ns: float = time_ns(
        EVENT_NOTICE_NS,
        doc="Time from the event of a link until all routers know of it: what waits for a dead link is then routed "
        "again.",
        flags=(
            Flag(
                "--event-notice",
                "Time until routers know of an event.",
                SYSTEM,
                "TIME",
                "1us",
                read=parse_time,
            ),
        ),
    )
    demand_unit: str | None = choice(
        None,
        UNITS,
        optional=True,
        doc="Unit of a demand matrix as traffic; None: its rows are relative to the largest one, whose hosts offer "
        "the load. It becomes a part of the traffic (``DemandMatrix.demand_unit``) and None here.",
    )
    injection: Injection = choice(
        "auto",
        Injection,
        doc="Times at which hosts generate messages: at even intervals (``NetworkConfig.periodic_intervals``) and all "
        "in phase, by a trial per flit time, with exponential gaps, as a trace says, or as the programs of closed-loop "
        "traffic do. 'auto' becomes 'trace' for a trace, 'program' for closed-loop traffic and 'periodic' otherwise.",
        flags=(
            Flag(
                "--injection",
                "periodic, bernoulli or poisson.",
                TRAFFIC,
                usual="periodic",
                names_of_values=lambda: ("periodic", "bernoulli", "poisson"),
            ),
        ),
    )
    source_queue_packets: int | None = integer(
        None,
        1,
        2**31 - 1,
        unit="packets",
        optional=True,
        doc="Packets that the source queue of a host holds; None means unbounded.",
        core="source_queue_packets",
        flags=(
            Flag(
                "--source-queue",
                "Packets that a source queue holds.",
                TRAFFIC,
                "N",
                UNBOUNDED,
                read=_read_queue,
            ),
        ),
    )
    source_queue_full: SourceQueueFull | None = choice(
        None,
        SourceQueueFull,
        optional=True,
        doc="Behavior of a generator while the source queue is full: stop (it goes on at its first regular "
        "time with room; a message of a trace waits), or lose messages. None: stall for periodic and trace, "
        "lose for bernoulli and poisson. Closed-loop messages always wait.",
    )
    message_packets: int = integer(
        1,
        1,
        65_535,
        unit="packets",
        doc="Packets of a message, generated together. Traces and closed-loop traffic have sizes of their own.",
        flags=(Flag("--message-packets", "Packets per message.", TRAFFIC, "N", "1"),),
    )
    threads: int = integer(
        1,
        1,
        _core.most_threads,
        doc="Threads of the core; the result does not depend on it.",
        core="threads",
        flags=(Flag("--threads", "Threads per run; they change no result.", MACHINE, "N", "1"),),
    )
    series_bin_ns: float | None = time_ns(
        None,
        1.0,
        optional=True,
        doc="Width of the bins of the time series, at least 1; None: no series.",
        core="series_bin_ps",
        flags=(time_flag("--series-bin", "Bin width of time series.", usual="no series"),),
    )
    group_latency: bool = boolean(
        False, doc="Whether to record latency by source and destination group.", core="group_latency"
    )
    host_latency: bool = boolean(
        False,
        doc="Whether to record latency by source host (24 bytes a host and partition).",
        core="host_latency",
    )
    message_slowdown: bool = boolean(
        False,
        doc="Whether to record slowdowns and reordering of the messages of programs, by size.",
        core="message_slowdown",
        flags=(Flag("--message-slowdown", "Record slowdowns of messages of jobs by size.", MACHINE, ""),),
    )
    watchdog_ns: float = time_ns(
        1_000_000.0, 1_000.0, doc="Time without any progress after which DeadlockError is raised."
    )

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        with reading("network"):  # links that the topology does not have, and delays that do not fit
            self.network.to_core(self.topology)
        with reading("events"):
            check_events(self.topology.to_core(), self.events, self.event_notice_ns)
        if self.events and self.event_notice_ns >= self.watchdog_ns:
            allowed = f"must be below watchdog_ns = {self.watchdog_ns:g} ns, as packets wait so long before a dead link"
            raise config_error("event_notice_ns", self.event_notice_ns, allowed)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for TOML and JSON; fields that are None are absent, and those of events without any."""
        values: dict[str, Any] = Record.to_dict(self)
        if not self.events:
            del values["events"], values["event_notice_ns"]
        return values


@dataclasses.dataclass(frozen=True, kw_only=True)
class SimulationConfig(RunSettings):
    """A run: topology, network, traffic, policy and what to record.

    Args:
        traffic: Traffic pattern: a spec string (``"adv+1"``), a traffic object, a demand matrix between hosts,
            routers or groups, or a schedule of (time_ns, traffic, load) steps. A string stays one, unless it names a
            file, which is read at once; everything else becomes a ``Traffic``. Next to jobs: what hosts without one
            send, open loop, to any host. None becomes ``"none"`` (silence) with jobs and ``"uniform"`` without.
        policy: The routing policy: a name, or an object with parameters (``dragonfly_env.baselines``). An object
            whose parameters are all at their defaults becomes its name, so that equal settings are equal.
        jobs: Programs on some of the hosts (``Job``), next to each other; the last may be a ``BackgroundMix``.
            Strings and tables are understood, too. Becomes a tuple.

    Raises:
        ConfigError: On construction, for what cannot be simulated; the message names field, value and
            range.

    Example:
        >>> config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.3)
        >>> config.policy, config.injection, config.seed
        ('min', 'periodic', 1)
        >>> config.policy_object, config.traffic_object
        (Policy('min'), Adversarial(offset=1))
        >>> config.ends, config.loses_when_full
        (False, False)
    """

    called: ClassVar[str] = "a simulation"
    traffic: Any = None
    load: float = setting(
        0.5,
        check_load,
        "of the host link",
        "Load that every sending host offers; with a demand matrix the hosts that send most. Schedules, traces and "
        "demands in GB/s carry their own, and closed-loop traffic has none: its hosts send as fast as their programs "
        "let them. There it is not used.",
        allowed="above 0 to 1",
    )
    policy: Any = "min"
    jobs: Any = ()
    seed: int = integer(1, 0, MAX_SEED, doc="Seed of every random stream.", core="seed")
    packet_log: bool = boolean(
        False, doc="Whether to log every delivered packet (about 100 bytes each).", core="packet_log"
    )

    def __post_init__(self) -> None:
        RunSettings.__post_init__(self)
        object.__setattr__(self, "policy", as_policy(self.policy))
        object.__setattr__(self, "jobs", parse_jobs(self.jobs))
        if self.traffic is None:
            object.__setattr__(self, "traffic", "none" if self.jobs else "uniform")
        with reading("traffic"):
            traffic = parse_traffic(self.traffic)
            traffic.check(self.topology)
        if not isinstance(self.traffic, str) or isinstance(traffic, (Trace, DemandMatrix)):
            object.__setattr__(self, "traffic", traffic)
        if self.demand_unit is not None:
            if not isinstance(traffic, DemandMatrix):
                allowed = "must be left out: the traffic is no demand matrix"
                raise config_error("demand_unit", self.demand_unit, allowed)
            traffic = dataclasses.replace(traffic, demand_unit=self.demand_unit)
            object.__setattr__(self, "traffic", traffic)
            object.__setattr__(self, "demand_unit", None)
        _ = self.offered_steps  # computed now: the load may be too much for the links of hosts
        self._check_injection(traffic)
        self._check_jobs(traffic)
        _ = self._job_policies  # computed now: there may be too many policies
        patience_ns = _ROUND_TRIPS * self.network.round_trip_ns
        if self.watchdog_ns < patience_ns:
            raise config_error(
                "watchdog_ns",
                self.watchdog_ns,
                f"must be at least {patience_ns:g} ns, {_ROUND_TRIPS} round trips of the slowest link: packets "
                "may wait so long without being stuck",
            )
        if self.source_queue_packets is not None and self.source_queue_packets < self.message_packets:
            raise config_error(
                "source_queue_packets",
                self.source_queue_packets,
                f"must have room for a message, which has message_packets = {self.message_packets} packets",
            )

    def __repr__(self) -> str:
        traffic = "none" if self.jobs else "uniform"
        return show_changes(self, traffic=traffic, injection=_own_injection(self.traffic_object))

    def _check_injection(self, traffic: Traffic) -> None:
        if self.injection == "auto":
            object.__setattr__(self, "injection", _own_injection(traffic))
        if traffic.is_trace and self.injection != "trace":
            raise config_error("injection", self.injection, "must be 'trace' if the traffic is a trace")
        if self.injection == "trace" and not traffic.is_trace:
            raise config_error("injection", "trace", "needs a trace as traffic, which has its own times")
        if self.injection == "program" and not traffic.is_closed_loop:
            raise config_error("injection", "program", "needs closed-loop traffic, such as 'all-to-all'")
        if isinstance(traffic, ClosedLoop):
            self._check_closed_loop(traffic)

    def _check_closed_loop(self, traffic: ClosedLoop) -> None:
        if self.injection != "program":
            allowed = "must be 'auto' or 'program' if the traffic is closed loop: hosts send when their programs say"
            raise config_error("injection", self.injection, allowed)
        if self.message_packets != 1:
            allowed = "must be left out: closed-loop traffic says itself how large its messages are"
            raise config_error("message_packets", self.message_packets, allowed)
        if self.source_queue_full == "lose":
            allowed = "must be 'stall' if the traffic is closed loop: what a program has sent is never lost"
            raise config_error("source_queue_full", "lose", allowed)
        check_programs(traffic, self.topology, packet_bytes=self.network.message_bytes_of_packet)

    def _check_jobs(self, traffic: Traffic) -> None:
        if not self.jobs:
            if isinstance(traffic, NoTraffic):
                raise config_error("traffic", "none", "must be some traffic where there are no jobs")
            return
        if isinstance(traffic, ClosedLoop):
            raise config_error("traffic", traffic.spec, "must be open loop, or none, next to jobs")
        if self.source_queue_full == "lose":
            allowed = "must be 'stall' next to jobs: what a program has sent is never lost"
            raise config_error("source_queue_full", "lose", allowed)
        _ = self._placed_jobs  # computed now: the jobs may not fit
        if isinstance(traffic, DemandMatrix) and traffic.placement is not None:
            taken = {host for placed in self._placed_jobs for host in placed.hosts}
            if isinstance(traffic.placement, str) or taken & set(traffic.placement):
                allowed = "must be a list of hosts without a job, next to jobs"
                raise config_error("demand.placement", traffic.placement, allowed)

    def placed_jobs(self) -> tuple[PlacedJob, ...]:
        """Every job with its hosts: rank i lives on ``hosts[i]``. They follow from the seed.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", jobs=["milc:hosts=4"])
            >>> config.placed_jobs()[0].hosts
            (0, 1, 2, 3)
        """
        return self._placed_jobs

    @functools.cached_property
    def offered_steps(self) -> tuple[tuple[float, Pattern, float], ...]:
        """(time_ns, pattern, load) of every step of an open-loop pattern or schedule; none for other traffic."""
        traffic = self.traffic_object
        steps: tuple[tuple[float, Pattern, float], ...] = ()
        if isinstance(traffic, Schedule):
            steps = traffic.steps
        elif isinstance(traffic, Pattern):
            steps = ((0.0, traffic, self.load),)
        return tuple(
            (time_ns, pattern, pattern.load_on(self.topology, self.network, load))
            if isinstance(pattern, DemandMatrix)
            else (time_ns, pattern, load)
            for time_ns, pattern, load in steps
        )

    @functools.cached_property
    def _placed_jobs(self) -> tuple[PlacedJob, ...]:
        if not self.jobs:
            return ()
        jobs = expand_jobs(self.jobs, self.topology, self.seed)
        return place_jobs(jobs, self.topology, self.seed, self.network.message_bytes_of_packet)

    @functools.cached_property
    def _job_policies(self) -> JobPolicies:
        return JobPolicies([job.job for job in self._placed_jobs], self.policy_object)

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies that route: that of the run, then those that jobs bring along, each once."""
        return tuple(self._job_policies.known)

    @property
    def ends(self) -> bool:
        """Whether a run comes to its end by itself: closed-loop traffic, or a job that is not endless."""
        if self.jobs:
            return any(not job.is_endless for job in self.jobs)
        return self.traffic_object.is_closed_loop

    @functools.cached_property
    def traffic_object(self) -> Traffic:
        """The traffic as an object."""
        return parse_traffic(self.traffic)

    @functools.cached_property
    def policy_object(self) -> Policy:
        """The policy as an object."""
        return parse_policy(self.policy)

    @property
    def loses_when_full(self) -> bool:
        """Whether a message that finds the source queue full is lost (or its generator stalls)."""
        if self.jobs:
            return False
        if self.source_queue_full is not None:
            return self.source_queue_full == "lose"
        return self.injection in ("bernoulli", "poisson")

    @property
    def arrivals(self) -> Arrivals:
        """Steps in which hosts generate packets."""
        return Arrivals(
            message_packets=1 if self.traffic_object.is_trace else self.message_packets,
            in_phase=self.injection == "periodic",
            stalls=self.source_queue_packets is not None and not self.loses_when_full,
            is_steady=not getattr(self.traffic_object, "steps", None),
        )

    def replace(self, **changes: Any) -> SimulationConfig:
        """A copy with some fields changed. Between open and closed loop the injection process becomes 'auto' unless it
        is given.

        Raises:
            ConfigError: For an unknown field or a value out of range.
        """
        if changes.get("traffic", "") is None and changes.get("jobs", self.jobs):
            changes["traffic"] = "none"
        if "traffic" in changes and "injection" not in changes:
            was, becomes = self.traffic_object, parse_traffic(changes["traffic"])
            if was.is_closed_loop != becomes.is_closed_loop:
                changes["injection"] = "auto"
        return Record.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for TOML and JSON; fields that are None are absent. ``from_dict`` is the inverse."""
        values = RunSettings.to_dict(self)
        if not self.jobs:
            del values["jobs"]
        return {**values, "policy": self.policy_object.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SimulationConfig:
        """The configuration that ``to_dict`` described; absent fields have their defaults.

        Args:
            values: Fields by name. ``topology`` is a table (p, a, h, ... or preset) or a preset's name, ``network`` a
                table (optionally with ``preset``) or a preset's name, ``policy`` a name or a table with ``name``.

        Raises:
            ConfigError: For an unknown key or a value out of range.
        """
        given = check_mapping("settings", values)
        cls._check_names(given)
        if "topology" not in given:
            raise config_error("topology", None, "must be given, e.g. preset = '1056' or p = 4, a = 8, h = 4")
        if "traffic" in given:
            given["traffic"] = traffic_from_dict(given["traffic"])
        return cls(**given)

    def to_toml(self) -> str:
        """Return the configuration as a TOML document."""
        return dump_toml(self.to_dict())

    @classmethod
    def from_toml(cls, source: str | Path) -> SimulationConfig:
        """Read a configuration.

        Args:
            source: A ``Path`` to a TOML file, or the TOML document itself as a string.

        Raises:
            ConfigError: If the file cannot be read, is no TOML, or describes what cannot be simulated.

        Example:
            >>> text = dfe.SimulationConfig(topology="72", load=0.2).to_toml()
            >>> dfe.SimulationConfig.from_toml(text).load
            0.2
        """
        return cls.from_dict(read_toml(source) if isinstance(source, Path) else parse_toml(source))

    def to_json(self) -> str:
        """Return the configuration as one line of JSON with sorted keys: equal configurations give equal lines."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> SimulationConfig:
        """The inverse of ``to_json``.

        Raises:
            ConfigError: If ``text`` is no JSON object, or describes what cannot be simulated.
        """
        values = parse_json(text)
        if not isinstance(values, dict):
            raise config_error("json", text, "must be a JSON object")
        return cls.from_dict(values)

    def to_core(self) -> dict[str, Any]:
        """The one record that every kind of core is made of."""
        policies = self._job_policies
        return {
            **core_values(self),
            **self._link_events(),
            "topology": self.topology.to_core(),
            "network": self.network.to_core(self.topology, watchdog_ns=self.watchdog_ns),
            "source": self._make_source(),
            "policy": self.policy_object.to_core(),
            "job_policies": policies.to_core(),
            "lose_when_full": self.loses_when_full,
        }

    def _link_events(self) -> dict[str, Any]:
        if not self.events:
            return {}
        return {
            "link_events": [event.to_core() for event in self.events],
            "event_notice_ps": ns_to_ps("event_notice_ns", self.event_notice_ns),
        }

    def _make_source(self) -> _core.Source:
        """Sources of the hosts' messages in the core: jobs, or the traffic."""
        core, network, traffic = self.topology.to_core(), self.network, self.traffic_object
        packets = {"packet_bytes": network.message_bytes_of_packet, "packet_flits": network.flits_per_packet}
        if isinstance(traffic, ClosedLoop):
            source: _core.Source | None = traffic.build(core, self.seed, **packets)
        else:
            source = self._source_after(None)
        if source is not None and not self.jobs:
            return source
        numbers = self._job_policies.numbers
        return job_source(
            self._placed_jobs, self.topology, background=source, policies=numbers, seed=self.seed, **packets
        )

    def _source_after(self, after_ps: int | None) -> _core.Source | None:
        """Source of hosts without a program; None if they send nothing.

        Args:
            after_ps: A time: steps of a schedule that end before are left out, and the one that is in force begins
                after it. None: all from time 0 on.
        """
        core, network, traffic = self.topology.to_core(), self.network, self.traffic_object
        if isinstance(traffic, Trace):
            return traffic.build_source(core, packet_bytes=network.message_bytes_of_packet)
        if isinstance(traffic, (ClosedLoop, NoTraffic)):
            return None
        excludes = network.uniform_excludes_sender
        steps = [
            (ns_to_ps("time_ns", time_ns), pattern, load) for time_ns, pattern, load in self.offered_steps
        ]
        if after_ps is not None:
            begun = [step for step in steps if step[0] <= after_ps]
            later = [step for step in steps if step[0] > after_ps]
            if begun and (not later or later[0][0] > after_ps + 1):
                later.insert(0, (after_ps + 1, begun[-1][1], begun[-1][2]))
            steps = later
        return _core.synthetic_source(
            core,
            [
                (start_ps, pattern.build(core, self.seed, uniform_excludes_sender=excludes), load)
                for start_ps, pattern, load in steps
            ],
            self.injection,
            self.seed,
            self.message_packets,
            packet_ps=ns_to_ps("packet_time_ns", network.packet_time_ns),
            trial_ps=ns_to_ps("flit_time_ns", network.flit_time_ns),
            first_ps=ns_to_ps("first message", FIRST_MESSAGE_NS),
            periodic_intervals=network.periodic_intervals,
        )


def _own_injection(traffic: Traffic) -> str:
    """The injection process that ``"auto"`` becomes."""
    return "trace" if traffic.is_trace else "program" if traffic.is_closed_loop else "periodic"


_MOST_CHANGES = 255  # limit of the core
_FIELDS = ("traffic", "load", "seed", "injection")


@dataclasses.dataclass(frozen=True, slots=True)
class RunState:
    """A configuration and what has changed since: a core that is made of it can go on with the state of the run.

    Args:
        config: Configuration at the start of the run.
        allowed_policies: Policies that may take over; there are virtual channels and trackers for them, too.
        changes: (time in ps, configuration): from then on hosts send what that one says, with its seed.
        policy: Policy that decides now, if not the policy of ``config``.
        job_policies: Policies that jobs were given later, in that order.
    """

    config: SimulationConfig
    allowed_policies: tuple[Policy, ...] = ()
    changes: tuple[tuple[int, SimulationConfig], ...] = ()
    policy: Policy | None = None
    job_policies: tuple[Policy, ...] = ()

    @property
    def now(self) -> SimulationConfig:
        """Return the configuration that holds from now on."""
        config = self.changes[-1][1] if self.changes else self.config
        policy = self.config.policy_object if self.policy is None else as_policy(self.policy)
        return config if config.policy_object == policy else config.replace(policy=policy)

    def to_core(self) -> dict[str, Any]:
        """The record that a core is made of."""
        run = self.config.to_core()
        if self.allowed_policies:
            run["later_policies"] = [
                {"field": "allowed_policies", **policy.to_core()} for policy in self.allowed_policies
            ]
        if self.changes:
            run["seed"] = self.changes[-1][1].seed
            # Closed-loop programs, and silence, are what they were.
            sources = [(after_ps, config._source_after(after_ps)) for after_ps, config in self.changes]
            run["forks"] = [part for part in sources if part[1] is not None]
        return run

    def prepare(self, core: _core.Simulation) -> None:
        """Bring a core that was just made to the policies that decide now."""
        for policy in self.job_policies:
            core.add_policy("policy", policy.to_core())
        if self.policy is not None:
            core.set_policy(self.policy.to_core())

    def changed(self, after_ps: int, changes: Mapping[str, Any]) -> RunState:
        """Return the run with other traffic, load or seed after a time."""
        if not changes:
            return self
        before = self.changes[-1][1] if self.changes else self.config
        changes = dict(changes)
        if (
            "traffic" in changes
            and parse_traffic(changes["traffic"]).is_trace != before.traffic_object.is_trace
        ):
            changes["injection"] = "auto"
        config = before.replace(**changes)
        if "traffic" in changes or "load" in changes:
            for compared, which in ((self.config, "of the run"), (config, "that follows")):
                if compared.traffic_object.is_closed_loop:
                    allowed = f"must be left out: the traffic {which} is closed loop, and its programs go on"
                    raise config_error("traffic", changes.get("traffic"), allowed)
            if config._source_after(after_ps) is None:
                raise config_error("traffic", changes.get("traffic"), "must be some traffic in a fork")
        if len(self.changes) == _MOST_CHANGES:
            raise config_error("fork", _MOST_CHANGES + 1, f"at most {_MOST_CHANGES} changes of one run")
        return dataclasses.replace(self, changes=(*self.changes, (after_ps, config)))

    def decided_by(self, policy: Policy | None) -> RunState:
        """Replace the policy from now on; None: keep it. The core decides which policies can take over:
        one that learns becomes the same with other parameters, so that its tables fit.
        """
        before = self.now.policy_object
        if policy is None or policy == before:
            return self
        if policy.learns and policy.name == before.name and not self.job_policies:
            return dataclasses.replace(self, config=self.config.replace(policy=policy))
        return dataclasses.replace(self, policy=policy)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; ``from_dict`` is the inverse."""
        return {
            "config": self.config.to_dict(),
            "allowed_policies": [policy.to_dict() for policy in self.allowed_policies],
            "changes": [
                [after_ps, {name: config.to_dict()[name] for name in _FIELDS}]
                for after_ps, config in self.changes
            ],
            "policy": None if self.policy is None else self.policy.to_dict(),
            "job_policies": [policy.to_dict() for policy in self.job_policies],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunState:
        """The settings that ``to_dict`` described."""
        config = values["config"]
        return cls(
            SimulationConfig.from_dict(config),
            allowed_policies=tuple(map(parse_policy, values["allowed_policies"])),
            changes=tuple(
                (after_ps, SimulationConfig.from_dict({**config, **fields}))
                for after_ps, fields in values["changes"]
            ),
            policy=None if values["policy"] is None else parse_policy(values["policy"]),
            job_policies=tuple(map(parse_policy, values["job_policies"])),
        )
