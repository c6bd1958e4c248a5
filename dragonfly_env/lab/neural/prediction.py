"""A learned UGAL: a network predicts the delivery time of a path, and the shortest time is taken.

Transitions are exact: each has what the source router saw of the path that its packet took, and the time until that
packet was delivered. Packets are routed by a softmax over the times predicted so far, so every path is tried where it
is not much worse, and states are those to which the network itself leads (fitted iteration; Ernst et al., JMLR 2005).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.baselines.mlp import first_stage, rows_per_action
from dragonfly_env.lab.neural.network import SCALES, Floats, Layer, network_of, scores_of
from dragonfly_env.lab.neural.settings import WAIT_FEATURE, TrainingSettings
from dragonfly_env.lab.neural.tasks import packet_ns, seed_of
from dragonfly_env.sweeps.run import Point

Samples = tuple[Floats, Floats, Floats]
"""(M, F) what was seen of the path that was taken, (M,) logarithm of the time to delivery in packets, (M,) weights."""

_FIRST_SCALE = 16.0  # packets
_REWARD_NS = 1000.0  # of a reward of -1
_MOST_WEIGHT = np.float32(3)
_STRAIGHT = 3.0
_SEEDS_APART = 10**6
_MOST_BYTES = 2**32  # what waits on a large system that overflows is delivered in one piece, at the end
_AS_LONG = ("candidate_time_packets", "candidate_packets", "candidate_link_packets")


def collect(task: Point, network: MlpNetwork | None, settings: TrainingSettings, round_: int) -> Samples:
    """Route a scenario's packets, and note what came of it; weights add up to 1.

    Args:
        task: The scenario.
        network: What predicts; None: the time on idle links and the packets on the way.
        settings: Of the training.
        round_: Its number.
    """
    shape = network or network_of(
        _zeros(settings), settings.features, settings.scope, settings.nonminimal_candidates
    )
    env = dfe.BatchedRoutingEnv(
        task.config,
        scope=shape.scope,
        action=shape.action,
        reward="delivery",
        reward_scale_ns=_REWARD_NS,
        features=shape.features,
        nonminimal_kinds=shape.nonminimal_kinds,
        nonminimal_candidates=shape.nonminimal_candidates,
        duration_ns=task.warmup_ns + task.measure_ns,
        max_uncollected_bytes=_MOST_BYTES,
    )
    parts: list[tuple[Floats, Floats]] = []
    asked_ns = 0.0
    batch = env.reset(seed=seed_of(task, settings.seed, round_))
    while not env.done:
        x = rows_per_action(shape, batch.layout, batch.obs, batch.mask)
        temperature = by_round(settings.temperatures, round_)
        scores = np.full(batch.mask.shape, -np.inf)
        scores[batch.mask] = (
            _guess(shape, x) if network is None else scores_of(network.layers, x)
        ) / temperature
        if len(batch):
            asked_ns = float(batch.time_ns.max())
        actions = chosen(shape, scores, batch.mask, batch.draws, settings.explored_share)
        batch = env.step(actions)
        completed = _completed(env, shape, task)
        if asked_ns > task.warmup_ns:
            parts.append(completed)
    env.drain()
    parts.append(_completed(env, shape, task))
    x, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    generator = np.random.default_rng([settings.seed, round_, len(y)])
    some = generator.permutation(len(y))[: settings.case_transitions]
    return x[some], y[some], np.full(len(some), 1 / max(len(some), 1), dtype=np.float32)


def together(parts: Sequence[Samples]) -> Samples:
    """The samples of all scenarios of a round, weighted so that each scenario counts alike (within limits)."""
    x, y, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return x, y, (weights / weights.mean()).astype(np.float32)


def fit(
    network: MlpNetwork, samples: Samples, settings: TrainingSettings, round_: int
) -> tuple[MlpNetwork, float]:
    """Go on fitting a network to transitions.

    Args:
        network: Where to start; its scores are minus the predicted logarithms.
        samples: What to fit.
        settings: Of the training.
        round_: Its number.

    Returns:
        The fitted network and the mean loss of the last pass.
    """
    from dragonfly_env.agents._sb3 import one_thread, torch

    with one_thread():
        waits = _with_waits(
            network,
            samples,
            by_round(settings.wait_weights, round_),
            by_round(settings.wait_squares, round_),
        )
        x, y = torch.from_numpy(samples[0]), torch.from_numpy(waits)
        counted = torch.from_numpy(np.minimum(samples[2], _MOST_WEIGHT))
        weights = [torch.nn.Parameter(torch.from_numpy(a.copy())) for layer in network.layers for a in layer]
        optimizer = torch.optim.Adam(weights, lr=settings.learning_rate)
        steps = settings.passes * (len(y) // settings.batch_transitions + 1)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        generator = torch.Generator().manual_seed(settings.seed * _SEEDS_APART + round_)
        error = 0.0
        for _ in range(settings.passes):
            errors = []
            order = torch.randperm(len(y), generator=generator)
            for some in torch.tensor_split(order, len(y) // settings.batch_transitions + 1):
                out = _forward(torch, weights, x[some])
                loss = (_loss(torch, settings.loss, y[some] + out) * counted[some]).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                errors.append(float(loss.detach()))
            error = float(np.mean(errors))
        arrays = [weight.detach().numpy().copy() for weight in weights]
    layers = list(zip(arrays[::2], arrays[1::2], strict=True))
    return dataclasses.replace(network, layers=tuple(layers)), error


def by_round(values: Sequence[float], round_: int) -> float:
    """That of a round; the last one stays."""
    return values[min(round_, len(values) - 1)]


def _with_waits(network: MlpNetwork, samples: Samples, weight: float, square: float) -> Floats:
    """Logarithms of times in which what exceeds the way on idle links counts ``1 + weight`` times, and its square
    ``square`` times.

    A packet that waits makes others wait. In a queue at a load r the wait is w = r / 2(1 - r) packet times on average.
    One packet more costs the others r dw/dr = w / (1 - r) = w + 2 w * w (the price of Pigou; Roughgarden, Tardos,
    JACM 2002). Times alone lead to paths that are good for each packet and bad for all.
    """
    x, y = samples[:2]
    if weight == 0 and square == 0:
        return y
    at = network.features.index(WAIT_FEATURE)
    times = np.exp(y)
    idle = x[:, at] * SCALES[WAIT_FEATURE]
    waits = np.maximum(times - idle, 0)
    longer: Floats = np.log(times + (weight + square * waits) * waits).astype(np.float32)
    return longer


def _zeros(settings: TrainingSettings) -> list[Layer]:
    return [(np.zeros((len(settings.features), 1), dtype=np.float32), np.zeros(1, dtype=np.float32))]


def _guess(shape: MlpNetwork, x: Floats) -> Floats:
    """Before anything is learned: minus the logarithm of time on idle links plus packets on the way."""
    scale = dict(zip(shape.features, shape.scale or (), strict=True))
    times = sum(x[:, i] * scale[name] for i, name in enumerate(shape.features) if name in _AS_LONG)
    scores: Floats = -np.log(np.asarray(times, dtype=np.float32) + np.float32(_FIRST_SCALE))
    return scores


def chosen(
    shape: MlpNetwork,
    scores: npt.NDArray[np.float64],
    mask: npt.NDArray[np.bool_],
    draws: npt.NDArray[np.float64],
    share: float,
) -> npt.NDArray[np.int64]:
    """Choose as the network would, but by a softmax: with a second stage where the first one found a non-minimal path.

    Args:
        shape: What would choose.
        scores: (N, A), -inf where an action is not legal.
        mask: (N, A) what is legal.
        draws: (N, 2 or more) in [0, 1).
        share: Of packets that take any path.

    Returns:
        (N,) actions.
    """
    if not shape.second_stage:
        return _drawn(scores, mask, share, draws[:, 0])
    shown = first_stage(shape, mask)
    first = _drawn(np.where(shown, scores, -np.inf), shown, share, draws[:, 0])
    then = _drawn(scores, mask, share, draws[:, 1])
    return np.where(first < shape.minimal_candidates, first, then)


def _drawn(
    scores: npt.NDArray[np.float64], mask: npt.NDArray[np.bool_], share: float, draws: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """(N,) actions of a softmax; a share of them are any."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    if share > 0:
        weights = weights * (1 - share) + share * mask / mask.sum(axis=1, keepdims=True)
    passed = np.cumsum(weights, axis=1)
    actions: npt.NDArray[np.int64] = (passed <= (draws * passed[:, -1])[:, None]).sum(axis=1)
    return actions


