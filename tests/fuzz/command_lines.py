"""Command lines, most of them possible: an exit code that means something, one clear line, and no traceback."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import dragonfly_env as dfe
from dragonfly_env import NetworkConfig
from tests.fuzz.alarm import Alarm
from tests.fuzz.commands import give
from tests.fuzz.outcome import Outcome

_ODD_TEXTS = (
    *("", " ", "-", "--", "0", "-1", "1e15", "1e400", "nan", "inf", "0x10", "1_000", "٣", "a:b", "a=b"),
    *("=", ":", ",", ";", "$$", "[bold]x[/bold]", "[/x]", "%s", "{}", "../x", "/dev/null", "/dev/full"),
    *("/proc/no", ".", ".."),
    "x\ny",
    *("tab\there", "\udcff", "é", "日本", "x" * 300, "nothing.toml", "nothing.zip", "module:Class"),
    *("os:path", "file.py:Class", "trace:nothing.csv", "demand:nothing.npy", "--help", "--json"),
)
_NAMES = (
    *("out", "a b", "a:b", "ünï", "x.parquet", "a%20b"),
    "#1",
    *("deep/er", "[x]", "a=b", "\udcff", "-", "$$"),
)


def attempts(random: Random, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """One command line; seldom two, the second on the results of the first."""
    alarm = Alarm(KeyboardInterrupt)
    while True:
        yield functools.partial(_attempt, random, alarm, folder)


def _attempt(random: Random, alarm: Alarm, folder: Path) -> Outcome:
    (folder / "policy.py").write_text(_POLICY, encoding="utf-8")
    (folder / "broken.py").write_text("def", encoding="utf-8")
    (folder / "garbage.zip").write_bytes(random.randbytes(200))
    (folder / "trace.csv").write_text("time_ns,src,dst,bytes\n1,0,5,100\n7.5,3,2,300\n", encoding="utf-8")
    command = random.choices(list(_COMMANDS), (2, 8, 2, 1, 0.05, 1, 0.5, 1))[0]
    end = give(_mutated(random, [command, *_COMMANDS[command](random)]), alarm)
    if command == "sweep" and end is Outcome.RUN and random.random() < 0.5:
        folders = [path for path in folder.iterdir() if path.is_dir()]
        give(["plot", str(random.choice(folders)), *_plot_options(random)] if folders else ["info"], alarm)
    return end


_POLICY = """
class P:
    scope, action = "source", "path"
    def act(self, batch):
        return batch.minimal_actions()
class NotOne:
    pass
class Bad:
    scope, action = "source", "path"
    def act(self, batch):
        return [10**6] * len(batch)
