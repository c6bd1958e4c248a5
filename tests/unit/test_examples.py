"""Every example runs, and prints what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from dragonfly_docs.running import agrees  # noqa: E402
from dragonfly_env.training.tasks import read_results  # noqa: E402

GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
# make test-rllib and make test-frameworks run theirs.
FRAMEWORKS = ("benchmarl", "rllib", "tianshou", "torchrl")
EXAMPLES = sorted(
    path.name for path in (ROOT / "examples").glob("*.py") if not path.name.startswith(FRAMEWORKS)
)

# Texts that the output must contain; a file of examples/ that is not named here fails.
PROMISES = {
    "calibrate_programs.py": r"milc: gap_ns=\d+, MPI share 0\.52\d \(0\.52 wanted\)",
    # A law for each: messages of 63 packets, computing and a barrier; a step with a ring of 4 x 64 KB.
    "dumpi_to_goal.py": r"4 ranks, 44 operations\nrun time 12,\d\d\d ns",
    "chakra_to_goal.py": r"4 ranks, 104 operations\nrun time 12\d,\d\d\d ns",
    "custom_policy.py": r"shortest-delay: +[\d.]+ ns",
    # The learned modes carry more than the default of the machine.
    "job_bias.py": r"hacc  ad3 +\d+  0\.\d+  learned\n\n.*\nad0   ad0 .* mean 0\.5[0-5]\d\nad1   ad3 .* mean 0\.5[6-9]",
    "jobs_side_by_side.py": r"par milc: +[\d.]+ µs.*\n.*wait.*\n.*allreduce",
    # With the tables of the maximum, and with fresh ones, the overloaded network recovers.
    "q_adaptive_decline.py": r"epsilon 0.001 .* 0\.81\d\ntables .*: 0\.86[\d. ]+\nfresh .* 0\.86\d\nepsilon 0.02 .*",
    "q_adaptive_task.py": r"( +[\d,]+ packets: \d+ ns\n)+q-adaptive on new traffic: \d+ ns, score \d\d",
    "idqn_batched.py": r"( +[\d,]+ decisions: \d+ ns\n){2,}idqn on new traffic: [12]\d\d\d ns",
    "ippo_pettingzoo.py": r"( +[\d,]+ decisions: \d+ ns\n)+ippo on new traffic: 1[34]\d\d ns",
    "mappo_batched.py": r"( +[\d,]+ decisions: \d+ ns\n)+mappo on new traffic: 1[34]\d\d ns",
    "packet_ppo_pettingzoo.py": r"packet-ppo on new traffic: 1\d\d\d ns, score -?\d+",
    "two_stage_ppo.py": r"( +[\d,]+ decisions: \d+ packets\n)+two-stage-ppo on new traffic: 1[1-4]\d\d ns, score \d\d",
    "masked_ppo_sb3.py": r" +[\d,]+ decisions: \d+ ns\nmasked-ppo on new traffic: 1[34]\d\d ns",
    "dqn_sb3.py": r"DQN: +-[\d.]+ µs",
    # Trained on smaller systems it beats both heuristics, and in the core it decides as in Python.
    "write_a_learner.py": r"small-ppo, 1,056 hosts: 1[34]\d\d ns\n.*: ([\d.]+) ns \1 ns",
}
# The baselines train for a minute: here they only begin.
SHORT = {
    "idqn_batched.py": ("--decisions", "50000", "--out", "{out}"),
    "ippo_pettingzoo.py": ("--decisions", "40000", "--independent", "--out", "{out}"),
    "mappo_batched.py": ("--decisions", "40000", "--out", "{out}"),
    "q_adaptive_task.py": ("--decisions", "100000", "--out", "{out}"),
    "packet_ppo_pettingzoo.py": ("--decisions", "140000"),
    "two_stage_ppo.py": ("--decisions", "400000"),
    "masked_ppo_sb3.py": ("--steps", "160000"),
}
# Examples that train: slow, and the learners have tests of their own.
NEED_EXTRA = (
    *(name for name in SHORT if name != "q_adaptive_task.py"),
    "dqn_sb3.py",
    "write_a_learner.py",
)
SLOW = (*NEED_EXTRA, "q_adaptive_decline.py")


def shown(name: str) -> list[str]:
    """The lines that the gallery shows of an example's output."""
    command = f"```sh\npython examples/{name}\n```\n"
    assert command in GALLERY
    found = re.match(r"\n```text\n(.*?)```", GALLERY.partition(command)[2], re.DOTALL)
    return found[1].splitlines() if found else []


def run(name: str, out: Path) -> str:
    given = [argument.format(out=out) for argument in SHORT.get(name, ())]
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name), *given],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in EXAMPLES]
)
def test_every_example_runs_and_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    if name in NEED_EXTRA:
        pytest.importorskip("stable_baselines3", reason="needs the extra [sb3]")
    printed = run(name, tmp_path)
    assert re.search(PROMISES[name], printed)
    lines = printed.splitlines()
    assert [line for line in shown(name) if not any(agrees(line, other) for other in lines)] == []
    if "--out" in SHORT.get(name, ()):
        [result] = read_results(tmp_path)
        assert (tmp_path / result["task"] / "seed-1.json").exists()
        assert result["policy"] == re.findall("(.*) on new traffic", printed)[0]
        assert result["training"]["decisions"] >= 40_000


def test_the_custom_policy_is_thirty_lines() -> None:
    text = (ROOT / "examples" / "custom_policy.py").read_text(encoding="utf-8")
    code = text.split('"""', 2)[2].splitlines()
    assert sum(bool(line.strip()) for line in code) <= 30