def _completed(env: dfe.BatchedRoutingEnv, shape: MlpNetwork, task: Point) -> tuple[Floats, Floats]:
    done = env.transitions()
    chosen = np.zeros(done.mask.shape, dtype=np.bool_)
    chosen[np.arange(len(done)), done.actions] = True
    times = np.maximum(-done.rewards * _REWARD_NS / packet_ns(task), 1.0)
    return rows_per_action(shape, env.layout, done.obs, chosen), np.log(times).astype(np.float32)


def _loss(torch: Any, kind: str, ahead: Any) -> Any:
    """Per sample; ``ahead``: by how much the logarithm of its time is above what was predicted.

    "gamma" is the deviance of a gamma distribution: its minimum is the logarithm of the mean time, which is what
    counts, not the mean of the logarithms ("squares"), which long tails hardly move. Straight on beyond e^3.
    """
    if kind == "squares":
        return ahead * ahead
    steep = torch.exp(ahead.clamp(max=_STRAIGHT))
    beyond = float(np.exp(_STRAIGHT)) * (1 + ahead - _STRAIGHT)
    return torch.where(ahead < _STRAIGHT, steep, beyond) - ahead


def _forward(torch: Any, weights: list[Any], x: Any) -> Any:
    for matrix, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = torch.relu(x @ matrix + bias)
    return (x @ weights[-2] + weights[-1])[:, 0]
