"""A frame as text: figures, link classes, the hottest links, and a map of who sends to whom."""

from __future__ import annotations

import numpy as np

from dragonfly_env.envs._frame import Frame

_SHADES = "·▁▂▃▄▅▆▇█"
_MOST_GROUPS = 64  # of the map; wider than this no terminal shows it
_NAMED = 5


def draw_text(frame: Frame) -> str:
    """The frame as lines of text without escape sequences.

    Args:
        frame: What to show.

    Returns:
        About 15 lines, and one more per group if there are at most 64.
    """
    figures = "   ".join(f"{name} {text}" for name, text in frame.figures)
    lines = [
        f"{frame.title} · t = {frame.time_ns / 1000:.3f} µs",
        figures,
        "",
        f"links (last {frame.window_ns:,.0f} ns)   mean    max",
    ]
    for kind, (mean, most) in frame.class_utilisation.items():
        lines.append(f"  {kind:<20}{100 * mean:>7.1f}%{100 * most:>6.1f}%")
    hottest = frame.hottest(_NAMED)
    if hottest:
        lines += ["", f"hottest global links   ({frame.hot_links} hot of {len(frame.links)})"]
        lines += [f"  {100 * link.utilisation:5.1f}%  {link}" for link in hottest]
    if 1 < frame.topology.num_groups <= _MOST_GROUPS:
        lines += ["", *_map(frame)]
    return "\n".join(lines) + "\n"


def _map(frame: Frame) -> list[str]:
    """One row per sending group, one character per receiving group: the mean of the links between them."""
    groups, a = frame.topology.num_groups, frame.topology.a
    total, count = np.zeros((groups, groups)), np.zeros((groups, groups))
    pair = (frame.links[:, 0] // a, frame.links[:, 2] // a)
    np.add.at(total, pair, frame.utilisation)
    np.add.at(count, pair, 1.0)
    used = total / np.maximum(count, 1.0)
    # A link that carried anything is told from an idle one; the last shade means full or nearly so.
    shade = np.where(used > 0.0, np.clip(np.ceil(used * (len(_SHADES) - 1)), 1, len(_SHADES) - 1), 0).astype(
        int
    )
    tens = "".join(str(group // 10) if group % 10 == 0 else " " for group in range(groups))
    units = "".join(str(group % 10) for group in range(groups))
    lines = [f"global links by group: row sends, column receives   {_SHADES[1]} busy … {_SHADES[-1]} full"]
    if groups > 10:
        lines.append(f"     {tens}")
    lines.append(f"     {units}")
    for group in range(groups):
        cells = "".join(
            _SHADES[level] if count[group, other] else " "
            for other, level in enumerate(shade[group].tolist())
        )
        lines.append(f"{group:>4} {cells}")
    return lines
