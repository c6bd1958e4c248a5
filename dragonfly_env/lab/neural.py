"""Training of the networks of the package, which score candidate paths.

    python -m dragonfly_env.lab.neural --recipe neural-v3 --out results/neural

A recipe is a table of ``neural.toml``: features, settings and mixtures of scenarios. The stages of a training of
``neural-v1`` and ``neural-v2``, which predict the time to delivery of each path:

1. Prediction (a learned UGAL). In every round the scenarios run in ``BatchedRoutingEnv``. Each delivered packet is a
   sample: the observation of the path that the packet took, and its time to delivery. Packets are routed by a softmax
   over the times predicted so far, so samples come from states to which the network leads (fitted iteration; Ernst et
   al., JMLR 2005).
2. A penalty for non-minimal paths, as units of the network, see `with_nonminimal_penalty`.
3. A second stage, in which further non-minimal paths of each kind are scored.

``neural-v3`` has teachers instead of stages 1 and 2: networks that score all legal paths. From the second round on the
network routes the packets and the teachers label the paths, so samples come from states to which the network leads
(DAgger; Ross, Gordon, Bagnell, AISTATS 2011). ``neural-v1`` and ``neural-v2`` are the teachers of two networks, which
have the features of ``neural-v3`` and learn to choose the paths that are short by the ideal features of their teacher
(`_regrets`; a teacher that knows more than the learner: Chen et al., CoRL 2019). The two networks are trained first,
twice each, and are the teachers of ``neural-v3``, which learns the sum of their scores (one network from several:
Hinton, Vinyals, Dean, arXiv:1503.02531).

The validation scenarios choose the round, and whether the other stages are kept. The result is ``network.npz``, which
the core runs (``make_policy("mlp", weights=...)``). Training needs PyTorch (extra ``[sb3]``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import math
import operator
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import numpy.typing as npt
import typer

import dragonfly_env as dfe
from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.baselines.mlp import SHIPPED as WEIGHTS
from dragonfly_env.baselines.mlp import rows_per_action
from dragonfly_env.baselines.mlp_network import Scope
from dragonfly_env.checks.extras import how_to_install
from dragonfly_env.checks.files import read_toml
from dragonfly_env.checks.values import config_error, parse_value, unknown_name
from dragonfly_env.envs import DecisionBatch
from dragonfly_env.lab.benchmark import find_suite
from dragonfly_env.lab.benchmark.training import why_in_test_split, why_workload_in_test_split
from dragonfly_env.traffic import Adversarial, ClosedLoop, DemandMatrix, parse_traffic

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Layer = tuple[Floats, Floats]
Samples = tuple[Floats, Floats, Floats]
"""(M, F) observations of the paths taken, (M,) logarithms of times to delivery in packet times, (M,) weights."""
Choices = tuple[Floats, Floats, Floats]
"""(N, A, F) observations of the paths of a decision, (N, A) costs of the paths by the teachers, infinite for illegal
paths, (N,) weights."""

if TYPE_CHECKING:
    from torch import Tensor

    Losses = Callable[[Tensor, Tensor], Tensor]

SHIPPED = Path(__file__).with_name("neural.toml")
SUITE = "dragonfly-v3"
"""The benchmark suite whose test split no scenario may be in."""

REFERENCES = ("lia", "ad2", "ugal-ideal", "q-adaptive-queue", "tpr", "vlb-gl")
WORKLOAD_REFERENCES = ("ad0", "ad1", "ad2", "ad3", "q-adaptive-fast", "min")
"""Policies that lead somewhere in the mixtures: the cost of a network is compared with the best of them."""

_REWARD_NS = 1000.0  # delay per reward of -1
_VALIDATION = 10**6  # number in the seeds of validation runs
_MOST_BYTES = 2**32  # on a large overloaded system most samples are delivered at once, at the end


@dataclasses.dataclass(frozen=True, slots=True)
class Scenario:
    """A system with its traffic; the label is part of its seeds."""

    label: str
    config: dfe.SimulationConfig
    warmup_ns: float
    measure_ns: float

    def seed(self, *numbers: int) -> int:
        """A seed that depends on the label and the numbers."""
        return int.from_bytes(hashlib.sha256(f"{self.label} {numbers}".encode()).digest()[:6], "little")

    @property
    def kind(self) -> str:
        """``"workload"``, ``"overload"`` (a load of 1) or ``"steady"``."""
        if isinstance(self.config.traffic_object, ClosedLoop):
            return "workload"
        return "overload" if self.config.load == 1 else "steady"

    def cost(self, policy: dfe.Policy, number: int) -> float:
        """Makespan of a workload, 1 / accepted load in overload, otherwise mean latency; infinite if undefined."""
        config = self.config.replace(policy=policy, seed=self.seed(number))
        metrics = dfe.simulate(config, warmup_ns=self.warmup_ns, measure_ns=self.measure_ns)
        costs = {"workload": metrics.makespan_ns, "overload": 1 / max(metrics.accepted_load, 1e-9)}
        value = costs.get(self.kind, metrics.latency_mean_ns)
        return value if math.isfinite(value) and value > 0 else math.inf

    def best_reference(self) -> float:
        """The lowest cost of the reference policies."""
        names = WORKLOAD_REFERENCES if self.kind == "workload" else REFERENCES
        return min(self.cost(dfe.make_policy(name), 0) for name in names)


@dataclasses.dataclass(frozen=True, slots=True)
class Teacher:
    """A network whose scores are labels, times a weight."""

    network: MlpNetwork
    source_weight: float  # at the source router
    later_weight: float

    def costs(self, batch: DecisionBatch, chosen: npt.NDArray[np.bool_]) -> Floats:
        """(M,) costs of the M actions in ``chosen`` (N, A)."""
        at_source = batch.obs[:, batch.layout[HOPS].columns] == 0
        weights = np.where(at_source, np.float32(self.source_weight), np.float32(self.later_weight))
        scores = scores_of(
            self.network.layers, rows_per_action(self.network, batch.layout, batch.obs, chosen)
        )
        costs: Floats = -scores * np.broadcast_to(weights, chosen.shape)[chosen]
        return costs


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of a training; ``neural.toml`` describes each."""

    training: tuple[Scenario, ...]
    validation: tuple[Scenario, ...]
    seed: int
    features: Mapping[str, float]
    scope: Scope
    nonminimal_kinds: Sequence[str]
    hidden_units: Sequence[int]
    rounds: int
    kept_rounds: int
    scenario_transitions: int
    temperatures: Sequence[float]
    explored_share: float
    learning_rate: float
    batch_transitions: int
    passes: int
    second_stage_candidates: Sequence[int]
    wait_weights: Sequence[float] = (0.0,)
    wait_squares: Sequence[float] = (0.0,)
    penalty: Mapping[str, float] = dataclasses.field(default_factory=dict)
    teachers: Mapping[str, Sequence[float]] = dataclasses.field(default_factory=dict)
    teacher_trainings: int = 1
    teacher_recipes: Mapping[str, Recipe] = dataclasses.field(default_factory=dict)


