"""docs/extending is followed to the letter: its policies, group shapes, traffic and settings must work."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pybind11
import pytest

ROOT = Path(__file__).resolve().parents[1]

# Runs in a process of its own, in the copy, whose core was built with all that is new. An editable installation would
# be found before it.
USE_THE_COPY = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])

import dragonfly_env as dfe
from dragonfly_env import _core
assert dfe.__file__.startswith(sys.argv[1]) and _core.__file__.startswith(sys.argv[1])

"""

USE_IT = """
assert "coin" in dfe.policies()
for policy, share in (("coin", 0.5), (dfe.make_policy("coin", share=0.25), 0.25)):
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.2, policy=policy)
    simulation = dfe.Simulation(config)
    simulation.run(50_000)
    minimal = simulation.metrics().minimal_fraction
    assert abs(minimal - (1 - share)) < 0.05, minimal
    assert simulation.drain()
    simulation.check_invariants()
try:
    dfe.make_policy("coin", shar=0.25)
except dfe.ConfigError as error:
    assert "share" in str(error)
else:
    raise AssertionError("an unknown parameter was taken")

def run(policy, load):
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=load, policy=policy)
    simulation = dfe.Simulation(config)
    simulation.run(50_000)
    minimal = simulation.metrics().minimal_fraction
    assert simulation.drain()
    simulation.check_invariants()
    return minimal

assert run("herd", 0.02) == 1.0
assert run("herd", 0.4) < 0.9
assert run(dfe.make_policy("herd", crowd_packets=1e6), 0.4) == 1.0

config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.4)
env = dfe.BatchedRoutingEnv(
    config, features=["hops", "crowded_routers"], trackers={"crowded": {"crowd_packets": 10}}, duration_ns=20_000
)
batch, most = env.reset(), 0.0
assert env.layout.names == ("hops", "crowded_routers")
while not env.done:
    most = max(most, batch.obs[:, 1].max(initial=0))
    batch = env.step(batch.minimal_actions())
assert 0 < most < 1, most

ring = dfe.Dragonfly(p=1, h=1, g=4, group="ring:routers=6")
assert (ring.a, ring.diameter, ring.link_classes) == (6, 7, ("host", "ring", "global"))
assert ring.minimal_ports(0, 3) == (1, 2) and ring.minimal_hops(0, 3) == 3
assert dfe.Dragonfly.from_dict(ring.to_dict()) == ring
for policy in ("min", "val-n", "coin", "par", "q-adaptive"):
    simulation = dfe.Simulation(dfe.SimulationConfig(topology=ring, load=1.0, policy=policy))
    simulation.run(3_000)
    simulation.check_invariants()
    assert simulation.drain(), policy
try:
    dfe.Dragonfly(p=1, h=1, g=3, group="ring:routers=2")
except dfe.ConfigError as error:
    assert "routers" in str(error)
else:
    raise AssertionError("a ring of two was taken")

assert "token" in dfe.traffic_patterns()
ends = []
for arguments in ("", ":compute_ns=600", ":compute_ns=600,placement=random"):
    config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="token" + arguments)
    simulation = dfe.Simulation(config)
    ends.append(simulation.run_to_completion().makespan_ns)
    assert simulation.progress() == 1.0
assert ends[1] == __import__("pytest").approx(ends[0] + 71 * 500, abs=71 * 3.2), ends
assert ends[2] > ends[1], ends
try:
    dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="token:compute=600")
except dfe.ConfigError as error:
    assert "compute_ns" in str(error)
else:
    raise AssertionError("an unknown argument was taken")
"""

USE_THE_PATTERN = """
import numpy as np
from pytest import approx, raises

topology = dfe.Dragonfly.preset("72")
assert "nearby" in dfe.traffic_patterns()
for spec, share in (("nearby", 0.5), ("nearby:share=0.9", 0.9)):
    pattern = dfe.traffic.parse_traffic(spec).build(topology.to_core(), 1)
    drawn = np.array([[pattern.destination(host, message, 1) for message in range(200)] for host in range(72)])
    inside = drawn // 8 == np.arange(72)[:, None] // 8
    assert inside.mean() == approx(share + (1 - share) / 9, abs=0.02), spec
    assert pattern.received() == approx(np.ones(72))

def hops(traffic):
    simulation = dfe.Simulation(dfe.SimulationConfig(topology=topology, traffic=traffic, load=0.3))
    simulation.run(20_000)
    assert simulation.drain()
    simulation.check_invariants()
    return simulation.metrics().hops_mean
assert hops("nearby:share=1") < 1 < hops("nearby:share=0.5") < hops("nearby:share=0") == approx(hops("uniform"), 0.05)

parts = ((range(4, 30), "nearby:share=0.9"), (range(30, 61), "uniform"))
confined = dfe.traffic.HostMixture(parts, confined=True).build(topology.to_core(), 1)
drawn = {confined.destination(host, message, 1) for host in range(4, 30) for message in range(200)}
assert drawn == set(range(4, 30))
with raises(dfe.ConfigError, match="share"):
    dfe.SimulationConfig(topology=topology, traffic="nearby:share=1.5")
"""

