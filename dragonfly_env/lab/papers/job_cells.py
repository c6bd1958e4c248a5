"""Cells of papers about applications: jobs on a machine, some of them watched, the others filling it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from dragonfly_env.config.network import NetworkConfig
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs import BackgroundMix, Job
from dragonfly_env.lab.papers.cells import Cell, Setup
from dragonfly_env.policies import make_policy, policies
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.sweeps.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCell(Cell):
    """One simulation of jobs up to its seed, from which placements, phases and the mix follow: two cells that differ in
    ``routing`` alone have pairs of runs with all else equal.

    ``warmup_ns`` is when the watched jobs start, ``measure_ns`` the longest that they may take.

    Attributes:
        system: Name of the topology's preset.
        jobs: Those that are watched; the cell's policy routes their packets.
        placements: Of the watched jobs: the next one for each seed, in turn.
        mix: What fills the rest of the machine.
        all_to_all: The policy of the watched jobs' all-to-all operations; empty: the cell's own.
        others: The policy of the mix; empty: the cell's own.
        others_all_to_all: Of its all-to-all operations; empty: as its others.
    """

    system: str
    jobs: tuple[Job, ...]
    placements: tuple[str, ...] = ("consecutive",)
    mix: BackgroundMix | None = None
    all_to_all: str = ""
    others: str = ""
    others_all_to_all: str = ""

    @property
    def closed_loop(self) -> bool:
        """It ends with its watched jobs."""
        return True

    def describe(self) -> str:
        """One line for people."""
        return f"{self.traffic} by {self.policy} on {self.system}"

    def missing(self) -> str:
        """Why this version of the package cannot do it, or an empty string."""
        known = policies()
        for name in (self.routing.registered, self.all_to_all, self.others, self.others_all_to_all):
            if name and name not in known:
                return f"policy {name} is not available in this version"
        return ""

    def run(self, setup: Setup, injection: str, seed: int) -> Run:
        """The simulation with a seed; jobs have no injection process.

        Raises:
            ConfigError: If a setting is impossible.
        """
        return _run(self, setup, seed)

    def made(self, setup: Setup, seed: int) -> Run:
        """The same, made anew: placing and checking some twenty jobs takes a tenth of a second."""
        settings = dict(self.routing.settings)
        placement = self.placements[(seed - 1) % len(self.placements)]
        own = make_policy(self.routing.registered, **settings)
        others = make_policy(self.others, **settings) if self.others else own
        exchanges = make_policy(self.others_all_to_all, **settings) if self.others_all_to_all else None
        changes = {"placement": placement, "policy": own, "start_ns": self.warmup_ns}
        if self.all_to_all:
            changes["all_to_all_policy"] = make_policy(self.all_to_all, **settings)
        watched = [job.replace(**changes) for job in self.jobs]
        filling = [] if self.mix is None else [self._mix(exchanges)]
        network = {**dict(setup.network_settings), **dict(self.network_settings)}
        return Run(
            config=SimulationConfig(
                topology=Dragonfly.preset(self.system),
                network=NetworkConfig.preset(setup.network, **network),
                traffic="none",
                policy=others,
                jobs=[*watched, *filling],
                seed=seed,
                packet_log=self.packet_log,
            ),
            policy_label=self.policy,
            traffic_label=self.traffic,
            warmup_ns=self.warmup_ns,
            measure_ns=self.measure_ns,
            arrays=True,
        )

    def _mix(self, exchanges: object) -> BackgroundMix:
        assert self.mix is not None
        values = self.mix.to_dict()
        del values["program"]
        return BackgroundMix.from_settings({**values, "all_to_all_policy": exchanges})


@functools.lru_cache(maxsize=4096)
def _run(cell: JobCell, setup: Setup, seed: int) -> Run:
    return cell.made(setup, seed)
