"""The benchmark: versioned suites of cases, every policy measured against the best reference of each case.

from dragonfly_env.lab.benchmark import Benchmark, find_suite

suite = find_suite("dragonfly-v3")
work = Benchmark(suite=suite, effort="quick", policies=("lia",), folder=Path("results/benchmark"))
work.execute()
scores = work.scores()
"""

from __future__ import annotations

from dragonfly_env.lab.benchmark.execution import Benchmark
from dragonfly_env.lab.benchmark.scores import Scores
from dragonfly_env.lab.benchmark.suite import BenchmarkCase, Suite, Track, find_suite, suites

__all__ = ["Benchmark", "BenchmarkCase", "Scores", "Suite", "Track", "find_suite", "suites"]
