"""An evolution strategy on the latency itself: what is good for each packet alone is not best for all.

Antithetic pairs of changed networks run natively on the same cases with the same seeds; the difference between the
two of each pair is an estimate of the gradient, which Adam follows (Salimans et al., arXiv:1703.03864). What changes
are gains of inputs and hidden units, and thresholds: tens of numbers instead of all weights, so few pairs say enough.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.lab.neural.network import Layer
from dragonfly_env.lab.neural.settings import TrainingSettings
from dragonfly_env.lab.neural.tasks import cost, seed_of
from dragonfly_env.sweeps.run import Point

Doubles = npt.NDArray[np.float64]
_WORST = 4.0  # logarithm: saturated cases differ by their windows only


@dataclasses.dataclass(slots=True)
class Evolution:
    """A network that is being changed.

    Attributes:
        origin: Where it began.
        change: What was changed since, see ``changed``.
        moments: Adam's first and second moments and its number of steps.
    """

    origin: MlpNetwork
    change: Doubles
    moments: tuple[Doubles, Doubles, int]

    @classmethod
    def of(cls, origin: MlpNetwork) -> Evolution:
        """Begin."""
        size = num_changes(origin)
        return cls(origin, np.zeros(size), (np.zeros(size), np.zeros(size), 0))

    @property
    def network(self) -> MlpNetwork:
        """As it is now."""
        return changed(self.origin, self.change)

    def advance(self, tasks: Sequence[Point], best: Mapping[str, float], settings: TrainingSettings) -> float:
        """One generation.

        Args:
            tasks: All cases; some are drawn.
            best: By their names: the cost of the best reference policy.
            settings: Of the training.

        Returns:
            The mean cost of the networks that were tried.
        """
        from dragonfly_env.agents._sb3 import torch

        generation = self.moments[2]
        draws = np.random.default_rng([settings.seed, 1, generation])
        count = min(settings.generation_cases, len(tasks))
        some = [tasks[i] for i in draws.choice(len(tasks), count, replace=False)]
        noise = draws.standard_normal((settings.pairs, self.change.size)) * settings.spread
        costs = np.array(
            [
                [
                    loss(changed(self.origin, self.change + sign * one), some, best, generation)
                    for sign in (1, -1)
                ]
                for one in noise
            ]
        )
        slope = (costs[:, 0] - costs[:, 1]) @ noise / (2 * settings.spread**2 * settings.pairs)
        parameter = torch.nn.Parameter(torch.from_numpy(self.change.copy()))
        optimizer = torch.optim.Adam([parameter], lr=settings.step)
        first, second, steps = self.moments
        optimizer.state[parameter] = {
            "step": torch.tensor(float(steps)),
            "exp_avg": torch.from_numpy(first.copy()),
            "exp_avg_sq": torch.from_numpy(second.copy()),
        }
        parameter.grad = torch.from_numpy(slope)
        optimizer.step()
        state: Any = optimizer.state[parameter]
        self.change = parameter.detach().numpy().copy()
        self.moments = (state["exp_avg"].numpy().copy(), state["exp_avg_sq"].numpy().copy(), steps + 1)
        return float(costs.mean())


def num_changes(network: MlpNetwork) -> int:
    """A gain per input; a threshold and a gain per hidden unit."""
    return len(network.features) + 2 * sum(bias.size for _, bias in network.layers[:-1])


def changed(network: MlpNetwork, change: Doubles) -> MlpNetwork:
    """A network with other gains of inputs and hidden units (exponents), and other thresholds (in a unit's scale)."""
    gains = np.exp(change[: len(network.features)])
    at = gains.size
    layers: list[Layer] = []
    for weights, bias in network.layers:
        gained = weights * gains[:, None]
        units = bias.size if len(layers) + 1 < len(network.layers) else 0
        shift, gains = change[at : at + units], np.exp(change[at + units : at + 2 * units])
        at += 2 * units
        scale = np.sqrt((weights**2).mean(axis=0) * len(weights)) if units else 0.0
        layers.append(
            (gained.astype(np.float32), (bias + (shift * scale if units else 0.0)).astype(np.float32))
        )
    return dataclasses.replace(network, layers=tuple(layers))


def loss(network: MlpNetwork, tasks: Sequence[Point], best: Mapping[str, float], number: int) -> float:
    """The mean over cases of the logarithm of the cost over that of the best reference; above 0 it counts twice.

    Args:
        network: What routes.
        tasks: The cases.
        best: See ``Evolution.advance``.
        number: Of the runs' seeds.
    """
    ratios = [
        min(math.log(value / best[name]), _WORST) for name, value in costs_of(network, tasks, number).items()
    ]
    return float(np.mean([ratio + max(ratio, 0.0) for ratio in ratios]))


def costs_of(network: MlpNetwork, tasks: Sequence[Point], number: int, workers: int = 1) -> dict[str, float]:
    """By case, see ``cost``, of a network that runs in the core; so many runs at a time, with the same results."""
    with tempfile.TemporaryDirectory(prefix="dragonfly-env-neural-") as folder:
        policy = dfe.baselines.Mlp(weights=str(network.save(Path(folder) / "tried")))
        costs = joblib.Parallel(workers)(
            joblib.delayed(cost)(task, policy, seed_of(task, number)) for task in tasks
        )
    return {task.traffic_label: value for task, value in zip(tasks, costs, strict=True)}
