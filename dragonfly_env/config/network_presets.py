"""The presets of ``NetworkConfig``: per name, what differs from the defaults of its fields."""

from __future__ import annotations

import math
from typing import Any

# Cray's Aries, as far as public sources go. P: Chunduri et al., IPDPS 2021, section II-A. W: Alverson et al., "Cray
# XC Series Network", 2012, as quoted by the Aries model of PPT (Los Alamos). R: the vendor's generated register
# descriptions of 2014 (facts only). T: the link list of Theta. "Assumed": chosen here.
_ARIES: dict[str, Any] = {
    # A put of 64 bytes is 14 phits (W) of 48 bits (from the widths of its header, R): 84 bytes on a link.
    "packet_bytes": 84,
    "payload_bytes": 64,
    "flit_bytes": 6,
    # A NIC passes 64 bytes of payload in 5 cycles of 800 MHz (W): 84 bytes in 6.25 ns.
    "host_bandwidth_gbytes_per_s": 13.44,
    # 10.5 and 9.38 GB/s of P count both directions (W: 4.7 to 5.25 per direction).
    "local_bandwidth_gbytes_per_s": 5.25,
    "global_bandwidth_gbytes_per_s": 4.69,
    # A router takes 75 ns from the head of a packet to its head: 44 to route, 30 through the crossbar, 1 clock.
    # With wires of 5 ns (backplane), 15 ns (copper between chassis) and 80 ns (optics, about 16 m) a hop takes
    # 80, 90 or 155 ns, about 100 on average, and the longest minimal path of Theta, four hops, 487 ns from NIC to
    # NIC: W has about 100 ns a hop and at most 500. The split is assumed.
    "local_latency_ns": 5.0,
    "global_latency_ns": 80.0,
    "injection_latency_ns": 1.0,
    "ejection_latency_ns": 0.0,
    "input_latency_ns": 0.0,
    "output_latency_ns": 0.0,
    "routing_delay_ns": 44.0,
    "crossbar_latency_ns": 30.0,
    "router_clock_ns": 1.0,
    # Twice the rate of the fastest port, a bundle of three links of 5.25 GB/s (assumed).
    "crossbar_bandwidth_gbytes_per_s": 33.6,
    # A tile buffers 1,024 flits of 48 bits in blocks of eight, shared by its VCs; a packet takes two blocks (R): 64
    # packets. Sharing is not modelled: a VC has half of a tile on copper, all of it on optics (assumed).
    "host_buffer_packets": 64,
    "local_buffer_packets": 32,
    "global_buffer_packets": 64,
    "output_buffer_packets": 16,
    "output_queue": "shared",
    "link_start": "immediate",
    "switching": "cut-through",
    "vc_scheme": "ladder",
    "arbitration": "round-robin",
    "decide_at": "arrival",
    # By class of link, of a single link: rank 1 a row (backplane of a chassis), rank 2 a column (cables between
    # chassis), rank 3 optics between groups. Where groups are all-to-all the fields for local and global links hold.
    "links": {
        "rank-1": {"bandwidth_gbytes_per_s": 5.25, "latency_ns": 5.0, "buffer_packets": 32},
        "rank-2": {"bandwidth_gbytes_per_s": 5.25, "latency_ns": 15.0, "buffer_packets": 32},
        "rank-3": {"bandwidth_gbytes_per_s": 4.69, "latency_ns": 80.0, "buffer_packets": 64},
    },
}
_ARIES_256: dict[str, Any] = {
    # Four packets as one, for long runs: 256 bytes of payload. Buffers keep their bytes.
    **_ARIES,
    "packet_bytes": 336,
    "payload_bytes": 256,
    "host_buffer_packets": 16,
    "local_buffer_packets": 8,
    "global_buffer_packets": 16,
    "output_buffer_packets": 4,
    "links": {
        name: {**link, "buffer_packets": link["buffer_packets"] // 4}
        for name, link in _ARIES["links"].items()
    },
}

PRESETS: dict[str, dict[str, Any]] = {
    # For learning: links and buffers of the HPDC'21 paper, but pipelined decisions, as real switches have.
    "default": {},
    # The model of the HPDC'21 paper: SST/Merlin, the authors' version.
    "q-adaptive": {"decide_at": "head", "routing_delay_ns": 0.0, "periodic_intervals": "whole-ns"},
    # LIA's table 1: 1 GHz, 25-byte phits, 18/45 KB transit buffers, 126 KB of injection buffers a router
    # (84 packets for each of 6 hosts; docs/lia.md says why), 2x speed-up.
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
        "host_buffer_packets": 84,
        "local_buffer_packets": 72,
        "global_buffer_packets": 180,
        "output_buffer_packets": 32,
        "output_queue": "shared",
        "link_start": "immediate",
        "switching": "cut-through",
        "vc_scheme": "ladder",
        "arbitration": "round-robin",
        "decide_at": "by-policy",
        "routing_delay_ns": 0.0,
        "paths_weighed_by": "vc",
        "detours_avoid_destination_group": False,
        "uniform_excludes_sender": True,
    },
    "aries": _ARIES,
    "aries-256": _ARIES_256,
}

MEANINGS: dict[str, str] = {
    "default": "as q-adaptive, but with a routing delay as real switches have",
    "q-adaptive": "of the HPDC'21 paper",
    "lia": "of the TACO'25 paper",
    "aries": "Cray XC machines such as theta and cori",
    "aries-256": "the same in packets of 256 bytes, for long runs",
}
"""What a preset is, for lists of them; the same names as `PRESETS`."""
