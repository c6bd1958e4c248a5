"""Frames show what the links did, in text and in pictures, on every shape of network."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import dragonfly_env as dfe
from dragonfly_env.envs.frame import draw_text
from dragonfly_env.envs.packet import PacketRouting
from dragonfly_env.envs.render import Renderer
from tests.products import in_turn

SHAPES = [
    dfe.Dragonfly(p=1, a=1, h=0),
    dfe.Dragonfly(p=1, a=4, h=0),
    dfe.Dragonfly(p=1, a=1, h=1),
    dfe.Dragonfly(p=2, a=4, h=2),
    dfe.Dragonfly(p=2, a=4, h=2, g=4),
    dfe.Dragonfly(p=2, a=4, h=2, trunking=4),
    dfe.Dragonfly(p=1, a=8, h=8),
]


def config(topology: dfe.Dragonfly | None = None, **changes: object) -> dfe.SimulationConfig:
    settings = {"topology": topology or dfe.Dragonfly.preset("72"), "load": 0.6, "network": "q-adaptive"}
    return dfe.SimulationConfig(**{**settings, **changes})  # type: ignore[arg-type]


def red_pixels(image: np.ndarray) -> int:
    """Pixels in the strongest colours of the scale."""
    red, green, blue = (image[:, :700, i].astype(int) for i in range(3))  # the picture without its scale
    return int(((red > 140) & (green < 75) & (blue < 40)).sum())


def test_utilisation_is_that_since_the_frame_before() -> None:
    simulation = dfe.Simulation(config())
    maker = Renderer(simulation.config, "ansi")
    simulation.run(2_000)
    before = simulation.metrics()
    first = maker.frame(before)
    assert first.window_ns == 2_000
    links = before.ports.of(direction="out")
    np.testing.assert_allclose(first.utilisation, links.utilisation[links.kind == "global"])
    simulation.run(1_000)
    after = simulation.metrics()
    second = maker.frame(after)
    assert (second.time_ns, second.window_ns) == (3_000, 1_000)
    sent = (after.counters.link_packets - before.counters.link_packets).reshape(-1, 7)
    expected = sent[second.links[:, 0], second.links[:, 1]] * 32.0 / 1_000  # 128 bytes at 4 GB/s
    np.testing.assert_allclose(second.utilisation, np.minimum(expected, 1.0))


def test_windows_of_frames_in_quick_succession_reach_back_to_an_earlier_one() -> None:
    simulation = dfe.Simulation(config())
    maker = Renderer(simulation.config, "ansi")
    windows = []
    for _ in range(8):
        simulation.run(200)
        windows.append(maker.frame(simulation.metrics()).window_ns)
    assert windows == [200, 400, 600, 600, 600, 600, 600, 600]


def test_the_links_that_adversarial_traffic_overloads_are_the_named_ones() -> None:
    simulation = dfe.Simulation(config(traffic="adv+1", load=0.4))
    simulation.run(5_000)
    frame = Renderer(simulation.config, "ansi").frame(simulation.metrics())
    hottest = frame.hottest(9)
    assert {(link.group, link.peer_group) for link in hottest} == {(i, (i + 1) % 9) for i in range(9)}
    assert all(link.utilisation > 0.9 for link in hottest)
    assert frame.hot_links == 9
    assert all(simulation.config.topology.group_of(link.router) == link.group for link in hottest)
    text = draw_text(frame)
    assert "Dragonfly, 72 hosts · adv+1, load 0.4 · t = 5.000 µs" in text
    assert f"{hottest[0]}" in text
    assert "9 hot of 72" in text


def test_hot_links_are_red_in_the_picture_and_idle_ones_are_not() -> None:
    simulation = dfe.Simulation(config(traffic="adv+1", load=0.4))
    idle = Renderer(simulation.config, "rgb_array").render(simulation.metrics())
    simulation.run(5_000)
    busy = Renderer(simulation.config, "rgb_array").render(simulation.metrics())
    assert isinstance(idle, np.ndarray)
    assert isinstance(busy, np.ndarray)
    assert red_pixels(idle) == 0
    assert red_pixels(busy) > 500


def test_a_picture_depends_on_its_frame_alone() -> None:
    simulation = dfe.Simulation(config(traffic="adv+1", load=0.4))
    film = Renderer(simulation.config, "rgb_array")
    film.render(simulation.metrics())
    simulation.run(2_000)
    second = film.render(simulation.metrics())
    np.testing.assert_array_equal(
        second, Renderer(simulation.config, "rgb_array").render(simulation.metrics())
    )


@pytest.mark.parametrize(("topology", "run_ns"), in_turn(SHAPES, [0, 1_500]), ids=repr)
def test_every_network_can_be_shown_at_any_time(topology: dfe.Dragonfly, run_ns: float) -> None:
    simulation = dfe.Simulation(config(topology, load=0.3))
    simulation.run(run_ns)
    frame = Renderer(simulation.config, "ansi").frame(simulation.metrics())
    image = Renderer(simulation.config, "rgb_array").render(simulation.metrics())
    assert isinstance(image, np.ndarray)
    assert (image.shape, image.dtype) == ((800, 1100, 3), np.uint8)
    assert image.std() > 5
    text = draw_text(frame)
    assert "nan" not in text
    assert max(map(len, text.splitlines())) < 120


def test_modes_return_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    simulation = dfe.Simulation(config())
    simulation.run(1_000)
    metrics = simulation.metrics()
    text = Renderer(simulation.config, "ansi").render(metrics)
    assert isinstance(text, str)
    assert capsys.readouterr().out == ""
    assert Renderer(simulation.config, "human").render(metrics) is None
    assert capsys.readouterr().out.strip() == text.strip()


def test_what_cannot_be_rendered_is_refused() -> None:
    with pytest.raises(dfe.ConfigError, match=r"render_mode = 'rgb'.*did you mean 'rgb_array'"):
        Renderer(config(), "rgb")
    renderer = Renderer(config(), None)
    renderer.reset()
    with pytest.raises(dfe.StateError, match="render_mode=None"):
        renderer.render(dfe.Simulation(config()).metrics())


def test_rendering_needs_no_display_and_no_global_state_of_matplotlib() -> None:
    script = """
import sys, dragonfly_env as dfe
from dragonfly_env.envs.render import Renderer
assert "matplotlib" not in sys.modules
simulation = dfe.Simulation(dfe.SimulationConfig(topology=dfe.Dragonfly.preset("72")))
simulation.run(500)
print(Renderer(simulation.config, "rgb_array").render(simulation.metrics()).shape)
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(800, 1100, 3)"


def test_the_tagged_packet_and_its_destination_are_marked() -> None:
    frames = {}
    for mode in ("ansi", "rgb_array"):
        env = PacketRouting(config(load=0.3), render_mode=mode)
        env.reset(seed=1)
        place = env.decision.agents[0], env.decision.packets["destination_router"][0]
        frames[mode] = env.render()
    here, there = (f"group {router // 4}, router {router}" for router in place)
    assert f"packet at: {here}\ndestination: {there}\n" in frames["ansi"]
    drawn = Renderer(config(load=0.3), "rgb_array").render(env.core.metrics(), env.core.time_ns)
    changed = (frames["rgb_array"] != drawn).any(axis=2)
    assert changed[:, :700].sum() > 2 * 200  # two badges in the ring
    assert changed[:, 740:].any()  # their routers in words
