"""Commands write only where they are told to: no symbolic link leads them elsewhere, and no name of a folder ends them.

What each command writes is found by running it once; links are then planted at every one of these names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import dragonfly_env.lab.benchmark as benchmark
from dragonfly_env.cli import COMMANDS, app
from dragonfly_env.lab.benchmark import Suite
from tests.unit.cli_arguments import SHORT
from tests.unit.lab.benchmark.tiny_suite import tiny as tiny_suite

pytestmark = pytest.mark.usefixtures("undrawn")

SYSTEM = ("-t", "72", *SHORT)
SWEEP = (*SYSTEM, "--traffic", "uniform", "-l", "0.2", "-j", "1")
TRAIN = (
    *("-t", "72", "--episode-ns", "2000", "--duration-ns", "4000", "--evaluate-every", "0"),
    *("--checkpoint-every", "1"),
)

# By command: arguments, and the option that says where to write. Every command is here, or in `WRITES_NOTHING`.
FOLDERS: dict[str, tuple[str, ...]] = {
    "sweep": ("sweep", "-p", "min", *SWEEP, "--no-plots", "--out"),
    "evaluate": ("evaluate", "min", *SWEEP, "--no-plots", "--out"),
    "plot": ("plot", "measured", "--kind", "loads", "--out"),
    "train": ("train", "tiny", *TRAIN, "--no-tensorboard", "--out"),
    "train own": ("train", "own_learner.py:Own", *TRAIN, "--no-tensorboard", "--out"),
    "benchmark": ("benchmark", "ugal-n:bias_packets=3", "--track", "steady", "-j", "1", "--out"),
    "reproduce": ("reproduce", "hpdc21", "memory", "--out"),
}
FILES: dict[str, tuple[str, ...]] = {
    "simulate": ("simulate", *SYSTEM, "--packet-log"),
    "benchmark-pack": ("benchmark-pack", "min", "--training", "none.toml", "--results", "done", "--out"),
    "view": ("view", "-t", "72", "-p", "min", "--measure-ns", "500", "--frames", "5", "--out"),
    "calibrate": (
        *("calibrate", "hacc", "-t", "72", "--hosts", "16", "--scale", "0.001", "--iterations", "1"),
        "--out",
    ),
}
EVERY = {**FOLDERS, **FILES}
WRITES_NOTHING = {"benchmark-accepted", "benchmark-verify", "bounds", "info"}
NOT_UTF8 = os.fsdecode(b"caf\xe9")
OWN_LEARNER = """
import numpy as np


class Own:
    name, scope, action = "own", "source", "path"
    metadata = {}

    def env_options(self):
        return {"scope": self.scope, "action": self.action}

    def prepare(self, env): pass
    def set_training(self, on): pass
    def learn(self, transitions): pass
    def statistics(self): return {}

    def act(self, batch):
        return batch.minimal_actions()

    def save(self, path):
        with open(path, "w") as file:  # follows links, if there are any
            file.write("saved")

    @classmethod
    def load(cls, path):
        return cls()
