"""Figures: one look per policy everywhere, nothing empty or hidden without a sign, a page that needs no network."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import matplotlib.image
import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env import ConfigError
from dragonfly_env.plots import FIGURES, draw
from dragonfly_env.plots.learning import learning_figure
from dragonfly_env.plots.links import global_links_figure
from dragonfly_env.plots.loads import COLUMNS, latency_limit_ns, load_figure
from dragonfly_env.plots.style import representative_load
from dragonfly_env.sweeps import Results, Scenario, aggregate, load_results, run_all


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep with two seeds, time series, and a policy with parameters."""
    path = tmp_path_factory.mktemp("plots")
    settings = {
        "name": "a <small> sweep",
        "topology": "72",
        "network": "q-adaptive",
        "policies": ["min", "par", "par:bias_packets=3"],
        "traffic": ["uniform", "adv+1"],
        "loads": [0.1, 0.3, 0.5],
        "seeds": [1, 2],
        "source_queue_packets": 20,
        "warmup_ns": 4000,
        "measure_ns": 4000,
        "series_bin_ns": 500,
    }
    run_all(Scenario.from_dict(settings), path, workers=1)
    return path


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return load_results(folder)


def test_everything_is_drawn_and_nothing_is_blank(results: Results, tmp_path: Path) -> None:
    drawn = draw(results, tmp_path, formats=["png"])
    assert drawn.skipped == {}
    for kind in FIGURES.keys() - {"jobs", "slowdowns"}:
        picture = matplotlib.image.imread(tmp_path / f"{kind}.png")
        assert min(picture.shape[:2]) > 300
        assert np.ptp(picture[..., :3], axis=(0, 1)).min() > 0.5
    assert drawn.files[-1] == tmp_path / "index.html"
    assert all(file.exists() for file in drawn.files)
    draw(results, tmp_path, kinds=["fairness"], formats=["svg"], page=False)
    assert ET.parse(tmp_path / "fairness.svg").getroot().tag.endswith("svg")


