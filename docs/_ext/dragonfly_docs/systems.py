"""Tables of the presets: topologies and networks; of features that observations show, and of a view's spaces."""

from __future__ import annotations

import dragonfly_env as dfe
from dragonfly_docs.markdown import GENERATED, code, spelled, table
from dragonfly_env.cli.info import FEATURE_COLUMNS, MESSAGE_COLUMNS, feature_rows, message_rows
from dragonfly_env.config.groups import Grid
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
    for name in dfe.topologies():
        made = dfe.Dragonfly.preset(name)
        group = "grid" if isinstance(made.group, Grid) else "leaf-spine"
        if made.group == "all-to-all":
            group = "full mesh"
        numbers = (made.num_hosts, made.p, made.a, made.h, made.num_groups, made.num_routers, made.radix)
        rows.append((code(name), group, *(f"{number:,}" for number in numbers)))
    return table(("name", "a group is a", "hosts", "p", "a", "h", "groups", "routers", "ports"), rows)


def grid_table() -> str:
    """The presets whose groups are grids."""
    rows = []
    for name in dfe.topologies():
        made = dfe.Dragonfly.preset(name)
        if isinstance(made.group, Grid):
            routers = f"{made.group.rows} x {made.group.columns}"
            rows.append(
                (code(name), f"{made.num_hosts:,}", made.num_groups, routers, made.links_between_groups)
            )
    return table(("preset", "hosts", "groups", "routers per group", "links per pair of groups"), rows)


def network_table() -> str:
    """The presets of networks, field by field."""
    names = dfe.networks()
    presets = [dfe.NetworkConfig.preset(name) for name in names]
    rows = (
        (code(item.name), item.unit, *(_setting(getattr(preset, item.name)) for preset in presets), item.doc)
        for item in describe(dfe.NetworkConfig)
    )
    return table(("field", "unit", *(code(name) for name in names), "meaning"), rows)


def _setting(value: object) -> str:
    """A field of a network; of settings by class of link what differs from class to class, without their names."""
    if not isinstance(value, tuple):
        return spelled(value)
    return "; ".join(
        f"{kind}: {link.bandwidth_gbytes_per_s:g} GB/s, {link.latency_ns:g} ns, {link.buffer_packets} packets"
        for kind, link in value
    )


_FEATURES = """\
# Features

What observations can show, one line per feature. `dragonfly-env info features` prints the same table.

```python
import dragonfly_env as dfe

config = dfe.SimulationConfig(topology="72", traffic="adv+1", load=0.35)
seen = ["candidate_time_packets", "candidate_packets", "destination_demand"]
options = {"scope": "source", "action": "path", "occupancy_unit": "packets"}
env = dfe.BatchedRoutingEnv(config, features=seen, **options)
for name in seen:
    print(name, env.layout[name].columns, f"1 means {env.layout[name].unit:g}")
```

Output:

```text
candidate_time_packets slice(5, 10, None) 1 means 64
candidate_packets slice(0, 5, None) 1 means 16
destination_demand slice(10, 11, None) 1 means 0
```

- **One column per** port, candidate path, global link of the group (`link`), other group (`group`), router of the group
  (`peer`), or decision. Features per candidate or decision fit every size of system, except `group_offset` and
  `candidate_port`.
- **Value** is what the observation shows of a quantity x, here for 72 hosts and the network `default`. `x / (x + c)`
  is between 0 and 1, and `env.layout` gives its unit as 0. Units of packets depend on the buffers of the network,
  unless `occupancy_unit` is `"packets"` or `"ns"` ([Environments](index.md#units-of-occupancies)).
  `env.layout.quantities()` computes x.
- **Knowledge** is `local` (the router's own queues, credits, hosts and packets, and acknowledgements of its packets),
  `delayed` (signals of other routers, with their delay) or `ideal` (the state of other routers without delay). It
  decides the [track](../tasks.md#tracks) of a policy.
- **Delayed** features have the name of an `ideal` feature and `_delayed`, so that a training can measure the
  cost of the delay.
- **Shown** by default, or only if `features=[...]` names the feature. A **tracker** counts events at routers; it runs
  if a feature needs it.

"""


_MESSAGES = """\

## Messages of delayed features

Routers send numbers to the other routers of the group, each tracker in messages of its own:

- **Sending.** Every `message_period_ns` each router sends one message. The message holds the router's numbers as the
  events before that time left them.
- **Delay.** A message takes the latencies of the local links of the fastest path, and `routing_delay_ns` at each
  router between. So a change at time t is in the message of the first multiple of the period after t, and no router
  sees the change before that message arrives. The reader's own numbers are exact and without delay.
- **Length.** A number has `message_bits` bits: three are the binary exponent, the others the leading digits. With 4
  bits the numbers are 0, 1, 2, 3, 4, 6, 8, 12 and so on up to 192; the nearest one is sent. Demands count half packets.
- **Room.** The messages do not pass the simulated links: they take no bandwidth and never wait. The table shows how
  much of a local link they would take: mean of all local links, if a message reaches each router of the group once.
  `dragonfly-env info features -t NAME` prints the table for any system.

The signals of `congested-links` have no period: a router sends a bit when a global link becomes congested or free. They
take the latency of the longest path inside the group. Acknowledgements (`acknowledged-waits`) reach the source router
after the latencies of a global link and of two paths inside a group; routing delays on their way back are not counted.

"""


def system_pages() -> dict[str, str]:
    """The page of features by its path below ``docs/``."""
    rows = feature_rows(dfe.Dragonfly.preset("72"))
    features = table(FEATURE_COLUMNS, ((code(row[0]), *row[1:4], code(row[4]), *row[5:]) for row in rows))
    systems = (dfe.Dragonfly.preset(name) for name in ("72", "1056", "dfp-272"))
    sent = table(
        MESSAGE_COLUMNS, ((code(row[0]), *row[1:]) for made in systems for row in message_rows(made))
    )
    return {"environments/features.md": GENERATED + _FEATURES + features + _MESSAGES + sent}
