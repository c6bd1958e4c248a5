"""The arrays of a batch become tensors without a copy and without a warning, as the pages say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.unit.small_env import make

HANDS_ON_READ_ONLY_ARRAYS = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1)


def test_dlpack_hands_the_memory_of_a_batch_to_pytorch() -> None:
    """With an older NumPy it is refused, and a copy is the way, as the pages say, too."""
    torch = pytest.importorskip("torch", reason="needs the extra [sb3]")
    batch = make().reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in (batch.obs, batch.mask, batch.agents, batch.time_ns):
            if HANDS_ON_READ_ONLY_ARRAYS:
                tensor = torch.from_dlpack(array)
                assert tensor.data_ptr() == array.__array_interface__["data"][0]
                assert np.array_equal(tensor.numpy(), array)
            else:
                with pytest.raises(BufferError, match="readonly"):
                    torch.from_dlpack(array)
        copied = torch.tensor(batch.obs)
    assert copied.data_ptr() != batch.obs.__array_interface__["data"][0]
    assert np.array_equal(copied.numpy(), batch.obs)
