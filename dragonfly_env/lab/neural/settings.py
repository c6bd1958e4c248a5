"""``TrainingSettings``: how long and on what a network is trained, checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from dragonfly_env.checks.outside import check_items
from dragonfly_env.checks.values import check_integer, check_real, config_error, unknown_name
from dragonfly_env.config.rows import boolean, choice, integer, normalise, real, setting
from dragonfly_env.lab.neural.network import FEATURES, NONMINIMAL_KINDS, SCALES
from dragonfly_env.lab.neural.nonminimal_penalty import DIRECT_DEMAND, KIND, OWN_DEMAND, NonminimalPenalties

WAIT_FEATURE = "candidate_time_packets"
"""What tells waiting from travelling."""

_MOST_SEED = 2**31 - 1


def _features(field: str, value: object) -> tuple[str, ...]:
    names = tuple(check_items(field, value, "must be a list of names of features"))
    if not names:
        raise config_error(field, names, "must name at least one feature")
    for name in names:
        if name not in SCALES:
            raise unknown_name(field, name, tuple(SCALES))
    if len(set(names)) < len(names):
        raise config_error(field, names, "must not name a feature twice")
    return names


_Check = Callable[[str, object], Any]


def _list_of(
    what: str, check: _Check, *, at_least_one: bool = False
) -> Callable[[str, object], tuple[Any, ...]]:
    """A check of a list: of each item, and if need be that there is one."""

    def checked(field: str, value: object) -> tuple[Any, ...]:
        items = check_items(field, value, f"must be a list of {what}")
        if at_least_one and not items:
            raise config_error(field, items, "must not be empty")
        return tuple(check(field, item) for item in items)

    return checked


def _whole(low: int, high: int) -> _Check:
    return lambda field, item: check_integer(field, item, low, high)


_SIZES = _list_of("whole numbers", _whole(1, 2**31 - 1))
_UNITS = _list_of("whole numbers", _whole(1, 2**12), at_least_one=True)
_WORDS = _list_of("names", lambda field, item: str(item))


def _reals(low: float, high: float) -> Callable[[str, object], tuple[float, ...]]:
    return _list_of("numbers", lambda field, item: check_real(field, item, low, high), at_least_one=True)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """What ``train_network`` does: on what, how long, and with which features.

    Raises:
        ConfigError: For a value out of range.
    """

    features: tuple[str, ...] = setting(FEATURES, _features, "", "What the network sees: some of ``SCALES``.")
    scope: str = choice("source", tuple(NONMINIMAL_KINDS), doc="Which routers decide, see ``EnvOptions``.")
    nonminimal_candidates: int = integer(
        1,
        1,
        16,
        doc="Non-minimal paths of each kind that are drawn while training, the further ones in the second stage.",
    )
    second_stage_candidates: tuple[int, ...] = setting(
        (2, 3),
        _list_of("whole numbers", _whole(2, 16)),
        "nonminimal_kinds",
        "So many of each kind are tried with the best network in the end; the best number is kept. None: not tried.",
    )
    applications: bool = boolean(
        False, doc="Whether workloads and overload are in the mixture, next to steady traffic."
    )
    hosts: tuple[int, ...] = setting(
        (), _SIZES, "hosts", "Sizes of the mixture's scenarios that are used; none: all."
    )
    patterns: tuple[str, ...] = setting(
        (), _WORDS, "", "Patterns of the mixture's scenarios that are used; none: all."
    )
    hidden_units: tuple[int, ...] = setting((16, 16), _UNITS, "", "Sizes of the hidden layers (ReLU).")
    window_share: float = real(
        1.0,
        0.0,
        1.0,
        open_low=True,
        doc="Of the mixture's windows: so long are the runs of the training.",
    )
    rounds: int = integer(8, 1, 1000, doc="Of prediction: collect, fit.")
    kept_rounds: int = integer(3, 1, 1000, doc="Rounds whose transitions are fitted, the last ones.")
    case_transitions: int = integer(
        12_000, 100, 2**24, unit="transitions", doc="Of each scenario and round at most, drawn at random."
    )
    temperatures: tuple[float, ...] = setting(
        (0.08, 0.08, 0.05),
        _reals(1e-3, 10.0),
        "",
        "Of the softmax over predicted times (logarithms) while collecting, by round; the last one stays.",
    )
    explored_share: float = real(0.03, 0.0, 1.0, doc="Of packets that take any path while collecting.")
    wait_weights: tuple[float, ...] = setting(
        (0.0, 0.0, 1.5),
        _reals(0.0, 100.0),
        "",
        "How much more than once the time beyond that on idle links counts, by round: what others wait.",
    )
    wait_squares: tuple[float, ...] = setting(
        (0.0, 0.0, 0.03),
        _reals(0.0, 100.0),
        "",
        "How much its square counts, per packet time, by round: what others wait where links are full.",
    )
    loss: str = choice(
        "gamma", ("gamma", "squares"), doc="What is fitted: the mean of times, or that of their logarithms."
    )
    nonminimal_penalty: float = real(
        0.7,
        0.0,
        100.0,
        doc="Tried with the best network in the end: by how much longer a non-minimal path counts (logarithms) where "
        "the group's packets take all that its global links carry; see ``with_nonminimal_penalty``. 0: not tried.",
    )
    overload_price: float = real(
        1.0, 0.0, 100.0, doc="What comes on top for packets that have waited long at their host."
    )
    light_price: float = real(
        0.5,
        0.0,
        100.0,
        doc="What comes on top where the group asks nothing of the direct links to the destination group.",
    )
    free_share: float = real(
        0.4,
        0.0,
        0.99,
        doc="Of what the group's global links carry: the first two penalties are 0 up to there.",
    )
    free_demand: float = real(
        4.0,
        0.0,
        1e6,
        open_low=True,
        unit="links",
        doc="Of the group for the direct links: with so much the first two penalties are 0.",
    )
    light_demand: float = real(
        0.8, 0.0, 1e6, open_low=True, unit="links", doc="The same: with so much the third penalty is 0."
    )
    own_demand: float = real(
        2.5,
        0.0,
        1e6,
        open_low=True,
        unit="links",
        doc="Of the router, were all of its group like it: with so much the third penalty is 0.",
    )
    learning_rate: float = real(5e-3, 0.0, 1.0, open_low=True, doc="Of Adam while prediction.")
    batch_transitions: int = integer(2048, 1, 2**20, unit="transitions", doc="Per gradient step.")
    passes: int = integer(4, 1, 1000, doc="Over the transitions, per round.")
    generations: int = integer(0, 0, 10**6, doc="Of the evolution strategy.")
    pairs: int = integer(
        6, 1, 1000, doc="Of networks that are tried per generation, a change and its opposite."
    )
    generation_cases: int = integer(8, 1, 1000, doc="Cases on which they are tried, drawn per generation.")
    spread: float = real(0.06, 0.0, 10.0, open_low=True, doc="Standard deviation of the changes.")
    step: float = real(0.03, 0.0, 10.0, open_low=True, doc="Learning rate of Adam on the changes.")
    seed: int = integer(0, 0, _MOST_SEED, doc="Of everything random.")

    def __post_init__(self) -> None:
        normalise(self)
        if max(*self.wait_weights, *self.wait_squares) > 0:
            self._demand_features((WAIT_FEATURE,), "all wait_weights and wait_squares are 0")
        if self.nonminimal_penalty > 0:
            self._demand_features((KIND, DIRECT_DEMAND, OWN_DEMAND), "nonminimal_penalty is 0")
            if len(self.hidden_units) == 1:
                raise config_error(
                    "hidden_units",
                    self.hidden_units,
                    "must be two layers or more unless nonminimal_penalty is 0",
                )

    @property
    def penalties(self) -> NonminimalPenalties:
        """Of non-minimal paths."""
        return NonminimalPenalties(
            crowded=self.nonminimal_penalty,
            overload=self.overload_price,
            light=self.light_price,
            free_share=self.free_share,
            free_demand=self.free_demand,
            light_demand=self.light_demand,
            own_demand=self.own_demand,
        )

    def _demand_features(self, needed: tuple[str, ...], unless: str) -> None:
        for name in needed:
            if name not in self.features:
                raise config_error("features", self.features, f"must have {name!r} unless {unless}")


RECIPES = MappingProxyType(
    {
        "neural-v1": TrainingSettings(),
        "neural-v2": TrainingSettings(
            applications=True,
            features=(*FEATURES, "hops"),
            scope="progressive",
            rounds=6,
            wait_weights=(0.0, 0.0, 0.4),
            wait_squares=(0.0,),
        ),
    }
)
"""How the networks of the package were trained, by their names."""
