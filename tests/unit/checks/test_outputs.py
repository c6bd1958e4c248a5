"""Output files: what is not a regular file is written to, and never replaced."""

from __future__ import annotations

import ast
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import dragonfly_env as dfe
from dragonfly_env.agents.learner import write_agent
from dragonfly_env.checks.files import check_file, open_output, write_text
from dragonfly_env.plots import save
from dragonfly_env.sweeps.results import write_run
from tests.unit.cli_arguments import SHORT, run

PACKAGE = Path(dfe.__file__).parent


def _simulate(option: str) -> Callable[[Path], None]:
    def write(target: Path) -> None:
        done = run("simulate", "-t", "72", "-l", "0.1", *SHORT, option, str(target))
        assert done.exit_code == 0, done.stderr

    return write


def _view(target: Path) -> None:
    assert (
        run("view", "-t", "72", "--measure", "1us", "--frames", "2", "-p", "min", "-o", str(target)).exit_code
        == 0
    )


def _counters(target: Path) -> None:
    simulation = dfe.Simulation(dfe.SimulationConfig(topology="72"))
    simulation.run(1_000)
    simulation.metrics().ports.to_parquet(target)


WRITERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "simulate --out": ("results.json", _simulate("--out")),
    "simulate --packet-log, Parquet": ("log.parquet", _simulate("--packet-log")),
    "simulate --packet-log, CSV": ("log.csv", _simulate("--packet-log")),
    "view": ("page.html", _view),
    "figure": ("loads.png", lambda target: [*save(Figure(), target.parent, target.stem, ("png",))].clear()),
    "vector figure": (
        "loads.pdf",
        lambda target: [*save(Figure(), target.parent, target.stem, ("pdf",))].clear(),
    ),
    "snapshot": (
        "s",
        lambda target: dfe.Simulation(dfe.SimulationConfig(topology="72")).snapshot().save(target),
    ),
    "agent": ("agent.zip", lambda target: write_agent(target, {"kind": "tiny"})),
    "network": ("n.npz", lambda target: [dfe.baselines.MlpNetwork.random(seed=1).save(target)].clear()),
    "counters": ("tiles.parquet", _counters),
    "run of a sweep": (
        "a.parquet",
        lambda target: write_run(target.parent.parent, {"run_id": "a", "seed": 1}),
    ),
}


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Callable[[Path], None]]:
    """A new target, and the function that writes it."""
    name, write = WRITERS[request.param]
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs" / name, write


def test_a_link_is_followed(writer: tuple[Path, Callable[[Path], None]], tmp_path: Path) -> None:
    target, write = writer
    real = tmp_path / "elsewhere"
    target.symlink_to(real)  # the file is made by the first write, and replaced by the second
    for _ in range(2):
        write(target)
        assert target.is_symlink()
        assert real.stat().st_size > 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["elsewhere", "runs"]
    assert [file.name for file in target.parent.iterdir()] == [target.name]


def test_a_pipe_is_written_to(writer: tuple[Path, Callable[[Path], None]]) -> None:
    target, write = writer
    os.mkfifo(target)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(target.read_bytes()), daemon=True)
    reader.start()
    write(target)
    assert stat.S_ISFIFO(target.stat().st_mode)
    reader.join(timeout=60)
    target.unlink()
    write(target)
    assert abs(len(received[0]) - target.stat().st_size) < 200  # times and file names differ


def test_a_device_is_written_to() -> None:
    controller, terminal = os.openpty()
    device = Path(os.ttyname(terminal))
    check_file("--out", device)  # its folder takes no new file
    write_text("figures", device)
    assert os.read(controller, 100) == b"figures"
    assert stat.S_ISCHR(device.stat().st_mode)
    os.close(terminal)
    os.close(controller)


@pytest.mark.parametrize("redirected", ["pipe", "file"])
def test_what_is_standard_output_receives_both(redirected: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dragonfly_env.cli", "simulate", "-t", "72", "-l", "0.1", *SHORT]
    command += ["--packet-log", "/dev/stdout", "-o", "/dev/null"]
    if redirected == "pipe":
        printed = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        ).stdout
    else:
        with (tmp_path / "all").open("wb") as file:
            subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=True)
        printed = (tmp_path / "all").read_bytes()
    table, _, rest = printed.partition(b"PAR1")
    assert b"accepted load" in table
    assert rest.endswith(b"PAR1")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_what_can_hold_no_file_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(dfe.ConfigError, match="neither a file, nor a pipe, nor a character device"):
            check_file("--out", tmp_path / "s")
        with pytest.raises(OSError, match="neither a file"), open_output(tmp_path / "s"):
            pass
        assert stat.S_ISSOCK((tmp_path / "s").stat().st_mode)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(dfe.ConfigError, match="symbolic links"):
        check_file("--out", tmp_path / "loop")


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "private"
    target.touch(0o600)
    write_text("figures", target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_every_output_of_the_package_is_opened_by_one_function() -> None:
    """No other module opens a file for writing, or renames one into place."""
    found = []
    for folder in (PACKAGE, PACKAGE.parent / "agents", PACKAGE.parent / "baselines"):
        for file in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
                    continue
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                modes = [
                    a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
                ]
                writes = name == "open" and any(set(mode) & set("wax+") and len(mode) <= 3 for mode in modes)
                is_method = isinstance(node.func, ast.Attribute) and name in {
                    "write_text",
                    "write_bytes",
                    "copyfile",
                }
                if writes or is_method:
                    found.append(f"{file.relative_to(PACKAGE.parent)}:{node.lineno}")
    in_checks = [place for place in found if place.startswith("dragonfly_env/checks/files.py:")]
    assert [place for place in found if place not in in_checks] == []
    assert len(in_checks) == 2  # the temporary file, and the stream
