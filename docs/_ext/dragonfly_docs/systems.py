"""Tables of the presets: topologies and networks; of features that observations show, and of a view's spaces."""

from __future__ import annotations

import dragonfly_env as dfe
from dragonfly_docs.markdown import code, spelled, table
from dragonfly_env import _core
from dragonfly_env.config.rows import describe


def smallest_preset(**settings: object) -> str | None:
    """The smallest topology on which a configuration can be run, if one of a few does."""
    for name in ("72", "342", "1056", "theta-m8"):
        try:
            dfe.Simulation(dfe.SimulationConfig(topology=dfe.Dragonfly.preset(name)).replace(**settings))
        except dfe.ConfigError:
            continue
        return name
    return None


def topology_table() -> str:
    """The presets of topologies."""
    rows = []
    for name in dfe.Dragonfly.presets():
        made = dfe.Dragonfly.preset(name)
        group = "full mesh" if made.group == "all-to-all" else "grid"
        numbers = (made.num_hosts, made.p, made.a, made.h, made.num_groups, made.num_routers, made.radix)
        rows.append((code(name), group, *(f"{number:,}" for number in numbers)))
    return table(("name", "a group is a", "hosts", "p", "a", "h", "groups", "routers", "ports"), rows)


def network_table() -> str:
    """The presets of networks, field by field."""
    names = dfe.NetworkConfig.presets()
    presets = [dfe.NetworkConfig.preset(name) for name in names]
    rows = (
        (code(item.name), item.unit, *(spelled(getattr(preset, item.name)) for preset in presets), item.doc)
        for item in describe(dfe.NetworkConfig)
    )
    return table(("field", "unit", *(code(name) for name in names), "meaning"), rows)


def _features() -> str:
    return table(
        ("feature", "one column per", "meaning"),
        ((code(row["name"]), row["per"], row["doc"]) for row in _core.features()),
    )


def system_pages() -> dict[str, str]:
    """The tables by their path below ``docs/``; other pages include them."""
    return {
        "environments/features.inc": _features(),
    }
