"""The production mix: jobs that fill a machine as its users do, for one job to run among."""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from dragonfly_env.checks.values import check_mapping, parse_assignments
from dragonfly_env.config.rows import Record, changed, integer, plain, real, time_ns
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.jobs.job import ENDLESS, Job, policy_row
from dragonfly_env.jobs.program import Motif

NAME: Final = "background-mix"

SHARES: Final = {
    "milc": 0.40,
    "nek5000": 0.20,
    "hacc": 0.15,
    "qbox": 0.075,
    "rayleigh": 0.075,
    "silent": 0.10,
}
"""Shares of the mix's hosts, by program (assumption: the paper does not name the other jobs)."""

_PARTS = (34, 17, 8.6)  # machine size over job size: 128, 256 and 512 of Theta's 4,392 nodes


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class BackgroundMix(Record):
    """Endless jobs on the hosts that the other jobs of a run leave, up to a part of the machine.

    Their sizes are the powers of two up to 1/34, 1/17 and 1/8.6 of the machine (128, 256 and 512 nodes of Theta), with
    the same number of hosts for each; programs are drawn by ``SHARES``, where what is silent keeps its hosts idle; half
    are placed consecutively and half by random routers; each starts at a random time. All draws follow from the run's
    seed.

    Args:
        fill: Part of the machine's hosts that have a job, those of other jobs included.
        scale: Sizes of large messages, as for the programs.
        stands_for: Nodes that a host stands for, as for ``Milc``.
        phase_ns: Latest start of a job: jobs start between 0 and this time.
        policy: Policy of the mix's packets; None: the run's policy.
        all_to_all_policy: Policy of the packets of all-to-all operations; None: as ``policy``.

    Source: sizes from Chunduri et al., IPDPS 2021, section II-F; shares, placements and phases are our assumptions.

    Example:
        >>> mix = dfe.jobs.BackgroundMix(fill=0.8, scale=0.01)
        >>> config = dfe.SimulationConfig(topology="theta-m8", jobs=[mix])
        >>> len(config.placed_jobs()) > 1, mix.title
        (True, 'background-mix on 80% of the machine')
    """

    name: ClassVar[str] = NAME
    summary: ClassVar[str] = (
        "endless jobs, sized as on a production machine, on the hosts that other jobs leave"
    )
    source: ClassVar[str] = (
        "Chunduri et al., IPDPS 2021, section II-F; shares and placements are our assumptions"
    )
    called: ClassVar[str] = f"{NAME!r}"
    fill: float = real(0.9, 0.0, 1.0, doc="Part of the machine's hosts that have a job.")
    scale: float = real(1.0, 1e-6, 1e3, doc="Size of the large messages, as a multiple of the applications'.")
    stands_for: int = integer(
        1,
        1,
        4096,
        unit="nodes",
        doc="Nodes that a host stands for, as for milc: 8 on an eighth of a machine.",
    )
    phase_ns: float = time_ns(200_000.0, doc="Latest start of a job: jobs start between 0 and this time.")
    policy: Any = policy_row("Policy of the mix's packets; unset: the policy of the run.")
    all_to_all_policy: Any = policy_row("The policy of its all-to-all operations; unset: ``policy``.")

    @property
    def is_endless(self) -> bool:
        """Yes: it goes on for as long as the run does."""
        return True

    @property
    def title(self) -> str:
        """Describe the jobs and their places, in a few words for people."""
        return f"{NAME} on {self.fill:.0%} of the machine"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for TOML and JSON, and the name in the place of a program."""
        return {"program": NAME, **{name: plain(value) for name, value in changed(self).items()}}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> BackgroundMix:
        """The mix that ``to_dict`` described; a table may leave its name out."""
        given = check_mapping(cls.called, values)
        if given.get("program") == NAME:
            del given["program"]
        return super(BackgroundMix, cls).from_dict(given)

    def _program(self, name: str) -> Motif:
        settings: dict[str, Any] = {"scale": self.scale}
        if name == "milc":
            settings["stands_for"] = self.stands_for
        return Motif.classes[name].from_dict(settings)

    @functools.lru_cache(maxsize=1024)  # noqa: B019  # mixes are values, and runs with one seed share the jobs
    def jobs(self, topology: Dragonfly, taken: int, seed: int) -> tuple[Job, ...]:
        """Its jobs on a machine of which so many hosts are taken."""
        return tuple(self._drawn(topology, taken, seed))

    def _drawn(self, topology: Dragonfly, taken: int, seed: int) -> Iterator[Job]:
        draws = random.Random(f"{NAME} {seed}")
        left = int(self.fill * topology.num_hosts) - taken
        sizes = sorted({max(2, 1 << int(topology.num_hosts / part).bit_length() >> 1) for part in _PARTS})
        while fitting := [size for size in sizes if size <= left]:
            (size,) = draws.choices(fitting, [1 / hosts for hosts in fitting])
            (program,) = draws.choices(list(SHARES), list(SHARES.values()))
            placement = draws.choice(("consecutive", "random-routers"))
            start_ns = float(draws.randint(0, int(self.phase_ns)))
            left -= size
            if program == "silent":
                continue
            yield Job(
                self._program(program),
                size,
                placement,
                policy=self.policy,
                all_to_all_policy=self.all_to_all_policy,
                start_ns=start_ns,
                iterations=ENDLESS,
                name=f"{NAME}: {program}",
            )


def parse_mix(text: str) -> BackgroundMix:
    """Parse ``"background-mix:fill=0.8,policy=ad0"``."""
    _, _, rest = text.partition(":")
    return BackgroundMix.from_dict(parse_assignments(rest, "job"))
