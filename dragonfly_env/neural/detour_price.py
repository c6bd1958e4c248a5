"""What a detour costs others, as units of the network.

A detour takes two global links instead of one. While the group's packets take less than half of what its global links
carry, all of them could; beyond that a detour takes room from others, and in overload it costs throughput. Times to
delivery do not show it: queues are as long for those who cause them as for the others.

Source: this project. That detours cost throughput where shortest paths would do: Kim et al., ISCA 2008, section 4.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dragonfly_env.baselines import MlpNetwork
from dragonfly_env.neural.network import SCALES, Floats, Layer

KIND = "candidate_kind"
DIRECT_DEMAND = "destination_group_demand"
SHARE = "group_demand"
AGE = "age"
HALF_DEMAND, HALF_SHARE, HALF_AGE_NS = 4.0, 1.0, 1000.0
"""Of what is shown as x / (x + half): links, shares, ns."""
YOUNG_NS, OLD_NS = 2000.0, 4000.0
"""Packets that are older when they ask their first router tell that hosts offer more than is carried."""
_STEEP = 10.0  # a tenth of what rules a price out is enough


def with_detour_price(
    network: MlpNetwork, price: float, *, overload_price: float, free_share: float, free_demand: float
) -> MlpNetwork:
    """The same network, but the foretold time of detours is e^p times as long.

    p is 0 where the packets of the group take up to ``free_share`` of what its global links carry, ``price`` where they
    take all of it, and linear between in the share as it is shown, x / (x + 1). For packets that are ``OLD_NS`` old or
    older it is ``overload_price`` more, in the same proportion (where links are full, that begins with 3.7 us). There
    is no price where the group asks for more than ``free_demand`` of what the direct links to the destination group
    carry and a little more: then detours are needed, whatever they cost.

    Args:
        network: Scores candidate paths one by one, by minus the logarithm of their foretold time; two hidden layers
            or more, with the features ``KIND`` and ``DIRECT_DEMAND``.
        price: Of a detour, a difference of logarithms.
        overload_price: What comes on top for old packets.
        free_share: From 0 to 1.
        free_demand: In links' worth.

    Returns:
        A network with the features ``SHARE`` and ``AGE``, four units more in the first hidden layer, and two more in
        each of the others.
    """
    features = (*network.features, *(name for name in (SHARE, AGE) if name not in network.features))
    added = len(features) - len(network.features)
    (first, first_bias), (second, second_bias), *others = network.layers
    busy, young, shortest, asked = range(first.shape[1], first.shape[1] + 4)
    first = np.concatenate([first, np.zeros((added, first.shape[1]), np.float32)])
    first, first_bias = _wider(first, first_bias, 4)
    place = features.index
    free, whole = _shown(free_share, HALF_SHARE), _shown(1.0, HALF_SHARE)
    first[place(SHARE), busy] = 1 / (whole - free)
    first_bias[busy] = -free / (whole - free)
    begins, old = _shown(YOUNG_NS, HALF_AGE_NS), _shown(OLD_NS, HALF_AGE_NS)
    first[place(AGE), young] = -1 / (old - begins)
    first_bias[young] = old / (old - begins)
    first[place(KIND), shortest] = -SCALES[KIND]  # 1 on shortest paths, 0 on detours
    first_bias[shortest] = 1
    first[place(DIRECT_DEMAND), asked] = 1 / _shown(free_demand, HALF_DEMAND)
    first_bias[asked] = -1
    second = np.concatenate([second, np.zeros((4, second.shape[1]), np.float32)])
    second, second_bias = _wider(second, second_bias, 2)
    second[busy, -2:] = 1
    second[[shortest, asked], -2:] = -_STEEP
    second[young, -1] = -_STEEP
    layers: list[Layer] = [(first, first_bias), (second, second_bias)]
    for weights, bias in others[:-1]:
        onwards = np.concatenate([weights, np.zeros((2, weights.shape[1]), np.float32)])
        onwards, bias = _wider(onwards, bias, 2)
        onwards[[-2, -1], [-2, -1]] = 1
        layers.append((onwards, bias))
    weights, bias = others[-1]
    prices = np.array([[-price], [-overload_price]], np.float32)
    layers.append((np.concatenate([weights, prices]), bias))
    return dataclasses.replace(
        network, layers=tuple(layers), features=features, scale=tuple(SCALES[name] for name in features)
    )


def _shown(quantity: float, half: float) -> float:
    return quantity / (quantity + half)


def _wider(weights: Floats, bias: Floats, units: int) -> Layer:
    """With so many units more, of no weight."""
    wide = np.concatenate([weights, np.zeros((len(weights), units), np.float32)], axis=1)
    return wide, np.concatenate([bias, np.zeros(units, np.float32)])
