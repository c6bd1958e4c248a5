"""The command line refuses the impossible in one line: field, value and range; exit code 2 and no traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dragonfly_env.cli import app


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("simulate --load 0", r"load.* = 0\.0: must be a fraction of the host links' bandwidth, in \(0, 1\]"),
        ("simulate --load nan", r"load.* = nan: must be"),
        ("simulate -t 73", r"topology = '73': did you mean '72'\? It must be one of"),
        ("simulate -t p=2,a=4,h=1000000000", r"h = 1000000000: must be"),
        ("simulate -t p=2,a=4,h=2,trunking=3", r"trunking = 3: must divide"),
        ("simulate -t p=2,a=4,h=2,g=10", r"g = 10: must be"),
        ("simulate --policy ugl-n", r"policy = 'ugl-n': .*did you mean 'ugal-n'"),
        ("simulate --policy ugal-n:bias=1", r"bias = 1: .*did you mean 'bias_packets'"),
        ("simulate --policy ugal-n:bias_packets=nan", r"bias_packets = nan: must"),
        ("simulate --traffic adv+9", r"adv\.offset = 9: must not be a multiple"),
        ("simulate --traffic unifrom", r"traffic = 'unifrom': .*did you mean 'uniform'"),
        ("simulate --network lai", r"network = 'lai': .*did you mean 'lia'"),
        ("simulate --set local_buffer_packets=0", r"local_buffer_packets = 0: must"),
        (
            "simulate --set local_bufer_packets=1",
            r"local_bufer_packets = 1: .*did you mean 'local_buffer_packets'",
        ),
        ("simulate --measure-ns -1", r"measure_ns = -1\.0: must"),
        ("simulate --measure-ns 1e30", r"measure_ns = 1e\+30: must"),
        ("simulate --warmup-ns nan", r"warmup_ns = nan: must"),
        ("simulate --threads 1000000", r"threads = 1000000: must"),
        ("simulate --seed -1", r"seed.* = -1: must"),
        ("simulate --message-packets 0", r"message_packets = 0: must"),
        ("simulate --source-queue 0", r"source_queue_packets = 0: must"),
        ("simulate --source-queue many", r"source_queue_packets = 'many': must"),
        ("simulate --injection poison", r"injection = 'poison': .*did you mean 'poisson'"),
        ("simulate --arrangement palmtre", r"arrangement = 'palmtre': .*did you mean 'palmtree'"),
        ("simulate --traffic trace:/nowhere.csv", r"trace file = '/nowhere\.csv': cannot be read"),
        (
            "simulate --load 1.2",
            r"load.* = 1\.2: must be a fraction of the host links' bandwidth, in \(0, 1\]$",
        ),
        (
            "simulate --load 45",
            r"load.* = 45\.0: must be a fraction of .*, in \(0, 1\]; did you mean 0\.45\?$",
        ),
        (
            "simulate --packet-log x.json",
            r"--packet-log = 'x\.json': must be the name of a \.parquet or a \.csv file",
        ),
        ("simulate --packet-log /proc/no/log.parquet", r"--packet-log = '/proc/no/log\.parquet': must be"),
        ("sweep -p min --traffic uniform --load 0.5 --out /proc/no", r"results folder = '/proc/no': must be"),
        (
            "sweep -p min --traffic uniform --load 0.9:0.1:0.1 --out /proc/no",
            r"--load = .*: must not end below",
        ),
        ("sweep /nowhere.toml", r"file = '/nowhere\.toml': must be"),
        ("plot /nowhere", r"results = '/nowhere': must be"),
        ("info nonsense", r"name = 'nonsense': must be one of"),
    ],
)
def test_the_command_line_says_field_value_and_range_and_ends_with_2(
    arguments: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    command, *options = arguments.split()
    if command == "simulate" and "-t" not in options:
        options += ["-t", "72"]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        app([command, *options])
    assert ended.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    assert re.search(message, " ".join(shown.err.split())), shown.err
