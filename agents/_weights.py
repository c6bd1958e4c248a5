"""The tensors of an agent as members of its file: one NumPy array each, and nothing that could be code.

What is read is held against the agent's own new tensors before it replaces them: names, shapes and type are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dragonfly_env.agents._sb3 import torch
from dragonfly_env.checks.archives import parse_npy, write_npy
from dragonfly_env.checks.values import config_error

# What Adam keeps of every parameter; all zero, as if it was not there, before the first gradient.
_MOMENTS = ("exp_avg", "exp_avg_sq")
_STEP = "step"


def pack(parts: Mapping[str, Any]) -> dict[str, bytes]:
    """The members of an agent's file.

    Args:
        parts: Modules of PyTorch, and optimisers (Adam), by name.
    """
    return {member: write_npy(tensor.detach().numpy()) for member, tensor in _tensors(parts).items()}


def member_names(parts: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the members that ``pack`` makes."""
    return tuple(_tensors(parts))


def unpack(parts: Mapping[str, Any], members: Mapping[str, bytes], path: str) -> None:
    """Give the parts the tensors in the members of a file.

    Args:
        parts: As for ``pack``, just made.
        members: As ``pack`` made them.
        path: Of the file, for messages.

    Raises:
        ConfigError: If a tensor has another shape or type, or a value is not finite.
    """
    read = {member: _checked(members[member], like, member, path) for member, like in _tensors(parts).items()}
    for name, part in parts.items():
        own = {
            member.removeprefix(f"{name}/").removesuffix(".npy"): tensor
            for member, tensor in read.items()
            if member.startswith(f"{name}/")
        }
        if not isinstance(part, torch.optim.Optimizer):
            part.load_state_dict(own)
            continue
        keys = (_STEP, *_MOMENTS)
        state = {i: {key: own[f"{i}.{key}"] for key in keys} for i in range(len(_parameters(part)))}
        part.load_state_dict({"state": state, "param_groups": part.state_dict()["param_groups"]})


def _tensors(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Every tensor of the parts by the name of its member."""
    return {
        f"{name}/{key}.npy": tensor
        for name, part in parts.items()
        for key, tensor in (
            _adam_state(part) if isinstance(part, torch.optim.Optimizer) else part.state_dict()
        ).items()
    }


def _adam_state(optimizer: Any) -> dict[str, Any]:
    tensors = {}
    for i, parameter in enumerate(_parameters(optimizer)):
        state = optimizer.state.get(parameter, {})
        tensors[f"{i}.{_STEP}"] = state.get(_STEP, torch.zeros(()))
        tensors |= {f"{i}.{key}": state.get(key, torch.zeros_like(parameter)) for key in _MOMENTS}
    return tensors


def _parameters(optimizer: Any) -> list[Any]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _checked(content: bytes, like: Any, member: str, path: str) -> Any:
    allowed = f"must be a saved agent whose {member} is {tuple(like.shape)} finite float32"
    array = parse_npy(content, field="agent", shown=path, allowed=allowed)
    if array.dtype != np.float32 or array.shape != tuple(like.shape) or not np.isfinite(array).all():
        raise config_error("agent", path, allowed)
    if member.endswith((f".{_STEP}.npy", f".{_MOMENTS[1]}.npy")) and (array < 0).any():
        raise config_error("agent", path, f"{allowed}, none of them negative")
    return torch.from_numpy(array.copy())
