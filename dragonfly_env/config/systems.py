"""Parameters of a topology that follow from others, and the published systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dragonfly_env import _core
from dragonfly_env.checks.values import check_integer, config_error
from dragonfly_env.config.groups import ALL_TO_ALL, Grid, LeafSpine, parse_group
from dragonfly_env.config.rows import read_only

MAX_RADIX = _core.max_radix
FIELDS = ("p", "a", "h", "g", "arrangement", "trunking", "group", "failed", "wiring")
INSTEAD = ("links_between_groups",)
WORDS = {
    "groups": "g",
    "num_groups": "g",
    "routers": "a",
    "routers_per_group": "a",
    "hosts": "p",
    "hosts_per_router": "p",
    "global_ports": "h",
    "global_links": "h",
}
"""Parameters by the names that people give them, for messages."""
_OF_ARRANGEMENT = {"arrangement", "trunking", *INSTEAD}  # a list of links stands instead
_DECIDE_H = {"g", "group", "arrangement", "trunking", *INSTEAD}  # fields that fix h in the arrangement "xc"


def _xc(p: int, g: int, links: int, rows: int, columns: int) -> dict[str, Any]:
    return {
        "p": p,
        "g": g,
        "links_between_groups": links,
        "arrangement": "xc",
        "group": Grid(rows=rows, columns=columns, row_links=1, column_links=3),
    }


PRESETS: Mapping[str, Mapping[str, Any]] = read_only(
    {
        # Balanced systems a = 2p = 2h of published studies, by host count; the last one is the largest with radix 64.
        "72": {"p": 2, "a": 4, "h": 2},
        "342": {"p": 3, "a": 6, "h": 3},
        "1056": {"p": 4, "a": 8, "h": 4},
        "2550": {"p": 5, "a": 10, "h": 5},
        "5256": {"p": 6, "a": 12, "h": 6},
        "16512": {"p": 8, "a": 16, "h": 8},
        "83232": {"p": 12, "a": 24, "h": 12},
        "279040": {"p": 16, "a": 32, "h": 17},
        # Cray XC machines of Chunduri et al., IPDPS 2021, and an eighth of them that keeps every ratio of bandwidths.
        "theta": _xc(4, 12, 48, 6, 16),
        "cori": _xc(4, 34, 16, 6, 16),
        "edison": _xc(4, 15, 24, 6, 16),
        "theta-m8": _xc(2, 12, 6, 3, 8),
        "cori-m8": _xc(2, 34, 2, 3, 8),
        # Dragonfly+: a small balanced system; dfp_1k.conf of CODES (https://github.com/codes-org/codes); the Booster of
        # JUPITER, in links of 200 Gbit/s (https://apps.fz-juelich.de/jsc/hps/jupiter/configuration.html).
        # docs/network/dragonfly-plus.md says what of it is published.
        "dfp-272": {"p": 4, "h": 4, "group": LeafSpine(leaves=4, spines=4)},
        "dfp-1008": {"p": 12, "h": 12, "g": 7, "trunking": 24, "group": LeafSpine(leaves=12, spines=12)},
        "jupiter": {
            "p": 64,
            "h": 52,
            "g": 25,
            "trunking": 32,
            "arrangement": "absolute",
            "group": LeafSpine(leaves=15, spines=16, links=4),
        },
    }
)


def bundle_of(arrangement: str) -> int:
    """Parallel links that a global port stands for."""
    return 2 if arrangement == "xc" else 1


def is_xc(arrangement: object) -> bool:
    """Whether an arrangement, or what a user passed for it, is that of Cray XC machines."""
    return isinstance(arrangement, str) and arrangement == "xc"


def ports_between(arrangement: str, trunking: object, links: object) -> int:
    """The global ports that join a pair of groups."""
    most = MAX_RADIX * MAX_RADIX
    if links is None:
        return check_integer("trunking", 1 if trunking is None else trunking, 1, most)
    bundle = bundle_of(arrangement)
    number = check_integer("links_between_groups", links, 1, most * bundle)
    if trunking is not None:
        raise config_error("trunking", trunking, "must be left out with links_between_groups")
    if number % bundle:
        raise config_error(
            "links_between_groups", links, f"must be a multiple of {bundle}, the links of a port"
        )
    return number // bundle


def with_changes(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with changes; what follows from others is left out, unless it is given."""
    new = {**fields, **changes}
    if "wiring" in changes:
        follows = {"g", *_OF_ARRANGEMENT} | (set() if changes["wiring"] is None else {"h"})
        new = {name: value for name, value in new.items() if name not in follows - set(changes)}
    elif new.get("wiring") is not None and _OF_ARRANGEMENT & set(changes):
        del new["wiring"]
        new = {name: value for name, value in new.items() if name not in _OF_ARRANGEMENT - set(changes)}
    if "a" not in changes and parse_group(new.get("group", ALL_TO_ALL)) != ALL_TO_ALL:
        new.pop("a", None)
    if "h" not in changes and is_xc(new.get("arrangement")) and _DECIDE_H & set(changes):
        new.pop("h", None)
    for given, other in (("trunking", "links_between_groups"), ("links_between_groups", "trunking")):
        if given in changes and other not in changes:
            new.pop(other, None)
    return new
