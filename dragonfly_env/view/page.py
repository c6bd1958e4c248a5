"""The page: recordings, a script that plays them, and their style in one HTML file.

It opens from a file, offline. Numbers are in it as compressed binary arrays, as they were counted.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe
from dragonfly_env.checks.files import fill_page
from dragonfly_env.checks.values import config_error
from dragonfly_env.colors import HEAT, SeriesStyle, looks
from dragonfly_env.config.groups import Grid, LeafSpine
from dragonfly_env.metrics.tables import known
from dragonfly_env.view.recording import Recording

SCRIPTS = ("data", "geometry", "panel", "charts", "details", "main")
"""Files of the script, in order: each knows those before it."""
MOST_RUNS = 2

_TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "i4": np.int32, "f4": np.float32}
_COUNT_TYPES = {"u1": 0xFF, "u2": 0xFFFF, "u4": 0xFFFF_FFFF}


def write_view(recordings: Sequence[Recording], path: Path) -> Path:
    """Write the page.

    Args:
        recordings: One run, or two to be seen side by side: of one topology, with equal frames at equal times.
        path: The file to write.

    Returns:
        ``path``.

    Raises:
        ConfigError: If the runs cannot be side by side, or the file cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from dragonfly_env.sweeps import Scenario
        >>> from dragonfly_env.view import record, write_view
        >>> scenario = Scenario.from_dict(
        ...     {"topology": "72", "policies": ["min", "val-n"], "traffic": ["adv+1"],
        ...      "loads": [0.3], "warmup_ns": 0, "measure_ns": 2_000}
        ... )
        >>> recordings = [record(run, frames=4) for run in scenario.runs()]
        >>> write_view(recordings, Path("two.html")).name
        'two.html'
    """
    check_comparable(recordings)
    packed = _Packed()
    meta = _meta(recordings, packed)
    page = files("dragonfly_env.view").joinpath("page")
    parts = {
        "TITLE": html.escape(" and ".join(recording.run.policy_label for recording in recordings)),
        "STYLE": page.joinpath("view.css").read_text(encoding="utf-8"),
        "META": json.dumps(meta, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        "DATA": packed.text(),
        "SCRIPT": "\n".join(
            page.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS
        ).replace("</script", "<\\/script"),
    }
    template = page.joinpath("view.html").read_text(encoding="utf-8")
    fill_page(template, parts, path)
    return path


class _Packed:
    """Arrays one behind the other, each at a multiple of four bytes, and where each one is."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def add(self, kind: str, values: npt.NDArray[Any]) -> dict[str, Any]:
        raw = np.ascontiguousarray(values, np.dtype(_TYPES[kind]).newbyteorder("<")).tobytes()
        place = {"type": kind, "offset": self._length, "length": int(values.size)}
        raw += bytes(-len(raw) % 4)
        self._parts.append(raw)
        self._length += len(raw)
        return place

    def counts(self, values: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Counters, in the smallest type that holds them all."""
        top = int(values.max(initial=0))
        return self.add(next(kind for kind, most in _COUNT_TYPES.items() if top <= most), values)

    def text(self) -> str:
        return base64.b64encode(zlib.compress(b"".join(self._parts), 6)).decode()


def check_comparable(recordings: Sequence[Recording]) -> None:
    if not 1 <= len(recordings) <= MOST_RUNS:
        raise config_error("recordings", len(recordings), f"must be one run or {MOST_RUNS}")
    first = recordings[0]
    for other in recordings[1:]:
        if other.run.config.topology != first.run.config.topology:
            raise config_error("recordings", other.run.describe(), "must be of the same topology")
        if (other.start_ns, other.frame_ns, other.num_frames) != (
            first.start_ns,
            first.frame_ns,
            first.num_frames,
        ):
            raise config_error("recordings", other.run.describe(), "must have the same frames")


def _meta(recordings: Sequence[Recording], packed: _Packed) -> dict[str, Any]:
    first = recordings[0]
    topology, events = first.run.config.topology, first.run.config.events
    shape = topology.group
    routers = np.arange(topology.num_routers)
    dead = topology.dead_links()
    look = looks([recording.run.policy_label for recording in recordings])
    return {
        "version": dfe.__version__,
        "system": {
            "hosts": topology.num_hosts,
            "routers": topology.num_routers,
            "groups": topology.num_groups,
            "p": topology.p,
            "a": topology.a,
            "hostsPerGroup": topology.hosts_per_group,
            "groupOfRouters": topology.group_of_routers().tolist(),
            "placeOfRouters": topology.place_of_routers().tolist(),
            "firstHosts": np.searchsorted(topology.router_of_hosts(), routers).tolist(),
            "hostsOfRouters": topology.hosts_of_routers().tolist(),
            "radix": topology.radix,
            "arrangement": topology.arrangement
            + (f", failed {topology.failed}" if topology.failed is not None else "")
            + (f", events {', '.join(map(str, events))}" if events else ""),
            "group": str(shape),
            "grid": [shape.rows, shape.columns] if isinstance(shape, Grid) else None,
            "leaves": shape.leaves if isinstance(shape, LeafSpine) else 0,
            "classes": topology.link_classes,
            "portClass": topology.port_classes().tolist(),
            "portLinks": [topology.port_links(port) for port in range(topology.radix)],
            "dead": dead[dead[:, 0] < dead[:, 2]][:, [0, 2]].tolist(),
            "deadRouters": topology.dead_routers().tolist(),
        },
        "frames": {"count": first.num_frames, "ns": first.frame_ns, "startNs": first.start_ns},
        "links": {
            name: packed.add("i4", first.links[:, column])
            for column, name in enumerate(("router", "port", "peer", "peerPort"))
        },
        "runs": [_run_meta(recording, look, packed) for recording in recordings],
        "heat": HEAT,
    }


def _run_meta(recording: Recording, look: dict[str, SeriesStyle], packed: _Packed) -> dict[str, Any]:
    run = recording.run
    latency = np.nan_to_num(recording.latency_mean_ns, nan=-1.0)  # none; JSON and canvas know no NaN
    return {
        "label": run.policy_label,
        "color": look[run.policy_label].color,
        "traffic": run.traffic_label,
        "load": None if run.closed_loop else run.load,
        "seed": run.config.seed,
        "packetBytes": run.config.network.packet_bytes,
        "packetNs": run.config.network.packet_time_ns,
        "busyNs": packed.add("f4", recording.busy_ns_per_packet),
        "figures": {
            name: [known(value) for value in row.tolist()] for name, row in recording.figures.items()
        },
        "packets": packed.counts(recording.packets),
        "stall": packed.add("u1", np.rint(np.clip(recording.stall_fraction, 0.0, 1.0) * 255)),
        "queued": packed.counts(recording.queued_packets),
        "occupancy": packed.counts(recording.occupancy_packets),
        "delivered": packed.counts(recording.delivered),
        "latency": packed.add("f4", latency),
        "configuration": json.dumps(run.configuration, sort_keys=True),
    }
