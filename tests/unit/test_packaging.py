"""CI tests the promises of pyproject.toml: one list of Pythons, a tested lower bound for every requirement."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
BUILD = PYPROJECT["build-system"]["requires"]
ITSELF = PROJECT["name"]  # an extra that contains another one names the package
EXTRAS = {
    name: [text for text in PROJECT["optional-dependencies"][name] if not text.startswith(ITSELF)]
    for name in ("analysis", "sb3", "rllib")
}


def run(*command: str | Path, **settings: Any) -> subprocess.CompletedProcess[str]:
    """A command, its output and its exit code."""
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, cwd=ROOT, **settings
    )


def pythons() -> list[str]:
    """Pythons of this project in the scripts of CI."""
    done = run(ROOT / ".ci" / "pythons")
    assert done.returncode == 0
    return done.stdout.split()


def test_the_pythons_that_are_tested_are_those_that_may_install_the_package() -> None:
    allowed = SpecifierSet(PROJECT["requires-python"])
    assert pythons() == [f"3.{minor}" for minor in range(30) if f"3.{minor}.99" in allowed]
    classifiers = [
        re.fullmatch(r"Programming Language :: Python :: (\d.*)", c) for c in PROJECT["classifiers"]
    ]
    assert pythons() == [match[1] for match in classifiers if match]


@pytest.mark.parametrize("version", [*pythons(), "3.9", "3.15", "2.7", ""])
def test_set_up_takes_the_pythons_of_the_project_and_no_others(version: str, tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\necho {version}\n" if version else "#!/bin/sh\nexit 127\n")
    fake.chmod(0o755)
    done = run(ROOT / ".ci" / "check-system", fake, env={**os.environ, "CXX": "true"})
    assert (done.returncode == 0) == (version in pythons()), done.stderr
    if version not in pythons():
        assert f"missing: one of Python {' '.join(pythons())}; {fake} is " in done.stderr


def test_every_requirement_of_a_user_has_a_lower_bound_and_it_is_what_is_tested() -> None:
    constraints = run(sys.executable, ROOT / ".ci" / "oldest.py").stdout.split()
    for text in (*BUILD, *PROJECT["dependencies"], *(text for extra in EXTRAS.values() for text in extra)):
        requirement = Requirement(text)
        (lower,) = [bound.version for bound in requirement.specifier if bound.operator == ">="]
        assert f"{requirement.name}=={lower}" in constraints
        assert lower in requirement.specifier


def test_the_version_is_in_one_place() -> None:
    import dragonfly_env

    version = PROJECT["version"]
    assert dragonfly_env.__version__ == version
    heading = re.search(r"^## .*", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading is not None
    assert version in heading[0]  # the other place that names it is a text for people
    places = ("csrc/CMakeLists.txt", "Makefile", "docs/conf.py", "README.md", "dragonfly_env/__init__.py")
    assert [name for name in places if version in (ROOT / name).read_text(encoding="utf-8")] == []


def test_a_source_archive_holds_all_that_the_package_is_made_of_and_each_once(tmp_path: Path) -> None:
    build = "import sys; from scikit_build_core.build import build_sdist as build; build(sys.argv[1])"
    done = run(sys.executable, "-c", build, tmp_path)
    assert done.returncode == 0, done.stderr
    (archive,) = tmp_path.glob(f"*-{PROJECT['version']}.tar.gz")
    assert archive.stat().st_size < 3_000_000
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    package = {
        str(path.relative_to(ROOT))
        for folder in ("dragonfly_env", "agents", "baselines", "csrc")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and path.suffix
        in (
            *(".py", ".pyi", ".html", ".css", ".js", ".cpp", ".hpp", ".npz", ".csv", ".toml", ".json"),
            ".parquet",
        )
    }
    linked = {
        name for name in package if name.startswith(("dragonfly_env/agents/", "dragonfly_env/baselines/"))
    }
    assert package - linked <= names
    assert "dragonfly_env/lab/benchmark/published/dragonfly-v3.parquet" in names
    assert len(package - linked) > 300
    assert [
        name for name in names if name.startswith(("dragonfly_env/agents", ".ci", "build", "results"))
    ] == []


def test_the_run_that_tries_a_wheel_prints_what_the_core_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "small.toml"
    settings = ['topology = "72"', 'policies = ["min"]', 'traffic = ["uniform"]', "loads = [0.2]"]
    scenario.write_text("\n".join([*settings, "warmup_ns = 500", "measure_ns = 500"]))
    monkeypatch.setattr(sys, "argv", ["first_run.py", str(scenario)])
    runpy.run_path(str(ROOT / ".ci" / "first_run.py"), run_name="__main__")
    assert re.fullmatch(
        r"dragonfly-env \S+, min under .*: \d+ packets delivered, [0-9a-f]{16}\n", capsys.readouterr().out
    )


def test_a_simulation_and_the_environments_need_three_packages() -> None:
    always = [Requirement(text) for text in PROJECT["dependencies"]]
    assert [package.name for package in always if package.marker is None] == [
        "numpy",
        "gymnasium",
        "pettingzoo",
    ]


def test_the_wheels_to_be_built_are_for_the_pythons_that_are_tested() -> None:
    builds = PYPROJECT["tool"]["cibuildwheel"]["build"].split()
    assert builds == [f"cp{python.replace('.', '')}-*" for python in pythons()]
