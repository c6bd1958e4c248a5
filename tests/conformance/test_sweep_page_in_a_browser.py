"""The page of ``dragonfly-env sweep`` in a real browser without a display and without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragonfly_env.plots import draw
from dragonfly_env.sweeps import Scenario, load_results, run_all
from tests.browser import Browser, find_chromium

BELOW = """
(() => {
  const chart = document.getElementById("loads").querySelector(".main-svg").getBoundingClientRect();
  const next = [...document.querySelectorAll("h2")].find((each) => each.textContent === "Further figures");
  return next.getBoundingClientRect().top - chart.bottom;
})()
"""
CONTRAST = """
(() => {
  const channel = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (color) => color.match(/\\d+/g).slice(0, 3).map((part) => channel(part / 255))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const cells = [...document.querySelectorAll("tr.saturated td, tr.saturated small")];
  return cells.map((cell) => 1.05 / (light(getComputedStyle(cell).color) + 0.05));
})()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The page of a sweep with a policy that saturates."""
    folder: Path = tmp_path_factory.mktemp("sweep")
    settings = {
        "topology": "72",
        "policies": ["min", "ugal-n"],
        "traffic": ["uniform", "adv+1"],
        "loads": [0.1, 0.4],
        "warmup_ns": 3000,
        "measure_ns": 3000,
    }
    run_all(Scenario.from_dict(settings, name="small"), folder, workers=1)
    draw(load_results(folder), folder, formats=["png"])
    with Browser(find_chromium()) as browser:
        browser.open(folder / "index.html")
        yield browser


@pytest.mark.parametrize("width", [1440, 1280, 420])
def test_the_chart_covers_nothing_below_it(page: Browser, width: int) -> None:
    page.resize(width, 900)
    page.settle()
    page.wait_for(f"{BELOW} >= 0 && document.documentElement.scrollWidth <= {width}")
    assert page.complaints == []


def test_saturated_cells_are_readable(page: Browser) -> None:
    contrasts = page.run(CONTRAST)
    assert len(contrasts) > 10
    assert min(contrasts) > 4.5  # WCAG 2.1, AA


def test_one_seed_has_no_interval(page: Browser) -> None:
    assert "95 %" not in page.run("document.body.innerText")


def test_the_chart_has_a_diagonal_and_hollow_points_where_a_policy_is_saturated(page: Browser) -> None:
    names = page.run("document.getElementById('loads').data.map((trace) => trace.name)")
    assert names.count("accepted = offered") == 2
    symbols = page.run("document.getElementById('loads').data.flatMap((trace) => trace.marker?.symbol ?? [])")
    assert {"circle", "circle-open"} <= set(symbols)
