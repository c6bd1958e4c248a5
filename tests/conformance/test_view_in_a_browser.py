"""The page of ``dragonfly-env view`` in a real browser without a display and without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragonfly_env.view import Recording, record, write_view
from tests.browser import Browser, find_chromium
from tests.unit.view.view_runs import GRID, runs

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here (apt-get install chromium): the page is not tried"
)
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
    """One browser for all tests: it takes a second to start."""
    with Browser(CHROMIUM or "") as browser:
        yield browser


@pytest.fixture
def page(window: Browser, recordings: list[Recording], tmp_path: Path) -> Browser:
    """The page, opened anew."""
    window.resize(1440, 900)
    window.open(write_view(recordings, tmp_path / "view.html"))
    window.complaints.clear()
    return window


def text(browser: Browser, selector: str) -> str:
    """What is read there."""
    return str(browser.run(f"document.querySelector({selector!r}).innerText"))


def point(browser: Browser, x: str, y: str, panel: int = 0) -> tuple[float, float]:
    """Where on the screen a point of the circle's plane is."""
    place = browser.run(
        f"(() => {{ const p = view.panels[{panel}], box = p.canvas.getBoundingClientRect();"
        f"const [x, y] = view.viewport.toScreen(p.width, p.height, {x}, {y}); return [box.left + x, box.top + y]; }})()"
    )
    return float(place[0]), float(place[1])


def colour(browser: Browser, panel: int, router: int) -> list[int]:
    """The colour in the middle of a router."""
    found = browser.run(
        f"(() => {{ const p = view.panels[{panel}], g = view.geometry;"
        f"const [x, y] = view.viewport.toScreen(p.width, p.height, g.x[{router}], g.y[{router}]);"
        "return [...p.ctx.getImageData(Math.round(x), Math.round(y), 1, 1).data]; })()"
    )
    return list(found)


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
        recording.occupancy_packets[-1, mine] - own for recording, own in zip(recordings, queued, strict=True)
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


def test_a_click_on_a_link_shows_the_pair_that_it_joins(page: Browser) -> None:
    link = page.run("view.system.between(0, 1)[0]")
    page.run("view.state.frame = 3; view.show()")
    page.click(*point(page, f"view.geometry.along({link}, 0.5).x", f"view.geometry.along({link}, 0.5).y"))
    assert text(page, "#details h2") in ("Group 0 → group 1", "Group 1 → group 0")


def test_pictures_differ_between_runs_and_frames(page: Browser) -> None:
    empty = page.run("view.runs.map((run) => run.waitingAt(0, 0))")
    assert min(empty) > 0
    here, there = colour(page, 0, 1), colour(page, 1, 1)
    assert here != there
    assert here[3] == there[3] == 255


def test_zoom_keeps_what_is_selected_and_comes_back(page: Browser) -> None:
    before = page.run("view.panels[0].canvas.toDataURL()")
    page.run("view.select({kind: 'router', router: 5})")
    page.press("+", 187, "+")
    assert page.run("view.viewport.zoom") == 1.5
    assert page.run("[view.viewport.x, view.viewport.y]") == page.run(
        "[view.geometry.x[5], view.geometry.y[5]]"
    )
    page.press("0", 48, "0")
    page.press("Escape", 27)
    assert page.run("view.panels[0].canvas.toDataURL()") == before


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 800), (1920, 1080), (700, 1000)])
def test_nothing_overlaps_or_is_wider_than_the_window(page: Browser, width: int, height: int) -> None:
    page.resize(width, height)
    page.settle()
    assert page.run("document.documentElement.scrollWidth") <= width
    overlaps = page.run(OVERLAPS)
    assert overlaps == []


def test_grids_and_single_runs_are_drawn_too(window: Browser, tmp_path: Path) -> None:
    recording = record(runs(topology=GRID)[0], frames=2)
    window.open(write_view([recording], tmp_path / "grid.html"))
    assert window.complaints == []
    assert "busiest rank-1 link (row)" in text(window, "#notes")
    assert window.run("document.querySelectorAll('#panels canvas').length") == 1
    window.click(*point(window, "view.geometry.x[4]", "view.geometry.y[4]"))
    assert text(window, "#details h2") == "Router 4"
    assert "×2" in text(window, "#ports")


def test_a_browser_that_is_too_old_says_so(
    window: Browser, recordings: list[Recording], tmp_path: Path
) -> None:
    path = write_view(recordings[:1], tmp_path / "view.html")
    old = path.read_text(encoding="utf-8").replace(
        "<script>", "<script>delete window.DecompressionStream;", 1
    )
    path.write_text(old, encoding="utf-8")
    window.open(path)
    assert "this browser is too old" in text(window, "p.trouble")
