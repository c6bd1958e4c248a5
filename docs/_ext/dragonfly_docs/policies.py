"""A page for every routing policy of the registry, and tables of all of them."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import dragonfly_env as dfe
from dragonfly_docs.markdown import GENERATED, code, prose, spelled, table
from dragonfly_docs.systems import smallest_preset
from dragonfly_env import _core
from dragonfly_env.agents.q_adaptive import QAdaptiveReference
from dragonfly_env.agents.q_routing import QRoutingReference
from dragonfly_env.baselines import RULES
from dragonfly_env.policy import describe_policy, needs_weights

FOLDER = "routing/policies"
_RULES = Path(__file__).with_name("rules.md")
"""Additions of the policies' pages to the docstrings of reference implementations: a section per policy or family."""
_LEARNERS = {
    "q-routing": QRoutingReference,
    **dict.fromkeys(("q-adaptive", "q-adaptive-queue", "q-adaptive-fast"), QAdaptiveReference),
}
_NETWORKS = ("mlp", "neural")
_OBLIVIOUS = ("min", "val-", "vlb-")
_MOST_VCS = 16
_DECIDES = {
    "source": "the source router only",
    "every": "every router with more than one legal output",
    "progressive": "every router of the source group while the path is minimal, and on entering a group",
    "progressive-busy": "the source router, and, where packets wait for the next port, every router of the source "
    "group while the path is minimal, and on entering a group",
    "all": "every router, forced hops included",
}
_SCHEMES = {"q-adaptive": "one number per stage", "lia": "local and global links counted apart"}

_SNIPPET = """\
```python
import dragonfly_env as dfe

config = dfe.SimulationConfig(
    topology="{topology}", traffic="adv+1", load=0.35, policy="{name}"
)
metrics = dfe.simulate(config, warmup_ns=20_000, measure_ns=20_000)
print(f"accepted load {{metrics.accepted_load:.3f}}")
print(f"mean latency {{metrics.latency_mean_ns:.0f}} ns")
print(f"{{metrics.hops_mean:.2f}} hops, {{metrics.minimal_fraction:.0%}} minimal")
```
"""


def _accepts(name: str, network: dfe.NetworkConfig) -> bool:
    topology = dfe.Dragonfly.preset("72")
    try:
        dfe.Simulation(dfe.SimulationConfig(topology=topology, network=network, policy=name))
    except dfe.ConfigError:
        return False
    return True


def required_vcs(name: str, preset: str) -> tuple[int, int] | None:
    """The fewest VCs of local and of global links with which the core takes a policy, where groups are full meshes."""
    network = dfe.NetworkConfig.preset(preset)
    if not _accepts(name, network):
        return None  # the name alone is not enough
    counts = range(1, _MOST_VCS + 1)
    local = next(n for n in counts if _accepts(name, network.replace(local_vcs=n)))
    return local, next(n for n in counts if _accepts(name, network.replace(global_vcs=n)))


def _vcs(name: str) -> str:
    rows = []
    for preset, scheme in _SCHEMES.items():
        counts = required_vcs(name, preset)
        if counts is None:
            return "The number follows from the parameters: the weights say where the policy decides.\n"
        rows.append((code(preset), scheme, *counts))
    return table(("network", "numbering", "local links", "global links"), rows) + (
        "\nThe smallest numbers of virtual channels with which the policy runs if groups are full meshes. "
        "Grids need more, because a local path has up to two hops there.\n"
    )


def _parameters(name: str) -> str:
    rows = [(code(s.name), code(spelled(s.default)), s.unit, s.doc) for s in describe_policy(name)]
    return table(("parameter", "default", "unit", "meaning"), rows)


def _rule(name: str) -> str:
    """The rule of a policy: the docstring of its reference implementation, then its section in ``rules.md``. Policies
    of a family have the section on the page of the first one.
    """
    parts = []
    if name in RULES:
        parts.append(prose(inspect.getmodule(_function(name))))
    elif name in _LEARNERS:
        parts.append(prose(_LEARNERS[name]))
    sections = re.split(r"^## (.*)\n\n", _RULES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for heading, text in zip(sections[::2], sections[1::2], strict=True):
        first, *others = heading.split(", ")
        if name == first:
            parts.append(text.rstrip() + "\n")
        elif name in others:
            parts.append(f"[{first}]({first}.md#rule) has the rule of this family.\n")
    return "\n".join(parts)


def _function(name: str) -> Callable[..., object]:
    rule = RULES[name]
    return rule.func if isinstance(rule, functools.partial) else rule


def _reference_use(name: str) -> str:
    if name in RULES:
        file = f"baselines/{Path(inspect.getfile(_function(name))).name}"
        use = "`act(batch)` makes the same decisions, with the same `trace_hash()`"
    elif name in _LEARNERS:
        file = f"agents/{Path(inspect.getfile(_LEARNERS[name])).name}"
        use = "`reference(env)` learns the same tables, bit for bit ([Learning to route](../../learning.md))"
    else:
        return "This policy has no implementation in Python: the core decides.\n"
    return f"[{file}](../../../{file}) is the same policy in NumPy: {use}.\n"


def _knowledge(info: _core.PolicyInfo) -> str:
    """The knowledge that a policy needs; a network of a user's own needs that of its features."""
    known = "of its features" if needs_weights(info["name"]) else dfe.make_policy(info["name"]).knowledge
    return f"{known} ([tracks](../../tasks.md#tracks))"


def _page(info: _core.PolicyInfo) -> str:
    name = info["name"]
    parts = [GENERATED, f"# {name}\n", f"{info['summary'][:1].upper()}{info['summary'][1:]}.\n"]
    facts = [
        ("Source", info["source"]),
        ("Decides at", _DECIDES[info["scope"]] + f' (`scope="{info["scope"]}"`)'),
        ("Chooses", f'a {info["action"]} (`action="{info["action"]}"`)'),
        ("Learns", "yes, in the core" if name in _LEARNERS else "no"),
        ("Knowledge", _knowledge(info)),
    ]
    parts.append(table(("", ""), facts))
    if rule := _rule(name):
        parts += ["## Rule\n", rule]
    parameters = _parameters(name)
    parts += ["## Parameters\n", parameters or "None.\n"]
    if parameters:
        parts.append(
            f'In Python: `dfe.make_policy("{name}", PARAMETER=VALUE)`; on the command line: '
            f"`--policy {name}:PARAMETER=VALUE`.\n"
        )
    parts += ["## Virtual channels\n", _vcs(name), "## In Python\n", _reference_use(name)]
    topology = smallest_preset(policy=name)
    if topology is not None:
        parts += ["## A run\n", _SNIPPET.format(name=name, topology=topology)]
    return "\n".join(parts)


def _group(info: _core.PolicyInfo) -> str:
    """The group of a policy in the tables of ``routing/index.md``."""
    name = info["name"]
    if name in _LEARNERS or name.startswith(_NETWORKS):
        return "learned"
    if name.startswith(_OBLIVIOUS):
        return "oblivious"
    return "source" if info["scope"] == "source" else "progressive"


def policy_table(group: str) -> str:
    """The policies of a group: ``"oblivious"``, ``"source"``, ``"progressive"`` or ``"learned"``."""
    rows = (
        (f"[{info['name']}](policies/{info['name']}.md)", info["summary"], info["source"])
        for info in _core.policies()
        if _group(info) == group
    )
    return table(("policy", "what it does", "source"), rows)


def policy_pages() -> dict[str, str]:
    """The pages by their path below ``docs/``."""
    return {f"{FOLDER}/{info['name']}.md": _page(info) for info in _core.policies()}
