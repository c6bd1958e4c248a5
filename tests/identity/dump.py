"""Dump what must not change unless a change says so, as one text: settings as the core receives them, the identifiers
of all runs of papers, suites and examples, the verdicts on claims, and the public names.

`make oracle` makes the text anew and prints the difference to the committed one, or to that of an earlier commit
(``make oracle BASE=main~5``). After a change that is meant, ``make oracle WRITE=1`` writes the new text.

Nothing is simulated: verdicts are those on rows of made-up numbers, which follow from the identifier of each run and
the name of each column. So the verdicts show every change in how a claim is measured or judged.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import hashlib
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env import cli, dragonfly_v0
from dragonfly_env.lab.benchmark import Benchmark, find_suite, suites
from dragonfly_env.lab.benchmark.suite import EFFORTS
from dragonfly_env.lab.papers import PAPERS, Paper, Reproduction, judge_all
from dragonfly_env.lab.papers.claims import PaperFindings
from dragonfly_env.lab.papers.job_metrics import NETWORK_CLASSES
from dragonfly_env.metrics.ports import HOST_IN
from dragonfly_env.simulation.path_kinds import PATH_KINDS
from dragonfly_env.sweeps import Scenario
from dragonfly_env.sweeps.point import Run

FILE = Path(__file__).with_name("dump.txt")
TOP = Path(__file__).parents[2]


def lines() -> Iterator[str]:
    """The text, line by line; each line begins with its kind and its name."""
    yield from _public_names()
    yield from _settings()
    yield from _example_runs()
    yield from _suite_runs()
    for paper in PAPERS:
        yield from _paper(paper)


def _public_names() -> Iterator[str]:
    for module in (dfe, dfe.agents, dfe.baselines, dfe.bounds):
        for name in module.__all__:
            yield f"name {module.__name__}.{name}"
    for name in ("env", "parallel_env", "raw_env"):
        yield f"name {dragonfly_v0.__name__}.{name}: {callable(getattr(dragonfly_v0, name))}"
    for name in dfe.policies():
        yield f"name policy {name}"
    for name in dfe.traffic_patterns():
        yield f"name traffic {name}"
    for name in cli.COMMANDS:
        for parameter in cli.command(name).params:
            yield f"name dragonfly-env {name} {'/'.join((*parameter.opts, *parameter.secondary_opts))}"


def _settings() -> Iterator[str]:
    """Everything that the core receives: each network and each policy in full, each pair of both as a digest."""
    networks: dict[str, Any] = {}
    policies: dict[str, Any] = {}
    for network in dfe.networks():
        for policy in dfe.policies():
            try:
                config = dfe.SimulationConfig(topology="72", network=network, policy=policy)
            except dfe.ConfigError as refusal:
                yield f"settings {network} {policy}: {refusal}"
                continue
            sent = _plain(config.to_core())
            yield f"settings {network} {policy}: {_digest([json.dumps(sent, sort_keys=True)])}"
            policies.setdefault(policy, sent.pop("policy"))
            networks.setdefault(network, sent)
    for name, sent in (*networks.items(), *policies.items()):
        yield f"settings {name}: {json.dumps(sent, sort_keys=True)}"
    for name in dfe.topologies():
        topology = dfe.Dragonfly.preset(name)
        fields = (f"{field.name}={getattr(topology, field.name)!r}" for field in dataclasses.fields(topology))
        yield f"settings topology {name}: Dragonfly({', '.join(fields)})"


def _example_runs() -> Iterator[str]:
    for file in sorted((TOP / "examples").glob("*.toml")):
        yield _identifiers(f"examples {file.name}", Scenario.from_toml(file).runs())


def _suite_runs() -> Iterator[str]:
    for name in suites():
        for effort in EFFORTS:
            suite = find_suite(name)
            work = Benchmark(suite=suite, effort=effort, policies=(), folder=Path("nowhere"), published=False)
            by_policy: dict[str, list[Run]] = {}
            for run in work.runs():
                by_policy.setdefault(run.policy_label, []).append(run)
            for policy, runs in by_policy.items():
                yield _identifiers(f"suite {name} {effort} {policy}", runs)


def _paper(paper: Paper) -> Iterator[str]:
    for effort in paper.efforts:
        for variant in paper.variants:
            name = f"{paper.name} {effort.name} {variant.name}"
            work = Reproduction(
                paper=paper,
                figures=paper.figures,
                effort=dataclasses.replace(effort, variant=variant.name),
                folder=Path("nowhere"),
            )
            for figure in paper.figures:
                points = figure.points(work.effort)
                runs = (run for point in points for run in paper.runs(point, work.effort))
                yield _identifiers(f"paper {name} {figure.name}", runs)
            yield from _verdicts(name, work)


def _verdicts(name: str, work: Reproduction) -> Iterator[str]:
    paper, effort = work.paper, work.effort
    points = {figure.name: figure.points(effort) for figure in paper.figures}
    every = dict.fromkeys(point for some in points.values() for point in some)
    rows = {point: tuple(map(MadeUpRow, paper.runs(point, effort))) for point in every}
    findings = PaperFindings(points=points, rows=rows, name=name, claims=paper.claims)
    for verdict in judge_all(
        paper.claims, findings, decides_all=effort.decides, variant=effort.variant, published=paper.published
    ):
        measured = verdict.measured
        number = "" if measured is None else f" {measured.mean:.9g} +-{measured.ci95:.6g} {measured.ordering}"
        yield f"verdict {name} {verdict.claim.id}: {verdict.counts_as}{number}"


class MadeUpRow(dict[str, Any]):
    """A row of results in which every column has a number, or a list of numbers, that follows from run and column."""

    def __init__(self, run: Run) -> None:
        super().__init__(run_id=run.id, seed=run.config.seed, policy=run.policy_label, load=run.load)
        config = run.config
        self.config = config
        self.bin_ns = 1.0 if config.series_bin_ns is None else config.series_bin_ns
        bins = 1 if config.series_bin_ns is None else math.ceil(run.measure_ns / config.series_bin_ns)
        routers = config.topology.num_routers
        self.lengths = {
            "series_": bins,
            "histogram_": 40,
            "hop_histogram": 8,
            "router_accepted_load": routers,
            "source_router_load": routers,
            "source_router_path_loads": routers * len(PATH_KINDS),
            "nic_latency_ns": 16,
        }

    def get(self, column: str, default: Any = None) -> Any:
        """A value of the column, which every row has."""
        return self[column]

    def __missing__(self, column: str) -> Any:
        self[column] = value = self._value(column)
        return value

    def _value(self, column: str) -> Any:
        if column == "jobs":
            return json.dumps([self._job(number) for number in range(len(self.config.jobs))])
        if column == "tiles":
            return json.dumps(self._tiles(""))
        length = next((count for start, count in self.lengths.items() if column.startswith(start)), None)
        if length is None:
            return self._number(column)
        if column == "series_time_ns":
            return [number * self.bin_ns for number in range(length)]
        if column == "series_duration_ns":
            return [self.bin_ns] * length
        if column == "histogram_packets":
            return [1 + int(1000 * self._number(f"{column}{number}")) for number in range(length)]
        return [self._number(f"{column}{number}") for number in range(length)]

    def _job(self, number: int) -> dict[str, Any]:
        """A job as the column ``jobs`` has it."""
        times = ("run_time_ns", "iteration_mean_ns")
        return {
            "endless": False,
            "hosts": list(range(4)),
            "groups": 1 + int(4 * self._number(f"groups{number}")),
            "iterations": 16,
            **{name: 1e6 * self._number(f"{name}{number}") for name in times},
            "operations": {
                name: {"count": 4, "mean_ns": 1e4 * self._number(f"{name}{number}")}
                for name in ("wait", "allreduce", "alltoallv")
            },
            "tiles": self._tiles(f"job{number}"),
        }

    def _tiles(self, of: str) -> dict[str, dict[str, float]]:
        return {
            name: {
                what: self._number(f"{of}{name}{what}")
                for what in ("tiles", "flits", "stalls", "most_stalls")
            }
            for name in (HOST_IN, *NETWORK_CLASSES)
        }

    def _number(self, text: str) -> float:
        digest = hashlib.sha256(f"{self['run_id']} {text}".encode()).digest()
        return 0.1 + int.from_bytes(digest[:6], "big") / 2**48


def _identifiers(name: str, runs: Iterable[Run]) -> str:
    identifiers = sorted({run.id for run in runs})
    return f"runs {name}: {len(identifiers)} {_digest(identifiers)}"


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """Settings for the core as JSON types; objects of the core by their class."""
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__


def main() -> int:
    """Print the difference between the text of today and an earlier one; the status is 1 if there is one."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--base", help="a commit; without it: the committed text of the working tree")
    parser.add_argument("--write", action="store_true", help="write the text of today")
    given = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # made-up numbers leave some means empty
    today = [f"{line}\n" for line in lines()]
    if given.write:
        FILE.write_text("".join(today), encoding="utf-8")
    if given.base:
        place = f"{given.base}:{FILE.relative_to(TOP)}"
        before = subprocess.run(
            ["git", "show", place], cwd=TOP, capture_output=True, text=True, check=True
        ).stdout
    else:
        before = FILE.read_text(encoding="utf-8")
    difference = list(
        difflib.unified_diff(before.splitlines(True), today, given.base or FILE.name, "today", n=0)
    )
    sys.stdout.writelines(difference)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
