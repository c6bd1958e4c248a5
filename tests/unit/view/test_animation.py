"""The animation as a file: every frame in it, the same bytes for the same runs, refusals before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from dragonfly_env.view import Recording, record, write_animation
from tests.unit.view.view_runs import runs


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    """Two policies, three frames."""
    return [record(run, frames=3) for run in runs()]


def test_an_animation_has_a_picture_per_frame_and_stays_on_the_last(
    recordings: list[Recording], tmp_path: Path
) -> None:
    with Image.open(write_animation(recordings, tmp_path / "new" / "two.gif")) as film:
        assert (film.format, film.size, film.info["loop"]) == ("GIF", (800, 600), 0)
        assert getattr(film, "n_frames", 1) == 3
        durations = []
        for frame in range(3):
            film.seek(frame)
            durations.append(film.info["duration"])
    assert durations == [120, 120, 2500]


def test_equal_recordings_give_equal_files(recordings: list[Recording], tmp_path: Path) -> None:
    first, second = (write_animation(recordings[:1], tmp_path / name) for name in ("a.gif", "b.gif"))
    assert first.read_bytes() == second.read_bytes()