"""


def _time(random: Random) -> str:
    """A short time in ns, often with odd fractions."""
    whole = random.randrange(1, 900)
    return random.choice(
        (str(whole), f"{whole}.{random.randrange(1000):03}", f"{whole}.3", f"{whole}.5", "1e2")
    )


def _load(random: Random) -> str:
    first = round(random.uniform(0.01, 0.5), random.randrange(1, 4)) or 0.1
    return random.choice(
        (str(first), "1", ".5", "1e-1", f"{first}:{first + 0.3:.3f}:{random.choice(('0.1', '0.07', '0.3'))}")
    )


def _traffic(random: Random) -> str:
    return random.choice(
        (
            *dfe.traffic_patterns(),
            "adv+2",
            "adv-1",
            "Uniform",
            "trace:trace.csv",
            "hotspot:hosts=1;5;9,fraction=1",
        )
    )


def _policy(random: Random) -> str:
    name = random.choice(dfe.policies())
    return random.choice(
        (name, name, f"{name}:bias_packets=2", f"x={name}", "ugal-n:bias_packets=-1.5", "ugal-g:")
    )


def _system(random: Random) -> list[str]:
    topology = random.choice(
        ("72", "72", "p=2,a=4,h=2", "p=1,a=2,h=1", "p=2,a=4,h=2,g=5,trunking=1", "p=1,a=1,h=0")
    )
    options = ["--topology", topology]
    if random.random() < 0.2:
        options += ["--network", random.choice(NetworkConfig.presets())]
    if random.random() < 0.2:
        options += [
            "--set",
            random.choice(("global_latency_ns=77.7", "local_vcs=8", "decide_at=head", "packet_bytes=64")),
        ]
    if random.random() < 0.2:
        options += ["--injection", random.choice(("periodic", "bernoulli", "poisson", "auto"))]
    if random.random() < 0.1:
        options += ["--source-queue", random.choice(("20", "1", "unbounded", "none", "8"))]
    if random.random() < 0.1:
        options += ["--message-packets", random.choice(("1", "3"))]
    if random.random() < 0.2:
        options += ["--arrangement", random.choice(("absolute", "palmtree", "circulant", "relative"))]
    if random.random() < 0.1:
        options += ["--threads", random.choice(("1", "2"))]
    return options


def _window(random: Random) -> list[str]:
    return ["--warmup-ns", _time(random), "--measure-ns", _time(random)]


def _info(random: Random) -> list[str]:
    if random.random() < 0.2:
        return _system(random)[:2]
    return [random.choice((_policy(random), _traffic(random), "72", "lia", "deep-q", "masked-ppo", "ppo"))]


def _simulate(random: Random) -> list[str]:
    options = [*_system(random), "--policy", _policy(random), "--traffic", _traffic(random)]
    options += [
        "--load",
        str(random.choice((0.1, 0.5, 0.93, 1))),
        "--seed",
        str(random.randrange(2**64)),
        *_window(random),
    ]
    if random.random() < 0.5:
        options.append("--json")
    if random.random() < 0.15:
        options += ["--packet-log", random.choice(_NAMES) + ".parquet"]
    return options


def _runs(random: Random) -> list[str]:
    options = [*_system(random), "--traffic", _traffic(random), "--load", _load(random), *_window(random)]
    options += ["--jobs", "1", "--out", random.choice(_NAMES)]
    if random.random() < 0.97:
        options.append("--no-plots")
    if random.random() < 0.2:
        options += ["--seed", "1", "--seed", random.choice(("1", "2", str(2**64 - 1)))]
    if random.random() < 0.2:
        options.append(random.choice(("--no-arrays", "--redo")))
    return options


def _sweep(random: Random) -> list[str]:
    return [
        "--policy",
        _policy(random),
        *(["-p", _policy(random)] if random.random() < 0.3 else []),
        *_runs(random),
    ]


def _evaluate(random: Random) -> list[str]:
    kinds = (
        *("policy.py:P", "a=policy.py:P", "policy.py:NotOne", "policy.py:Bad", "policy.py:Missing"),
        "broken.py:P",
    )
    others = ("garbage.zip", "nothing.zip", "x=garbage.zip", "nowhere:P", "json:JSONDecoder", "$$=min")
    return [
        random.choice((*kinds, *others, "min", _policy(random))) for _ in range(random.randint(1, 3))
    ] + _runs(random)


def _train(random: Random) -> list[str]:
    agent = random.choice(("deep-q", "masked-ppo", "ppo", "garbage"))
    options = [agent, "--topology", "72", "--duration-ns", _time(random), "--episode-ns", _time(random)]
    return [*options, "--out", random.choice(_NAMES), "--no-tensorboard", "--evaluate-every", "0"]


def _plot_options(random: Random) -> list[str]:
    options = ["--no-page", "--table", "--format", random.choice(("png", "svg", "gif"))]
    kinds = ("loads", "distributions", "series", "fairness", "global-links", "ports", "nothing")
    options += ["--kind", random.choice(kinds)]
    if random.random() < 0.3:
        options += ["--load", random.choice(("0.1", "0.77", "nan"))]
    if random.random() < 0.3:
        options += ["--policy", random.choice(("min", "nothing"))]
    return options


def _plot(random: Random) -> list[str]:
    return [random.choice(("nothing", "garbage.zip", "trace.csv", ".")), *_plot_options(random)]


def _reproduce(random: Random) -> list[str]:
    options = [
        random.choice(("hpdc21", "hpdc21", "paper")),
        random.choice(("fig5", "fig9", "memory", "fig1", "all")),
    ]
    if random.random() < 0.5:
        options += ["--seeds", random.choice(("1", "0", "2", "-1"))]
    if random.random() < 0.3:
        options += ["--learner", random.choice(("alpha=0.1", "alpha", "nothing=1", "integer_values=true"))]
    return [*options, "--dry-run", "--out", random.choice(_NAMES)]


def _view(random: Random) -> list[str]:
    policies = [word for _ in range(random.choice((0, 1, 2, 2, 3))) for word in ("-p", _policy(random))]
    options = [*_system(random), *policies, "--traffic", _traffic(random), "--load", "0.3", *_window(random)]
    return [
        *options,
        "--frames",
        random.choice(("1", "2", "3", "7", "0")),
        "--out",
        random.choice(_NAMES) + ".html",
    ]


_COMMANDS: dict[str, Callable[[Random], list[str]]] = {
    "info": _info,
    "simulate": _simulate,
    "sweep": _sweep,
    "evaluate": _evaluate,
    "train": _train,
    "plot": _plot,
    "reproduce": _reproduce,
    "view": _view,
}


def _mutated(random: Random, arguments: list[str]) -> list[str]:
    """Half of them as they are; else one or two places changed. The command stays, so that none runs for hours."""
    changed = list(arguments)
    keep = 2 if arguments[0] == "reproduce" else 1
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        if len(changed) <= keep:
            break
        place = random.randrange(keep, len(changed))
        kind = random.random()
        if kind < 0.6 and changed[place] not in ("--dry-run", "--no-plots", "1"):
            changed[place] = random.choice(_ODD_TEXTS)
        elif kind < 0.8:
            changed.insert(place, random.choice(_ODD_TEXTS))
        elif changed[place] != "--dry-run":
            del changed[place]
    return changed
