"""A record makes itself again, with every argument that it takes, and nothing in it can be changed."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import json
import math
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import dragonfly_env as dfe
from dragonfly_env.checks.files import dump_toml, parse_toml
from dragonfly_env.config import network_presets, systems
from dragonfly_env.config.rows import ReadOnlyDict, Record
from dragonfly_env.envs.options import EnvOptions
from dragonfly_env.jobs.goal import Goal
from dragonfly_env.jobs.program import Motif, calibrated_gaps
from dragonfly_env.jobs.recorded import RecordedProgram
from dragonfly_env.policy import describe_policy, needs_weights
from dragonfly_env.sweeps import scenario
from dragonfly_env.traffic import DemandMatrix, HostMixture, Hotspot, Schedule, Trace, WeightedMixture
from tests.property.configurations import networks, settings_of_runs, topologies, traffics
from tests.ready import ready

NAMES = {name: getattr(module, name) for module in (dfe, dfe.jobs, dfe.traffic) for name in module.__all__}
NAMES |= {"EnvOptions": EnvOptions, "inf": math.inf, **vars(scenario)}


def _value(allowed: str, default: object) -> st.SearchStrategy[Any]:
    """Values of a row, from what the row says is allowed."""
    if allowed == "true, false":
        return st.booleans()
    low, _, high = allowed.removeprefix("above ").partition(" to ")
    if not high:
        return st.sampled_from(allowed.split(", "))
    least, most = float(low), float(high)
    near = [value for value in (least, 1, 2, 7, 100, 1000, most) if least <= value <= most]
    whole = isinstance(default, int) or (default is None and float.is_integer(most) and most < 2**31)
    if whole:
        return st.sampled_from([int(value) for value in near])
    return st.sampled_from([float(value) for value in near if value > least or "above" not in allowed])


def _rows(cls: Any, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of a record: some of its rows."""
    fields = {
        field.name: _value(field.metadata["allowed"], field.default)
        for field in dataclasses.fields(cls)
        if field.metadata.get("allowed") and field.name not in more
    }
    return st.fixed_dictionaries({}, optional={**fields, **more})


def _made(cls: Any, arguments: st.SearchStrategy[dict[str, Any]], *required: Any) -> st.SearchStrategy[Any]:
    """Records of those arguments that go together."""

    def make(values: dict[str, Any]) -> Any:
        try:
            return cls(*required, **values)
        except dfe.ConfigError:
            reject()

    return arguments.map(make)


@st.composite
def _policies(draw: st.DrawFn) -> dfe.Policy:
    name = draw(st.sampled_from(dfe.policies()))
    if needs_weights(name):
        return ready(name)
    rows = {row.name: _value(row.allowed, row.default) for row in describe_policy(name) if row.allowed}
    return draw(
        _made(
            dfe.Policy,
            st.fixed_dictionaries({}, optional=rows).map(lambda given: {"parameters": given}),
            name,
        )
    )


@st.composite
def _topologies(draw: st.DrawFn) -> dfe.Dragonfly:
    if draw(st.booleans()):
        return draw(topologies())
    a, h = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    links = draw(st.integers(1, a * h))
    return dfe.Dragonfly(p=draw(st.integers(1, 3)), a=a, h=h, links_between_groups=links)


LINKS = _made(dfe.LinkConfig, _rows(dfe.LinkConfig))
PLACEMENTS = st.sampled_from(["consecutive", "random", "random-routers", "groups=2"])
MOTIFS = st.sampled_from(list(Motif.classes.values())).flatmap(lambda cls: _made(cls, _rows(cls)))


@st.composite
def _jobs(draw: st.DrawFn) -> dfe.Job:
    rows = _rows(
        dfe.Job,
        placement=PLACEMENTS | st.permutations(range(4)).map(tuple),
        policy=_policies(),
        all_to_all_policy=_policies(),
        iterations=st.sampled_from([1, 3, "endless"]),
        name=st.sampled_from(["", "mine"]),
    )
    arguments = {**draw(rows), "hosts": 4}
    program = draw(MOTIFS | st.sampled_from(["all-to-all:message_bytes=99", "graph500", "milc:scale=0.5"]))
    return draw(_made(dfe.Job, st.just(arguments), program))


