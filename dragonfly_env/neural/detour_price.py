"""What a detour costs others, as units of the network.

A detour takes two global links instead of one. Where the direct links carry what the group wants to send to the
destination group, that only takes room from others; in overload every detour costs throughput, and all paths look
alike to each packet. Times to delivery do not show it: queues are as long for those who cause them as for the others.

Source: this project. That detours cost throughput where shortest paths would do: Kim et al., ISCA 2008, section 4.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.neural.network import SCALES, Floats, Layer

KIND = "candidate_kind"
GROUP_DEMAND = "destination_group_demand"
OWN_DEMAND = "destination_demand"
HALF_DEMAND = 4.0
"""Links; demands are shown as x / (x + 4)."""
_STEEP = 10.0  # the price is gone a little beyond the demand of the router itself that is free of it


def with_detour_price(
    network: MlpNetwork, price: float, free_demand: float, free_own_demand: float
) -> MlpNetwork:
    """The same network, but the foretold time of detours is e^p times as long.

    p is ``price`` where the group asks nothing of the direct links to the destination group, 0 where it asks for
    ``free_demand`` of each or more, and linear between in the demand as it is shown, x / (x + 4). It is 0 as well where
    the router's own hosts ask for ``free_own_demand`` and a little more: when all of its packets go one way, local
    links are full before the global ones.

    Args:
        network: Scores candidate paths one by one, by minus the logarithm of their foretold time; two hidden layers
            or more, with the features ``KIND``, ``GROUP_DEMAND`` and ``OWN_DEMAND``.
        price: Of a detour, a difference of logarithms.
        free_demand: In links' worth.
        free_own_demand: The same, if all routers of the group were like this one.

    Returns:
        A network with three units more in the first hidden layer, and one more in each of the others.
    """
    (first, first_bias), (second, second_bias), *others = network.layers
    asks, own, shortest = range(first.shape[1], first.shape[1] + 3)
    first, first_bias = _wider(first, first_bias, 3)
    place = network.features.index
    first[place(GROUP_DEMAND), asks] = -1 / _shown(free_demand)
    first[place(OWN_DEMAND), own] = 1 / _shown(free_own_demand)
    first[place(KIND), shortest] = -SCALES[KIND]
    first_bias[[asks, own, shortest]] = 1, -1, 1
    second = np.concatenate([second, np.zeros((3, second.shape[1]), np.float32)])
    second, second_bias = _wider(second, second_bias, 1)
    second[[asks, own, shortest], -1] = 1, -_STEEP, -1
    layers: list[Layer] = [(first, first_bias), (second, second_bias)]
    for weights, bias in others[:-1]:
        onwards = np.concatenate([weights, np.zeros((1, weights.shape[1]), np.float32)])
        onwards, bias = _wider(onwards, bias, 1)
        onwards[-1, -1] = 1
        layers.append((onwards, bias))
    weights, bias = others[-1]
    layers.append((np.concatenate([weights, np.full((1, 1), -price, np.float32)]), bias))
    return dataclasses.replace(network, layers=tuple(layers))


def _shown(demand: float) -> float:
    return demand / (demand + HALF_DEMAND)


def _wider(weights: Floats, bias: Floats, units: int) -> Layer:
    """With so many units more, of no weight."""
    wide = np.concatenate([weights, np.zeros((len(weights), units), np.float32)], axis=1)
    return wide, np.concatenate([bias, np.zeros(units, np.float32)])
