"""A page for every traffic pattern and program of the registry, and the table of all of them."""

from __future__ import annotations

from dragonfly_docs.demands import drawn_on
from dragonfly_docs.markdown import GENERATED, code, prose, table
from dragonfly_docs.systems import smallest_preset
from dragonfly_env import _core, traffic

FOLDER = "traffic/patterns"

_OPEN_LOOP = """\
```python
import dragonfly_env as dfe

config = dfe.SimulationConfig(
    topology="{topology}",
    traffic="{example}",
    load=0.3,
    policy="ugal-n",
)
metrics = dfe.simulate(config, warmup_ns=20_000, measure_ns=20_000)
print(f"accepted load {{metrics.accepted_load:.3f}}")
print(f"mean latency {{metrics.latency_mean_ns:.0f}} ns")
```
"""

_CLOSED_LOOP = """\
```python
import dragonfly_env as dfe

config = dfe.SimulationConfig(
    topology="{topology}", traffic="{example}", policy="ugal-n"
)
metrics = dfe.Simulation(config).run_to_completion()
print(f"makespan {{metrics.makespan_ns:.0f}} ns")
print(f"mean latency of a message {{metrics.message_latency_mean_ns:.0f}} ns")
```
"""


def _class_of(name: str) -> type | None:
    """The class in ``dragonfly_env.traffic`` that a name makes."""
    kinds = (getattr(traffic, exported) for exported in traffic.__all__)
    return next((kind for kind in kinds if isinstance(kind, type) and vars(kind).get("name") == name), None)


def _page(info: _core.PatternInfo) -> str:
    name, kind = info["name"], _class_of(info["name"])
    parts = [GENERATED, f"# {name}\n", f"{info['summary'][:1].upper()}{info['summary'][1:]}.\n"]
    facts = [("Source", info["source"])]
    if info["example"]:
        facts.append(("As text", f'`traffic="{info["example"]}"`, `--traffic {info["example"]}`'))
    if kind is not None:
        facts.append(("As an object", f"`dragonfly_env.traffic.{kind.__name__}`"))
    facts.append(
        ("Loop", "closed: it has an end, not a load" if info["closed_loop"] else "open: it has a load")
    )
    parts.append(table(("", ""), facts))
    if kind is not None:
        parts += ["## Rule\n", prose(kind)]
    topology = smallest_preset(traffic=info["example"]) if info["example"] else None
    if drawn_on(topology):
        parts += [
            f"![Who sends to whom under {name}](../../images/drawn/traffic-{name}.svg)\n",
            f"Packets from each router to each other router in a short run of `{info['example']}` on 72 hosts; darker "
            "means more.\n",
        ]
    arguments = table(
        ("argument", "default", "meaning"),
        ((code(p["name"]), code(p["default"]), p["doc"]) for p in info["parameters"]),
    )
    parts += ["## Arguments\n", arguments or "None.\n"]
    if topology is not None:
        snippet = _CLOSED_LOOP if info["closed_loop"] else _OPEN_LOOP
        parts += ["## A run\n", snippet.format(example=info["example"], topology=topology)]
    return "\n".join(parts)


def traffic_table() -> str:
    """All patterns."""
    rows = (
        (
            f"[{info['name']}](patterns/{info['name']}.md)",
            code(info["example"]),
            info["summary"],
            info["source"],
        )
        for info in _core.patterns()
    )
    return table(("pattern", "as text", "what it is", "source"), rows)


def traffic_pages() -> dict[str, str]:
    """The pages by their path below ``docs/``."""
    return {f"{FOLDER}/{info['name']}.md": _page(info) for info in _core.patterns()}
