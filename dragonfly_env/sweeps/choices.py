"""The two things that a sweep varies by name: a policy (with its parameters, or an agent), and a traffic
pattern with its loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dragonfly_env.checks.files import working_directory
from dragonfly_env.checks.values import check_real, config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.policies import Policy, make_policy, policies
from dragonfly_env.sweeps.fields import LONGEST_NS, Table, parse_assignment, parse_loads, printable
from dragonfly_env.traffic import DemandMatrix, Traffic, parse_traffic, traffic_from_dict
from dragonfly_env.training.agents import FORMS, AgentSource, means_file


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """A routing policy and its name in tables and figures: ``ugal-n``, ``ugal-n:bias_packets=2`` or an agent's.

    Attributes:
        policy: A built-in policy; behind an agent: the one of the configuration, which then decides nothing.
        label: The name.
        agent: What decides instead, if it is not built in.
    """

    policy: Policy
    label: str
    agent: AgentSource | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", printable(self.label))

    @classmethod
    def parse(cls, value: object) -> PolicyChoice:
        """From ``"ugal-n"``, ``"ugal-n:bias_packets=2,minimal_candidates=2"`` or ``{name="ugal-n", bias_packets=2}``;
        from ``"agent.zip"``, ``"module:Class"`` or ``{agent="agent.zip"}``.

        Any string may begin with a name of your own, ``"mine=agent.zip"``; in a table it is ``label``.

        Raises:
            ConfigError: For an unknown policy or parameter (the nearest is named), a value out of range, or an
                agent that cannot be found.
        """
        if isinstance(value, str):
            label, spec = _split_label(value)
            if not _is_built_in(spec):
                return cls._of_agent(spec, label)
            name, _, settings = spec.partition(":")
            pairs = [
                parse_assignment(part, "policy parameter") for part in settings.split(",") if part.strip()
            ]
            name, parameters = name.strip(), dict(pairs)
        else:
            table = Table(value, "policies")
            label, agent = table.optional_text("label"), table.optional_text("agent")
            if agent:
                table.finish()
                return cls._of_agent(agent, label)
            name = table.text("name", "").strip()
            parameters = table.rest()
        return cls(_built_in(name, parameters), label or _spell_policy(name, parameters))

    @classmethod
    def _of_agent(cls, spec: str, label: str) -> PolicyChoice:
        source = AgentSource.find(spec)
        return cls(make_policy("min"), label or source.label, source)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for provenance."""
        if self.agent is None:
            return self.policy.to_dict()
        return {"label": self.label, "agent": self.agent.spec, "sha256": self.agent.sha256}


def _split_label(text: str) -> tuple[str, str]:
    """The name before the first ``=``, if what follows is a policy and not the value of a parameter."""
    label, sign, spec = text.partition("=")
    if sign and ":" not in label and label.strip() and spec.strip():
        return label.strip(), spec.strip()
    return "", text.strip()


def _is_built_in(spec: str) -> bool:
    name, _, settings = spec.partition(":")
    if name in policies() or ("=" in settings and "@" not in settings):
        return True
    return not (settings or means_file(spec, working_directory()) or "/" in spec or spec.endswith(".py"))


def _built_in(name: str, parameters: dict[str, Any]) -> Policy:
    try:
        return make_policy(name, **parameters)
    except ConfigError as error:
        if parameters or not str(error).startswith("policy = "):
            raise
        raise ConfigError(f"{error} (or {FORMS})") from None


def _spell_policy(name: str, parameters: dict[str, Any]) -> str:
    settings = ",".join(f"{key}={_spell(setting)}" for key, setting in sorted(parameters.items()))
    return f"{name}:{settings}" if settings else name


@dataclass(frozen=True, slots=True)
class TrafficChoice:
    """A traffic pattern, or a schedule of patterns, and what of the scenario it overrides.

    Attributes:
        traffic: Who sends to whom.
        label: The name in tables and figures.
        loads: Offered loads of this traffic alone; empty for the scenario's. Of a schedule: its first.
        warmup_ns: Simulated time before measuring, or None for the scenario's.
        measure_ns: Simulated time that is measured, or None for the scenario's.
    """

    traffic: Traffic
    label: str
    loads: tuple[float, ...] = ()
    warmup_ns: float | None = None
    measure_ns: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", printable(self.label))

    @classmethod
    def parse(cls, value: object) -> TrafficChoice:
        """From ``"adv+1"``, ``{pattern="adv+1", loads=[0.1, 0.2]}`` or ``{schedule=[[0, "uniform", 0.4], ...]}``.

        A table may also hold the pattern's arguments (``{pattern="hotspot", hosts=4}``), a ``label`` for tables and
        figures, and ``warmup_ns`` and ``measure_ns`` of its own.

        Raises:
            ConfigError: If the form is wrong or a pattern unknown. Whether it fits the topology is checked
                later.
        """
        if isinstance(value, str):
            spoken = parse_traffic(value)
            return cls(spoken, value.strip() if isinstance(spoken, DemandMatrix) else spoken.spec)
        table = Table(value, "traffic")
        steps = table.items("schedule")
        loads = parse_loads(table.items("loads"), "traffic.loads")
        label = table.take("label")
        warmup_ns = table.optional_time_ns("warmup_ns", 0.0)
        measure_ns = table.optional_time_ns("measure_ns", 1.0)
        pattern = table.rest()
        if label is not None and (not isinstance(label, str) or not label.strip()):
            raise config_error("traffic.label", label, "must be a non-empty string")
        if bool(pattern) == bool(steps):
            raise config_error("traffic", value, "must have either a pattern or a schedule")
        if steps:
            if loads:
                raise config_error(
                    "traffic.loads", list(loads), "must be left out: a schedule states its loads"
                )
            checked = [_step(step) for step in steps]
            described = ", then ".join(
                f"{traffic.spec} {load:g} from {time / 1000:g} us" for time, traffic, load in checked
            )
            return cls(parse_traffic(checked), label or described, (checked[0][2],), warmup_ns, measure_ns)
        traffic = parse_traffic(traffic_from_dict(pattern))
        if traffic.is_absolute and loads:
            allowed = f"must be left out: {traffic.spec} says itself how much is offered"
            raise config_error("traffic.loads", list(loads), allowed)
        if traffic.is_closed_loop and (loads or warmup_ns is not None):
            field = "loads" if loads else "warmup_ns"
            allowed = "must be left out: closed-loop traffic has no load, and is measured from its start"
            raise config_error(f"traffic.{field}", list(loads) or warmup_ns, allowed)
        return cls(traffic, label or traffic.spec, loads, warmup_ns, measure_ns)


def _spell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _step(step: object) -> tuple[float, Traffic, float]:
    if not isinstance(step, (list, tuple)) or len(step) != 3 or not isinstance(step[1], str):
        raise config_error("traffic.schedule step", step, "must be [time_ns, pattern, load]")
    time_ns = check_real("traffic.schedule time_ns", step[0], 0.0, LONGEST_NS, unit="ns")
    load = check_real("traffic.schedule load", step[2], 0.0, 1.0, open_low=True)
    return time_ns, parse_traffic(step[1]), load