@st.composite
def _configurations(draw: st.DrawFn) -> dfe.SimulationConfig:
    arguments = draw(settings_of_runs())
    if draw(st.booleans()):
        arguments.update(jobs=draw(st.lists(_jobs(), max_size=2)), traffic=None, message_packets=1)
    return draw(_made(dfe.SimulationConfig, st.just(arguments)))


def _ring(rank: int, ranks: int) -> Iterator[dfe.jobs.Operation]:
    yield dfe.jobs.receive((rank - 1) % ranks)
    yield dfe.jobs.send((rank + 1) % ranks, 64)
    yield from dfe.jobs.wait()


_OWN: dict[Any, st.SearchStrategy[Any]] = {
    dfe.Dragonfly: _topologies(),
    dfe.Grid: _made(dfe.Grid, _rows(dfe.Grid)),
    dfe.LinkConfig: LINKS,
    dfe.NetworkConfig: networks()
    | st.dictionaries(st.sampled_from(["local", "global", "rank-1"]), LINKS).map(
        lambda links: dfe.NetworkConfig(links=links)
    ),
    dfe.Policy: _policies(),
    dfe.Job: _jobs(),
    dfe.jobs.BackgroundMix: _made(
        dfe.jobs.BackgroundMix,
        _rows(dfe.jobs.BackgroundMix, policy=_policies(), all_to_all_policy=_policies()),
    ),
    Goal: _made(Goal, _rows(Goal), str(Path(__file__).with_name("ping.goal"))),
    RecordedProgram: _rows(RecordedProgram).map(lambda given: RecordedProgram.of(_ring, 3, **given)),
    EnvOptions: _made(
        EnvOptions,
        _rows(
            EnvOptions,
            features=st.sampled_from([None, ("queue_packets",), ("queue_packets", "congested_links")]),
            trackers=st.sampled_from([None, {"congested-links": {"congestion_factor": 1.5}}]),
            nonminimal_kinds=st.sampled_from([("lgl",), ("lg", "lgl")]),
        ),
    ),
    dfe.SimulationConfig: _configurations(),
    scenario.Scenario: st.fixed_dictionaries(
        {
            "topology": st.sampled_from(["72", "342"]),
            "loads": st.sampled_from([[0.1], ["0.1:0.3:0.1"]]),
            "policies": st.sampled_from([["min"], ["min", "ugal-n:bias_packets=2"]]),
            "traffic": st.sampled_from([["uniform"], ["adv+1", {"pattern": "adv+2", "loads": [0.1]}]]),
        },
        optional={
            "seeds": st.sampled_from([[1], [2, 1]]),
            "warmup_ns": st.sampled_from([0.0, 10.0]),
            "measure_ns": st.sampled_from([1.0, 2_000.0]),
            "arrays": st.booleans(),
            "threads": st.integers(1, 3),
        },
    ).map(scenario.Scenario.from_dict),
    Hotspot: _made(
        Hotspot, _rows(Hotspot, hosts=st.integers(1, 9) | st.lists(st.integers(0, 9), min_size=1))
    ),
    dfe.LinkEvent: st.builds(
        dfe.LinkEvent,
        time_ns=st.sampled_from([0.5, 2_000.0]),
        link=st.tuples(st.integers(0, 9), st.integers(0, 9)),
        up=st.booleans(),
    ),
    HostMixture: traffics(8).filter(lambda traffic: isinstance(traffic, HostMixture)),
    WeightedMixture: traffics(8).filter(lambda traffic: isinstance(traffic, WeightedMixture)),
    DemandMatrix: st.sampled_from([None, "GB/s"]).map(lambda unit: DemandMatrix(np.eye(3), unit, (2, 0, 1))),
    Schedule: traffics(8).filter(lambda traffic: isinstance(traffic, Schedule)),
    Trace: traffics(8).filter(lambda traffic: isinstance(traffic, Trace)),
}


