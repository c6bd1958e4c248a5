"""Doing what a reproduction needs: the runs of its cells, as one resumable sweep over all cores."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dragonfly_env as dfe
from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.experiments.engines import Engine
from dragonfly_env.experiments.listed import Batch
from dragonfly_env.experiments.progress import Reporter
from dragonfly_env.experiments.run import Run
from dragonfly_env.experiments.runner import SweepReport, run_sweep
from dragonfly_env.experiments.storage import ResultsFolder
from dragonfly_env.jobs import Motif
from dragonfly_env.jobs.gaps import PAPER_SHARES
from dragonfly_env.jobs.workload import expand_jobs
from dragonfly_env.reproduce.cells import Cell, Setup
from dragonfly_env.reproduce.findings import Findings, read_findings
from dragonfly_env.reproduce.paper import USUAL, Effort, Paper, PaperFigure, Reading

_NS_PER_US = 1000.0
_HOPS_OF_JOBS = 6.0  # with the last one to the host: in a full machine about half of the packets go around


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A paper, the part of it that is wanted, and how.

    Attributes:
        paper: What to reproduce.
        figures: Which of its figures.
        effort: How long.
        injection: ``periodic`` or ``bernoulli``.
        learner_settings: Parameters for every policy that learns, to see what they change.
        folder: Where results go.
        only_claims: Simulate only what the claims need; figures that show more are not drawn.
        reading: How what the paper leaves open is read.
    """

    paper: Paper
    figures: tuple[PaperFigure, ...]
    effort: Effort
    injection: str
    learner_settings: Mapping[str, Any]
    folder: Path
    only_claims: bool = False
    reading: Reading = USUAL

    def cells(self, figure: PaperFigure) -> tuple[Cell, ...]:
        """The cells of a figure, by this reading and with the learners' settings."""
        return tuple(self._adjusted(cell) for cell in figure.cells(self.effort))

    def wanted(self, figure: PaperFigure) -> tuple[Cell, ...]:
        """Those of its cells that are simulated: all, or what the claims need."""
        cells = self.cells(figure)
        if not self.only_claims:
            return cells
        claims = [claim for claim in self.paper.claims() if claim.quick or self.effort.decides]
        return tuple(
            cell
            for cell in cells
            if any(
                claim.needs(figure.name, cell.hosts, cell.traffic, cell.load, cell.policy) for claim in claims
            )
        )

    def runs(self, figures: Sequence[PaperFigure] | None = None) -> tuple[Run, ...]:
        """Every run of the figures (those wanted, if None) that this version can do, once."""
        chosen = self.figures if figures is None else figures
        cells = dict.fromkeys(cell for figure in chosen for cell in self.wanted(figure))
        runs = [run for cell in cells if not cell.missing() for run in self._seeds_of(cell)]
        return tuple({run.id: run for run in runs}.values())

    def todo(self) -> tuple[Run, ...]:
        """Those of the wanted runs that the folder does not hold."""
        files = ResultsFolder(self.folder)
        return tuple(run for run in self.runs() if files.version_of(run.id) != dfe.__version__)

    def execute(
        self,
        *,
        workers: int | None = None,
        reporter: Reporter | None = None,
        redo: bool = False,
        engine: Engine | None = None,
    ) -> SweepReport | None:
        """Do what the folder lacks, here or on the cluster of an engine; None if nothing needs to be simulated.

        Raises:
            ConfigError: For whatever `run_sweep` refuses.
            SweepInterrupted: On Ctrl-C; the same call goes on.
        """
        runs = self.runs()
        if not runs:
            return None
        batch = Batch.of(self.paper.reference, runs)
        return run_sweep(batch, self.folder, jobs=workers, reporter=reporter, redo=redo, engine=engine)

    def findings(self) -> Findings:
        """What the folder holds, of all figures of the paper."""
        cells = {figure.name: self.cells(figure) for figure in self.paper.figures}
        every = tuple(dict.fromkeys(cell for some in cells.values() for cell in some))
        missing = {cell: reason for cell in every if (reason := cell.missing())}
        ids = {cell: [run.id for run in self._seeds_of(cell)] for cell in every if cell not in missing}
        return read_findings(self.paper.reference, self.paper.setup, cells, missing, ids, self.folder)

    def _adjusted(self, cell: Cell) -> Cell:
        cell = self.reading.adjust(cell)
        if not (self.learner_settings and cell.routing.learns):
            return cell
        return replace(cell, routing=cell.routing.with_settings(self.learner_settings))

    def _seeds_of(self, cell: Cell) -> list[Run]:
        seeds = min(self.effort.seeds, cell.most_seeds or self.effort.seeds)
        return [cell.run(self.paper.setup, self.injection, seed) for seed in range(1, seeds + 1)]


