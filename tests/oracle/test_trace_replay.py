"""Packets that another simulator recorded one by one, replayed: same sources, destinations and times.

Packets are matched by source and by their number there. Minimally routed, every packet arrives in the same
nanosecond as in the recorded run. A recorded route with non-minimal paths does not say which router was the
intermediate one (one hop inside a group is either the way to it or the way from it), hence not always the VC: there
means must agree.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import dragonfly_env as dfe
from dragonfly_env.traffic import Trace
from tests.routes import routes_of

pytestmark = pytest.mark.oracle
PACKET_BYTES = 128


@dataclasses.dataclass(frozen=True)
class Replay:
    """Recorded packets and ours, row by row the same packet."""

    recorded: pd.DataFrame
    latency_ns: npt.NDArray[np.float64]
    delivered_ns: npt.NDArray[np.float64]
    routers: list[list[int]]

    @property
    def error_ns(self) -> npt.NDArray[np.float64]:
        """Our latency minus the recorded one."""
        return np.asarray(self.latency_ns - self.recorded["lat_ns"].to_numpy(np.float64), np.float64)

    @property
    def mean_ratio(self) -> float:
        """Our mean latency over the recorded one."""
        return float(self.latency_ns.mean() / self.recorded["lat_ns"].mean())


def replay(name: str, *, source_routed: bool = False) -> Replay:
    """Replay a recorded trace on the 72-host system of the simulator that recorded it."""
    recorded = pd.read_csv(Path(__file__).parent / "data" / f"{name}.csv.gz", dtype={"routers": str})
    recorded = recorded.sort_values(["send_ns", "src", "msgid"], kind="stable", ignore_index=True)
    routes = [[int(router) for router in text.split()] for text in recorded["routers"]]
    trace = Trace.from_columns(
        time_ns=recorded["send_ns"].to_numpy(),
        src=recorded["src"].to_numpy(),
        dst=recorded["dst"].to_numpy(),
        bytes=np.full(len(recorded), PACKET_BYTES),
        routers=routes if source_routed else None,
    )
    simulation = dfe.Simulation(
        dfe.SimulationConfig(
            topology=dfe.Dragonfly.preset("72", arrangement="absolute"),
            network=dfe.NetworkConfig.preset("q-adaptive"),
            traffic=trace,
            policy="min",
            source_queue_packets=20,
            packet_log=True,
        )
    )
    simulation.run(float(recorded["send_ns"].max()) + 100_000)
    log: dict[str, Any] = simulation.packet_log()
    assert len(log["src"]) == len(recorded)
    # Both in the order of (source, number at the source).
    ours = np.lexsort((log["number"], log["src"]))
    theirs = np.lexsort((recorded["msgid"].to_numpy(), recorded["src"].to_numpy()))
    recorded = recorded.iloc[theirs]
    assert (log["src"][ours] == recorded["src"].to_numpy()).all()
    assert (log["dst"][ours] == recorded["dst"].to_numpy()).all()
    assert (log["created_ns"][ours] == recorded["send_ns"].to_numpy()).all()
    routes = routes_of(log)
    return Replay(
        recorded=recorded,
        latency_ns=(log["delivered_ns"] - log["created_ns"])[ours],
        delivered_ns=log["delivered_ns"][ours],
        routers=[routes[i] for i in ours],
    )


def recorded_routers(replayed: Replay) -> list[list[int]]:
    return [[int(router) for router in text.split()] for text in replayed.recorded["routers"]]


def test_lone_packets_arrive_within_a_nanosecond_of_the_recorded_ones() -> None:
    replayed = replay("t72_minimal_first")
    error = np.abs(replayed.error_ns)
    assert np.median(error) <= 1
    assert np.mean(error <= 3) >= 0.9
    assert np.array_equal(np.floor(replayed.delivered_ns), replayed.recorded["recv_ns"])


@pytest.mark.parametrize("name", ["t72_minimal_first", "t72_minimal_UR_0.5"])
def test_minimal_packets_pass_the_recorded_routers(name: str) -> None:
    replayed = replay(name)
    assert replayed.routers == recorded_routers(replayed)


def test_a_minimally_routed_trace_at_half_load_takes_the_recorded_time() -> None:
    replayed = replay("t72_minimal_UR_0.5")
    assert replayed.mean_ratio == pytest.approx(1, abs=0.02)
    assert np.median(np.abs(replayed.error_ns)) < 30


def test_at_half_load_every_packet_arrives_in_the_recorded_nanosecond() -> None:
    """Until 19 us: packets that were under way at 20 us, when the recording ended, are missing from the replay."""
    replayed = replay("t72_minimal_UR_0.5")
    recorded_ns = replayed.recorded["recv_ns"].to_numpy()
    early = recorded_ns < 19_000
    assert early.sum() > 20_000
    # Cut to whole ns, as the recorded times are; their clock counts ps, ours multiples of 0.2 ns.
    assert np.array_equal(np.floor(replayed.delivered_ns)[early], recorded_ns[early])


def test_a_valiant_trace_takes_the_recorded_time_on_the_recorded_routes() -> None:
    replayed = replay("t72_VALn_UR_0.5", source_routed=True)
    assert replayed.routers == recorded_routers(replayed)
    assert replayed.mean_ratio == pytest.approx(1, abs=0.02)
