"""Only ``csrc/topology`` computes a host from a router, a router from a port, a group from a router."""

import re
from pathlib import Path

CORE = Path(__file__).parents[2] / "csrc"
# Arithmetic with the sizes of routers and groups: hosts of a router (p), routers of a group (a), global ports (h).
SIZE = r"(?:\.|->)(?:[aph]|hosts_per_group|host_routers|global_routers)\(\)"
OBJECT = r"(?:\w+(?:\(\))?(?:\.|->))*\w+(?:\(\))?"
ARITHMETIC = re.compile(rf"{OBJECT}{SIZE}\s*[-+*/%](?!>)|[-+*/%]\s*\(?{OBJECT}{SIZE}")
ALIAS = re.compile(rf"\b(\w+) = {OBJECT}{SIZE};")

# File, and what it computes with these sizes: numbers of things, never the number of a router, host or group.
SIZES_OF_TABLES = {
    "network/blueprint.cpp": "groups of a partition that has about so many hosts",
    "network/partition_state.cpp": "room for the packets of all global links",
    "routing/learning.hpp": "rows of a table: one per group and host port",
    "routing/nonminimal.cpp": "routers of a group among which one is drawn",
    "routing/observation.cpp": "columns: other routers of the group",
    "routing/path_columns.cpp": "a column per pair of link types",
    "routing/port_masks.hpp": "rows of global ports",
    "routing/trackers/congested_links.cpp": "a flag per global port",
    "routing/trackers/host_load.cpp": "a counter per group, and one for all",
    "routing/trackers/link_occupancy.cpp": "global ports of a group",
    "routing/trackers/offered_traffic.cpp": "the share of a router in the links of its group",
    "routing/trackers/nonminimal_length.cpp": "a head per host port",
    "routing/trackers/remote_traffic.cpp": "types of local links",
    "routing/trackers/sent_crossings.cpp": "types of local links",
    "traffic/placement.cpp": "places in a list of hosts, group by group",
}


def arithmetic(text: str) -> list[str]:
    """Lines that compute with a size of the topology, or with a variable that holds one."""
    code = re.sub(r"//[^\n]*", "", text)
    found = [line.strip() for line in code.splitlines() if ARITHMETIC.search(line)]
    for name in set(ALIAS.findall(code)):
        used = re.compile(rf"(?<![\w.>]){name}\b\s*[-*/%+](?![>+])|[*/%]\s*{name}\b(?!\()")
        found += [line.strip() for line in code.splitlines() if used.search(line)]
    return found


def test_the_search_finds_arithmetic_and_leaves_calls_alone() -> None:
    for wrong in (
        "slot = host - router * topology_->p();",
        "const auto group = route[i] / topology_.a();",
        "first = own - own % plan.topology.a();",
        "const std::uint32_t a = topology.a();\nreturn router / a;",
    ):
        assert arithmetic(wrong), wrong
    for right in (
        "i < topology_.a()",
        "const std::uint32_t h = topology_.h();\nfor (; j < h; ++j)",
        "f(t.a())",
    ):
        assert not arithmetic(right), right


def test_only_the_topology_turns_hosts_routers_and_groups_into_each_other() -> None:
    sources = [path for path in sorted(CORE.rglob("*.?pp")) if path.parent.name not in ("topology", "tests")]
    assert len(sources) > 200
    computes = {
        str(path.relative_to(CORE)): lines
        for path in sources
        if (lines := arithmetic(path.read_text(encoding="utf-8")))
    }
    assert set(computes) == set(SIZES_OF_TABLES), computes
