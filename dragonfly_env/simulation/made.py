"""What the core of a run is made of, after all that has changed since the run began."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from dragonfly_env import _core
from dragonfly_env.checks.outside import check_items, check_mapping
from dragonfly_env.checks.values import MAX_TIME_PS, check_integer, config_error
from dragonfly_env.jobs.job import as_policy
from dragonfly_env.policies import Policy, parse_policy
from dragonfly_env.simulation.config import SimulationConfig
from dragonfly_env.traffic import parse_traffic

_MOST_CHANGES = 255  # as the core has it
_FIELDS = ("traffic", "load", "seed", "injection")


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """A configuration and what has changed since: a core that is made of it can go on with the state of the run.

    Args:
        config: What the run began with.
        forks_to: Policies that may take over; there are virtual channels and trackers for them, too.
        changes: (time in ps, configuration): from then on hosts send what that one says, with its seed.
        policy: What decides now, if not the policy of ``config``.
        job_policies: Policies that jobs were given later, in that order.
    """

    config: SimulationConfig
    forks_to: tuple[Policy, ...] = ()
    changes: tuple[tuple[int, SimulationConfig], ...] = ()
    policy: Policy | None = None
    job_policies: tuple[Policy, ...] = ()

    @property
    def now(self) -> SimulationConfig:
        """What is simulated from now on."""
        config = self.changes[-1][1] if self.changes else self.config
        return config if self.policy is None else config.replace(policy=as_policy(self.policy))

    def to_core(self) -> dict[str, Any]:
        """The record that a core is made of."""
        run = self.config.to_core()
        if self.forks_to:
            run["later_policies"] = [
                {"field": "forks_to", **policy.for_run(self.config).to_core()} for policy in self.forks_to
            ]
        if self.changes:
            run["seed"] = self.changes[-1][1].seed
            # Closed-loop programs, and silence, are what they were.
            sources = [(after_ps, config._source_after(after_ps)) for after_ps, config in self.changes]
            run["forks"] = [part for part in sources if part[1] is not None]
        return run

    def prepare(self, core: _core.Simulation) -> None:
        """Bring a core that was just made to the policies that decide now."""
        for policy in self.job_policies:
            core.add_policy("policy", policy.to_core())
        if self.policy is not None:
            core.set_policy(self.policy.for_run(self.now).to_core())

    def changed(self, after_ps: int, changes: Mapping[str, Any]) -> Made:
        """The same with other traffic, load or seed after a time.

        Raises:
            ConfigError: For what cannot be simulated, or where traffic cannot change.
        """
        if not changes:
            return self
        before = self.changes[-1][1] if self.changes else self.config
        changes = dict(changes)
        if (
            "traffic" in changes
            and parse_traffic(changes["traffic"]).is_trace != before.traffic_object.is_trace
        ):
            changes["injection"] = "auto"
        config = before.replace(**changes)
        if "traffic" in changes or "load" in changes:
            for one, which in ((self.config, "of the run"), (config, "that follows")):
                if one.traffic_object.is_closed_loop:
                    allowed = f"must be left out: the traffic {which} is closed loop, and its programs go on"
                    raise config_error("traffic", changes.get("traffic"), allowed)
            if config._source_after(after_ps) is None:
                raise config_error("traffic", changes.get("traffic"), "must be some traffic in a fork")
        if len(self.changes) == _MOST_CHANGES:
            raise config_error("fork", _MOST_CHANGES + 1, f"at most {_MOST_CHANGES} changes of one run")
        return dataclasses.replace(self, changes=(*self.changes, (after_ps, config)))

    def decided_by(self, policy: Policy | None) -> Made:
        """The same with another policy from now on; None: with the same one. Which ones can take over, the core knows:
        one that learns becomes the same with other parameters, so that its tables fit.
        """
        before = self.now.policy_object
        if policy is None or policy == before:
            return self
        if policy.learns and policy.name == before.name and not self.job_policies:
            return dataclasses.replace(self, config=self.config.replace(policy=policy))
        return dataclasses.replace(self, policy=policy)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; ``from_dict`` is the inverse."""
        return {
            "config": self.config.to_dict(),
            "forks_to": [policy.to_dict() for policy in self.forks_to],
            "changes": [
                [after_ps, {name: config.to_dict()[name] for name in _FIELDS}]
                for after_ps, config in self.changes
            ],
            "policy": None if self.policy is None else self.policy.to_dict(),
            "job_policies": [policy.to_dict() for policy in self.job_policies],
        }

    @classmethod
    def from_dict(cls, values: object) -> Made:
        """What ``to_dict`` described.

        Raises:
            ConfigError: For anything else.
        """
        given = check_mapping("snapshot", values)
        if set(given) != {field.name for field in dataclasses.fields(cls)}:
            raise config_error("snapshot", sorted(given), "must be what save() wrote")
        config = SimulationConfig.from_dict(given["config"])
        made = cls(
            config,
            forks_to=_policies(given["forks_to"]),
            policy=None if given["policy"] is None else parse_policy(given["policy"]),
            job_policies=_policies(given["job_policies"]),
        )
        for item in check_items("snapshot", given["changes"], "must be a list", _MOST_CHANGES):
            after_ps, fields = check_items("snapshot", item, "must be a time and what changes", 2)
            changed = SimulationConfig.from_dict({**given["config"], **check_mapping("snapshot", fields)})
            when = check_integer("snapshot", after_ps, 0, MAX_TIME_PS)
            made = dataclasses.replace(made, changes=(*made.changes, (when, changed)))
        return made


def _policies(given: object) -> tuple[Policy, ...]:
    return tuple(parse_policy(one) for one in check_items("snapshot", given, "must be a list", 255))
