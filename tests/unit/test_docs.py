"""The site and the README: every name has its place, and what the README says is what the site says."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dragonfly_env as dfe
from dragonfly_env import _core, agents, baselines, bounds, jobs, traffic
from dragonfly_env.config.rows import describe
from dragonfly_env.envs.options import EnvOptions
from dragonfly_env.policy import describe_policy

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def docs() -> Any:
    """Additions of the documentation's build to Sphinx, as far as they need no Sphinx."""
    folder = str(ROOT / "docs" / "_ext")
    sys.path.insert(0, folder)
    try:
        import dragonfly_docs

        yield dragonfly_docs
    finally:
        sys.path.remove(folder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "dragonfly_docs"]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def pages(docs: Any) -> dict[str, str]:
    return docs.generated_pages()


def documented(pages: dict[str, str]) -> set[str]:
    """The names that are in the API reference."""
    text = "\n".join(text for name, text in pages.items() if name.startswith("api/"))
    return set(re.findall(r"^\.\. (?:auto\w+|py:data):: (\S+)$", text, flags=re.MULTILINE))


def test_every_public_name_is_in_the_api_reference(pages: dict[str, str]) -> None:
    names = documented(pages)
    for module in (agents, baselines, bounds, jobs, traffic):
        assert [name for name in module.__all__ if f"{module.__name__}.{name}" not in names] == []
    # A name that is exported twice appears once, in the reference of its own module.
    twice = {name for module in (bounds, traffic) for name in module.__all__ if name in dfe.__all__}
    elsewhere = {"Job", "agents", "baselines", "bounds", "jobs", "traffic", *twice}
    assert {name for name in dfe.__all__ if f"dragonfly_env.{name}" not in names} == elsewhere


@pytest.mark.parametrize("name", dfe.policies())
def test_every_policy_has_a_page_with_its_source_and_its_parameters(pages: dict[str, str], name: str) -> None:
    page = pages[f"routing/policies/{name}.md"]
    info = next(info for info in _core.policies() if info["name"] == name)
    assert f"\n# {name}\n" in page
    assert info["source"] in page
    assert "\n## Rule\n" in page
    for parameter in describe_policy(name):
        assert f"| `{parameter.name}` |" in page


@pytest.mark.parametrize("info", _core.patterns(), ids=lambda info: info["name"])
def test_every_pattern_has_a_page_with_its_source_and_its_arguments(pages: dict[str, str], info: Any) -> None:
    page = pages[f"traffic/patterns/{info['name']}.md"]
    assert info["source"] in page
    for parameter in info["parameters"]:
        assert f"| `{parameter['name']}` |" in page