def packet_hops(run: Run) -> float:
    """A rough number of the packet-hops (deliveries included) that a run simulates."""
    config = run.config
    if config.jobs:
        return job_packet_hops(run)
    if run.closed_loop:  # about one packet from every host to every other; the longest time says nothing
        return config.topology.num_hosts**2 * (_hops(run) + 1.0)
    duration_ns = run.warmup_ns + run.measure_ns
    steps = getattr(config.traffic_object, "steps", None)
    load = run.load
    if steps:
        starts = [float(step[0]) for step in steps]
        ends = [*starts[1:], duration_ns]
        load = sum(
            float(step[2]) * max(0.0, end - start)
            for step, start, end in zip(steps, starts, ends, strict=True)
        ) / max(duration_ns, 1.0)
    packets = config.topology.num_hosts * load * duration_ns / config.network.packet_time_ns
    return packets * (_hops(run) + 1.0)


def job_packet_hops(run: Run) -> float:
    """The same of jobs: for as long as the longest that ends would take if it were alone, all send as if they were."""
    config = run.config
    motifs = [
        (job, job.program, job.program.gap(job.num_hosts) / (1.0 - PAPER_SHARES[job.program.name]))
        for job in expand_jobs(config.jobs, config.topology, config.seed)
        if isinstance(job.program, Motif)
    ]
    until_ns = max(
        (
            job.start_ns + job.iterations * iteration_ns
            for job, _, iteration_ns in motifs
            if not job.is_endless
        ),
        default=0.0,
    )
    packets = 0.0
    for job, motif, iteration_ns in motifs:
        iterations = (until_ns - job.start_ns) / max(iteration_ns, 1.0)
        each = motif.bytes_per_host(job.num_hosts) / config.network.message_bytes_of_packet
        packets += job.num_hosts * each * min(iterations, math.inf if job.is_endless else job.iterations)
    return packets * _HOPS_OF_JOBS


def _hops(run: Run) -> float:
    """Mean hops, as measured on the paper's systems, rounded."""
    name = run.config.policy_object.name
    if name == "min":
        return 2.7 if run.traffic_label == "uniform" or run.closed_loop else 0.5  # the rest waits
    if name in ("val-n", "vlb-lgl"):
        return 5.5
    return 3.2 if run.traffic_label.startswith(("uniform", "random", "many")) else 4.5


def core_speed(setup: Setup) -> float:
    """Packet-hops per second of one core, here and now: a run of a fraction of a second."""
    config = dfe.SimulationConfig(
        topology=setup.topology(1056),
        network=NetworkConfig.preset(setup.network, **dict(setup.network_settings)),
        policy="ugal-n",
        load=0.5,
        source_queue_packets=setup.source_queue_packets,
    )
    simulation = dfe.Simulation(config)
    simulation.run(2 * _NS_PER_US)
    hops, begin = simulation.metrics().packet_hops, time.perf_counter()
    simulation.run(10 * _NS_PER_US)
    return (simulation.metrics().packet_hops - hops) / max(time.perf_counter() - begin, 1e-6)


def estimate_seconds(runs: Sequence[Run], setup: Setup, workers: int) -> float:
    """A rough wall-clock time for runs."""
    if not runs:
        return 0.0
    costs = [packet_hops(run) for run in runs]
    per_core = max(sum(costs) / min(workers, len(runs)), max(costs))
    return per_core / core_speed(setup)