def _records(base: Any = Record) -> Iterator[Any]:
    """Every class of record that can be made."""
    for cls in base.__subclasses__():
        yield from _records(cls)
        if dataclasses.is_dataclass(cls) and not inspect.isabstract(cls):
            yield cls


gc.collect()  # a class with slots replaces the class that was written
RECORDS = {
    cls.__name__: cls
    for cls in _records()
    if cls.__module__.startswith("dragonfly_env.") and cls.__name__ != "RunSettings"
}
RECORDS |= {"Schedule": Schedule, "Trace": Trace}


def _record(name: str) -> st.SearchStrategy[Any]:
    cls = RECORDS[name]
    if name in ("RegisteredPattern", "RegisteredProgram"):
        texts = [text for text in dfe.traffic_patterns() if type(dfe.traffic.parse_traffic(text)) is cls]
        return st.sampled_from(texts).map(dfe.traffic.parse_traffic)
    return _OWN[cls] if cls in _OWN else _made(cls, _rows(cls))


def _unchangeable(value: Any) -> Iterator[str]:
    """Find mappings, sequences and arrays in a value that can be changed."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        yield f"array {value!r}"
    if isinstance(value, (dict, list, set)) and not isinstance(value, ReadOnlyDict):
        yield f"{value!r}"
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _unchangeable(item)
    if isinstance(value, tuple):
        for item in value:
            yield from _unchangeable(item)
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _unchangeable(getattr(value, field.name))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(RECORDS))
@given(data=st.data())
@settings(max_examples=40)
def test_a_record_makes_itself_again(name: str, data: st.DataObject) -> None:
    record = data.draw(_record(name))
    table = record.to_dict()
    made = [
        type(record).from_dict(table),
        type(record).from_dict(json.loads(json.dumps(table))),
        pickle.loads(pickle.dumps(record)),
        copy.copy(record),
        copy.deepcopy(record),
    ]
    if isinstance(table, dict):
        made.append(type(record).from_dict(parse_toml(dump_toml(table))))
    if "<" not in repr(record):  # data, such as a matrix, is shown by its size
        made.append(eval(repr(record), dict(NAMES)))
    if isinstance(record, Record):
        made.append(record.replace())
        first = dataclasses.fields(record)[:1]
        made += [record.replace(**{field.name: getattr(record, field.name)}) for field in first]
    for again in made:
        assert again == record
        if name != "EnvOptions":  # its trackers are a mapping
            assert hash(again) == hash(record)
        assert repr(again) == repr(record)
        assert list(_unchangeable(again)) == []
    assert list(_unchangeable(record)) == []


NAMED = {
    "policy": lambda: dfe.SimulationConfig(topology="72", policy="ugal-n").policy_object,
    "network of a policy": lambda: dfe.make_policy("neural-v1").network,
    **{f"task {name}": lambda name=name: dfe.task(name) for name in dfe.tasks()},
    "references of a task": lambda: dfe.task("Mixed-72").references(),
    "systems": lambda: systems.PRESETS,
    "networks": lambda: network_presets.PRESETS,
    "computing times": calibrated_gaps,
}


@pytest.mark.parametrize("name", NAMED)
def test_what_a_name_stands_for_cannot_be_changed(name: str) -> None:
    assert list(_unchangeable(NAMED[name]())) == []


def test_the_parameters_of_a_policy_cannot_be_changed() -> None:
    config = dfe.SimulationConfig(topology="72", policy="ugal-n")
    parameters: Any = config.policy_object.parameters
    for change in (
        lambda: parameters.update(bias_packets=200),
        lambda: parameters.__setitem__("bias_packets", 200),
        lambda: parameters.__delitem__("bias_packets"),
        lambda: parameters.__ior__({"bias_packets": 200}),
        lambda: parameters.setdefault("other", 200),
        lambda: parameters.pop("bias_packets"),
        lambda: parameters.popitem(),
        lambda: parameters.clear(),
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert dfe.make_policy("ugal-n").parameters["bias_packets"] == 0.0
