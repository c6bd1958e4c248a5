"""BenchMARL on a named task: MAPPO, IPPO or QMIX on the bare parallel view.

Needs ``pip install benchmarl`` next to the package; ``make test-frameworks`` runs this in an environment of its own.
Run it from the repository: ``python examples/benchmarl_task.py --algorithm mappo --frames 400000``. A frame is a round:
some ten decisions in the tasks of 72 hosts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarl.algorithms import IppoConfig, MappoConfig, QmixConfig
from benchmarl.environments.pettingzoo.common import PettingZooClass
from benchmarl.experiment import Experiment, ExperimentConfig
from benchmarl.models.mlp import MlpConfig
from torchrl.envs import EnvBase
from torchrl.envs.libs.pettingzoo import PettingZooWrapper

import dragonfly_env as dfe

ALGORITHMS = {"mappo": MappoConfig, "ippo": IppoConfig, "qmix": QmixConfig}


class DragonflyTask(PettingZooClass):
    """A named task; ``name`` is one of ``dfe.tasks()``, ``config`` has settings that replace those of the task."""

    def get_env_fun(
        self, num_envs: int, continuous_actions: bool, seed: int | None, device: Any
    ) -> Callable[[], EnvBase]:
        """A function that makes the environment: all routers in one group."""
        return lambda: PettingZooWrapper(
            dfe.make_task(self.name, "parallel", seed=seed, **self.config),
            categorical_actions=True,
            device=device,
            seed=seed,
        )

    def supports_continuous_actions(self) -> bool:
        """Actions are ports or paths."""
        return False

    def supports_discrete_actions(self) -> bool:
        """Actions are ports or paths."""
        return True

    def has_state(self) -> bool:
        """Critics see the observations of all routers; ``state()`` is an array of two dimensions."""
        return False

    def has_render(self, env: EnvBase) -> bool:
        """Nothing is drawn."""
        return False

    def max_steps(self, env: EnvBase) -> int:
        """More rounds than any episode of the tasks has."""
        return 100_000

    @staticmethod
    def env_name() -> str:
        """The name in logs."""
        return "dragonfly"


def train(
    algorithm: str, *, task: str = "Adversarial-72", frames: int, seed: int = 1, **settings: Any
) -> Experiment:
    """Train, and return the experiment with its policy.

    Args:
        algorithm: One of ``ALGORITHMS``.
        task: One of ``dfe.tasks()``.
        frames: Rounds to play.
        seed: Seed of weights, actions and traffic.
        **settings: Settings of the environment that replace those of the task.
    """
    config = ExperimentConfig.get_from_yaml()
    config.gamma = 0.99  # per round
    config.lr = 5e-4
    config.max_n_frames = frames
    # A rollout has 2,400 rounds: at least 24,000 decisions.
    config.on_policy_collected_frames_per_batch = min(frames, 2_400)
    config.on_policy_n_envs_per_worker = config.off_policy_n_envs_per_worker = 1
    config.on_policy_minibatch_size = 400
    config.on_policy_n_minibatch_iters = 3
    config.off_policy_collected_frames_per_batch = min(frames, 300)
    config.off_policy_n_optimizer_steps = 30
    config.off_policy_memory_size = 20_000  # each round has the observations of all routers
    config.evaluation, config.render, config.create_json, config.loggers = False, False, False, []
    chosen = ALGORITHMS[algorithm].get_from_yaml()
    if algorithm != "qmix":
        chosen.lmbda = 0.99  # 0.9 would end before a packet arrives
    with tempfile.TemporaryDirectory() as folder:
        config.save_folder = folder
        experiment = Experiment(
            task=DragonflyTask(task, settings),
            algorithm_config=chosen,
            model_config=MlpConfig.get_from_yaml(),
            critic_model_config=MlpConfig.get_from_yaml(),
            seed=seed,
            config=config,
        )
        experiment.run()
    return experiment


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="mappo")
    parser.add_argument("--task", default="Adversarial-72")
    parser.add_argument("--frames", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    experiment = train(**vars(given))
    print(f"{given.algorithm}: {experiment.total_frames} rounds, mean return {experiment.mean_return:.2f}")


if __name__ == "__main__":
    main()
