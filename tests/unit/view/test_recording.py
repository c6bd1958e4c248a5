"""Recordings: nothing is sampled, so frames add up to what one window counts; what cannot be shown is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import ConfigError
from dragonfly_env.view import record
from tests.unit.view.view_runs import GRID, runs


def whole_window(run: dfe.sweeps.Run) -> dfe.Metrics:  # type: ignore[name-defined]
    """Measure the run without a recording."""
    config = run.config.replace(group_latency=True)
    return dfe.simulate(config, warmup_ns=run.warmup_ns, measure_ns=run.measure_ns)


SLOW = {"preset": "72", "failed": {"degraded_global_links": 0.5}}


@pytest.mark.parametrize("topology", ["72", GRID, SLOW], ids=["mesh", "grid", "degraded"])
@pytest.mark.parametrize("warmup_ns", [0.0, 1000.0])
def test_frames_add_up_to_what_one_window_counts(topology: object, warmup_ns: float) -> None:
    run = runs(topology=topology, warmup_ns=warmup_ns)[1]
    recording, whole = record(run, frames=8), whole_window(run)
    assert (recording.num_frames, recording.start_ns, recording.frame_ns) == (8, warmup_ns, 500.0)
    assert whole.packets_delivered > 100
    ports = whole.ports.of(direction="out")
    assert recording.packets.sum(axis=0).tolist() == ports.packets.tolist()
    np.testing.assert_allclose(recording.stall_fraction.mean(axis=0), ports.stall_fraction)
    np.testing.assert_allclose(recording.utilisation.mean(axis=0), ports.utilisation)
    assert recording.delivered.sum(axis=0).tolist() == whole.group_delivered.tolist()
    weighted = np.nan_to_num(recording.latency_mean_ns) * recording.delivered
    per_packet = weighted.sum(axis=0) / recording.delivered.sum(axis=0).clip(1)
    np.testing.assert_allclose(per_packet, np.nan_to_num(whole.group_latency_mean_ns))
    assert recording.figures["accepted_load"].mean() == pytest.approx(whole.accepted_load)


def test_queues_are_those_at_the_end_of_each_frame() -> None:
    run = runs()[0]
    recording = record(run, frames=4)
    simulation = dfe.Simulation(run.config)
    simulation.run(run.warmup_ns)
    for frame in range(4):
        simulation.run(1000.0)
        now = simulation.metrics()
        place = recording.links[:, 0] * run.config.topology.radix + recording.links[:, 1]
        assert recording.queued_packets[frame].tolist() == now.link_queued_packets[place].tolist()
        assert recording.occupancy_packets[frame].tolist() == now.link_occupancy_packets[place].tolist()
        assert now.link_occupancy_packets.max() > now.link_queued_packets.max() > 0
        assert (now.link_occupancy_packets >= now.link_queued_packets).all()


def test_links_lead_where_the_topology_says() -> None:
    run = runs(topology=GRID)[0]
    topology, links = run.config.topology, record(run, frames=1).links
    to_hosts = links[links[:, 2] < 0]
    assert len(to_hosts) == topology.num_hosts
    between = links[links[:, 2] >= 0]
    assert between.tolist() == topology.links().tolist()


def test_an_agent_is_recorded_as_built_in_policies_are(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    scope, action = 'source', 'path'\n"
        "    def act(self, batch):\n        return batch.minimal_actions()\n",
        encoding="utf-8",
    )
    built_in, mine = runs(policies=["min", f"mine={tmp_path / 'mine.py'}:Mine"])
    assert record(built_in, frames=3).packets.tolist() == record(mine, frames=3).packets.tolist()


@pytest.mark.parametrize(
    ("frames", "changes", "message"),
    [
        (0, {}, r"frames = 0: must be an integer from 1 to 2000"),
        (200, {}, r"frames = 200: must be at most 125 for 4000 ns: no frame may be shorter than a packet"),
        (
            60,
            {"topology": "83232", "policies": ["min"]},
            r"frames = 60: must be at most \d+ for 83232 hosts, or the page gets too large",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_before_it_is_simulated(
    frames: int, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        record(runs(**changes)[0], frames=frames)
