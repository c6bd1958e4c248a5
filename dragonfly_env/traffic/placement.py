"""Hosts of the ranks of a job or of a demand matrix: rules, and lists of hosts."""

from __future__ import annotations

from dragonfly_env.checks.values import check_integer, check_items, config_error, unknown_name
from dragonfly_env.traffic.workloads import PLACEMENTS


def parse_groups(placement: str) -> int | None:
    """The k of ``groups=k``; None for anything else."""
    name, sign, count = placement.partition("=")
    if name.strip() != "groups" or not sign or not count.strip().isdecimal() or len(count) > 9:
        return None
    return int(count)


def check_placement(field: str, placement: object) -> str | tuple[int, ...]:
    """A placement in its plain form."""
    if isinstance(placement, str):
        if placement in PLACEMENTS or (parse_groups(placement) or 0) > 0:
            return placement
        raise unknown_name(field, placement, (*PLACEMENTS, "groups=k", "a list of hosts"))
    allowed = f"must be one of {', '.join(PLACEMENTS)}, groups=k, or a list of hosts"
    items = check_items(field, placement, allowed)
    hosts = tuple(check_integer(field, host, 0, 2**32 - 1) for host in items)
    if not hosts:
        raise config_error(field, placement, allowed)
    if len(set(hosts)) < len(hosts):
        twice = next(host for host in hosts if hosts.count(host) > 1)
        raise config_error(field, twice, "must list each host only once")
    return hosts


def parse_placement(text: str) -> str | tuple[int, ...]:
    """The placement in a string: a rule, or hosts as in ``"3;1;4"``."""
    hosts = [host for host in text.split(";") if host]
    listed = hosts and all(host.isdecimal() and len(host) < 10 for host in hosts)
    return tuple(map(int, hosts)) if listed else text
