"""The presets of ``NetworkConfig``: per name, what differs from the defaults of its fields."""

from __future__ import annotations

import math
from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    # For learning: links and buffers of the HPDC'21 paper, but pipelined decisions, as real switches have.
    "default": {},
    # The model of the HPDC'21 paper: SST/Merlin, the authors' version.
    "q-adaptive": {"decide_at": "head", "routing_delay_ns": 0.0, "periodic_intervals": "whole-ns"},
    # LIA's table 1: 1 GHz, 25-byte phits, 18/45 KB transit and 126 KB injection buffers, 2x speed-up.
    "lia": {
        "packet_bytes": 250,
        "flit_bytes": 25,
        "host_bandwidth_gbytes_per_s": 25.0,
        "local_bandwidth_gbytes_per_s": 25.0,
        "global_bandwidth_gbytes_per_s": 25.0,
        "injection_bandwidth_gbytes_per_s": math.inf,
        "injection_latency_ns": 1.0,
        "ejection_latency_ns": 0.0,
        "local_latency_ns": 15.0,
        "global_latency_ns": 150.0,
        "input_latency_ns": 0.0,
        "output_latency_ns": 0.0,
        "crossbar_latency_ns": 89.0,
        "crossbar_bandwidth_gbytes_per_s": 50.0,
        "router_clock_ns": 1.0,
        "host_buffer_packets": 504,
        "local_buffer_packets": 72,
        "global_buffer_packets": 180,
        "output_buffer_packets": 32,
        "output_queue": "shared",
        "link_start": "immediate",
        "switching": "cut-through",
        "vc_scheme": "ladder",
        "arbitration": "round-robin",
        "decide_at": "head",
        "routing_delay_ns": 0.0,
        "detours_avoid_destination_group": False,
        "uniform_excludes_sender": True,
    },
}
