"""What a non-minimal path costs others, as units of the network.

A non-minimal path takes two global links instead of one. While the group's packets take less than half of what its
global links carry, all of them could; beyond that a non-minimal path takes room from others, and in overload it costs
throughput. Times to delivery do not show it: queues are as long for those who cause them as for the others. And where a
group asks for less than the direct links carry, no packet needs a non-minimal path; the training hardly knows that, as
such light traffic is not in it. Paths inside a group, of kind ``l``, take no global link more, and cost nothing here.

Source: this project. That non-minimal paths cost throughput where shortest paths would do: Kim et al., ISCA 2008,
section 4.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.lab.neural.network import SCALES, Floats, Layer

KIND = "candidate_kind"
DIRECT_DEMAND = "destination_group_demand"
OWN_DEMAND = "destination_demand"
SHARE = "group_demand"
AGE = "age"
HALF_DEMAND, HALF_SHARE, HALF_AGE_NS = 4.0, 1.0, 1000.0
"""Of what is shown as x / (x + half): links, shares, ns."""
YOUNG_NS, OLD_NS = 2000.0, 4000.0
"""A packet that is ``OLD_NS`` old when it asks its first router tells that hosts offer more than is carried."""
_LAST_OUTSIDE = 4.0  # of the numbers of kinds, as KIND shows them; 5 is "l"
_STEEP = 10.0  # a tenth of what rules a penalty out is enough


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NonminimalPenalties:
    """By how much longer non-minimal paths are predicted, as differences of logarithms, and where they cost nothing.

    Attributes:
        crowded: Where the packets of the group take all that its global links carry.
        overload: What comes on top for packets that are ``OLD_NS`` old or older.
        light: What comes on top where the group asks nothing of the direct links to the destination group.
        free_share: Of what the group's global links carry: with so little on them the first two are 0.
        free_demand: Of the group for the direct links, in links' worth: with so much the first two are 0.
        light_demand: The same: with so much the third one is 0.
        own_demand: Of the router's own hosts, were all of its group like it, in links' worth: with so much the third
            one is 0, as local links are full before the direct ones.
    """

    crowded: float
    overload: float
    light: float
    free_share: float
    free_demand: float
    light_demand: float
    own_demand: float


def with_nonminimal_penalty(network: MlpNetwork, penalties: NonminimalPenalties) -> MlpNetwork:
    """The same network, but the predicted time of non-minimal paths is e^p times as long.

    p is the sum of three penalties. ``crowded`` is reached from 0 linearly in the share as it is shown, x / (x + 1).
    ``overload`` comes in the same proportion (where links are full, it begins with an age of 3.7 us). ``light`` falls
    linearly in the demand as it is shown, x / (x + 4). What rules a penalty out does so a little beyond its limit.

    Args:
        network: Scores candidate paths one by one, by minus the logarithm of their predicted time; two hidden layers
            or more, with the features ``KIND``, ``DIRECT_DEMAND`` and ``OWN_DEMAND``.
        penalties: The three, and where they are 0.

    Returns:
        A network with the features ``SHARE`` and ``AGE``, six units more in the first hidden layer (seven if it knows
        paths of kind ``l``), and three more in each of the others.
    """
    features = (*network.features, *(name for name in (SHARE, AGE) if name not in network.features))
    free, full = _shown(penalties.free_share, HALF_SHARE), _shown(1.0, HALF_SHARE)
    young, old = _shown(YOUNG_NS, HALF_AGE_NS), _shown(OLD_NS, HALF_AGE_NS)
    units = [  # what each reads, times what, plus what
        (SHARE, 1 / (full - free), -free / (full - free)),
        (AGE, -1 / (old - young), old / (old - young)),
        (KIND, -SCALES[KIND], 1.0),  # 1 on shortest paths, 0 on non-minimal paths
        (DIRECT_DEMAND, 1 / _shown(penalties.free_demand, HALF_DEMAND), -1.0),
        (DIRECT_DEMAND, -1 / _shown(penalties.light_demand, HALF_DEMAND), 1.0),
        (OWN_DEMAND, 1 / _shown(penalties.own_demand, HALF_DEMAND), -1.0),
    ]
    if "l" in network.nonminimal_kinds:
        units.append((KIND, SCALES[KIND], -_LAST_OUTSIDE))  # 1 on paths inside a group
    (first, first_bias), (second, second_bias), *others = network.layers
    first = np.concatenate([first, np.zeros((len(features) - len(first), first.shape[1]), np.float32)])
    first, first_bias = _wider(first, first_bias, len(units))
    for unit, (name, slope, bias) in enumerate(units, start=-len(units)):
        first[features.index(name), unit], first_bias[unit] = slope, bias
    second = np.concatenate([second, np.zeros((len(units), second.shape[1]), np.float32)])
    second, second_bias = _wider(second, second_bias, 3)
    second[-len(units) :, -3:] = np.array(
        [  # crowded, overload, light
            [1, 1, 0],
            [0, -_STEEP, 0],
            [-_STEEP, -_STEEP, -_STEEP],
            [-_STEEP, -_STEEP, 0],
            [0, 0, 1],
            [0, 0, -_STEEP],
            [-_STEEP, -_STEEP, -_STEEP],
        ][: len(units)]
    )
    layers: list[Layer] = [(first, first_bias), (second, second_bias)]
    for weights, biases in others[:-1]:
        onwards = np.concatenate([weights, np.zeros((3, weights.shape[1]), np.float32)])
        onwards, biases = _wider(onwards, biases, 3)
        onwards[-3:, -3:] = np.eye(3)
        layers.append((onwards, biases))
    weights, biases = others[-1]
    costs = np.array([[-penalties.crowded], [-penalties.overload], [-penalties.light]], np.float32)
    layers.append((np.concatenate([weights, costs]), biases))
    return dataclasses.replace(
        network, layers=tuple(layers), features=features, scale=tuple(SCALES[name] for name in features)
    )


def _shown(quantity: float, half: float) -> float:
    return quantity / (quantity + half)


def _wider(weights: Floats, bias: Floats, units: int) -> Layer:
    """With so many units more, of no weight."""
    wide = np.concatenate([weights, np.zeros((len(weights), units), np.float32)], axis=1)
    return wide, np.concatenate([bias, np.zeros(units, np.float32)])