def read_recipe(name: str, file: Path = SHIPPED) -> Recipe:
    """Read a recipe, the recipes of its teachers, and the scenarios of its mixtures.

    A scenario of the benchmark's test split is an error.
    """
    document = read_toml(file, "recipes")
    recipes, mixtures = document.get("recipes", {}), document.get("mixtures", {})
    settings = dict(_taken(recipes, name, "recipes"))
    if "like" in settings:
        settings = _taken(recipes, settings.pop("like"), f"{name}.like") | settings
    parts: dict[str, Any] = {"training": (), "validation": ()}
    for listed in _taken(settings, "mixtures", name):
        mixture, _, only = listed.partition(".")
        for part, blocks in _taken(mixtures, mixture, "mixtures").items():
            if only in ("", part):
                parts[part] = (*parts[part], *itertools.chain.from_iterable(map(_scenarios, blocks)))
    optional = {"wait_weights", "wait_squares", "penalty", "teachers", "teacher_trainings", "teacher_recipes"}
    optional -= settings.keys()
    values = {
        field.name: _taken(settings | parts, field.name, name)
        for field in dataclasses.fields(Recipe)
        if field.name not in optional
    }
    for unknown in settings.keys() - values.keys() - {"mixtures"}:
        raise unknown_name(name, unknown, values)
    if not values.get("teachers"):
        for feature in (WAIT_FEATURE, KIND, DIRECT_DEMAND, OWN_DEMAND):
            _taken(values["features"], feature, f"{name}.features")
    to_train = values.get("teachers", {}).keys() - WEIGHTS.keys()
    return Recipe(
        **values, teacher_recipes={teacher: read_recipe(teacher, file) for teacher in sorted(to_train)}
    )


