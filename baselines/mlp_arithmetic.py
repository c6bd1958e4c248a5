"""The neural network of ``mlp`` in NumPy: the same single-precision operations in the same order as in the core.

No matrix product: libraries add up in an order of their own. ``csrc/routing/neural/`` has the same formulas.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Layers = Sequence[tuple[Floats, Floats]]

_MOST = np.finfo(np.float32).max
_TANH_MOST = 7.90531110763549805
_TANH_ABOVE = (
    -2.76076847742355e-16,
    2.00018790482477e-13,
    -8.60467152213735e-11,
    5.12229709037114e-08,
    1.48572235717979e-05,
    6.37261928875436e-04,
    4.89352455891786e-03,
)
_TANH_BELOW = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
_EXP = (
    1.9875691500e-4,
    1.3981999507e-3,
    8.3334519073e-3,
    4.1665795894e-2,
    1.6666665459e-1,
    5.0000001201e-1,
)
_LEAST_EXPONENT = np.float32(-87)
_LOG = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)


def relu(x: Floats) -> Floats:
    """0 where x is not above 0."""
    return np.where(x > 0, x, np.float32(0))


def tanh(x: Floats) -> Floats:
    """The hyperbolic tangent within 4e-7. Source: the rational approximation of the Eigen library."""
    most = np.float32(_TANH_MOST)
    y = np.where(x > -most, np.where(x < most, x, most), -most)
    square = y * y
    value: Floats = y * _polynomial(square, _TANH_ABOVE) / _polynomial(square, _TANH_BELOW)
    return value


def exp_of_negative(x: Floats) -> Floats:
    """e^x for x <= 0 within 1e-7 of its value; below -87 that of -87. Source: expf of the Cephes library."""
    y = np.where(x > _LEAST_EXPONENT, x, _LEAST_EXPONENT)
    n = (y * np.float32(1.44269504088896341) - np.float32(0.5)).astype(np.int32)
    whole = n.astype(np.float32)
    r = y - whole * np.float32(0.693359375)
    r = r - whole * np.float32(-2.12194440e-4)
    p = _polynomial(r, _EXP) * (r * r)
    p = p + r
    p = p + np.float32(1)
    power: Floats = ((n + 127).astype(np.uint32) << np.uint32(23)).view(np.float32)
    value: Floats = p * power
    return value


def log(x: Floats) -> Floats:
    """The natural logarithm of x >= 1 within 1e-7 of its value or of 1. Source: logf of the Cephes library."""
    m, exponent = np.frexp(x)  # m in [0.5, 1)
    low = m < np.float32(0.707106781186547524)
    whole = exponent.astype(np.float32) - low.astype(np.float32)
    m = np.where(low, m + m, m) - np.float32(1)
    square = m * m
    p = _polynomial(m, _LOG) * m * square
    p = p + whole * np.float32(-2.12194440e-4)
    p = p + square * np.float32(-0.5)
    value: Floats = (m + p) + whole * np.float32(0.693359375)
    return value


def _polynomial(x: Floats, coefficients: Sequence[float]) -> Floats:
    """Evaluate a polynomial by Horner's rule, the highest power first."""
    value = x * np.float32(coefficients[0]) + np.float32(coefficients[1])
    for coefficient in coefficients[2:]:
        value = x * value + np.float32(coefficient)
    return value


_ACTIVATIONS = {"relu": relu, "tanh": tanh}


def forward(layers: Layers, activation: str, x: Floats) -> Floats:
    """Scores.

    Args:
        layers: Weights (inputs, outputs) and bias (outputs,) of every layer.
        activation: Activation of the hidden layers.
        x: (M, inputs).

    Returns:
        (M, outputs): sums from the left, bias first.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        for i, (weights, bias) in enumerate(layers):
            if i > 0:
                x = _ACTIVATIONS[activation](x)
            sums = np.repeat(bias[None, :], len(x), axis=0)
            for column, row in enumerate(weights):
                sums += x[:, column : column + 1] * row
            x = sums
    return x


def tamed(scores: Floats) -> Floats:
    """Finite scores: what is not a number is the worst."""
    return np.where(scores > -_MOST, np.where(scores < _MOST, scores, _MOST), -_MOST)


def best_legal(scores: Floats, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """(N,) the legal action with the highest of the (N, A) finite scores, the lowest of equals."""
    best: npt.NDArray[np.int64] = np.where(mask, scores, np.float32(-np.inf)).argmax(axis=1)
    return best


def drawn_legal(
    scores: Floats, mask: npt.NDArray[np.bool_], temperature: float, draws: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """(N,) legal actions, drawn with probabilities proportional to e^(score / temperature).

    Args:
        scores: (N, A), finite.
        mask: (N, A) what is legal.
        temperature: Above 0.
        draws: (N,) in [0, 1).
    """
    passed = np.cumsum(_weights(_exponents(scores, mask, temperature), mask), axis=1)
    beyond = passed > (draws * passed[:, -1])[:, None]
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    drawn: npt.NDArray[np.int64] = np.where(beyond.any(axis=1), beyond.argmax(axis=1), last)
    return drawn


def log_probabilities(scores: Floats, mask: npt.NDArray[np.bool_], temperature: float) -> Floats:
    """(N, A) logarithms of the probabilities of ``drawn_legal``; minus infinity where an action is illegal."""
    exponents = _exponents(scores, mask, temperature)
    total = np.cumsum(_weights(exponents, mask), axis=1)[:, -1:].astype(np.float32)
    logs: Floats = np.where(
        mask,
        np.where(exponents > _LEAST_EXPONENT, exponents, _LEAST_EXPONENT) - log(total),
        np.float32(-np.inf),
    )
    return logs


def _exponents(scores: Floats, mask: npt.NDArray[np.bool_], temperature: float) -> Floats:
    """(N, A) exponents of the softmax, at most 0; 0 where an action is illegal."""
    most = scores[np.arange(len(scores)), best_legal(scores, mask)][:, None]
    with np.errstate(over="ignore", under="ignore"):
        below: Floats = np.where(mask, scores - most, np.float32(0)).astype(np.float32)
        return below / np.float32(temperature)


def _weights(exponents: Floats, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """(N, A) probabilities times a number per row; 0 where an action is illegal."""
    with np.errstate(under="ignore"):
        return np.where(mask, exp_of_negative(exponents).astype(np.float64), 0.0)
