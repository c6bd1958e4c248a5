"""Submissions: one file that holds a policy, what it was trained on, and its results, so that others can check them.

The file is a zip archive: ``submission.json`` (the header), ``results.json`` (every run), and below ``policy/`` the
weights, the saved agent or the source of the class. Names and sizes are checked before anything is taken out, and
nothing in it is unpickled. The source of a class is code: it runs only if the caller allows it.

What protects a submission: hashes of all files and of the header tell accidents and careless changes. Run ids hold the
hash of the policy, so other weights have other ids. The declaration is compared with the test split, and with what a
saved agent says of itself. Results are done again, a random part of them, and must have the same bits.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import dragonfly_env as dfe
from dragonfly_env.baselines import Mlp
from dragonfly_env.checks.archives import open_archive, read_member, write_archive
from dragonfly_env.checks.documents import parse_json
from dragonfly_env.checks.files import replacing
from dragonfly_env.checks.outside import check_mapping, parsing, read_bytes
from dragonfly_env.checks.values import check_choice, check_integer, config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.lab.benchmark.bounds import CaseBounds
from dragonfly_env.lab.benchmark.declaration import Declaration, declared
from dragonfly_env.lab.benchmark.execution import Benchmark
from dragonfly_env.lab.benchmark.measured import Measured, measured_of
from dragonfly_env.lab.benchmark.scores import geometric_mean
from dragonfly_env.lab.benchmark.suite import EFFORTS, BenchmarkCase, Effort, Suite, Track, find_suite
from dragonfly_env.metrics.tables import known
from dragonfly_env.policies import make_policy, policies
from dragonfly_env.sweeps.progress import Reporter
from dragonfly_env.sweeps.run import Run
from dragonfly_env.sweeps.runner import run_all
from dragonfly_env.sweeps.scenario import PolicyChoice
from dragonfly_env.sweeps.storage import ResultsFolder, read_rows
from dragonfly_env.training.agent_modules import files_of

FORMAT = 1
SHARE = 0.1
"""Of the runs that are done again."""

_HEADER, _RESULTS, _POLICY = "submission.json", "results.json", "policy/"
_ALLOWED = "must be a submission that 'dragonfly-env benchmark pack' wrote"
_MOST_FILES = 50
_MOST_FILE_BYTES, _MOST_MEMBER_BYTES, _MOST_TEXT_BYTES = 2**28, 2**27, 2**25
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
_LABEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+# \-]{0,59}")
_NEED_FILES = ("mlp", "static-optimum")
_KINDS = ("built-in", "weights", "agent", "class")
_FIELDS = ("format", "suite", "effort", "tracks", "seeds", "policy", "training", "package_version", "scores")
_CODE = "holds code, which was not run: read it first, then allow it with --run-code"


@dataclasses.dataclass(frozen=True, slots=True)
class Submission:
    """What a file holds; every hash in it is right.

    Attributes:
        header: See ``_FIELDS``; and ``files``, their hashes.
        results: Of every run, by its id: track, case, seed, and what it came to.
        policy: The files of the policy, by their names.
        sha256: Of the whole file.
    """

    header: Mapping[str, Any]
    results: Mapping[str, tuple[str, str, int, Measured]]
    policy: Mapping[str, bytes]
    sha256: str

    @property
    def label(self) -> str:
        """The name of the policy in tables."""
        return str(self.header["policy"]["label"])

    @property
    def has_code(self) -> bool:
        """Whether the policy is the source of a class."""
        return bool(self.header["policy"]["kind"] == "class")

    @property
    def declaration(self) -> Declaration:
        """What it was trained on."""
        return Declaration.from_dict(self.header["training"])

    @property
    def effort(self) -> Effort:
        """``quick`` or ``full``.

        Raises:
            ConfigError: If the header says something else.
        """
        check_choice("effort", self.header["effort"], EFFORTS)
        return "full" if self.header["effort"] == "full" else "quick"

    def cases(self, suite: Suite) -> Iterator[tuple[Track, BenchmarkCase]]:
        """The cases that it is about.

        Raises:
            ConfigError: For a track that the suite does not have.
        """
        for track in suite.choose(tuple(map(str, self.header["tracks"]))):
            for case in track.cases[self.effort]:
                yield track, case

    def scores(self, suite: Suite) -> dict[str, float]:
        """By track and split: the geometric mean over the bound of any routing; where there is no bound, of the values
        themselves.
        """
        by_case: dict[tuple[str, str], list[float]] = {}
        for track, case, _, measured in self.results.values():
            by_case.setdefault((track, case), []).append(measured.value)
        bounds = CaseBounds.read(suite.name)
        groups: dict[tuple[str, str], list[tuple[Track, list[float], float]]] = {}
        for of_track, of_case in self.cases(suite):
            if values := by_case.get((of_track.name, of_case.name)):
                bound = bounds.of(of_track, of_case, suite.seeds[self.effort])
                groups.setdefault((of_track.name, of_case.split), []).append((of_track, values, bound))
        found = {}
        for (name, split), some in groups.items():
            known = all(not math.isnan(bound) for _, _, bound in some)
            scale = [bound if known else 1.0 for _, _, bound in some]
            inverse = known and some[0][0].more_is_better
            arrays = [np.array(values, np.float64) for _, values, _ in some]
            positive = all(bool((array > 0).all()) for array in arrays)
            found[f"{name}, {split}"] = (
                geometric_mean(arrays, scale, inverse=inverse)[0] if positive else math.nan
            )
        return found


@dataclasses.dataclass(frozen=True, slots=True)
class Verified:
    """What a verification found.

    Attributes:
        submission: What was verified.
        again: How many runs were done again, with the same bits.
        cases: How many cases it has results of.
        of: How many cases its tracks have.
    """

    submission: Submission
    again: int
    cases: int
    of: int


def pack(work: Benchmark, file: Path, training: Declaration | None = None) -> Submission:
    """Write a submission of the last policy of a benchmark whose runs are all done.

    Args:
        work: With one policy.
        file: Where to.
        training: What it was trained on; None: what is next to the policy, or in its file, says so.

    Raises:
        ConfigError: If runs are missing, nothing declares the training, it was trained on the test split, or the policy
            has no file that can be packed.
    """
    label = work.labels[-1]
    choice = work.choices[label]
    training = declared(choice) if training is None else training
    if training is None:
        allowed = (
            "must declare its training: --training FILE, or a file of that kind next to it (docs/submit.md)"
        )
        raise config_error("policy", label, allowed)
    rows, lacking = [], 0
    for track in work.chosen:
        for case in track.cases[work.effort]:
            if work.refusal(case, label):
                continue
            for run_id, run, measured in work.measured(track, case, label):
                if measured is None:
                    lacking += 1
                else:
                    rows.append([track.name, case.name, run.config.seed, run_id, *_plain(measured)])
    if lacking or not rows:
        allowed = f"must hold all runs of {label}; {lacking} are missing, 'dragonfly-env benchmark' does them"
        raise config_error("results folder", str(work.folder), allowed)
    policy, files = _policy_of(choice)
    header: dict[str, Any] = {
        "format": FORMAT,
        "suite": work.suite.name,
        "effort": work.effort,
        "tracks": [track.name for track in work.chosen],
        "seeds": len(work.seeds_of()),
        "policy": policy,
        "training": training.to_dict(),
        "package_version": dfe.__version__,
    }
    members = {_RESULTS: _json({"runs": rows}), **{_POLICY + name: files[name] for name in sorted(files)}}
    made = Submission(header, _results(rows), files, "")
    header["scores"] = {name: known(one) for name, one in made.scores(work.suite).items()}
    header["files"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    header["sha256"] = _seal(header)
    write_archive(file, {_HEADER: _json(header), **members}, "out")
    submission = read_submission(file)
    check(submission, work.suite)
    with _unpacked(submission) as packed:
        _check_ids(submission, work.suite, packed)
    return submission


def read_submission(file: Path) -> Submission:
    """Read a submission and check everything that can be checked without running anything.

    Raises:
        ConfigError: If the file is none, is too large, names a file outside itself, or a hash in it is wrong.
    """
    shown = str(file)
    sha256 = hashlib.sha256(read_bytes(file, "submission", _MOST_FILE_BYTES, _ALLOWED)).hexdigest()
    with open_archive(file, "submission", _ALLOWED) as archive:
        names = archive.namelist()
        if len(names) > _MOST_FILES or len(set(names)) < len(names):
            raise config_error("submission", shown, f"{_ALLOWED}, of at most {_MOST_FILES} files, each once")
        for name in names:
            inside = name.removeprefix(_POLICY).split("/") if name.startswith(_POLICY) else []
            if name not in (_HEADER, _RESULTS) and not (inside and all(map(_PART.fullmatch, inside))):
                raise config_error("submission", shown, f"{_ALLOWED}; {name!r} must not be in it")
        contents = {
            name: read_member(
                archive,
                name,
                _MOST_TEXT_BYTES if name in (_HEADER, _RESULTS) else _MOST_MEMBER_BYTES,
                field="submission",
                allowed=_ALLOWED,
            )
            for name in names
        }
    if not {_HEADER, _RESULTS} <= contents.keys():
        raise config_error("submission", shown, f"{_ALLOWED}, with {_HEADER} and {_RESULTS}")
    header = check_mapping("submission", _parsed(contents.pop(_HEADER), shown), _ALLOWED)
    if set(header) != {*_FIELDS, "files", "sha256"} or header["format"] != FORMAT:
        raise config_error("submission", shown, f"{_ALLOWED} of format {FORMAT}")
    if header["sha256"] != _seal(header):
        raise config_error("submission", shown, f"{_ALLOWED}; its header has been changed")
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    if header["files"] != hashes:
        other = sorted(name for name in hashes if header["files"].get(name) != hashes[name]) or ["a file"]
        raise config_error("submission", shown, f"{_ALLOWED}; {other[0]} has been changed")
    with parsing("submission", shown, _ALLOWED):
        results = _results(_parsed(contents.pop(_RESULTS), shown)["runs"])
        policy = check_mapping("policy", header["policy"])
        check_choice("policy.kind", policy["kind"], _KINDS)
        if not _LABEL.fullmatch(policy["label"]):
            raise ValueError("the policy has no name for tables")
        check_integer("seeds", header["seeds"], 1, 1000)
    files = {name.removeprefix(_POLICY): content for name, content in contents.items()}
    return Submission(header, results, files, sha256)


def check(submission: Submission, suite: Suite) -> None:
    """Refuse a submission for what it says, without running anything.

    Raises:
        ConfigError: If it is of another version or suite, declares a training on the test split or another one than its
            saved agent does, lacks runs of a case, or has other scores than its results give.
    """
    header, label = submission.header, submission.label
    if header["package_version"] != dfe.__version__:
        raise config_error("package_version", header["package_version"], f"must be {dfe.__version__}")
    if header["suite"] != suite.name:
        raise config_error("suite", header["suite"], f"must be {suite.name}")
    if reason := submission.declaration.why_in_test_split(suite):
        raise config_error("training", label, f"must not be on the test split: {reason}")
    seeds = set(range(1, header["seeds"] + 1))
    found: dict[tuple[str, str], set[int]] = {}
    for track, case, seed, _ in submission.results.values():
        found.setdefault((track, case), set()).add(seed)
    known = {(track.name, case.name) for track, case in submission.cases(suite)}
    if not found or not found.keys() <= known or any(some != seeds for some in found.values()):
        raise config_error(
            "results", label, f"must be runs of cases of {suite.name}, with the seeds {sorted(seeds)}"
        )
    told = {name: math.nan if one is None else float(one) for name, one in header["scores"].items()}
    scores = submission.scores(suite)
    same = told.keys() == scores.keys() and all(
        told[name] == one or (math.isnan(told[name]) and math.isnan(one))
        or math.isclose(told[name], one, rel_tol=1e-9)
        for name, one in scores.items()
    )  # fmt: skip
    if not same:
        raise config_error("scores", told, f"must be those of the results, which are {scores}")


def verify(
    file: Path,
    *,
    run_code: bool = False,
    share: float = SHARE,
    seed: int | None = None,
    workers: int | None = None,
    reporter: Reporter | None = None,
) -> Verified:
    """Check a submission, and do a random part of its runs again.

    Args:
        file: Of the submission.
        run_code: Whether code in it may run.
        share: Of its runs; at least one is done.
        seed: Of the choice of runs; None: another one each time.
        workers: Runs at a time.
        reporter: Told of the progress.

    Raises:
        ConfigError: If anything is wrong with it, or it holds code and that is not allowed.
    """
    submission = read_submission(file)
    suite = find_suite(str(submission.header["suite"]))
    check(submission, suite)
    if submission.has_code and not run_code:
        raise config_error("submission", str(file), f"{_CODE}: {', '.join(sorted(submission.policy))}")
    with _unpacked(submission) as choice:
        runs = _check_ids(submission, suite, choice)
        if choice.agent is not None and choice.agent.is_file:
            own = Declaration.of_metadata(choice.agent.metadata())
            if own is not None and not submission.declaration.covers(own):
                allowed = "must name every scenario that the saved agent says it was trained on"
                raise config_error("training", submission.label, allowed)
        names = sorted(runs)
        count = max(1, math.ceil(share * len(names)))
        chosen = random.Random(seed).sample(names, min(count, len(names)))
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            report = run_all(
                [runs[name][2] for name in chosen],
                folder,
                workers=workers,
                progress=reporter,
                name="verification",
            )
            for failure in report.failures:
                raise config_error("run", failure.run.describe(), f"must end well ({failure.error})")
            for name in chosen:
                _check_bits(submission, *runs[name], ResultsFolder(folder).run_file(name))
    cases = {(track, case) for track, case, _, _ in submission.results.values()}
    return Verified(submission, len(chosen), len(cases), sum(1 for _ in submission.cases(suite)))


def accepted(folder: Path) -> str:
    """A Markdown table of the submissions in a folder, from their results, the best first. No code of theirs runs.

    Raises:
        ConfigError: If a file in it is no submission, or is refused for what it says.
    """
    rows = []
    for file in sorted(folder.glob("*.zip")):
        submission = read_submission(file)
        suite = find_suite(str(submission.header["suite"]))
        check(submission, suite)
        rows.append((submission, suite, submission.scores(suite)))
    columns = list(dict.fromkeys(name for _, _, scores in rows for name in scores))
    rows.sort(key=lambda row: ([row[2].get(name, math.inf) for name in columns], row[0].label))
    headings = ["policy", "suite", "seeds", *columns, "trained", "version", "SHA-256"]
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    for submission, suite, scores in rows:
        header = submission.header
        texts = (f"{scores[name]:,.3f}" if name in scores else "-" for name in columns)
        cells = (
            *(submission.label, f"{suite.name}, {header['effort']}", str(header["seeds"]), *texts),
            *(
                submission.declaration.describe(),
                str(header["package_version"]),
                f"`{submission.sha256[:16]}`",
            ),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _check_ids(
    submission: Submission, suite: Suite, choice: PolicyChoice
) -> dict[str, tuple[Track, BenchmarkCase, Run]]:
    """The runs of a submission, by id.

    Raises:
        ConfigError: If an id is not that of the policy in the case.
    """
    runs = {}
    wanted = {(track, case) for track, case, _, _ in submission.results.values()}
    for track, case in submission.cases(suite):
        if (track.name, case.name) not in wanted:
            continue
        point = case.point(choice)
        for seed in range(1, submission.header["seeds"] + 1):
            run = point.run(seed)
            told = submission.results.get(run.id)
            if told is None or told[:3] != (track.name, case.name, seed):
                allowed = f"must be runs of the policy that comes with them; that of {case.name} is none"
                raise config_error("results", submission.label, allowed)
            runs[run.id] = (track, case, run)
    return runs


def _check_bits(submission: Submission, track: Track, case: BenchmarkCase, run: Run, file: Path) -> None:
    (row,) = read_rows(file).to_pylist()
    found, told = measured_of(track, case, row), submission.results[run.id][3]
    if not found.same_as(told):
        allowed = (
            f"must be {_plain(found)}, which this machine measures in {case.name}, seed {run.config.seed}"
        )
        raise config_error("results", _plain(told), allowed)


@contextmanager
def _unpacked(submission: Submission) -> Iterator[PolicyChoice]:
    """The policy of a submission, in a folder of its own for a while."""
    policy, label = submission.header["policy"], submission.label
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, content in submission.policy.items():
            target = folder.joinpath(*name.split("/"))
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as whole:
                whole.write_bytes(content)
        with parsing("policy", label, _ALLOWED):
            if policy["kind"] == "built-in":
                yield _built_in(str(policy["name"]), label)
                return
            files = [str(policy[key]) for key in ("file", "saved") if policy.get(key)]
            if not files or any(name not in submission.policy for name in files):
                raise ValueError("a file of the policy is missing")
            spec = str(folder / files[0])
            if policy["kind"] == "weights":
                parameters = check_mapping("policy.parameters", policy["parameters"])
                if parameters.keys() & {"weights", "sha256"}:
                    raise ValueError("parameters that name a file")
                yield PolicyChoice(make_policy("mlp", weights=spec, **parameters), label)
                return
            if policy["kind"] == "class":
                if not str(policy["class"]).isidentifier():
                    raise ValueError("the class has no name")
                spec += f":{policy['class']}" + (f"@{folder / files[1]}" if len(files) > 1 else "")
        yield PolicyChoice.parse({"agent": spec, "label": label})


def _built_in(spec: str, label: str) -> PolicyChoice:
    name = spec.partition(":")[0]
    if name not in policies() or name in _NEED_FILES or "/" in spec or "\\" in spec:
        raise config_error("policy.name", spec, "must be a built-in policy that reads no file")
    return dataclasses.replace(PolicyChoice.parse(spec), label=label)


def _policy_of(choice: PolicyChoice) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What the header says of a policy, and its files.

    Raises:
        ConfigError: If it is nothing that can be packed.
    """
    label = choice.label
    if not _LABEL.fullmatch(label):
        raise config_error("policy", label, "must have a name for tables: letters, digits, spaces and _.+#-")
    if choice.agent is None:
        if isinstance(choice.policy, Mlp):
            source = Path(str(choice.policy.weights))
            values = {
                name: value
                for name, value in choice.policy.to_dict().items()
                if name not in ("name", "weights", "sha256") and value is not None
            }
            known = {"label": label, "kind": "weights", "file": "network.npz", "parameters": values}
            return known, {"network.npz": source.read_bytes()}
        values = choice.policy.to_dict()
        name = str(values.pop("name"))
        given = ",".join(f"{key}={value}" for key, value in values.items() if value is not None)
        spec = f"{name}:{given}" if given else name
        packed = _built_in(spec, label)
        if packed.policy != choice.policy:
            raise config_error("policy", label, "must be one whose parameters are plain numbers and names")
        return {"label": label, "kind": "built-in", "name": spec}, {}
    folder, spec = Path(choice.agent.folder), choice.agent.spec
    saved = choice.agent.path if choice.agent.is_file else None
    if saved is not None and ":" not in spec:
        return {"label": label, "kind": "agent", "file": "agent.zip"}, {"agent.zip": saved.read_bytes()}
    module, _, name = spec.partition("@")[0].rpartition(":")
    if not module.endswith(".py"):
        raise config_error("policy", spec, "must be FILE.py:Class, so that its source can be packed")
    source = (folder / module).absolute()
    files = {}
    for one in sorted(files_of(source)):
        inside = one.relative_to(source.parent).as_posix() if one.is_relative_to(source.parent) else ""
        if not inside or not all(map(_PART.fullmatch, inside.split("/"))):
            raise config_error("policy", str(one), f"must be below {source.parent}, with a plain name")
        files[inside] = one.read_bytes()
    known = {"label": label, "kind": "class", "file": source.name, "class": name}
    if saved is not None:
        files["saved.bin"] = saved.read_bytes()
        known["saved"] = "saved.bin"
    return known, files


def _plain(measured: Measured) -> tuple[float | None, float | None, float | None]:
    """What scores are made of; None for what is not known."""
    return known(measured.value), known(measured.p99_ns), known(measured.accepted_load)


def _results(rows: Sequence[Sequence[Any]]) -> dict[str, tuple[str, str, int, Measured]]:
    found = {}
    for track, case, seed, run_id, *values in rows:
        value, p99_ns, accepted_load = (math.nan if one is None else float(one) for one in values)
        measured = Measured(value=value, p99_ns=p99_ns, accepted_load=accepted_load)
        found[str(run_id)] = (str(track), str(case), int(seed), measured)
    if len(found) < len(rows):
        raise ConfigError("results: must have every run once")
    return found


def _parsed(content: bytes, shown: str) -> Any:
    with parsing("submission", shown, _ALLOWED):
        text = content.decode("utf-8")
    return parse_json(text, "submission", file=shown, allowed=_ALLOWED)


def _json(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def _seal(header: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in header.items() if name != "sha256"}
    return hashlib.sha256(_json(rest)).hexdigest()
