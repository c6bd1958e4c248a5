"""Results folders in which symbolic links are at the names that commands write: nothing outside of them changes."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

from tests.fuzz.alarm import Alarm
from tests.fuzz.commands import give
from tests.fuzz.outcome import Outcome, require

_OUT = "out"
_SWEEP = (
    *("sweep", "--policy", "min", "--traffic", "uniform", "--load", "0.1", "--topology", "p=1,a=2,h=1"),
    *("--warmup-ns", "10", "--measure-ns", "100", "--jobs", "1", "--no-plots", "--out", _OUT),
)
_TRAIN = (
    *("train", "deep-q", "--topology", "p=1,a=2,h=1", "--duration-ns", "200", "--episode-ns", "100"),
    *("--evaluate-every", "0", "--no-tensorboard", "--out", _OUT),
)

# What is tried, how often, and what the folder must hold before.
_COMMANDS: tuple[tuple[tuple[str, ...], float, tuple[str, ...] | None], ...] = (
    (_SWEEP, 40, None),
    (_SWEEP, 40, _SWEEP),
    (("plot", _OUT, "--kind", "loads", "--format", "svg"), 4, _SWEEP),
    (("benchmark", "--track", "transient", "--out", _OUT), 4, None),
    (("reproduce", "hpdc21", "memory", "--out", _OUT), 2, None),
    (_TRAIN, 1, None),
)


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """A command, and links at some of the names that it writes."""
    alarm = Alarm(KeyboardInterrupt)
    weights = [weight for _, weight, _ in _COMMANDS]
    while True:
        command, _, before = random.choices(_COMMANDS, weights)[0]
        yield functools.partial(_attempt, random, folder, alarm, command, before)


def _attempt(
    random: Random, folder: Path, alarm: Alarm, command: tuple[str, ...], before: tuple[str, ...] | None
) -> Outcome:
    made = folder.with_name("made")  # the other folder is emptied after every input
    intact = _written(made, alarm, command, before)
    out, outside = folder / _OUT, folder / "outside"
    outside.mkdir()
    if before is not None:
        shutil.copytree(_written(made, alarm, before, None), out)
    names = _names(intact)
    for number, name in enumerate(random.sample(names, min(len(names), random.choice((1, 1, 2, 5))))):
        _plant(random, out / name, intact / name, outside / f"{number}")
    expected = _snapshot(outside)
    end = give(command, alarm)
    found = _snapshot(outside)
    for path in sorted({*expected, *found}):
        changed = f"{path} outside of the folder stays what it was: {_links(out)}"
        require(found.get(path) == expected.get(path), changed)
    return end


@functools.cache
def _written(made: Path, alarm: Alarm, command: tuple[str, ...], before: tuple[str, ...] | None) -> Path:
    """A folder with what a command writes; it is the same whoever asks first."""
    place = made / f"{command[0]}{'-again' * (before is not None)}"
    place.mkdir(parents=True)
    here = Path.cwd()
    os.chdir(place)
    try:
        for some in (before, command):
            require(some is None or give(some, alarm) is Outcome.RUN, f"{some} runs")
    finally:
        os.chdir(here)
    return place / _OUT


def _names(folder: Path) -> Sequence[Path]:
    """The files and folders in a folder, and files that are there only while a run is at work."""
    names = [path.relative_to(folder) for path in sorted(folder.rglob("*"))]
    return [
        *names,
        *(name.with_suffix(".running") for name in names if name.parts[0] == "runs" and name.suffix),
    ]


def _plant(random: Random, link: Path, intact: Path, target: Path) -> None:
    """Put a link to something outside in the place of a file or folder."""
    if any(parent.is_symlink() for parent in link.parents):
        return
    match random.randrange(5):
        case 0:
            target.write_bytes(b"of somebody else")
        case 1 if intact.is_file():
            shutil.copy(intact, target)
        case 1 if intact.is_dir():
            shutil.copytree(intact, target)
        case 2:
            target.mkdir()
        case 3:
            target.with_suffix(".link").symlink_to(target)  # a chain
            target.write_bytes(b"of somebody else")
            target = target.with_suffix(".link")
        case _:
            pass  # nothing: it must not come into being
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_dir():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(target, link.parent) if random.random() < 0.5 else target)


def _snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything in a folder by name: kind, time of the last change and content."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        state = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[f"{path.relative_to(folder)}"] = (state.st_mode, state.st_mtime_ns, content)
    return found


def _links(folder: Path) -> list[str]:
    return [
        f"{path.relative_to(folder)} -> {path.readlink()}" for path in folder.rglob("*") if path.is_symlink()
    ]
