"""The page as a file: whole, self-contained, and with the numbers that were recorded."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dragonfly_env import ConfigError
from dragonfly_env.plots.page import write_page
from dragonfly_env.sweeps import Scenario, load_results, run_all
from dragonfly_env.view import Recording, record, write_view
from tests.unit.view.view_runs import runs


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    """Two policies, five frames."""
    return [record(run, frames=5) for run in runs()]


def element(page: str, name: str) -> str:
    """Return the contents of the script element of that id."""
    found = re.search(rf'<script type="[^"]+" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found
    return found[1]


def arrays(page: str) -> tuple[dict[str, Any], Any]:
    """The page's description, and what looks an array up."""
    raw = zlib.decompress(base64.b64decode(element(page, "data")))

    def array(place: dict[str, Any]) -> npt.NDArray[Any]:
        return np.frombuffer(raw, "<" + place["type"], place["length"], place["offset"])

    return json.loads(element(page, "meta")), array


def test_the_page_holds_what_was_recorded(recordings: list[Recording], tmp_path: Path) -> None:
    path = write_view(recordings, tmp_path / "deep" / "view.html")
    meta, array = arrays(path.read_text(encoding="utf-8"))
    assert meta["frames"] == {"count": 5, "ns": 800.0, "startNs": 1000.0}
    assert meta["system"]["groups"] == 9
    links = np.stack([array(meta["links"][name]) for name in ("router", "port", "peer", "peerPort")], axis=1)
    assert links.tolist() == recordings[0].links.tolist()
    for told, recording in zip(meta["runs"], recordings, strict=True):
        shape = recording.packets.shape
        assert array(told["packets"]).reshape(shape).tolist() == recording.packets.tolist()
        assert array(told["queued"]).reshape(shape).tolist() == recording.queued_packets.tolist()
        assert array(told["occupancy"]).reshape(shape).tolist() == recording.occupancy_packets.tolist()
        assert array(told["delivered"]).tolist() == recording.delivered.ravel().tolist()
        stall = array(told["stall"]).reshape(shape) / 255
        np.testing.assert_allclose(stall, recording.stall_fraction, atol=0.5 / 255 + 1e-9)
        assert told["figures"]["accepted_load"] == recording.figures["accepted_load"].tolist()
    assert meta["runs"][0]["packets"] != meta["runs"][1]["packets"]


def test_names_cannot_end_the_script_that_they_stand_in(recordings: list[Recording], tmp_path: Path) -> None:
    name = "</script><script>alert(1)</script>"
    evil = dataclasses.replace(recordings[0], run=dataclasses.replace(recordings[0].run, policy_label=name))
    page = write_view([evil], tmp_path / "view.html").read_text(encoding="utf-8")
    assert arrays(page)[0]["runs"][0]["label"] == name
    assert "<script>alert" not in page
    assert page.count("</script>") == 3


def test_only_what_can_stand_side_by_side_is_put_there(recordings: list[Recording], tmp_path: Path) -> None:
    other_frames = record(runs()[0], frames=4)
    other_system = record(runs(topology={"p": 2, "a": 4, "h": 2, "g": 5})[0], frames=5)
    for some, message in (
        ([], r"recordings = 0: must be one run or 2"),
        ([*recordings, recordings[0]], r"recordings = 3: must be one run or 2"),
        ([recordings[0], other_frames], r"must have the same frames"),
        ([recordings[0], other_system], r"must be of the same topology"),
    ):
        with pytest.raises(ConfigError, match=message):
            write_view(some, tmp_path / "view.html")
    assert not (tmp_path / "view.html").exists()


def test_pages_name_the_damage_of_a_machine(tmp_path: Path) -> None:
    failed = {"global_links": 0.08, "router_numbers": [7]}
    damaged = runs(topology={"preset": "72", "failed": failed}, policies=["min"])
    page = write_view([record(damaged[0], frames=2)], tmp_path / "view.html").read_text(encoding="utf-8")
    system = arrays(page)[0]["system"]
    assert system["arrangement"] == "palmtree, failed global_links=0.08+router_numbers=7"
    assert (len(system["dead"]), system["deadRouters"]) == (damaged[0].config.topology.num_dead_links, [7])
    scenario = {"topology": {"preset": "72", "failed": failed}, "policies": ["min"], "traffic": ["uniform"]}
    run_all(
        Scenario.from_dict({**scenario, "loads": [0.2], "measure_ns": 500.0}), tmp_path / "out", workers=1
    )
    table = write_page(load_results(tmp_path / "out"), tmp_path / "index.html", {}).read_text(
        encoding="utf-8"
    )
    assert "palmtree arrangement, failed global_links=0.08+router_numbers=7" in table