USE_THE_SETTINGS = """
import contextlib, inspect, io, math
from unittest import mock
from pytest import approx, raises

def run(**fields):
    given = {"topology": dfe.Dragonfly.preset("72"), "traffic": "adv+1", "load": 0.4, **fields}
    simulation = dfe.Simulation(dfe.SimulationConfig(**given))
    simulation.run(30_000)
    return simulation

def said_by(*arguments):
    from dragonfly_env.cli import app
    text = io.StringIO()
    with contextlib.redirect_stdout(text), mock.patch.dict("os.environ", COLUMNS="200"):
        app(arguments, standalone_mode=False)
    return " ".join(text.getvalue().split())

# A field of the network: its delay is on every wire between routers, in documents, help and messages.
one = {"load": 0.01, "traffic": "uniform"}
plain, delayed = (run(network=dfe.NetworkConfig(retimer_latency_ns=ns), **one).metrics() for ns in (0, 32))
assert delayed.latency_mean_ns == approx(plain.latency_mean_ns + 32 * plain.hops_mean, abs=2)
assert delayed.hops_mean == approx(plain.hops_mean, abs=0.01)
config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), network=dfe.NetworkConfig(retimer_latency_ns=1.5))
assert dfe.SimulationConfig.from_toml(config.to_toml()) == config != config.replace(network="default")
assert "retimer_latency_ns 0 ns 0 to 1e+06 Delay of a retimer" in said_by("info", "lia")
results = [
    said_by("simulate", "-t", "72", "--set", f"retimer_latency_ns={ns}", "--measure", "2000", "--json")
    for ns in (0, 32)
]
assert results[0].split("provenance")[0] != results[1].split("provenance")[0]
for wrong in (-1, 1e7, "1", math.nan, 0.0001):
    with raises(dfe.ConfigError, match="^retimer_latency_ns = "):
        dfe.NetworkConfig(retimer_latency_ns=wrong)

# A parameter of a policy: with links that are never congested, pb is ugal-n.
quiet = dfe.make_policy("pb", congestion_least_packets=1e6)
hashes = [run(policy=policy).trace_hash() for policy in ("pb", quiet, "ugal-n")]
assert hashes[0] != hashes[1] == hashes[2]
assert dfe.make_policy("pb") == dfe.make_policy("pb", congestion_least_packets=0)
middle = dfe.make_policy("pb", congestion_least_packets=20)
config = dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72"), traffic="adv+1", load=0.4, policy=middle)
assert run(policy=middle).trace_hash() not in hashes
assert middle.env_options()["trackers"]["congested-links"]["congestion_least_packets"] == 20
assert "congestion_least_packets 0 packets 0 to 1e+06 Links with fewer" in said_by("info", "pb")
said_by("simulate", "-t", "72", "-p", "pb:congestion_least_packets=3", "--measure", "1000", "--warmup", "0")
with raises(dfe.ConfigError, match="^congestion_least_packets = -1: must "):
    dfe.make_policy("pb", congestion_least_packets=-1)

# An option of the environments, of the one and of its views.
def paid(**options):
    env = dfe.BatchedRoutingEnv(config, duration_ns=3_000, **options)
    batch, rewards = env.reset(), []
    while not env.done:
        batch = env.step(batch.minimal_actions())
        rewards += env.transitions().rewards.tolist()
    return rewards
free, dear = paid(), paid(decision_price=0.25)
assert len(free) > 100 and dear == approx([reward - 0.25 for reward in free], abs=1e-12)
assert "decision_price" in inspect.signature(dfe.BatchedRoutingEnv).parameters
from dragonfly_env import dragonfly_v0

view = dragonfly_v0.parallel_env(config=config, duration_ns=500, decision_price=0.25)
view.reset(seed=1)
with raises(dfe.ConfigError, match="^decision_price = "):
    dfe.BatchedRoutingEnv(config, decision_price=-1)

# An option of a scenario, on the command line.
short = ("-t", "72", "--measure", "1000", "--warmup", "0", "--json")
assert '"host_latency": true' in said_by("simulate", *short, "--host-latency")
assert '"host_latency": false' in said_by("simulate", *short)
"""