def _taken(table: Mapping[str, Any], name: str, field: str) -> Any:
    if name not in table:
        raise config_error(field, name, f"must be one of {', '.join(table)}")
    return table[name]


def _scenarios(block: Mapping[str, Any]) -> Iterator[Scenario]:
    """Scenarios of one block of a mixture. Traffic is ``PATTERN LOAD...``, or a workload without a load."""
    network, topology, duration_ns, listed = (
        _taken(block, name, "mixtures") for name in ("network", "topology", "duration_ns", "traffic")
    )
    packets = block.get("message_packets", 1)
    topology = dfe.Dragonfly.from_dict(topology)
    suite = find_suite(SUITE)
    for entry in listed:
        text, *loads = entry.split()
        traffic, offset = _traffic(text, topology)
        for load in loads or [""]:
            options: dict[str, Any] = {"load": parse_value(load), "injection": "bernoulli"} if load else {}
            if packets != 1:
                options["message_packets"] = packets
            config = dfe.SimulationConfig(
                topology=topology,
                network=dfe.NetworkConfig.preset(network),
                traffic=traffic,
                seed=1,
                **options,
            )
            if isinstance(traffic, ClosedLoop):
                reason = why_workload_in_test_split(suite, traffic, topology)
            else:
                reason = why_in_test_split(suite, text, offset, config.load, topology)
            if reason:
                raise config_error("traffic", entry, f"must not be trained on: {reason}")
            warmup_ns = round(duration_ns / 3, 3) if load else 0.0
            label = f"{text} {load}".strip() + f", {topology.num_hosts} hosts, {network}"
            label += f", messages of {packets} packets" if packets != 1 else ""
            yield Scenario(label, config, warmup_ns, round(duration_ns - warmup_ns, 3))


def _traffic(text: str, topology: dfe.Dragonfly) -> tuple[dfe.Traffic, int | None]:
    """Traffic of the package or of `random_demands` and `matched_routers`, and the offset in groups if it has one."""
    if drawn := re.fullmatch(r"(groups|routers|matched):([1-9]\d*)/(\d+)", text):
        kind, number, seed = drawn[1], int(drawn[2]), int(drawn[3])
        if kind == "matched":
            return matched_routers(topology, number, seed), number
        return random_demands(kind, topology, number, seed), None
    traffic = parse_traffic(text)
    return traffic, traffic.offset if isinstance(traffic, Adversarial) else None


def random_demands(kind: str, topology: dfe.Dragonfly, targets: int, seed: int) -> DemandMatrix:
    """Each of the ``"groups"`` or ``"routers"`` sends to random others in other groups, and receives from equally many;
    one that is drawn twice gets twice as much.
    """
    draws = np.random.default_rng([seed, topology.num_hosts])
    group = np.arange(topology.num_groups) if kind == "groups" else topology.group_of_routers()
    count = len(group)
    matrix = np.zeros((count, count))
    for _ in range(targets):
        to = draws.permutation(count)
        while (inside := np.flatnonzero(group[to] == group)).size:
            for first, second in zip(inside, draws.integers(0, count, inside.size), strict=True):
                to[first], to[second] = to[second], to[first]
        matrix[np.arange(count), to] += 1
    return DemandMatrix(matrix)


def matched_routers(topology: dfe.Dragonfly, offset: int, seed: int) -> DemandMatrix:
    """Each router sends to a random router ``offset`` groups ahead, and receives from exactly one router.

    Under such demands the last local link to a router is full before all others. ``tornado`` is the special case with
    half of the groups as offset and the routers in order.
    """
    draws = np.random.default_rng([seed, topology.num_hosts])
    groups, group_of_routers = topology.num_groups, topology.group_of_routers()
    matrix = np.zeros((topology.num_routers, topology.num_routers))
    for group in range(groups):
        destinations = np.flatnonzero(group_of_routers == (group + offset) % groups)
        matrix[group_of_routers == group, draws.permutation(destinations)] = 1
    return DemandMatrix(matrix)


def best_references(recipe: Recipe, parallel: joblib.Parallel) -> Doubles:
    """The lowest cost of the reference policies in each validation scenario."""
    return np.array(parallel(joblib.delayed(scenario.best_reference)() for scenario in recipe.validation))


