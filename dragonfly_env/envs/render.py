"""Rendering of the environments: as text, or as a picture drawn without a display."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dragonfly_env.checks.values import check_choice
from dragonfly_env.config.simulation import SimulationConfig
from dragonfly_env.envs._frame import Frame, FrameMaker, NamedLink
from dragonfly_env.envs._render_image import draw_image
from dragonfly_env.envs._render_text import draw_text
from dragonfly_env.errors import StateError
from dragonfly_env.metrics import Metrics

__all__ = ["RENDER_MODES", "Frame", "FrameMaker", "NamedLink", "Renderer", "draw_image", "draw_text"]

RENDER_MODES = ("human", "ansi", "rgb_array")


class Renderer:
    """Renders the frames of one environment.

    Args:
        config: What is simulated.
        mode: ``"ansi"``: frames are strings; ``"rgb_array"``: (800, 1100, 3) arrays of uint8; ``"human"``: the text
            is printed. None: rendering is an error.

    Raises:
        ConfigError: For another mode.
    """

    def __init__(self, config: SimulationConfig, mode: str | None) -> None:
        self.mode = mode if mode is None else check_choice("render_mode", mode, RENDER_MODES)
        self._maker = FrameMaker(config) if mode is not None else None

    def reset(self) -> None:
        """A new episode has begun."""
        if self._maker is not None:
            self._maker.reset()

    def render(self, metrics: Metrics, time_ns: float | None = None) -> str | npt.NDArray[np.uint8] | None:
        """A frame of this moment; what links did since the frame before.

        Args:
            metrics: The environment's, taken now.
            time_ns: The environment's; None: the end of the metrics.

        Raises:
            StateError: If the environment was made without a ``render_mode``.
        """
        if self._maker is None:
            modes = " or ".join(repr(mode) for mode in RENDER_MODES)
            raise StateError(f"render(): the environment was made with render_mode=None; give it {modes}")
        frame = self._maker.frame(metrics, time_ns)
        if self.mode == "rgb_array":
            return draw_image(frame)
        if self.mode == "ansi":
            return draw_text(frame)
        print(draw_text(frame))
        return None
