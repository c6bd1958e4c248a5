"""Submissions: packed, verified, and refused if anything in them was changed."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import dragonfly_env as dfe
import dragonfly_env.lab.benchmark as benchmark
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.lab.benchmark import Suite, submission
from dragonfly_env.lab.benchmark.submission import _seal, read_submission, verify
from tests.unit.cli_arguments import run as command
from tests.unit.lab.benchmark.tiny_suite import tiny

pytestmark = pytest.mark.usefixtures("undrawn")

TRAINING = """
seeds = [7]
cpu_s = 12.5

[[scenarios]]
hosts = 72
network = "default"
traffic = [{ pattern = "adv+1", loads = [0.1, 0.3] }]
"""
MINE = """
from pathlib import Path

import helper

Path("it-ran").touch()


class Mine:
    name, scope, action = "mine", "source", "path"

    def act(self, batch):
        return helper.first(batch)
"""


def suite() -> Suite:
    """Two cases, of which one must not be trained on."""
    settings = tiny(loads=[0.1])
    steady = settings["tracks"]["steady"]["cases"]
    steady.append({**steady[0], "split": "test", "traffic": ["advc"]})
    del settings["tracks"]["transient"]
    settings["references"] = {"untuned": ["min"]}
    return Suite.from_dict(settings)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a network and a class, and what they declare."""
    monkeypatch.chdir(tmp_path)
    for module in (benchmark, submission):
        monkeypatch.setattr(module, "find_suite", lambda name: suite())
    MlpNetwork.random(seed=1).save("net.npz")
    Path("net.training.toml").write_text(TRAINING)
    Path("mine.py").write_text(MINE)
    Path("helper.py").write_text("def first(batch):\n    return batch.mask.argmax(axis=1)\n")
    Path("mine.training.toml").write_text("scenarios = []\nseeds = []\ncpu_s = 0.0\n")
    return tmp_path


run = functools.partial(command, "benchmark", columns=1000)


def told(result: Result) -> str:
    return " ".join(result.output.split())


def packed(policy: str, *more: str) -> Path:
    """A submission of a policy that was measured."""
    done = run(policy, "-j", "1", "--out", "results")
    assert done.exit_code == 0, done.output
    done = run("pack", policy, "--results", "results", "--out", "mine.zip", *more)
    assert done.exit_code == 0, done.output
    return Path("mine.zip")


@functools.cache
def network_bytes() -> bytes:
    """Always the same, as a test below says, wherever it is made."""
    return packed("net=mlp:weights=net.npz").read_bytes()


@pytest.fixture
def network() -> Path:
    file = Path("mine.zip")
    file.write_bytes(network_bytes())
    return file


Change = Callable[[dict[str, Any], dict[str, bytes]], None]


