"""Tables of docs/benchmark.md, from the full leaderboard (docs/leaderboard.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dragonfly_docs.markdown import code, table

FILE = Path(__file__).parents[2] / "leaderboard.md"
TRACKS = {
    "Mean latency in a steady state": "steady latency",
    "Accepted load when every host offers all that its link carries": "accepted load at 1.0",
    "Mean latency of the packets generated in 300 us after a change of the traffic": "latency after a change",
    "Makespan of workloads that run to their end": "makespan of applications",
    "Mean latency in a steady state on machines that no training saw": "latency on other machines",
}
"""The headings of the leaderboard, and the names of the tracks in the tables."""
LEARNED = ("neural-v1", "neural-v2", "neural-v3")


def policies_of(track: str, split: str) -> Iterator[dict[str, str]]:
    """The rows of a track, best policy first; nothing for a split without cases."""
    text = FILE.read_text(encoding="utf-8").partition(f"## {track}: {split}\n\n")[2].partition("\n\n")[0]
    if not text:
        return iter(())
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines())
    return (dict(zip(head, row, strict=True)) for row in rows)


def top_ten() -> str:
    """The ten best policies of the steady test cases."""
    shown = ("kind", "knows", "over the best", "over the bound", "worst", "within 2 %", "saturated")
    rows = enumerate(policies_of(next(iter(TRACKS)), "test"), 1)
    best = (
        (place, code(row["policy"]), *(row[name] for name in shown)) for place, row in rows if place <= 10
    )
    return table(("", "policy", *shown), best)


def all_tracks() -> str:
    """The learned policies and the best reference of every track and split."""
    rows = []
    for heading, track in TRACKS.items():
        for split in ("train", "test"):
            found = {row["policy"]: row for row in policies_of(heading, split)}
            if not found:
                continue
            references = [row for name, row in found.items() if name not in LEARNED]
            best = min(references, key=lambda row: float(row["over the best"]))
            learned = (found[name]["over the best"] for name in LEARNED)
            reference = f"{best['over the best']} {code(best['policy'])}"
            rows.append((track, split, best["cases"].split()[0], *learned, reference))
    return table(("track", "split", "cases", *map(code, LEARNED), "best reference"), rows)