def costs_of(recipe: Recipe, network: MlpNetwork, parallel: joblib.Parallel) -> Doubles:
    """The cost of a network in each validation scenario."""
    with _as_policy(network) as policy:
        costs = parallel(joblib.delayed(scenario.cost)(policy, _VALIDATION) for scenario in recipe.validation)
    return np.array(costs)


def rounds_of(recipe: Recipe, parallel: joblib.Parallel) -> Iterator[MlpNetwork]:
    """The network after each round."""
    teachers = taught_by(recipe, parallel)
    network = untrained(recipe)
    kept: list[Samples] = []
    for round_ in range(recipe.rounds):
        if teachers:
            collected = parallel(
                joblib.delayed(collect_choices)(scenarios, network, teachers, recipe, round_)
                for scenarios in _by_system(recipe.training)
            )
        else:
            collected = parallel(
                joblib.delayed(collect)(scenario, network, recipe, round_) for scenario in recipe.training
            )
        x, y, weights = _joined(collected)
        kept = [*kept, (x, y, (weights / weights.mean()).astype(np.float32))][-recipe.kept_rounds :]
        network = fit(network, _joined(kept), recipe, round_)
        yield network


def taught_by(recipe: Recipe, parallel: joblib.Parallel) -> list[Teacher]:
    """The teachers: networks of the package, and the last networks of recipes, which are trained here.

    The scores of several trainings of a recipe count by their mean. No two trainings of `recipe` share a seed.
    """
    teachers = []
    for name, (source_weight, later_weight) in recipe.teachers.items():
        if name in WEIGHTS:
            teachers.append(Teacher(MlpNetwork.load(WEIGHTS[name]), source_weight, later_weight))
            continue
        count = recipe.teacher_trainings
        for seed in range(recipe.seed * count, (recipe.seed + 1) * count):
            typer.echo(f"{name}, seed {seed}: a teacher, trained first")
            *_, network = rounds_of(dataclasses.replace(recipe.teacher_recipes[name], seed=seed), parallel)
            teachers.append(Teacher(network, source_weight / count, later_weight / count))
    return teachers


def train_network(recipe: Recipe, folder: Path, workers: int = 1) -> Path:
    """Train a network; write it to ``network.npz``. The result does not depend on the number of workers."""
    folder.mkdir(parents=True, exist_ok=True)
    typer.echo(f"{len(recipe.training)} training scenarios, {len(recipe.validation)} validation scenarios")
    parallel = joblib.Parallel(workers)
    best = best_references(recipe, parallel)
    reached: list[tuple[float, str, MlpNetwork]] = []

    def validate(stage: str, network: MlpNetwork) -> None:
        ratios = costs_of(recipe, network, parallel) / best
        mean, worst = float(np.exp(np.log(ratios).mean())), int(ratios.argmax())
        reached.append((mean, stage, network))
        label = recipe.validation[worst].label
        typer.echo(f"{stage}: {mean:.4f} of the best reference, worst {ratios[worst]:.4f} ({label})")
        for kind in dict.fromkeys(scenario.kind for scenario in recipe.validation):
            of_kind = [scenario.kind == kind for scenario in recipe.validation]
            typer.echo(
                f"    {kind}: {np.exp(np.log(ratios[of_kind]).mean()):.4f}, worst {ratios[of_kind].max():.4f}"
            )

    def leader() -> tuple[str, MlpNetwork]:
        return min(reached, key=operator.itemgetter(0))[1:]

    for round_, network in enumerate(rounds_of(recipe, parallel)):
        network.save(folder / f"round-{round_:02d}.npz")
        validate(f"round {round_}", network)
    stage, network = leader()
    if recipe.penalty:
        validate(f"{stage}, penalty", with_nonminimal_penalty(network, recipe.penalty))
    stage, network = leader()
    for count in recipe.second_stage_candidates:
        wider = dataclasses.replace(network, nonminimal_candidates=count, second_stage=True)
        validate(f"{stage}, {count} of each kind", wider)
    return leader()[1].save(folder / "network.npz")


@contextlib.contextmanager
def _as_policy(network: MlpNetwork) -> Iterator[dfe.Policy]:
    """The policy of the core with this network; its file is there inside the ``with`` block only."""
    with tempfile.TemporaryDirectory() as place:
        yield dfe.make_policy("mlp", weights=str(network.save(Path(place) / "network")))