"""


def run(name: str, where: str) -> Result:
    """The command in this process, where the results go to a stream that takes any text, as that of the program."""
    runner = CliRunner(charset="raw_unicode_escape")
    return runner.invoke(app, [*EVERY[name], where], env={"COLUMNS": "160"})


@pytest.fixture(autouse=True)
def prepared(tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that the commands read; the working directory is ``tmp_path``."""
    suite = tiny_suite(loads=[0.1])
    suite["references"], suite["seeds"] = {"untuned": ["val-g"]}, {"quick": 1, "full": 1}
    monkeypatch.setattr(benchmark, "find_suite", lambda name: Suite.from_dict(suite))
    Path("own_learner.py").write_text(OWN_LEARNER)
    Path("none.toml").write_text("scenarios = []\nseeds = []\ncpu_s = 0.0\n")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What several tests need, made by the first of them."""
    return tmp_path_factory.mktemp("kept")


def once(kept: Path, name: str, *arguments: str) -> None:
    """A folder that a command writes."""
    if not (kept / name).exists():
        done = CliRunner().invoke(app, [*arguments, name])
        assert done.exit_code == 0, done.output
        shutil.copytree(name, kept / name)
    elif not Path(name).exists():
        shutil.copytree(kept / name, name)


def measured(name: str, kept: Path) -> None:
    if "measured" in EVERY[name]:
        once(kept, "measured", *FOLDERS["sweep"])
    if "done" in EVERY[name]:
        once(kept, "done", "benchmark", "min", "-j", "1", "--out")


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and time of every file below a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def folders(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_dir()]


def written(name: str, kept: Path) -> tuple[str, dict[str, tuple[bytes, int]], list[str]]:
    """Run a command once: what ``--out`` was, the files that it left in the folder ``first``, and the folders."""
    measured(name, kept)
    where = "first" if name in FOLDERS else "first/file.parquet"
    if (kept / name).exists():
        shutil.copytree(kept / name, "first")
    else:
        Path("first").mkdir()
        done = run(name, where)
        assert done.exit_code == 0, done.output
        shutil.copytree("first", kept / name)
    found = contents(Path("first"))
    assert found
    return where.replace("first", "second"), found, folders(Path("first"))


def test_every_command_is_among_those_that_are_tested() -> None:
    assert set(COMMANDS) == {arguments[0] for arguments in EVERY.values()} | WRITES_NOTHING


@pytest.mark.parametrize("name", EVERY)
def test_links_where_files_are_to_be_are_not_followed(name: str, kept: Path) -> None:
    """Neither those that lead to a file, such as an intact one of an earlier run, nor those that lead nowhere."""
    where, found, inside = written(name, kept)
    for there in (True, False):
        shutil.rmtree("second", ignore_errors=True)
        shutil.rmtree("elsewhere", ignore_errors=True)
        for folder in ("", *inside):
            Path("second", folder).mkdir(parents=True)
            Path("elsewhere", folder).mkdir(parents=True)
        for number, file in enumerate(found):
            target = Path("elsewhere", str(number)).resolve()
            if there:
                shutil.copyfile(Path("first", file), target)
            Path("second", file).symlink_to(target)
        before = contents(Path("elsewhere"))
        done = run(name, where)
        assert done.exit_code == 0, done.output
        assert contents(Path("elsewhere")) == before
        if not there:
            assert not [file for file in found if Path("second", file).is_symlink()]
            assert sorted(contents(Path("second"))) == sorted(found)


@pytest.mark.parametrize("name", FOLDERS)
def test_links_where_folders_of_a_commands_own_are_to_be_are_refused(name: str, kept: Path) -> None:
    _, _, inside = written(name, kept)
    for folder in inside:
        shutil.rmtree("second", ignore_errors=True)
        Path("elsewhere").mkdir(exist_ok=True)
        Path("second", folder).parent.mkdir(parents=True)
        Path("second", folder).symlink_to(Path("elsewhere").resolve())
        done = run(name, "second")
        assert done.exit_code == 2, done.output
        assert f"second/{folder}': must be a folder, not a symbolic link" in done.stderr
        assert not [*Path("elsewhere").iterdir()]


def test_a_link_where_one_of_several_agents_is_to_be_trained_is_refused() -> None:
    Path("out").mkdir()
    Path("out/seed-2").symlink_to(Path().resolve())
    done = CliRunner().invoke(app, ["train", "tiny", *TRAIN, "-s", "1", "-s", "2", "--out", "out"])
    assert done.exit_code == 2, done.output
    assert "out/seed-2': must be a folder, not a symbolic link" in done.stderr
    assert not Path("out/seed-1").exists()


def test_a_results_folder_may_itself_be_a_link_as_its_user_names_it() -> None:
    Path("disk").mkdir()
    Path("out").symlink_to("disk")
    assert run("sweep", "out").exit_code == 0
    assert Path("disk/results.parquet").is_file()


def test_a_packet_log_is_csv_if_its_name_says_so(tmp_path: Path) -> None:
    longest = f"{'l' * 251}.csv"
    for name in ("log.parquet", longest):
        assert run("simulate", name).exit_code == 0
    table, text = pd.read_parquet(tmp_path / "log.parquet"), pd.read_csv(tmp_path / longest)
    assert text.columns.tolist() == table.columns.tolist()
    routers = [list(map(int, one.split())) for one in text.pop("routers")]
    assert routers == [one.tolist() for one in table.pop("routers")]
    pd.testing.assert_frame_equal(text, table, check_dtype=False, rtol=0)


@pytest.mark.parametrize("name", EVERY)
def test_a_folder_may_have_a_name_that_is_no_utf8(name: str, kept: Path) -> None:
    measured(name, kept)
    where = NOT_UTF8 if name in FOLDERS else f"{NOT_UTF8}/file.parquet"
    done = run(name, where)
    assert done.exit_code == 0, done.output
    assert contents(Path(NOT_UTF8))


def test_tensorboard_refuses_such_a_name_before_anything_is_learned() -> None:
    pytest.importorskip("tensorboard")
    done = CliRunner().invoke(app, ["train", "tiny", *TRAIN, "--out", NOT_UTF8])
    assert done.exit_code == 2, done.output
    assert "--no-tensorboard" in done.stderr
    assert not Path(NOT_UTF8, "checkpoints", "latest.zip").exists()


@pytest.mark.parametrize("where", ["x" * 300, "y/" * 3000 + "z", "file/x"])
@pytest.mark.parametrize("name", EVERY)
def test_a_path_that_cannot_be_is_refused_before_anything_runs(name: str, where: str, kept: Path) -> None:
    measured(name, kept)
    Path("file").touch()
    before = sorted(Path().iterdir())
    done = run(name, where)
    assert done.exit_code == 2, done.output
    field = EVERY[name][-1]
    allowed = "a folder that can be written to" if name in FOLDERS else "a file that can be written"
    reason = "Not a directory" if where == "file/x" else "File name too long"
    message = " ".join(done.stderr.split())
    assert message.startswith(f"error: {field} = ")
    assert message.endswith(f"must be {allowed} ({reason})")
    assert sorted(Path().iterdir()) == before


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Go into a directory and delete it."""

    def go() -> None:
        place = tmp_path / "gone"
        place.mkdir()
        monkeypatch.chdir(place)
        place.rmdir()

    return go


@pytest.mark.parametrize("name", EVERY)
def test_a_deleted_working_directory_is_said_before_anything_runs(
    name: str, nowhere: Callable[[], None], kept: Path
) -> None:
    measured(name, kept)
    places = {
        "measured": str(Path("measured").resolve()),
        "own_learner.py:Own": f"{Path.cwd()}/own_learner.py:Own",
    }
    arguments = [places.get(word, word) for word in EVERY[name]]
    nowhere()
    done = CliRunner().invoke(app, [*arguments, "out"])
    assert done.exit_code == 2, done.output
    assert "(the working directory has been deleted)" in " ".join(done.stderr.split())


def test_the_package_is_imported_and_simulates_in_a_deleted_working_directory(tmp_path: Path) -> None:
    code = (
        "import os, sys; os.rmdir(os.getcwd())\n"
        "import dragonfly_env as dfe\n"
        "print(dfe.simulate(dfe.SimulationConfig(topology='72'), measure_ns=500).packets_delivered > 0)\n"
    )
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