def test_the_load_figure_has_a_row_per_traffic_and_a_line_per_policy(results: Results) -> None:
    figure = load_figure(results)
    assert len(figure.axes) == 2 * 3
    bound = ["bound of any routing"] if importlib.util.find_spec("scipy") else []
    for panel, axes in enumerate(figure.axes):
        labels = [line.get_label() for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
        straight = ["accepted = offered"] if panel % 3 == 1 else []
        assert labels == [*results.policies, *straight, *(bound if panel % 3 < 2 else [])]
    (legend,) = figure.legends
    explained = ["saturated", "shaded: 95 % interval of the mean over seeds", "latency above the panel"]
    entries = [text.get_text() for text in legend.get_texts()]
    assert entries == [*results.policies, "accepted = offered", *bound, *explained]


def test_the_load_figure_shows_what_no_routing_can_pass(results: Results) -> None:
    pytest.importorskip("scipy", reason="needs the extra [bounds]")
    figure = load_figure(results)
    rows = dict(zip(results.traffic, np.array(figure.axes).reshape(2, 3), strict=True))
    for traffic, (latency, accepted, _) in rows.items():
        (floor,) = (line for line in latency.get_lines() if line.get_label() == "bound of any routing")
        (most,) = (line for line in accepted.get_lines() if line.get_label() == "bound of any routing")
        topology = dfe.Dragonfly.preset("72")
        assert most.get_ydata()[0] == pytest.approx(dfe.most_load(topology, traffic))
        assert list(floor.get_xdata()) == [0.1, 0.3, 0.5]
        config = dfe.SimulationConfig(topology=topology, network="q-adaptive", traffic=traffic, load=0.3)
        assert floor.get_ydata()[1] * 1000 == pytest.approx(dfe.latency_floor(config))


def test_a_latency_axis_shows_every_policy_that_carries_the_load(results: Results) -> None:
    table = aggregate(results, COLUMNS)
    for traffic in results.traffic:
        part = table[table["traffic"] == traffic]
        limit = latency_limit_ns(part)
        assert limit > part[~part["saturated"]]["latency_mean_ns"].max()
        assert limit <= 1.1 * part["latency_mean_ns"].max()


def test_a_load_is_chosen_that_most_policies_carry(results: Results) -> None:
    assert representative_load(results, "adv+1") == 0.5, "two of three policies carry it"
    assert representative_load(results.select(policies=["min"]), "adv+1") == 0.1
    assert representative_load(results, "adv+1", 0.3) == 0.3
    with pytest.raises(ConfigError, match=r"0\.1, 0\.3, 0\.5"):
        representative_load(results, "adv+1", 0.4)


def test_min_under_adversarial_traffic_uses_one_link_per_group(results: Results) -> None:
    figure = global_links_figure(results, 0.5)
    values = np.asarray(figure.axes[3].get_images()[0].get_array(), dtype=float)
    assert values.shape == (9, 9)
    used = np.argwhere(np.nan_to_num(values) > 0.01)
    assert [(int(a), int(b)) for a, b in used] == [(group, (group + 1) % 9) for group in range(9)]


@pytest.mark.parametrize(
    ("missing", "skipped"),
    [
        (("series_",), {"series"}),
        (("series_", "link_", "router_accepted_load"), {"series", "fairness", "global-links", "ports"}),
    ],
)
def test_results_without_arrays_are_drawn_as_far_as_they_go(
    missing: tuple[str, ...], skipped: set[str], results: Results, tmp_path: Path
) -> None:
    curve = results.select(policies=["min"], traffic=["adv+1"])
    columns = [name for name in curve.table.columns if not name.startswith(missing)]
    without = dataclasses.replace(curve, table=curve.table[columns])
    drawn = draw(without, tmp_path, formats=["png"], page=False)
    assert set(drawn.skipped) == skipped
    assert (tmp_path / "loads.png").exists()
    with pytest.raises(ConfigError, match="series_bin_ns"):
        draw(without, tmp_path, kinds=["series"])


def test_the_page_needs_nothing_from_elsewhere(results: Results, tmp_path: Path) -> None:
    draw(results, tmp_path, kinds=["loads", "fairness"])
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    outside_scripts = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r"<(?:script|link|iframe)[^>]*(?:src|href)", page)
    assert not re.findall(r'src="(?!data:)', outside_scripts)
    assert "url(" not in outside_scripts
    assert (
        outside_scripts.count("data:image/png;base64,") == 1
    )  # the fairness figure; the load figure is interactive


def test_the_page_holds_every_result_and_escapes_names(results: Results, tmp_path: Path) -> None:
    draw(results, tmp_path, kinds=["loads"])
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "a &lt;small&gt; sweep" in page
    assert "<small> sweep" not in page
    body = page[page.index("<tbody>") : page.index("</tbody>")]
    assert body.count("<tr") == 2 * 3 * 3
    for policy in results.policies:
        assert policy in body
    for word in ("72 hosts", "package version", "CPU time", "Configuration"):
        assert word in page


def test_a_learning_curve_has_a_line_for_every_heuristic() -> None:
    rows = [
        {"decisions": 1000 * i, "latency_mean_ns": 2000.0 / i, "accepted_load": 0.3, "minimal_fraction": 0.5}
        for i in (1, 2, 3)
    ]
    reached = {
        "min": SimpleNamespace(latency_mean_ns=60_000.0, accepted_load=0.1, minimal_fraction=1.0),
        "ugal-n": SimpleNamespace(latency_mean_ns=1_500.0, accepted_load=0.3, minimal_fraction=0.4),
    }
    figure = learning_figure(rows, "title", reached)
    latency, load = figure.axes[:2]
    heights = [
        [float(line.get_ydata()[0]) for line in panel.lines if line.get_linestyle() == "--"]
        for panel in (latency, load)
    ]
    assert heights == [[1.5], [0.1, 0.3]], "min is far above what the first panel shows"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "learning, from empty networks",
        "min (off the scale)",
        "ugal-n",
    ]
    assert latency.get_ylim()[1] < 3.0
