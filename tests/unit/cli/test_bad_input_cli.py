"""The command line refuses the impossible in one line: field, value and range; exit code 2 and no traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dragonfly_env.cli import app

# A few options of each kind: the allowed values of a setting are tested where the setting is.
MISTAKES = [
    ("simulate --load 0", r"load.* = 0\.0: must be a fraction of the host links' bandwidth, in \(0, 1\]"),
    ("simulate --load 45", r"load.* = 45\.0: must be .*, in \(0, 1\]; did you mean 0\.45\?$"),
    ("simulate -t 73", r"topology = '73': did you mean '72'\? It must be one of"),
    ("simulate --policy ugl-n", r"policy = 'ugl-n': did you mean 'ugal-n'\? It must be one of 'min'"),
    ("simulate --policy ugal-n:bias=1", r"bias = 1: .*did you mean 'bias_packets'"),
    ("simulate --traffic adv+9", r"adv\.offset = 9: must not be a multiple"),
    ("simulate --traffic trace:/nowhere.csv", r"trace file = '/nowhere\.csv': cannot be read"),
    ("simulate --network lai", r"network = 'lai': .*did you mean 'lia'"),
    ("simulate --set local_bufer_packets=1", r"= 1: .*did you mean 'local_buffer_packets'"),
    ("simulate --measure-ns 1e30", r"measure_ns = 1e\+30: must"),
    ("simulate --injection poison", r"injection = 'poison': .*did you mean 'poisson'"),
    ("simulate --packet-log /proc/no/log.parquet", r"--packet-log = '/proc/no/log\.parquet': must be"),
    ("sweep", r"policies = "),
    ("sweep -p min --traffic uniform --load 0.1 -j 0", r"workers = 0"),
    ("sweep /nowhere.toml", r"file = '/nowhere\.toml': must be"),
    ("info nonsense", r"name = 'nonsense': must be one of"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_one_line_on_the_error_stream_and_exit_code_2(
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
    assert shown.err.startswith("error: ")
    assert "Traceback" not in shown.err
    assert re.search(message, " ".join(shown.err.split())), shown.err
    assert list(tmp_path.iterdir()) == []
