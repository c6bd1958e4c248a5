"""The unit of simulated time: a whole number of ps that divides every delay of a network, so that events in the core
fall on common times.

Times that are set (latencies, the clock of routers) are exact. The time of a packet on a link, or through the crossbar,
follows from a rate and is rounded:

1. to the nearest ps (on bundled links: to 10 ps), if the queues of events in the core then span the longest delay with
   at most ``USUAL_UNITS`` units, which are the common divisor of all delays;
2. otherwise to the largest unit that divides all times that are set and changes no rate by more than ``TOLERANCE``.

A rate at which a packet takes less than 500 ps may be further off, since no unit is below 1 ps. Where a network has
delays of several microseconds, units below ``longest delay / longest_horizon`` do not fit the queues.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dragonfly_env import _core
from dragonfly_env.checks.values import PS_PER_NS, config_error
from dragonfly_env.errors import ConfigError

TOLERANCE = 1e-3
"""Relative error of a rate."""
USUAL_UNITS = 2**18
"""The slots of a queue of this span lie in a processor's cache."""
_BUNDLE_STEP_PS = 10

Times = Mapping[str, Any]
"""The parameters of a network for the core; times of packets are exact before rounding, and may have fractions."""


def rounded(exact: Times, bundled: Sequence[bool]) -> Times:
    """Round the times of packets.

    Args:
        exact: The parameters of a network, ``links`` included.
        bundled: Whether a port of each of these classes of links stands for several links.
    """
    nearest = _in_unit(1, exact, [_BUNDLE_STEP_PS if many else 1 for many in bundled])
    if _core.network_horizon(nearest) <= USUAL_UNITS:
        return nearest
    divisor = math.gcd(PS_PER_NS, *(time for _, time in _times_that_are_set(exact)))
    best: Times = {}
    for unit in range(divisor, 0, -1):
        if divisor % unit:
            continue
        times = _in_unit(unit, exact, [1] * len(bundled))
        if (horizon := _core.network_horizon(times)) > _core.longest_horizon:
            if not best:
                raise _too_fine(exact, horizon * unit)
            break
        best = times
        if largest_error(exact, times) <= TOLERANCE:
            break
    return best


def largest_error(exact: Times, times: Times) -> float:
    """The largest relative error of a rate."""
    pairs = zip(_packet_times(exact), _packet_times(times), strict=True)
    return max(abs(wanted / time - 1) if time else 0.0 for wanted, time in pairs)


def _in_unit(unit: int, exact: Times, link_steps: Sequence[int]) -> Times:
    """Round times of packets to a unit, those of classes of links to their steps where the rate allows it."""

    def round_to(step: int, time: float) -> int:
        return max(1, round(time / step)) * step if time else 0

    links = []
    for link, step in zip(exact["links"], link_steps, strict=True):
        wanted = link["packet_ps"]
        coarse = round_to(unit * step, wanted)
        close = abs(wanted / coarse - 1) <= TOLERANCE
        links.append({**link, "packet_ps": coarse if close else round_to(unit, wanted)})
    times = {
        name: round_to(unit, time) if name.endswith("packet_ps") else time for name, time in exact.items()
    }
    return {**times, "links": links}


def _packet_times(params: Times) -> Iterator[float]:
    """The times of packets that are used."""
    kinds = ("injection", "host", "crossbar") + (() if params["links"] else ("local", "global"))
    yield from (params[f"{kind}_packet_ps"] for kind in kinds)
    yield from (link["packet_ps"] for link in params["links"])


def _times_that_are_set(params: Times) -> Iterator[tuple[str, int]]:
    """Names of fields, and delays in ps, that are not rounded."""
    unused = ("watchdog_ps", "local_latency_ps", "global_latency_ps") if params["links"] else ("watchdog_ps",)
    for name, value in params.items():
        if name.endswith("_ps") and not name.endswith("packet_ps") and name not in unused:
            yield name.replace("_ps", "_ns"), value
    yield from (("links", link["latency_ps"]) for link in params["links"])


def _too_fine(exact: Times, horizon_ps: int) -> ConfigError:
    """The error for the first delay that is finer than the queues of events can resolve."""
    steps = (step for step in range(1, PS_PER_NS + 1) if PS_PER_NS % step == 0)
    least = next(step for step in steps if horizon_ps <= step * _core.longest_horizon)
    name, time = next((name, time) for name, time in _times_that_are_set(exact) if time % least)
    allowed = (
        f"must be a multiple of {least / PS_PER_NS:g} ns next to delays of {horizon_ps / PS_PER_NS:,.0f} ns"
    )
    return config_error(f"network.{name}", time / PS_PER_NS, allowed)
