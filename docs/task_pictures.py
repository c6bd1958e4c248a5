"""Draw ``docs/images/tasks/``, the pictures of the tasks' cards: ``python docs/task_pictures.py``.

A picture is what ``render_mode="rgb_array"`` returns in the evaluation after 5 µs of random legal actions, at half its
size and with few colors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import dragonfly_env as dfe

FOLDER = Path(__file__).parent / "images" / "tasks"
COLORS = 48
_WATCHED_NS = 5_000


def picture_of(task: str) -> Image.Image:
    """Return the picture of a task's first scenario."""
    env = dfe.make_task(
        task, "parallel", split="test", seed=1, render_mode="rgb_array"
    )
    random = np.random.default_rng(1)
    observations, _ = env.reset(seed=1)
    while env.core.time_ns < _WATCHED_NS:
        masks = np.array(
            [observations[agent]["action_mask"] for agent in env.agents]
        )
        actions = np.where(masks, random.random(masks.shape), -1).argmax(axis=1)
        observations, *_ = env.step(
            dict(zip(env.agents, actions.tolist(), strict=True))
        )
    image = Image.fromarray(env.render())
    half = image.resize(
        (image.width // 2, image.height // 2), Image.Resampling.LANCZOS
    )
    return half.quantize(
        COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )


def main() -> None:
    """Draw the pictures of all tasks."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for task in dfe.tasks():
        file = FOLDER / f"{task}.png"
        picture_of(task).save(file, optimize=True)
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