def build_core(source: Path, build: Path) -> Path:
    """Build the extension module quickly, without optimisation.

    Returns:
        Path of the module.
    """
    # Folder in which .ci/python-headers puts Python.h if the system does not have it.
    fetched = Path(sys.prefix) / "include" / "headers"
    headers = [f"-DPython_INCLUDE_DIR={fetched}"] if (fetched / "Python.h").exists() else []
    tools = Path(sysconfig.get_path("scripts"))
    cmake = str(tools / "cmake")
    configure = [
        *(cmake, "-S", str(source), "-B", str(build), "-G", "Ninja"),
        f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}",
        *("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0", "-DDRAGONFLY_WERROR=ON"),
        *(f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}", *headers),
    ]
    for command in (configure, [cmake, "--build", str(build)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (module,) = build.glob("_core*.so")
    return module


def section_of(page: str, title: str) -> str:
    """A section of a page of docs/extending; without a title the whole page."""
    text = (ROOT / "docs" / "extending" / f"{page}.md").read_text(encoding="utf-8")
    return text.split(f"## {title}\n")[1].split("\n## ")[0] if title else text


def blocks_of(page: str, title: str = "") -> list[str]:
    """The code of a section."""
    return re.findall(r"```cpp\n(.*?)```", section_of(page, title), flags=re.DOTALL)


def add_line(registry: Path, entries: str, line: str) -> None:
    """Put one line into a list of a registry."""
    assert line.count("\n") == 1
    text = registry.read_text(encoding="utf-8")
    head = re.search(rf"#define {entries}\(X\) *\\\n", text)
    assert head is not None
    registry.write_text(text[: head.end()] + line + text[head.end() :], encoding="utf-8")


def edits_of(kind: str) -> list[tuple[str, str]]:
    """The edits of a kind of setting: the file that is named last before each, and a piece of a diff."""
    text = section_of("setting", kind)
    edits: list[tuple[str, str]] = []
    file = ""
    for name, diff in re.findall(r"`([\w/]+\.(?:py|hpp|cpp))`|```diff\n(.*?)```", text, flags=re.DOTALL):
        if name and (ROOT / name).exists():
            file = name
        elif diff:
            edits.append((file, diff))
    return edits


def apply(edit: tuple[str, str], folder: Path) -> None:
    """Replace the one place that a piece of a diff describes; spaces inside lines do not matter."""
    name, diff = edit
    before = [line[1:] for line in diff.splitlines() if line[0] in " -"]
    after = [line[1:] for line in diff.splitlines() if line[0] in " +"]
    file = folder / name
    lines = file.read_text(encoding="utf-8").splitlines()

    def plain(some: list[str]) -> list[list[str]]:
        return [line.split() for line in some]

    places = [i for i in range(len(lines)) if plain(lines[i : i + len(before)]) == plain(before)]
    assert len(places) == 1, (name, before, places)
    lines[places[0] : places[0] + len(before)] = after
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


KINDS = (
    "A field of the network",
    "A parameter of a policy",
    "An option of the environments",
    "An option of a scenario",
)
MOST_EDITS = {"An option of the environments": 2, "An option of a scenario": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_takes_at_most_three_edits(kind: str) -> None:
    """Each is one piece of one file; that no others are needed is shown below, where they are all that is edited."""
    assert 1 <= len(edits_of(kind)) <= MOST_EDITS.get(kind, 3)


def copy_of_the_sources(folder: Path) -> None:
    """Everything that the core and the package are made of, but no compiled core."""
    for name in ("csrc", "agents", "baselines", "dragonfly_env"):
        shutil.copytree(
            ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("*.so", "__pycache__")
        )


@pytest.mark.slow
def test_the_examples_a_file_and_a_line_each_give_what_works(tmp_path: Path) -> None:
    """Build for all tests: two policies, a group shape, a traffic pattern, a workload and four settings."""
    copy_of_the_sources(tmp_path)
    routing = tmp_path / "csrc" / "routing"
    file, line = blocks_of("policy", "A policy that decides at the source")
    (routing / "coin.cpp").write_text(file, encoding="utf-8")
    add_line(routing / "registry.cpp", "DRAGONFLY_POLICIES", line)
    tracker, tracker_line, policy, policy_line = blocks_of("policy", "A policy with memory and signals")
    (routing / "trackers" / "crowded.cpp").write_text(tracker, encoding="utf-8")
    add_line(routing / "tracker_registry.cpp", "DRAGONFLY_TRACKERS", tracker_line)
    (routing / "herd.cpp").write_text(policy, encoding="utf-8")
    add_line(routing / "registry.cpp", "DRAGONFLY_POLICIES", policy_line)
    topology = tmp_path / "csrc" / "topology"
    file, line = blocks_of("group-shape")
    (topology / "ring.cpp").write_text(file, encoding="utf-8")
    add_line(topology / "group_shape.cpp", "DRAGONFLY_GROUP_SHAPES", line)

    traffic = tmp_path / "csrc" / "traffic"
    for page, name in (("pattern", "nearby"), ("workload", "token")):
        file, line = blocks_of(page)
        (traffic / f"{name}.cpp").write_text(file, encoding="utf-8")
        add_line(traffic / "registry.cpp", "DRAGONFLY_PATTERNS", line)

    for kind in KINDS:
        for edit in edits_of(kind):
            apply(edit, tmp_path)

    shutil.copy(build_core(tmp_path / "csrc", tmp_path / "build"), tmp_path / "dragonfly_env")

    for use in (USE_IT, USE_THE_PATTERN, USE_THE_SETTINGS):
        done = subprocess.run(
            [sys.executable, "-c", USE_THE_COPY + use, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout + done.stderr
