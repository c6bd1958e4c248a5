"""``python -m benchmarks``: measure speed and scale, print a table, write one JSON file with all samples."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from benchmarks import core_speed, environment_speed, machine, peers, scale, threads
from benchmarks.result import FULL, SMOKE, Effort, Result, console, table

FAMILIES = {
    "core": core_speed.measure,
    "scale": scale.measure,
    "threads": threads.measure,
    "environment": environment_speed.measure,
    "networks": core_speed.measure_networks,
    "peers": peers.measure,
}


def measure(effort: Effort, families: list[str]) -> tuple[dict[str, list[Result]], dict[str, Any]]:
    """Measure the families; their figures, and the content of the result file."""
    content: dict[str, Any] = {
        "started": machine.now(),
        "machine": machine.describe_machine(),
        "build": machine.describe_build(),
        "effort": dataclasses.asdict(effort),
    }
    results: dict[str, list[Result]] = {}
    with console(error=True).status("") as status:
        for family in families:

            def report(text: str, family: str = family) -> None:
                status.update(f"{family}: {text}")

            results[family] = FAMILIES[family](effort, report)
    content["load_average_at_end"] = machine.describe_machine()["load_average"]
    content["results"] = [
        {"family": family, **result.to_dict()} for family, some in results.items() for result in some
    ]
    return results, content


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"{__doc__} Give it a quiet machine: CPU time suffers from neighbours, wall-clock time even more.",
    )
    parser.add_argument("--out", type=Path, default=Path("results/bench"), help="folder for the result file")
    parser.add_argument("--smoke", action="store_true", help="tiny systems: only shows that everything works")
    parser.add_argument("--only", action="append", choices=list(FAMILIES), help="may be repeated")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    try:
        results, content = measure(
            SMOKE if given.smoke else FULL, list(dict.fromkeys(given.only or FAMILIES))
        )
    except RuntimeError as error:
        parser.exit(1, f"error: {error}\n")
    file = given.out / f"{content['started'][:19].replace(':', '')}.json"
    file.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    output = console()
    output.print(table(results))
    output.print(f"written: {file}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
