"""``python -m benchmarks.yardstick``: the speed of this machine, in the unit in which others are given."""

from __future__ import annotations

import argparse
import statistics

from benchmarks.yardstick.program import VERSION, program

_LAPS = 10


def main() -> None:
    """Run it some times, print each and the median."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.yardstick", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of about a second each")
    runs = parser.parse_args().runs
    try:
        yardstick = program()
        speeds = [yardstick.hops_per_s(_LAPS) / 1e6 for _ in range(max(1, runs))]
    except RuntimeError as error:
        parser.exit(2, f"error: {error}\n")
    print(
        f"yardstick {VERSION}: {statistics.median(speeds):.2f} M packet-hops / CPU-s "
        f"({min(speeds):.2f}-{max(speeds):.2f}), {yardstick.compiler}"
    )


if __name__ == "__main__":
    main()
