"""Papers from their TOML files next to this module; ``docs/extending/paper.md`` says what is in them."""

from __future__ import annotations

import functools
import importlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from dragonfly_env.checks.files import parse_toml
from dragonfly_env.checks.values import parse_assignments
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.lab.papers.findings import Findings
from dragonfly_env.lab.papers.paper import (
    USUAL,
    Effort,
    Paper,
    PaperFigure,
    PublishedSetting,
    Routing,
    Setup,
    Variant,
)
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.run import Point
from dragonfly_env.traffic import parse_traffic

_EFFORTS = {"quick", "full"}
_OF_POINTS = ("series_bin_ns", "packet_log")


def read_paper(name: str) -> Paper:
    """The paper with this name."""
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    values = parse_toml(text, name)
    setup = Setup(**values.pop("setup"))
    variants = tuple(Variant(**one) for one in values.pop("variants", ())) or (USUAL,)
    efforts = values.pop("efforts")
    shared = _Shared(
        setup=setup,
        hosts=values.pop("hosts", 0),
        lists=values.pop("lists", {}),
        policies=values.pop("policies", {}),
        arbitration={one.name: one.arbitration_prefix for one in variants},
    )
    published = values.pop("published", {})
    return Paper(
        name=name,
        setup=setup,
        efforts=tuple(Effort(name=of, **_floats(efforts[of])) for of in ("quick", "full")),
        figures=tuple(_figure(one, shared) for one in values.pop("figures")),
        variants=variants,
        published=PublishedSetting(**{**published, "hosts": tuple(published.get("hosts", ()))}),
        interpretations=tuple(values.pop("interpretations")),
        **values,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """Settings that the figures of a paper share."""

    setup: Setup
    hosts: Any  # size of the system, perhaps by effort
    lists: Mapping[str, Any]  # loads, traffic and policies that are listed in several places
    # by label, those that differ from the registry's: ``label``, ``name``, ``settings``
    policies: Mapping[str, Mapping[str, Any]]
    arbitration: Mapping[str, str]  # by variant: what comes before the name of the arbitration

    def listed(self, values: Any, effort: Effort) -> list[Any]:
        """A list or a single value, with the lists that it names."""
        values = _by_effort(values, effort)
        if isinstance(values, list):
            return [one for value in values for one in self.listed(value, effort)]
        if isinstance(values, str) and values in self.lists:
            return self.listed(self.lists[values], effort)
        return [values]

    def routings(self, names: Any, effort: Effort) -> tuple[Routing, ...]:
        """Policies by label; ``name:parameter=value`` says itself what it is."""
        return tuple(map(self._routing, self.listed(names, effort)))

    def _routing(self, label: str) -> Routing:
        if (known := self.policies.get(label)) is not None:
            settings = tuple(known.get("settings", {}).items())
            return Routing(known.get("label", label), known.get("name", ""), settings)
        name, _, parameters = label.partition(":")
        given = tuple(parse_assignments(parameters, label).items())
        return Routing(label, name if given else "", given)


def _figure(values: Mapping[str, Any], shared: _Shared) -> PaperFigure:
    name, blocks = values["name"], values.get("points", ())
    # Worked out once: placing the jobs of a machine takes a while.
    points = functools.cache(lambda effort: _points(blocks, shared, effort))
    draw = functools.partial(_draw, values["drawn"], name, values.get("options", {}))
    return PaperFigure(name=name, title=values["title"], points=points, draw=draw)


def _draw(function: str, figure: str, options: Mapping[str, Any], findings: Findings) -> Any:
    return _function(function)(findings, figure, **options)


def _function(name: str) -> Any:
    """By its module in this package and its name; imported when it is called, as figures need Matplotlib."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"{__package__}.{module}"), function)


def _points(blocks: Sequence[Mapping[str, Any]], shared: _Shared, effort: Effort) -> tuple[Point, ...]:
    return tuple(
        point
        for block in blocks
        if effort.name in block.get("efforts", _EFFORTS)
        for point in (_made if "made" in block else _combined)(block, shared, effort)
    )


def _made(block: Mapping[str, Any], shared: _Shared, effort: Effort) -> Iterator[Point]:
    """Points that a function makes, for every combination of what ``each`` lists."""
    make, each = _function(block["made"]), block.get("each", {})
    given = {name: tuple(one) if isinstance(one, list) else one for name, one in block.items()}
    for name in ("made", "each", "efforts"):
        given.pop(name, None)
    if "policies" in given:
        given["modes"] = shared.routings(block["policies"], effort)
        del given["policies"]
    for chosen in itertools.product(*each.values()):
        yield from make(effort, **given, **dict(zip(each, chosen, strict=True)))


def _combined(block: Mapping[str, Any], shared: _Shared, effort: Effort) -> Iterator[Point]:
    """Every combination of traffic, policies and loads."""
    setup = shared.setup
    more: dict[str, Any] = {name: block[name] for name in _OF_POINTS if name in block}
    longest_ns = float(block.get("measure_at_most_ns", math.inf))
    measure_ns = min(longest_ns, _time_ns(block.get("measure_ns", "measure"), effort))
    steps = [[_time_ns(at, effort), pattern, float(load)] for at, pattern, load in block.get("steps", ())]
    changed = dict(block.get("network", {}))
    if prefix := shared.arbitration.get(effort.variant, ""):
        usual = NetworkConfig.preset(setup.network).arbitration
        changed["arbitration"] = prefix + changed.get("arbitration", usual)
    network = NetworkConfig.preset(setup.network, **changed)
    topology = setup.topology(_by_effort(block.get("hosts", shared.hosts), effort))
    for item in shared.listed(block["traffic"], effort):
        case = item if isinstance(item, dict) else {"pattern": item, "loads": block["loads"]}
        closed = not steps and parse_traffic(case["pattern"]).is_closed_loop
        for routing in shared.routings(block["policies"], effort):
            usual_ns = effort.learner_warmup_ns if routing.learns else effort.warmup_ns
            for load in shared.listed(case["loads"], effort):
                offered: dict[str, Any] = {} if closed else {"load": float(load), **setup.sources(effort)}
                yield Point(
                    config=SimulationConfig(
                        topology=topology,
                        network=network,
                        traffic=steps or case["pattern"],
                        policy=routing.policy(effort),
                        seed=1,
                        **offered,
                        **more,
                    ),
                    policy_label=routing.label,
                    traffic_label=case["pattern"],
                    warmup_ns=_time_ns(block["warmup_ns"], effort) if "warmup_ns" in block else usual_ns,
                    measure_ns=measure_ns,
                )


def _by_effort(value: Any, effort: Effort) -> Any:
    return value[effort.name] if isinstance(value, dict) and value.keys() == _EFFORTS else value


def _time_ns(value: Any, effort: Effort) -> float:
    """A number, a part of the effort (``warmup``, ``4 transient``), or a list of these, which are added."""
    value = _by_effort(value, effort)
    if isinstance(value, list):
        return sum(_time_ns(one, effort) for one in value)
    if not isinstance(value, str):
        return float(value)
    factor, _, part = value.rpartition(" ")
    return float(factor or 1) * float(getattr(effort, f"{part}_ns"))


def _floats(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: float(one) if name.endswith("_ns") else one for name, one in values.items()}
