"""Durations that callers give, checked."""

from __future__ import annotations

from dragonfly_env.checks.values import MAX_RUN_NS, check_real, config_error, ns_to_ps


def duration_ps_of(field: str, value: object, *, above_0: bool = False) -> int:
    """In picoseconds.

    Raises:
        ConfigError: If it is negative, too long, NaN, or finer than a picosecond; or 0 where it must be above.
    """
    number = check_real(field, value, 0.0, MAX_RUN_NS, unit="ns")
    duration_ps = ns_to_ps(field, number)
    if above_0 and duration_ps == 0:
        raise config_error(field, value, "must be above 0")
    return duration_ps
