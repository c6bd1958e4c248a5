"""MIN: always the shortest path."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from dragonfly_env.policies import NamedVariants, Policy


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Minimal(Policy):
    """Every packet takes a minimal path: at most local, global, local.

    Best for uniform traffic; under adversarial traffic one global link carries a whole group. No parameters.

    Source: Kim, Dally, Scott, Abts, ISCA 2008, section 4.1.
    """

    variants: ClassVar[NamedVariants] = {"min": {}}
    source: ClassVar[str] = "Kim, Dally, Scott, Abts, ISCA 2008, section 4.1"

    @property
    def name(self) -> str:
        """``"min"``."""
        return "min"
