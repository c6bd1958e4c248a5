"""Saved agents that somebody changed are refused before they take memory, and nothing in them is run."""

from __future__ import annotations

import json
import pickle
import resource
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.agents import load_agent, make_agent, read_metadata
from dragonfly_env.checks.archives import parse_npy, write_npy

KINDS = ("deep-q", "ppo")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny agent of every kind in a file."""
    folder = tmp_path_factory.mktemp("agents")
    config = dfe.SimulationConfig(topology=dfe.Dragonfly(1, 2, 1))
    files = {}
    for kind in KINDS:
        agent = make_agent(kind, hidden_units=(4,))
        agent.prepare(dfe.BatchedRoutingEnv(config, **agent.env_options()))
        files[kind] = folder / f"{kind}.zip"
        agent.save(files[kind])
    return files


def changed(path: Path, target: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A copy with members changed, or left out."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in archive.namelist():
            content = change(name, archive.read(name))
            if content is not None:
                copy.writestr(name, content)
    return target


def with_header(path: Path, target: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    """A copy with another description."""

    def change(name: str, content: bytes) -> bytes:
        if name != "agent.json":
            return content
        header = json.loads(content)
        edit(header)
        return json.dumps(header).encode()

    return changed(path, target, change)


def refused(path: Path, message: str) -> None:
    with pytest.raises(dfe.ConfigError, match=message):
        load_agent(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_member_of_an_agent_is_plain(kind: str, saved: dict[str, Path]) -> None:
    with zipfile.ZipFile(saved[kind]) as archive:
        for name in archive.namelist():
            if name != "agent.json":
                array = parse_npy(archive.read(name), field="", shown="", allowed=name)
                assert array.dtype == np.float32
    assert load_agent(saved[kind]).name == kind
    assert read_metadata(saved[kind]) == {}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "bad",
    [
        None,
        b"",
        b"nothing",
        write_npy(np.zeros(3, dtype=np.float32)),
        pickle.dumps([1]),
        b"\x93NUMPY\x01\x00\x02\x00(\n",
    ],
    ids=["missing", "empty", "text", "shape", "pickle", "header"],
)
def test_an_agent_without_one_of_its_tensors_is_refused(
    kind: str, bad: bytes | None, saved: dict[str, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(saved[kind]) as archive:
        members = [name for name in archive.namelist() if name != "agent.json"]
    for member in members[::5]:
        path = changed(
            saved[kind], tmp_path / "bad.zip", lambda name, data, m=member: bad if name == m else data
        )  # type: ignore[misc]
        refused(path, r"^agent = .*must be a saved agent")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_agent_whose_weights_are_not_finite_is_refused(
    value: float, saved: dict[str, Path], tmp_path: Path
) -> None:
    def spoil(name: str, content: bytes) -> bytes:
        if name == "agent.json":
            return content
        return write_npy(np.full_like(parse_npy(content, field="", shown="", allowed=""), value))

    refused(changed(saved["deep-q"], tmp_path / "bad.zip", spoil), "finite float32")


def test_settings_that_ask_for_more_weights_than_the_file_has_take_no_memory(
    saved: dict[str, Path], tmp_path: Path
) -> None:
    huge = with_header(
        saved["deep-q"],
        tmp_path / "huge.zip",
        lambda header: header["settings"].update(hidden_units=[4096] * 8),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(huge, r"with all of its \d+ weights")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_no_code_in_an_agent_is_run(saved: dict[str, Path], tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return sys.exit, (1,)

    bomb = pickle.dumps(Trap())
    refused(changed(saved["deep-q"], tmp_path / "bad.zip", lambda name, data: bomb), "must be a saved agent")
    objects = np.array([Trap()], dtype=object)

    def pickled(name: str, content: bytes) -> bytes:
        if name == "agent.json":
            return content
        with (tmp_path / "x.npy").open("wb") as file:
            np.save(file, objects, allow_pickle=True)
        return (tmp_path / "x.npy").read_bytes()

    refused(changed(saved["deep-q"], tmp_path / "bad.zip", pickled), "allow_pickle=False")