def untrained(recipe: Recipe) -> MlpNetwork:
    """Random weights, scaled to the inputs of each layer (He et al., ICCV 2015)."""
    draws = np.random.default_rng(recipe.seed)
    layers = [
        (
            (draws.standard_normal(shape) * np.sqrt(2.0 / shape[0])).astype(np.float32),
            np.zeros(shape[1], dtype=np.float32),
        )
        for shape in itertools.pairwise((len(recipe.features), *recipe.hidden_units, 1))
    ]
    return MlpNetwork(
        layers=tuple(layers),
        features=tuple(recipe.features),
        scale=tuple(map(float, recipe.features.values())),
        action="path",
        scope=recipe.scope,
        scoring="candidate",
        activation="relu",
        nonminimal_kinds=tuple(recipe.nonminimal_kinds),
    )


def scores_of(layers: Sequence[Layer], x: Floats) -> Floats:
    """(M,) scores of M observations. The order of the sums is not that of the core."""
    for weights, bias in layers[:-1]:
        x = np.maximum(x @ weights + bias, np.float32(0))
    weights, bias = layers[-1]
    scores: Floats = (x @ weights + bias)[:, 0]
    return scores


WAIT_FEATURE = "candidate_time_packets"
"""The time of a path on idle links: the rest of the time to delivery is waiting."""

_FIRST_SCALE = 16.0  # packets; round 0 compares times on idle links plus queues with it
_FIRST_TIMES = (WAIT_FEATURE, "candidate_packets", "candidate_link_packets")
_MOST_WEIGHT = np.float32(3)
_STRAIGHT = 3.0  # the loss is a straight line beyond e^3


def collect(scenario: Scenario, network: MlpNetwork, recipe: Recipe, round_: int) -> Samples:
    """Samples of one scenario. Their weights add up to 1, so scenarios count alike.

    Round 0 predicts the time on idle links plus the packets before the path; later rounds use the network.
    """
    env = dfe.BatchedRoutingEnv(
        scenario.config,
        scope=network.scope,
        action=network.action,
        reward="delivery",
        reward_scale_ns=_REWARD_NS,
        features=network.features,
        nonminimal_kinds=network.nonminimal_kinds,
        duration_ns=scenario.warmup_ns + scenario.measure_ns,
        max_uncollected_bytes=_MOST_BYTES,
    )
    wires = scenario.config.network
    packet_ns = wires.packet_bytes / wires.global_bandwidth_gbytes_per_s

    def completed() -> tuple[Floats, Floats]:
        done = env.transitions().completed()
        taken = np.zeros(done.mask.shape, dtype=np.bool_)
        taken[np.arange(len(done)), done.actions] = True
        times = np.maximum(-done.rewards * _REWARD_NS / packet_ns, 1.0)
        return rows_per_action(network, env.layout, done.obs, taken), np.log(times).astype(np.float32)

    parts: list[tuple[Floats, Floats]] = []
    decided_ns = 0.0
    batch = env.reset(seed=scenario.seed(recipe.seed, round_))
    while not env.done:
        x = rows_per_action(network, batch.layout, batch.obs, batch.mask)
        predicted = scores_of(network.layers, x) if round_ else _first_scores(recipe.features, x)
        scores = np.full(batch.mask.shape, -np.inf)
        scores[batch.mask] = predicted / by_round(recipe.temperatures, round_)
        if len(batch):
            decided_ns = float(batch.time_ns.max())
        batch = env.step(softmax_actions(scores, batch.mask, batch.draws[:, 0], recipe.explored_share))
        samples = completed()
        if decided_ns > scenario.warmup_ns:
            parts.append(samples)
    env.drain()
    parts.append(completed())
    x, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    draws = np.random.default_rng([recipe.seed, round_, len(y)])
    chosen = draws.permutation(len(y))[: recipe.scenario_transitions]
    return x[chosen], y[chosen], np.full(len(chosen), 1 / max(len(chosen), 1), dtype=np.float32)


def _joined(parts: Sequence[Samples]) -> Samples:
    x, y, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return x, y, weights


def by_round(values: Sequence[float], round_: int) -> float:
    """The value of a round; the last value stays."""
    return values[min(round_, len(values) - 1)]


def _first_scores(features: Mapping[str, float], x: Floats) -> Floats:
    times = sum(x[:, i] * scale for i, (name, scale) in enumerate(features.items()) if name in _FIRST_TIMES)
    scores: Floats = -np.log(np.asarray(times, dtype=np.float32) + np.float32(_FIRST_SCALE))
    return scores


