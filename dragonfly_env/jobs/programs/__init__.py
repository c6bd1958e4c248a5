"""The motifs of the applications of Chunduri et al., IPDPS 2021, and training of language models: one process per
host, closed loop.
"""

from __future__ import annotations

from dragonfly_env.jobs.programs.hacc import Hacc
from dragonfly_env.jobs.programs.llm import Llm
from dragonfly_env.jobs.programs.milc import Milc, MilcReorder
from dragonfly_env.jobs.programs.moe import Moe
from dragonfly_env.jobs.programs.nek5000 import Nek5000
from dragonfly_env.jobs.programs.qbox import Qbox
from dragonfly_env.jobs.programs.rayleigh import Rayleigh

__all__ = ["Hacc", "Llm", "Milc", "MilcReorder", "Moe", "Nek5000", "Qbox", "Rayleigh"]