def changed(file: Path, change: Change, *, with_hashes: bool = True) -> Path:
    """A submission in which something was changed, and then all hashes were made anew."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members.pop("submission.json"))
    change(header, members)
    if with_hashes:
        header["files"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
        header["sha256"] = _seal(header)
    with zipfile.ZipFile("changed.zip", "w") as archive:
        for name, content in {"submission.json": json.dumps(header).encode(), **members}.items():
            archive.writestr(name, content)
    return Path("changed.zip")


def test_a_submission_is_made_and_verified(network: Path) -> None:
    done = run("verify", str(network), "-j", "1")
    assert done.exit_code == 0, done.output
    assert "net: accepted. 1 of 4 runs were done again, with the same bits." in done.output
    assert "training: 2 scenarios, 12 CPU-s, none of it on the test split" in told(done)
    found = verify(network, share=1.0, workers=1)
    assert (found.again, found.cases, found.of) == (4, 2, 2)
    content = network.read_bytes()
    assert packed("net=mlp:weights=net.npz").read_bytes() == content


def better_results(header: dict[str, Any], members: dict[str, bytes]) -> None:
    results = json.loads(members["results.json"])
    for row in results["runs"]:
        row[4] *= 0.99
    members["results.json"] = json.dumps(results).encode()


def better_results_and_scores(header: dict[str, Any], members: dict[str, bytes]) -> None:
    better_results(header, members)
    header["scores"] = {name: one * 0.99 for name, one in header["scores"].items()}


def other_weights(header: dict[str, Any], members: dict[str, bytes]) -> None:
    MlpNetwork.random(seed=2).save("other.npz")
    members["policy/network.npz"] = Path("other.npz").read_bytes()


def other_declaration(header: dict[str, Any], members: dict[str, bytes]) -> None:
    for scenario in header["training"]["scenarios"]:
        scenario["traffic"] = "advc"


@pytest.mark.parametrize(
    ("change", "without_hashes", "with_hashes"),
    [
        (better_results, "results.json has been changed", "must be those of the results"),
        (better_results_and_scores, "its header has been changed", "which this machine measures in adv"),
        (other_weights, "network.npz has been changed", "runs of the policy that comes with them"),
        (other_declaration, "its header has been changed", "advc is a pattern of the test split"),
    ],
)
def test_what_was_changed_is_refused(
    network: Path, change: Change, without_hashes: str, with_hashes: str
) -> None:
    for hashes, wanted in ((False, without_hashes), (True, with_hashes)):
        done = run("verify", str(changed(network, change, with_hashes=hashes)), "-j", "1")
        assert done.exit_code == 2, done.output
        assert wanted in told(done)


def test_a_policy_trained_on_the_test_split_is_neither_measured_nor_packed() -> None:
    Path("net.training.toml").write_text(TRAINING.replace("adv+1", "advc"))
    done = run("net=mlp:weights=net.npz", "-j", "1", "--out", "results")
    assert done.exit_code == 2
    assert "net is no candidate: advc is a pattern of the test split" in told(done)
    forced = run("net=mlp:weights=net.npz", "-j", "1", "--out", "results", "--trained-anywhere")
    assert forced.exit_code == 0, forced.output
    assert "--trained-anywhere" in Path("results/benchmark.md").read_text()
    refused = run("pack", "net=mlp:weights=net.npz", "--results", "results", "--out", "mine.zip")
    assert refused.exit_code == 2
    assert "must not be on the test split" in told(refused)


def test_nothing_is_packed_without_a_declaration_or_with_runs_missing() -> None:
    lacking = run("pack", "net=mlp:weights=net.npz", "--results", "empty", "--out", "mine.zip")
    assert lacking.exit_code == 2
    assert "4 are missing" in told(lacking)
    Path("net.training.toml").unlink()
    undeclared = run("pack", "net=mlp:weights=net.npz", "--results", "empty", "--out", "mine.zip")
    assert undeclared.exit_code == 2
    assert "must declare its training: --training FILE" in told(undeclared)
    assert not Path("mine.zip").exists()


def test_code_runs_only_if_it_is_allowed_to() -> None:
    file = packed("mine.py:Mine")
    Path("it-ran").unlink()
    assert set(read_submission(file).policy) == {"mine.py", "helper.py"}
    refused = run("verify", str(file), "-j", "1")
    assert refused.exit_code == 2
    assert "holds code, which was not run" in told(refused)
    assert "--run-code: helper.py, mine.py" in told(refused)
    assert "| mine | " in run("accepted", ".").output
    assert not Path("it-ran").exists()
    allowed = run("verify", str(file), "-j", "1", "--run-code", "--share", "1")
    assert allowed.exit_code == 0, allowed.output
    assert Path("it-ran").exists()


@pytest.mark.parametrize(
    "name",
    ["../evil.py", "policy/../../evil.py", "/evil.py", "policy/.hidden", "policy/a\\b", "evil.py", "policy/"],
)
def test_names_that_lead_out_of_the_file_are_refused(network: Path, name: str) -> None:
    file = changed(network, lambda header, members: members.update({name: b"evil"}))
    with pytest.raises(dfe.ConfigError, match="must not be in it"):
        read_submission(file)
    assert not Path("../evil.py").exists()


def test_a_policy_that_names_a_file_of_this_machine_is_refused(network: Path) -> None:
    for policy in (
        {"kind": "built-in", "name": "mlp:weights=net.npz"},
        {"kind": "built-in", "name": "static-optimum:split=net.npz"},
        {"kind": "weights", "file": "network.npz", "parameters": {"weights": "net.npz"}},
        {"kind": "weights", "file": "../net.npz", "parameters": {}},
        {"kind": "agent", "file": "os:system"},
        {"kind": "class", "file": "network.npz", "class": "x:y"},
    ):
        told = {**policy, "label": "net"}
        file = changed(network, lambda header, members, told=told: header.update(policy=told))  # type: ignore[misc]
        with pytest.raises(dfe.ConfigError):
            verify(file, run_code=True, workers=1)


def test_sizes_are_limited(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = changed(network, lambda header, members: members.update({f"policy/{i}": b"" for i in range(60)}))
    with pytest.raises(dfe.ConfigError, match="of at most 50 files"):
        read_submission(many)
    large = changed(network, lambda header, members: members.update({"policy/large": bytes(10_000)}))
    monkeypatch.setattr(submission, "_MOST_MEMBER_BYTES", 9_000)
    with pytest.raises(dfe.ConfigError, match="10000 bytes instead of at most 9000"):
        read_submission(large)
    monkeypatch.setattr(submission, "_MOST_FILE_BYTES", 100)
    with pytest.raises(dfe.ConfigError, match="of at most 100 bytes"):
        read_submission(network)


def test_what_is_no_submission_is_refused() -> None:
    Path("empty.zip").write_bytes(b"PK")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("submission.json", "[]")
        archive.writestr("results.json", "{}")
    Path("other.zip").write_bytes(stream.getvalue())
    for name in ("empty.zip", "other.zip", "missing.zip"):
        done = run("verify", name)
        assert done.exit_code == 2, done.output
        assert "submission" in told(done)


def test_the_table_of_accepted_submissions_lists_a_folder(network: Path) -> None:
    Path("files").mkdir()
    network.rename("files/net.zip")
    packed("min", "--training", "mine.training.toml").rename("files/min.zip")
    done = run("accepted", "files")
    assert done.exit_code == 0, done.output
    head, _, *rows = done.output.strip().splitlines()
    assert head == "| policy | suite | seeds | steady, train | steady, test | trained | version | SHA-256 |"
    assert sorted(row.split(" | ")[0] for row in rows) == ["| min", "| net"]
    assert "not trained" in done.output
    assert "2 scenarios, 12 CPU-s" in done.output
    assert run("accepted", "files").output == done.output


def test_a_page_is_the_same_whoever_makes_it_and_says_that_one_seed_decides_nothing() -> None:
    pages = []
    for folder in ("here", "there/deeper"):
        done = run("net=mlp:weights=net.npz", "-j", "1", "--seeds", "1", "--out", folder)
        assert done.exit_code == 0, done.output
        assert "One seed decides nothing" in told(done)
        again = run("net=mlp:weights=net.npz", "--seeds", "1", "--no-runs", "--out", folder)
        assert again.exit_code == 0, again.output
        pages.append([Path(folder, name).read_bytes() for name in ("benchmark.md", "benchmark.html")])
    assert pages[0] == pages[1]
    text = pages[0][0].decode()
    assert "    dragonfly-env benchmark net=mlp:weights=net.npz --quick --seeds 1\n" in text
    assert "One seed decides nothing" in text
    run("--no-runs", "--out", "here")
    assert "One seed" not in Path("here/benchmark.md").read_text()


def test_policies_of_one_name_are_trainings_of_one_policy() -> None:
    names = []
    for seed in range(3):
        MlpNetwork.random(seed=seed).save(f"net{seed}.npz")
        names.append(f"net=mlp:weights=net{seed}.npz")
    done = run(*names, "-j", "1", "--out", "results")
    assert done.exit_code == 0, done.output
    text = Path("results/benchmark.md").read_text()
    for label in ("net#1", "net#2", "net#3"):
        assert f"| {label} | yours |" in text
