"""``Snapshot``: the state of a run at one moment, in memory or in a file.

A file is one line of JSON (versions, kind, simulated time, configuration), the SHA-256 digest of all the rest, and the
bytes of the core's state. Nothing in a file is code. The core is made again from the configuration, so a file has no
tables that follow from the configuration.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dragonfly_env import _core
from dragonfly_env._version import installed_version
from dragonfly_env.checks.files import open_output
from dragonfly_env.checks.values import config_error
from dragonfly_env.simulation.config import RunState

State = npt.NDArray[np.uint8]

_FORMAT = 3
_DIGEST_BYTES = 32
_DAMAGED = "must be an undamaged file that Snapshot.save() wrote"


class Snapshot:
    """The state of a simulation or of an environment, from which any number of runs may go on.

    A snapshot does not change when the run goes on. ``Simulation.snapshot()`` and ``BatchedRoutingEnv.snapshot()`` make
    snapshots; ``restore`` of the same class makes a run from a snapshot.

    Args:
        kind: ``"simulation"`` or ``"environment"``.
        time_ns: The simulated time.
        about: The settings and counts that Python stores.
        core: The state of the core.

    Example:
        >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72"))
        >>> sim.run(1_000)
        >>> snapshot = sim.snapshot()
        >>> snapshot.kind, snapshot.time_ns
        ('simulation', 1000.0)
    """

    __slots__ = ("_about", "_core", "_kind", "_time_ns")

    def __init__(self, kind: str, time_ns: float, about: dict[str, Any], core: State) -> None:
        self._kind = kind
        self._time_ns = time_ns
        self._about = about
        self._core = core

    @property
    def kind(self) -> str:
        """``"simulation"`` or ``"environment"``."""
        return self._kind

    @property
    def time_ns(self) -> float:
        """The simulated time at which the snapshot was made."""
        return self._time_ns

    @property
    def num_bytes(self) -> int:
        """The size of the core's state."""
        return self._core.nbytes

    def save(self, path: str | Path) -> None:
        """Write the snapshot to a file.

        Args:
            path: The file; an existing file is replaced.

        Raises:
            ConfigError: If the configuration holds code, such as a function that makes configurations.
            OSError: If the file cannot be written.
        """
        header = {**_versions(), "kind": self._kind, "time_ns": self._time_ns, "about": self._about}
        line = json.dumps(header, default=_plain).encode() + b"\n"
        core = np.ascontiguousarray(self._core).data
        with open_output(Path(path)) as file:
            file.write(line)
            file.write(_digest(line, core))
            file.write(core)

    @classmethod
    def load(cls, path: str | Path) -> Snapshot:
        """Read a file that ``save`` wrote.

        Args:
            path: The file.

        Raises:
            ConfigError: If the file cannot be read, is damaged, or was written by another version.

        Example:
            >>> try:
            ...     dfe.Snapshot.load("no-such.snapshot")
            ... except dfe.ConfigError as error:
            ...     print(str(error).split(":")[0])
            path = 'no-such.snapshot'
        """
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise config_error("path", str(path), f"{_DAMAGED} ({error.strerror or error})") from error
        line = content[: content.find(b"\n") + 1]
        rest = memoryview(content)[len(line) :]
        digest, core = rest[:_DIGEST_BYTES], rest[_DIGEST_BYTES:]
        if _digest(line, core) != digest:
            raise config_error("path", str(path), _DAMAGED)
        header = json.loads(line)
        for name, version in _versions().items():
            if header.get(name) != version:
                written = f"was written with {name} {header.get(name)!r}, not {version!r}"
                raise config_error("path", str(path), f"{written}; make the snapshot again")
        return cls(header["kind"], header["time_ns"], header["about"], np.frombuffer(core, np.uint8))

    def __repr__(self) -> str:
        return f"<Snapshot of a {self._kind} at {self._time_ns:g} ns>"

    def require(self, kind: str) -> tuple[dict[str, Any], State]:
        """Return what a snapshot of this kind holds: values of the Python side, and the state of the core.

        Neither may be changed.
        """
        if self._kind != kind:
            raise config_error("snapshot", self._kind, f"must be a snapshot of kind {kind!r}")
        return self._about, self._core


def made_of(value: Any) -> RunState:
    """The settings of a run, from memory or from a file."""
    return value if isinstance(value, RunState) else RunState.from_dict(value)


def _versions() -> dict[str, Any]:
    return {"format": _FORMAT, "version": installed_version(), "state format": _core.archive_format}


def _digest(line: bytes, core: memoryview) -> bytes:
    digest = hashlib.sha256(line)
    digest.update(core)
    return digest.digest()


def _plain(value: Any) -> Any:
    """Settings objects as plain values, for ``json.dumps``."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    raise config_error(
        "snapshot", value, "cannot be written to a file: settings must be plain values, not code"
    )