def test_committed_generated_pages_are_current(docs: Any, pages: dict[str, str]) -> None:
    expected = {name: text for name, text in pages.items() if not name.startswith("api/")}
    folders = ("commands", "images/drawn", "routing/policies", "tasks", "traffic/patterns")
    found = {path for name in folders for path in (ROOT / "docs" / name).iterdir()}
    assert {path.relative_to(ROOT / "docs").as_posix() for path in found} <= set(expected)
    stale = [
        name for name, text in expected.items() if (ROOT / "docs" / name).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run docs/_ext/dragonfly_docs/results.py"


@pytest.mark.parametrize("task", dfe.tasks())
def test_the_card_of_a_task_has_a_small_picture(task: str) -> None:
    picture = ROOT / "docs" / "images" / "tasks" / f"{task}.png"
    assert f"](../images/tasks/{task}.png)" in (ROOT / "docs" / "tasks" / f"{task}.md").read_text(
        encoding="utf-8"
    )
    assert picture.stat().st_size < 60_000, "run docs/task_pictures.py"


def anchors_of(text: str) -> set[str]:
    """The anchors that viewers of Markdown make of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    plain = [re.sub(r"\]\([^)]*\)", "", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain}


def test_links_between_pages_lead_to_headings_of_committed_files() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = {name for name in listed.stdout.split() if (ROOT / name).exists()}
    folders = {str(Path(name).parent) for name in files}
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in files if name.endswith(".md")}
    dead = []
    for name, text in sorted(texts.items()):
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        for target, anchor in re.findall(r"\]\((?![a-z]+:)([^)\s#]*)#?([^)\s]*)\)", prose):
            path = os.path.normpath(Path(name).parent / target) if target else name
            missing = path not in files and path not in folders
            if missing or (anchor and path in texts and anchor not in anchors_of(texts[path])):
                dead.append((name, target, anchor))
    assert dead == []


def test_every_command_has_a_page_with_every_option(pages: dict[str, str]) -> None:
    from dragonfly_env.cli import COMMANDS, command

    for name in COMMANDS:
        for parameter in command(name).params:
            if parameter.param_type_name == "option" and parameter.name != "help" and not parameter.hidden:
                assert f"`{parameter.opts[0]}`" in pages[f"commands/{name}.md"]


def test_virtual_channels_are_those_of_the_published_simulators(docs: Any) -> None:
    required = importlib.import_module("dragonfly_docs.policies").required_vcs
    # HPDC 2021: MIN 2, VALg and UGALg 3, VALn and UGALn 4, PAR 5; LIA (TACO 2025), table 1: 4 local and 2 global ones.
    assert [required(name, "q-adaptive") for name in ("min", "val-g", "ugal-n")] == [(2, 2), (3, 3), (4, 4)]
    assert required("ugal-n", "lia") == (4, 2)
    assert required("mlp", "lia") is None


def test_links_of_included_files_lead_to_pages_of_the_site(docs: Any) -> None:
    relink = importlib.import_module("dragonfly_docs.links").relink
    text = "[a](ARCHITECTURE.md) [b](docs/learning.md#the-case) [c](https://example.org) [d](LICENSE)"
    assert relink(text, ROOT / "README.md", ROOT) == (
        "[a](/architecture.md) [b](/learning.md#the-case) [c](https://example.org) [d](LICENSE)"
    )


def test_the_readme_says_how_many_policies_and_patterns_there_are(pages: dict[str, str]) -> None:
    patterns = [name for name in pages if name.startswith("traffic/patterns/")]
    assert f"[{len(dfe.policies())} policies](" in README
    assert f"[{len(patterns)} traffic patterns](" in README
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"{len(dfe.policies())} policies under {len(patterns)} traffic patterns" in index


def test_the_project_has_one_tagline() -> None:
    lines = (README.splitlines()[2].strip("*."), str(dfe.__doc__).partition("\n")[0].strip("."))
    manifest = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert lines[0] == lines[1] == re.findall(r'^description = "(.*)"$', manifest, re.MULTILINE)[0]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'title: "dragonfly-env: {lines[0][0].lower()}{lines[0][1:]}"' in citation


def test_links_of_the_readme_lead_to_files() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_a_snippet_shows_what_it_prints_and_passes_its_names_on(docs: Any) -> None:
    run_block = importlib.import_module("dragonfly_docs.running").run_block
    names: dict[str, Any] = {}
    assert run_block("hosts = 36 * 2", names) == ""
    assert run_block("print(hosts)", names) == "72\n"
    with pytest.raises(ZeroDivisionError):
        run_block("hosts / 0", names)


@pytest.mark.parametrize("made", [dfe.NetworkConfig, dfe.SimulationConfig, dfe.Grid, dfe.BatchedRoutingEnv])
def test_the_reference_lists_every_setting_once(docs: Any, made: type) -> None:
    from dragonfly_docs.rows import with_rows

    settings = EnvOptions if made is dfe.BatchedRoutingEnv else made
    lines = with_rows(made, (inspect.getdoc(made) or "").split("\n"))
    arguments = lines[lines.index("Args:") + 1 :]
    arguments = arguments[: arguments.index("")]
    named = [re.split(r"[ :(]", line.strip())[0] for line in arguments if not line.startswith("     ")]
    assert {row.name for row in describe(settings)} <= set(named)
    assert len(named) == len(set(named))
    assert "Example:" in lines
