"""Hosts of a job, and the rank on each of them."""

from __future__ import annotations

import itertools

from dragonfly_env import _core
from dragonfly_env.checks.values import config_error
from dragonfly_env.config.topology import Dragonfly
from dragonfly_env.traffic.placement import parse_groups


class Machine:
    """The hosts that are free while jobs take theirs, one job after the other."""

    def __init__(self, topology: Dragonfly) -> None:
        self._topology = topology
        self._core = topology.to_core()
        self._owner: dict[int, str] = {}

    def take_listed(self, job: str, hosts: tuple[int, ...]) -> list[int]:
        """Exactly these hosts."""
        for host in hosts:
            if host >= self._topology.num_hosts:
                allowed = f"must be a host, 0 to {self._topology.num_hosts - 1}"
                raise config_error(f"{job}.placement", host, allowed)
            if host in self._owner:
                raise config_error(f"{job}.placement", host, f"must not be a host of {self._owner[host]}")
        return self._give(job, list(hosts))

    def take(self, job: str, number: int, placement: str, count: int, seed: int) -> list[int]:
        """Take ``count`` free hosts, by a rule."""
        left = self._topology.num_hosts - len(self._owner)
        if count > left:
            allowed = f"must be at most {left}, the hosts that are left; the job has {count}"
            raise config_error(f"{job}.hosts", count, allowed)
        groups = parse_groups(placement)
        if groups is not None:
            return self._give(job, self._in_groups(job, number, groups, count, seed))
        order = _core.place_tasks(self._core, placement, seed, number)
        free = (host for host in order if host not in self._owner)
        return self._give(job, list(itertools.islice(free, count)))

    def _in_groups(self, job: str, number: int, groups: int, count: int, seed: int) -> list[int]:
        """An even share in each of so many groups, which are drawn among those that have room."""
        group_of_hosts = self._topology.group_of_routers()[self._topology.router_of_hosts()].tolist()
        field = f"{job}.placement"
        if groups > min(count, self._topology.num_groups):
            most = min(count, self._topology.num_groups)
            raise config_error(
                field, f"groups={groups}", f"must be at most {most}: groups, and hosts of the job"
            )
        free: dict[int, list[int]] = {}
        for host in _core.place_tasks(self._core, "random-groups", seed, number):
            if host not in self._owner:
                free.setdefault(group_of_hosts[host], []).append(host)
        share, rest = divmod(count, groups)
        shares = [share + 1] * rest + [share] * (groups - rest)
        chosen: list[int] = []
        for hosts in free.values():
            if len(shares) and len(hosts) >= shares[0]:
                chosen += hosts[: shares.pop(0)]
        if shares:
            allowed = f"must find {shares[0]} free hosts in each of its groups; there are not so many"
            raise config_error(field, f"groups={groups}", allowed)
        return chosen

    def _give(self, job: str, hosts: list[int]) -> list[int]:
        self._owner.update(dict.fromkeys(hosts, job))
        return hosts