def softmax_actions(
    scores: Doubles, mask: npt.NDArray[np.bool_], draws: Doubles, explored_share: float
) -> npt.NDArray[np.int64]:
    """(N,) actions drawn by a softmax over (N, A) scores; a share of them are drawn from all legal actions alike."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    if explored_share > 0:
        weights = weights * (1 - explored_share) + explored_share * mask / mask.sum(axis=1, keepdims=True)
    passed = np.cumsum(weights, axis=1)
    actions: npt.NDArray[np.int64] = (passed <= (draws * passed[:, -1])[:, None]).sum(axis=1)
    return actions


_CHOICE_TEMPERATURE = 0.1  # temperature of the softmax over scores
_MOST_REGRET = 3.0  # a path that takes e^3 times as long is as bad as any


def fit(network: MlpNetwork, samples: Samples | Choices, recipe: Recipe, round_: int) -> MlpNetwork:
    """Fit the network further to samples, or, if the recipe has a teacher, to choices."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # faster for small networks, and independent of the number of processors
    x = torch.from_numpy(samples[0])
    losses = (_regrets if recipe.teachers else _deviances)(samples, recipe, round_)
    counted = torch.from_numpy(np.minimum(samples[2], _MOST_WEIGHT))
    weights = [torch.nn.Parameter(torch.from_numpy(a.copy())) for layer in network.layers for a in layer]
    optimizer = torch.optim.Adam(weights, lr=recipe.learning_rate)
    batches = len(x) // recipe.batch_transitions + 1
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, recipe.passes * batches)
    draws = torch.Generator().manual_seed(recipe.seed * 10**6 + round_)
    for _ in range(recipe.passes):
        for chosen in torch.tensor_split(torch.randperm(len(x), generator=draws), batches):
            hidden = x[chosen]
            for matrix, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
                hidden = torch.relu(hidden @ matrix + bias)
            scores = (hidden @ weights[-2] + weights[-1])[..., 0]
            loss = (losses(scores, chosen) * counted[chosen]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    torch.set_num_threads(threads)
    arrays = [weight.detach().numpy().copy() for weight in weights]
    layers = tuple(zip(arrays[::2], arrays[1::2], strict=True))
    return dataclasses.replace(network, layers=layers)


def _deviances(samples: Samples, recipe: Recipe, round_: int) -> Losses:
    """Deviances of a gamma distribution, with their minimum at the logarithm of the mean time.

    The mean of the logarithms would hardly see long tails.
    """
    import torch

    weight, square = by_round(recipe.wait_weights, round_), by_round(recipe.wait_squares, round_)
    y = torch.from_numpy(with_waits(recipe.features, samples, weight, square))

    def losses(scores: Tensor, chosen: Tensor) -> Tensor:
        ahead = y[chosen] + scores
        steep = torch.exp(ahead.clamp(max=_STRAIGHT))
        straight = math.exp(_STRAIGHT) * (1 + ahead - _STRAIGHT)
        return torch.where(ahead < _STRAIGHT, steep, straight) - ahead

    return losses


def _regrets(choices: Choices, recipe: Recipe, round_: int) -> Losses:
    """Expected regrets of a softmax over the scores.

    The regret is the cost of the path that the softmax draws less the cost of the best path, by the teachers. Costs of
    ``neural-v1`` and ``neural-v2`` are logarithms of times. A network that sees less than the teacher cannot predict
    the times, but the network can choose: the loss does not count what all paths of a decision have in common.
    """
    import torch

    costs = torch.from_numpy(choices[1])
    legal = torch.isfinite(costs)
    regret = (costs - costs.min(dim=1, keepdim=True).values).clamp(max=_MOST_REGRET)

    def losses(scores: Tensor, chosen: Tensor) -> Tensor:
        scores = scores / _CHOICE_TEMPERATURE
        shares = torch.softmax(scores.masked_fill(~legal[chosen], -math.inf), dim=1)
        return (shares * regret[chosen]).sum(dim=1)

    return losses


_CORE_SHARE = 5 / 6  # share of a scenario's time in which the core routes
_MOST_LABELLED = 256  # decisions of a batch that the teachers label


def _by_system(scenarios: Sequence[Scenario]) -> Iterator[list[Scenario]]:
    """Scenarios that can run next to each other: the same machine and times."""

    def key(scenario: Scenario) -> str:
        config = scenario.config
        return repr((config.topology, config.network, scenario.warmup_ns, scenario.measure_ns))

    for _, several in itertools.groupby(sorted(scenarios, key=key), key):
        yield list(several)


def collect_choices(
    scenarios: Sequence[Scenario],
    network: MlpNetwork,
    teachers: Sequence[Teacher],
    recipe: Recipe,
    round_: int,
) -> Choices:
    """Decisions of scenarios of one system, and the costs of all their legal paths by the teachers.

    The teachers route the packets of round 0, the network those of later rounds: most of the time in the core (in round
    0 the first teacher alone), because few decisions are needed, and at the end by a softmax. The weights of a
    scenario's decisions add up to 1, so scenarios count alike.
    """
    first = scenarios[0]
    duration_ns = first.warmup_ns + first.measure_ns
    warmup_ns = round(duration_ns * _CORE_SHARE, 3)
    features = [*(name for teacher in teachers for name in teacher.network.features), *network.features, HOPS]
    with _as_policy(network if round_ else teachers[0].network) as router:
        env = dfe.BatchedRoutingEnv(
            [scenario.config.replace(policy=router) for scenario in scenarios],
            scope=network.scope,
            action=network.action,
            features=tuple(dict.fromkeys(features)),
            nonminimal_kinds=network.nonminimal_kinds,
            warmup_ns=warmup_ns,
            duration_ns=duration_ns - warmup_ns,
            transitions=False,
        )
        batch = env.reset(seed=first.seed(recipe.seed, round_))
    draws = np.random.default_rng([recipe.seed, round_, first.seed()])
    parts: list[tuple[Floats, Floats, npt.NDArray[np.int32]]] = []
    while not env.done:
        legal = batch.mask
        labelled = np.sort(draws.permutation(len(batch))[:_MOST_LABELLED])
        some = np.zeros_like(legal)
        some[labelled] = legal[labelled]
        routed, taught = (legal, some) if round_ else (some, legal)
        x = np.zeros((*legal.shape, len(network.features)), dtype=np.float32)
        x[routed] = rows_per_action(network, batch.layout, batch.obs, routed)
        costs = np.full(legal.shape, np.inf, dtype=np.float32)
        costs[taught] = sum(teacher.costs(batch, taught) for teacher in teachers)
        parts.append((x[labelled], costs[labelled], batch.scenario[labelled]))
        scores = np.full(legal.shape, -np.inf)
        scores[legal] = scores_of(network.layers, x[legal]) if round_ else -costs[legal]
        scores /= by_round(recipe.temperatures, round_)
        batch = env.step(softmax_actions(scores, legal, batch.draws[:, 0], recipe.explored_share))
    x, costs, scenario = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    chosen, weights = [], []
    for number in range(len(scenarios)):
        of_scenario = draws.permutation(np.flatnonzero(scenario == number))[: recipe.scenario_transitions]
        chosen.append(of_scenario)
        weights.append(np.full(len(of_scenario), 1 / max(len(of_scenario), 1), dtype=np.float32))
    order = np.concatenate(chosen)
    return x[order], costs[order], np.concatenate(weights)


def with_waits(features: Mapping[str, float], samples: Samples, weight: float, square: float) -> Floats:
    """Logarithms of times in which waiting counts ``1 + weight`` times, and its square ``square`` times.

    A packet that waits makes others wait. In a queue at a load r the mean wait is w = r / 2(1 - r) packet times. A
    further packet costs the others r dw/dr = w / (1 - r) = w + 2 w * w (the price of Pigou; Roughgarden, Tardos, JACM
    2002). Times alone lead to paths that are good for each packet and bad for all.
    """
    x, y = samples[:2]
    if weight == 0 and square == 0:
        return y
    times = np.exp(y)
    waits = np.maximum(times - x[:, list(features).index(WAIT_FEATURE)] * features[WAIT_FEATURE], 0)
    longer: Floats = np.log(times + (weight + square * waits) * waits).astype(np.float32)
    return longer


KIND, AGE, HOPS = "candidate_kind", "age", "hops"
DIRECT_DEMAND, OWN_DEMAND, GROUP_DEMAND = "destination_group_demand", "destination_demand", "group_demand"
HALF_DEMAND, HALF_SHARE, HALF_AGE_NS = 4.0, 1.0, 1000.0
"""Demands (links), shares and ages (ns) are observed as x / (x + half)."""

YOUNG_NS, OLD_NS = 2000.0, 4000.0
"""A packet of age ``OLD_NS`` at its first router is a sign that hosts offer more than the network carries."""

_LAST_OUTSIDE = 4.0  # kinds of paths outside the group are numbered up to 4; kind 5 is "l"
_VETO = 10.0  # a tenth of what cancels a penalty is enough


def with_nonminimal_penalty(network: MlpNetwork, penalty: Mapping[str, float]) -> MlpNetwork:
    """The network, but it predicts times of non-minimal paths that are e^p times as long.

    A non-minimal path takes two global links instead of one. Beyond half of the load it takes room from other packets,
    and in overload it costs throughput (Kim et al., ISCA 2008, section 4). Times to delivery do not show this cost,
    because queues are as long for all packets. In light traffic no packet needs a non-minimal path. Paths inside a
    group take no further global link, and have no penalty. p is the sum of ``crowded``, ``overload`` and ``light``
    (see ``neural.toml``), each linear in the observed value x / (x + half). The network has two hidden layers or more.
    """

    def seen(quantity: float, half: float) -> float:
        return quantity / (quantity + half)

    features = (*network.features, *(name for name in (GROUP_DEMAND, AGE) if name not in network.features))
    scale = dict(zip(network.features, network.scale or (), strict=True)) | {GROUP_DEMAND: 0.0, AGE: 0.0}
    free, full = seen(penalty["free_share"], HALF_SHARE), seen(1.0, HALF_SHARE)
    young, old = seen(YOUNG_NS, HALF_AGE_NS), seen(OLD_NS, HALF_AGE_NS)
    units = [  # feature, slope, bias; weights towards crowded, overload and light
        (GROUP_DEMAND, 1 / (full - free), -free / (full - free), (1, 1, 0)),
        (AGE, -1 / (old - young), old / (old - young), (0, -_VETO, 0)),
        (KIND, -scale[KIND], 1.0, (-_VETO, -_VETO, -_VETO)),  # 1 on shortest paths
        (DIRECT_DEMAND, 1 / seen(penalty["free_demand"], HALF_DEMAND), -1.0, (-_VETO, -_VETO, 0)),
        (DIRECT_DEMAND, -1 / seen(penalty["light_demand"], HALF_DEMAND), 1.0, (0, 0, 1)),
        (OWN_DEMAND, 1 / seen(penalty["own_demand"], HALF_DEMAND), -1.0, (0, 0, -_VETO)),
    ]
    if "l" in network.nonminimal_kinds:
        # 1 on paths inside a group
        units.append((KIND, scale[KIND], -_LAST_OUTSIDE, (-_VETO, -_VETO, -_VETO)))
    (first, first_bias), *others = network.layers
    first = np.pad(first, ((0, len(features) - len(first)), (0, len(units))))
    first_bias = np.pad(first_bias, (0, len(units)))
    for unit, (name, slope, bias, _) in enumerate(units, start=-len(units)):
        first[features.index(name), unit], first_bias[unit] = slope, bias
    layers = [(first, first_bias)]
    onwards = np.array([weights for *_, weights in units], dtype=np.float32)
    for weights, biases in others[:-1]:
        wide = np.pad(weights, ((0, len(onwards)), (0, 3)))
        wide[-len(onwards) :, -3:] = onwards
        layers.append((wide, np.pad(biases, (0, 3))))
        onwards = np.eye(3, dtype=np.float32)
    weights, biases = others[-1]
    costs = np.array([[-penalty[name]] for name in ("crowded", "overload", "light")], dtype=np.float32)
    layers.append((np.concatenate([weights, costs]), biases))
    return dataclasses.replace(
        network, layers=tuple(layers), features=features, scale=tuple(scale[name] for name in features)
    )


def main(
    recipe: str = "neural-v2", out: Path = Path("results/neural"), recipes: Path = SHIPPED, workers: int = 1
) -> None:
    """Train a network by a recipe of neural.toml, or of an edited copy (--recipes FILE)."""
    try:
        typer.echo(f"written: {train_network(read_recipe(recipe, recipes), out, workers)}")
    except dfe.ConfigError as error:
        raise typer.BadParameter(str(error)) from None
    except ModuleNotFoundError as error:
        raise typer.BadParameter(f"training needs PyTorch: {how_to_install('sb3')} ({error})") from None


if __name__ == "__main__":
    typer.run(main)
