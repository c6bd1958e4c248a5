"""The calls of the command line that people try first: each does what it says, or fails with one short sentence."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.unit.cli_arguments import run

_SHORT = "-t 72 --warmup 1us --measure 1us"
_PLANNED = "-t 72 --traffic uniform -l 0.1 --dry-run"

DONE = {  # call: what is printed
    "--help": "simulate",
    "-h": "simulate",
    "-V": "dragonfly-env ",
    "--version": "dragonfly-env ",
    "help": "simulate",
    "help sweep": "--program",
    "version": "dragonfly-env ",
    "info": "ugal-n",
    "info policies": "Routing policies (--policy)",
    "info --json": '"policies": [',
    "info networks --json": '"global_latency_ns"',
    "info theta --json": '"ports_per_router"',
    "info features --json": '"one_column_per"',
    "info 1056": "1,056",
    "info p=2,a=4,h=2": "72",
    "info -t p=4,a=8,h=4,g=20": "of at most 33",
    "info theta": "rank-1",
    "info ugal-n": "bias_packets",
    "info par -t 342": "Virtual channels",
    "info adv": "--traffic adv+1",
    "info milc": "--job milc:hosts=32",
    "info lia": "local_latency_ns",
    "info deep-q": "learning_rate",
    "info features": "queue_packets",
    "simulate --help": "--to-completion",
    f"simulate {_SHORT}": "min under uniform at load 0.5, seed 1",
    f"simulate {_SHORT} -p par -l 0.3": "par under uniform at load 0.3",
    f"simulate {_SHORT} -p ugal-n:bias_packets=2,minimal_candidates=2": "ugal-n:bias_packets=2,minimal_candidates=2",
    f"simulate {_SHORT} --traffic hotspot:hosts=4,fraction=0.2 -l 0.1": "hotspot:hosts=4,fraction=0.2",
    f"simulate {_SHORT} -n lia --arrangement absolute": "absolute",
    f"simulate {_SHORT} --set global_latency_ns=200,local_latency_ns=20 --json": '"global_latency_ns": 200.0',
    f"simulate {_SHORT} --seed 7": "seed 7",
    f"simulate {_SHORT} --injection bernoulli --source-queue 20 --message-packets 2": "packets lost",
    f"simulate {_SHORT} --out out.json": "accepted load",
    f"simulate {_SHORT} --packet-log log.parquet": "accepted load",
    "simulate -t p=2,a=4,h=2 --warmup 0.5µs --measure 1000": "measured 1 µs after 0.5 µs",
    "simulate -t 72 --warmup 500ns --measure 0.001ms": "measured 1 µs after 0.5 µs",
    "simulate -t 72 --traffic all-to-all --to-completion": "makespan",
    "simulate -t 72 --job milc:hosts=8,scale=0.001,iterations=1": "milc",
    "simulate -t 72 --job qbox:hosts=2,scale=0.0001,gap_ns=5,hacc:hosts=8,scale=0.0001,gap_ns=5": "1: ",
    f"sweep -p min {_PLANNED}": "1 run",
    "sweep -t 72 -p min,par --traffic uniform,adv+1 -l 0.1,0.2 -s 1,2 --dry-run": "16 runs",
    "sweep -t 72 -p min -p par --traffic uniform -l 0.1:0.5:0.2 -s 1 -s 2 --dry-run": "12 runs",
    f"sweep -p par,ugal-n:bias_packets=2,minimal_candidates=2,min {_PLANNED}": "3 runs",
    f"sweep -p min {_PLANNED} --warmup 10us --measure 1ms --series-bin 1us": "1 run",
    "sweep -t 72 -p min --job milc:hosts=8 --placement random,groups=2 --dry-run": "2 runs",
    f"evaluate min,par ugal-n {_PLANNED}": "3 runs",
    "bounds -t 72 --traffic adv+1 -l 0.1,0.2": "most load",
    "view -t 72 --measure 1us --frames 2 -o page.html": "page.html",
    "benchmark --hosts 72 --track steady --dry-run": "",
    "benchmark --list": "ugal-n",
    "reproduce": "fig5",
    f"simulate {_SHORT} --set global_latency_ns=0.5us --json": '"global_latency_ns": 500.0',
    "reproduce hpdc21 fig5,fig6 --dry-run": "",
    "train tiny -t p=1,a=3,h=1 --episode 1us --episodes 2 --evaluate-every 0 --no-tensorboard": "2 of 2 episodes",
    "train tiny -t p=1,a=3,h=1 --episode 1us --decisions 10 --evaluate-every 0 --no-tensorboard": "1 of 40 episodes",
}

REFUSED = {  # call: begin of the sentence, after "error: "
    "simul": "No such command 'simul'. Did you mean 'simulate'?",
    "--verson": "No such option: --verson (Possible options: --version)",
    "info bad": "NAME bad: ",
    "simulate extra": "Got unexpected extra argument(s) (extra)",
    "simulate --lod 0.5": "No such option: --lod (Possible options: ",
    "simulate --load": "Option '--load' requires an argument",
    "simulate -p ugal": "--policy ugal: is unknown; did you mean 'ugal-n'? 'dragonfly-env info' lists all 27",
    "simulate -p valiant": "--policy valiant: is called 'val-n' here",
    "simulate -p Minimal": "--policy Minimal: is called 'min' here",
    "simulate -p UGAL-N": "--policy UGAL-N: is unknown; did you mean 'ugal-n'?",
    "simulate -p ugal-n,bias_packets=2": "--policy ugal-n,bias_packets=2: parameters follow a colon: ugal-n:bias_",
    "simulate -t 100": "--topology 100: is unknown; did you mean '72'? 'dragonfly-env info' lists all 13",
    "simulate -t 2,4,2": "--topology 2,4,2: must have names: p=2,a=4,h=2",
    "simulate -t 2x4x2x9": "--topology 2x4x2x9: must have names: p=2,a=4,h=2,g=9",
    "simulate -t p=2,a=4,hh=2": "--topology p=2,a=4,hh=2: a topology has no such setting; did you mean 'h'?",
    "simulate -l 30%": "--load 30%: must be a fraction of the host links' bandwidth: 0.3",
    "bounds -l 30%": "--load 30%: must be a fraction of the host links' bandwidth: 0.3",
    "simulate -l 0,3": "--load 0,3: must have a decimal point: 0.3",
    "sweep -p min --traffic uniform -l 0.1-0.9": "--load 0.1-0.9: must be a range with a step: 0.1:0.9:0.1",
    "sweep -p min --traffic uniform -l 0.1:0.9": "--load 0.1:0.9: must be a range with a step: 0.1:0.9:0.1",
    "simulate -l 1.2": "--load 1.2: must be a fraction of the host links' bandwidth, in (0, 1]",
    "simulate --traffic adversarial": "--traffic adversarial: is called 'adv+1' here",
    "simulate --traffic random": "--traffic random: is called 'uniform' here",
    "simulate --traffic unifrom": "--traffic unifrom: unknown pattern; did you mean 'uniform'?",
    "simulate --traffic hotspot:host=4": "--traffic hotspot:host=4: ",
    "simulate -n slingshot": "--network slingshot: must be one of 'default', 'q-adaptive', 'lia', 'aries', 'aries-256'",
    "simulate --arrangement absolut": "--arrangement absolut: must be one of 'palmtree', 'palmtree-plus', 'absolute',",
    "simulate --set global_latency_ns=500nm": "--set global_latency_ns=500nm: must be a time such as 10us",
    "simulate --set local_vcs=two": "--set local_vcs=two: must be an integer from 0",
    "simulate --set latency=3": "--set latency=3: a network has no such setting",
    "simulate -n lia --set local_bufer_packets=1": "--set local_bufer_packets=1: a network has no such setting; did",
    "simulate --injection bernouli": "--injection bernouli: must be one of",
    "simulate --warmup -5us": "--warmup -5us: must be a number in [0",
    "simulate --seeds 3": "No such option: --seeds (Possible options: --seed, ",
    "simulate --message-packets half": "--message-packets half: must be an integer from 1 to 65535",
    "simulate --job milc:32": "--job milc:32: must have the form name=value",
    "train dqn": "AGENT dqn: is called 'deep-q' here",
    "train ppo2": "AGENT ppo2: is called 'ppo' here",
    "train tiny -a explore": "--agent-setting explore: must have the form name=value",
    "reproduce hpdc": "PAPER hpdc: must be one of 'hpdc21', 'taco25', 'aries'; did you mean 'hpdc21'?",
    "benchmark --track stedy": "--track stedy: must be one of 'steady', 'saturation', 'transient', 'applications'; did",
    "benchmark --suite v1": "--suite v1: must be one of 'dragonfly-v1'",
    "view --frames many": "--frames many: ",
    "simulate -p min -p par": "--policy min,par: simulate does one run, and these are 2: 'dragonfly-env sweep'",
    "simulate -p min,par": "--policy min,par: simulate does one run, and these are 2: 'dragonfly-env sweep'",
    "simulate --traffic uniform,adv+1": "--traffic uniform,adv+1: simulate does one run",
    "simulate -l 0.1:0.3:0.1": "--load 0.1:0.3:0.1: simulate does one run, and these are 3",
    "simulate --seed 1,2": "--seed 1,2: simulate does one run",
    "simulate -t 72 -t 342": "--topology 342: may be typed only once",
    "simulate -p ugl-n": "--policy ugl-n: is unknown; did you mean 'ugal-n'? 'dragonfly-env info' lists all",
    "simulate -p ugal-n:bias=1": "--policy ugal-n:bias=1: policy 'ugal-n' has no such setting; did you mean 'bias_p",
    "simulate -p mlp": "--policy mlp: must be weights=FILE",
    "simulate -t 72 -p par --set local_vcs=1": "--set local_vcs=1: at least 5",
    "simulate -p agent.zip": "--policy agent.zip: cannot be read",
    "simulate --traffic nonsense": "--traffic nonsense: unknown pattern; 'dragonfly-env info' lists all",
    "simulate -t 72 --traffic adv+9": "--traffic adv+9: must not be a multiple of the number of groups",
    "simulate --traffic trace:/nowhere.csv": "--traffic trace:/nowhere.csv: cannot be read",
    "simulate --load 0": "--load 0: must be a fraction of the host links' bandwidth, in (0, 1]",
    "simulate --load 45": "--load 45: must be a fraction of the host links' bandwidth, in (0, 1]; did you mean 0.45?",
    "simulate --load much": "--load much: must be a load such as 0.3, or a range",
    "simulate -t 73": "--topology 73: is unknown; did you mean '72'? 'dragonfly-env info' lists all",
    "simulate -t p=2,a=4": "--topology p=2,a=4: lacks h",
    "simulate -t p=2,a=4,h=2,g=99": "--topology p=2,a=4,h=2,g=99: must be an integer from 1 to 9",
    "simulate --arrangement random": "--arrangement random: must be one of 'palmtree'",
    "simulate -n lai": "--network lai: must be one of 'default', 'q-adaptive', 'lia', 'aries', 'aries-256'; did you",
    "simulate --set local_bufer_packets=1": "--set local_bufer_packets=1: a network has no such setting; did you mean",
    "simulate --set nonsense": "--set nonsense: must have the form name=value",
    "simulate --seed -1": "--seed -1: must be an integer from 0",
    "simulate --seed one": "--seed one: must be an integer from 0",
    "simulate --warmup 10xs": "--warmup 10xs: must be a time such as 10us",
    "simulate --measure 0": "--measure 0: must be",
    "simulate --measure 1e30": "--measure 1e30: must be",
    "simulate --injection poison": "--injection poison: must be one of",
    "simulate --source-queue many": "--source-queue many: must be a number of packets or unbounded",
    "simulate --out /proc/no/out.json": "--out /proc/no/out.json: must be a file that can be written",
    "simulate --packet-log log.txt": "--packet-log log.txt: must be the name of a .parquet or a .csv file",
    "simulate --to-completion": "--to-completion: uniform never ends",
    "simulate -t 72 --traffic all-to-all --to-completion --measure 1us": "--to-completion: cannot be combined with",
    "simulate -t 72 --job milc": "--job milc: must be given: how many hosts the job has",
    "simulate -t 72 --job milk:hosts=8": "--job milk:hosts=8: is unknown; did you mean 'milc'?",
    "simulate -t 72 --job milc:hosts=800": "--job milc:hosts=800: must be at most 72",
    "sweep": "--policy: give at least one, e.g. min",
    "sweep -p min": "--traffic: give at least one, e.g. uniform",
    "sweep -p min --traffic uniform": "--load: must hold at least one load in (0, 1]",
    "sweep nowhere.toml": "SCENARIO.toml nowhere.toml: must be a readable file",
    "sweep -t 72 -p min --traffic uniform -l 0.1 -j 0": "--workers 0: must be an integer",
    f"sweep -p min {_PLANNED} --share 4/3": "--share 4/3: must be I/N",
    f"sweep -p min,min {_PLANNED}": "--policy min,min: must be listed only once",
    f"sweep -p min {_PLANNED} --backend slurm": "--backend slurm: must be one of",
    "plot": "Missing argument 'RESULTS'",
    "plot nowhere": "RESULTS nowhere: must be",
    "bounds -t 72 --traffic adv+1,uniform": "--traffic adv+1,uniform: must be one",
    "bounds -t 72 --traffic all-to-all": "--traffic all-to-all: must be an open-loop pattern",
    "view -p min,par,pb": "--policy min,par,pb: a page shows at most 2 runs",
    "view --frames 0": "--frames 0: must be",
    "train deep-w": "AGENT deep-w: must be one of 'deep-q', 'ppo'",
    "train tiny --episodes 0": "--episodes 0: must be an integer",
    "train tiny --decisions 0": "--decisions 0: must be an integer from 1",
    "train tiny --minutes -1": "--minutes -1: must be a number in [0",
    "train tiny --load 0.1,0.2": "--load 0.1,0.2: an agent is trained under one traffic at one load",
    "train tiny -a explore=1": "--agent-setting explore=1: agent 'tiny' has no such setting",
    "train --suite nonsense": "--suite nonsense: must be one of",
    "evaluate": "POLICY: give at least one, e.g. min",
    "evaluate nowhere.zip": "POLICY nowhere.zip: cannot be read",
    "evaluate min": "--traffic: give at least one, e.g. uniform",
    "benchmark --track nonsense": "--track nonsense: must be one of",
    "benchmark --hosts 73": "--hosts 73: must be a size of dragonfly-v1",
    "calibrate nonsense": "PROGRAM nonsense: must be one of",
    "calibrate milc -t 72 --hosts 900": "--hosts 900: must be at most 72",
    "reproduce nonsense": "PAPER nonsense: must be one of 'hpdc21', 'taco25', 'aries'",
    "reproduce hpdc21 fig99": "FIGURE fig99: is unknown",
    "reproduce hpdc21 --windows 2": "--windows 2: must be a number",
}


@pytest.fixture(autouse=True)
def _own_agent(tiny: None) -> None:
    """The agent ``tiny``, and a folder to work in."""


@pytest.mark.parametrize("call", DONE)
def test_a_call_does_what_it_says(call: str) -> None:
    done = run(*shlex.split(call), columns=100)
    assert done.exit_code == 0, done.output
    assert DONE[call] in done.stdout


@pytest.mark.parametrize("call", REFUSED)
def test_a_wrong_call_fails_with_one_short_sentence_that_names_what_was_typed(call: str) -> None:
    done = run(*shlex.split(call), columns=80)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {REFUSED[call]}")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr.split()) <= 26  # "error:" and 25 words
    assert not any(path.is_file() for path in Path().rglob("*")), "nothing is written"
