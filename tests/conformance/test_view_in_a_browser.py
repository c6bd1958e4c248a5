"""The page of ``dragonfly-env view`` in a real browser without a display and without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragonfly_env.view import Recording, record, write_view
from tests.browser import Browser, find_chromium
from tests.unit.view.view_runs import runs

FRAMES = 6

OVERLAPS = """
(() => {
  const words = '.figures dd, .figures dt, #controls > *, #choices > *, .ticks span, h1, h2';
  const box = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return { text: element.textContent, ...range.getBoundingClientRect().toJSON() };
  };
  const boxes = [...document.querySelectorAll(words)].map(box).filter((one) => one.width && one.height);
  const shared = (low, high, x, y) => Math.min(x[high], y[high]) - Math.max(x[low], y[low]);
  const found = [];
  boxes.forEach((x, i) => boxes.slice(i + 1).forEach((y) => {
    if (shared("left", "right", x, y) > 1 && shared("top", "bottom", x, y) > 3) found.push([x.text, y.text]);
  }));
  return found;
})()
"""


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    """Two policies under adversarial traffic."""
    return [record(run, frames=FRAMES) for run in runs()]


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    """Browser for all tests: it takes a second to start."""
    with Browser(find_chromium()) as browser:
        yield browser


@pytest.fixture
def page(window: Browser, recordings: list[Recording], tmp_path: Path) -> Browser:
    """The page, opened anew."""
    window.resize(1440, 900)
    window.open(write_view(recordings, tmp_path / "view.html"))
    window.complaints.clear()
    return window


def text(browser: Browser, selector: str) -> str:
    """Text at that place."""
    return str(browser.run(f"document.querySelector({selector!r}).innerText"))


def point(browser: Browser, x: str, y: str, panel: int = 0) -> tuple[float, float]:
    """Screen position of a point of the circle's plane."""
    place = browser.run(
        f"(() => {{ const p = view.panels[{panel}], box = p.canvas.getBoundingClientRect();"
        f"const [x, y] = view.viewport.toScreen(p.width, p.height, {x}, {y}); return [box.left + x, box.top + y]; }})()"
    )
    return float(place[0]), float(place[1])


def test_it_opens_without_a_network_and_without_a_complaint(page: Browser) -> None:
    assert page.run("document.documentElement.dataset.ready") == "yes"
    assert text(page, "h1") == "min and ugal-n under adv+1 at load 0.4"
    assert page.complaints == []
    assert page.requests
    assert [address for address in page.requests if not address.startswith(("file:", "data:"))] == []
    assert len(page.run("[...document.querySelectorAll('#panels canvas')].map(c => c.width)")) == 2


def test_keys_and_the_slider_move_time(page: Browser, recordings: list[Recording]) -> None:
    assert page.run("view.state.frame") == FRAMES - 1, "the first frame is that of an empty network"
    page.press("Home", 36)
    assert text(page, "#clock").startswith("1.00 to 1.67")
    page.press("ArrowRight", 39)
    assert text(page, "#clock").startswith("1.67 to 2.33")
    page.press("End", 35)
    assert page.run("document.getElementById('time').value") == str(FRAMES - 1)
    accepted = recordings[0].figures["accepted_load"][-1]
    assert text(page, ".figures dd") == f"{accepted:.2g}"
    page.press("ArrowRight", 39)
    assert page.run("view.state.frame") == FRAMES - 1
    page.press("Home", 36)
    assert page.run("view.state.frame") == 0


def test_play_goes_to_the_end_and_stops_there(page: Browser) -> None:
    page.press(" ", 32, " ")
    assert text(page, "#play") == "Pause"
    page.wait_for("!view.state.playing")
    assert page.run("view.state.frame") == FRAMES - 1
    page.settle()
    assert text(page, "#play") == "Play"


def test_a_click_on_a_router_shows_its_queues_in_both_runs(
    page: Browser, recordings: list[Recording]
) -> None:
    page.press("End", 35)
    page.click(*point(page, "view.geometry.x[7]", "view.geometry.y[7]"))
    assert text(page, "#details h2") == "Router 7"
    first = recordings[0]
    mine = first.links[:, 0] == 7
    shown = page.run(
        "[...document.querySelectorAll('#ports tbody tr')]"
        ".map(row => [...row.querySelectorAll('.queue b')].map(bar => bar.innerText))"
    )
    queued = [recording.queued_packets[-1, mine] for recording in recordings]
    beyond = [
        recording.occupancy_packets[-1, mine] - of_run
        for recording, of_run in zip(recordings, queued, strict=True)
    ]
    assert shown == [
        [f"{queued[run][port]}+{beyond[run][port]}" for run in range(2)] for port in range(int(mine.sum()))
    ]
    page.press(".", 190, ".")
    assert text(page, "#details h2") == "Router 8"
    page.press("Escape", 27)
    assert text(page, "#details h2") == "Look closer"


def test_two_groups_one_after_the_other_show_the_traffic_between_them(
    page: Browser, recordings: list[Recording]
) -> None:
    page.press("End", 35)
    for group in (2, 3):
        page.click(
            *point(page, f"view.geometry.label({group})[0]", f"view.geometry.label({group})[1]", panel=1)
        )
    assert text(page, "#details h2") == "Group 2 → group 3"
    row = page.run(
        "[...document.querySelectorAll('#pair tbody tr')].map(r => [...r.cells].map(c => c.innerText))"
    )
    delivered = [str(recording.delivered[-1, 2, 3]) for recording in recordings]
    assert row[0] == ["packets delivered from 2 to 3", *delivered]
    assert int(delivered[1]) > 0
    page.run("document.getElementById('swap').click()")
    page.settle()
    assert text(page, "#details h2") == "Group 3 → group 2"


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 800), (1920, 1080), (700, 1000)])
def test_nothing_overlaps_or_is_wider_than_the_window(page: Browser, width: int, height: int) -> None:
    page.resize(width, height)
    page.settle()
    assert page.run("document.documentElement.scrollWidth") <= width
    overlaps = page.run(OVERLAPS)
    assert overlaps == []


def test_spines_stand_in_a_row_of_their_own_and_have_no_hosts(window: Browser, tmp_path: Path) -> None:
    system = {"p": 2, "h": 2, "group": "leaf-spine:leaves=3,spines=2"}
    window.resize(1440, 900)
    window.open(write_view([record(runs(topology=system)[0], frames=3)], tmp_path / "view.html"))
    heights = window.run("[...view.geometry.y].slice(0, 5)")  # group 0 is at the top
    leaves, spines = heights[:3], heights[3:]
    assert max(leaves) - min(leaves) < 1e-9
    assert max(spines) - min(spines) < 1e-9
    assert max(leaves) < min(spines) < 0, "spines stand nearer to the middle"
    for router, words in ((3, "Group 0, spine 0 of 2; no hosts"), (6, "Group 1, leaf 1 of 3; hosts 8 to 9")):
        window.click(*point(window, f"view.geometry.x[{router}]", f"view.geometry.y[{router}]"))
        assert text(window, "#details p") == words
    assert window.complaints == []
