"""``Snapshot``: the state of a run at one moment, in memory or in a file.

A file holds no code and nothing is unpickled. It begins with a line that names the format; a header in JSON follows,
with the configuration and what the Python side knows, then arrays of bytes (the state of the core among them), then the
SHA-256 digest of all that. The core is made anew from the configuration, so the file has no tables that follow from it;
every index that is read is checked against them.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from dragonfly_env import _core
from dragonfly_env._version import installed_version
from dragonfly_env.checks.documents import parse_json
from dragonfly_env.checks.files import replacing
from dragonfly_env.checks.outside import check_mapping, check_path, read_bytes, reason
from dragonfly_env.checks.values import config_error
from dragonfly_env.errors import ConfigError
from dragonfly_env.simulation.plain import TYPES, Arrays, from_plain, to_plain

_MAGIC = b"dragonfly-env snapshot\n"
_FORMAT = 1
_LENGTHS = struct.Struct("<IQ")  # format, bytes of the header
_DIGEST_BYTES = 32
_MOST_BYTES = 2**36
_DAMAGED = "must be a file that Snapshot.save() of this version wrote"


class Snapshot:
    """The state of a simulation or of an environment, from which any number of runs may go on.

    It does not change, whatever becomes of the run that it was taken of. ``Simulation.snapshot()`` and ``snapshot()``
    of the environments make one; ``restore`` of the same class goes on from it.

    Example:
        >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72"))
        >>> sim.run(1_000)
        >>> snapshot = sim.snapshot()
        >>> snapshot.kind, snapshot.time_ns
        ('simulation', 1000.0)
    """

    __slots__ = ("_about", "_kind", "_time_ns", "_trusted")

    _about: Any
    _kind: str
    _time_ns: float
    _trusted: bool

    def __init__(self) -> None:
        raise TypeError(
            "snapshots are made by snapshot() of a simulation or an environment, or by Snapshot.load()"
        )

    @classmethod
    def _of(cls, kind: str, time_ns: float, about: Any, *, trusted: bool = True) -> Snapshot:
        """
        Args:
            kind: Of what.
            time_ns: The simulated time.
            about: What ``plain.to_plain`` can write, the state of the core among it; it is not changed any more.
            trusted: Whether this process made it.
        """
        self = object.__new__(cls)
        self._kind, self._time_ns, self._about, self._trusted = kind, time_ns, about, trusted
        return self

    @property
    def kind(self) -> str:
        """What it is of: ``"simulation"``, or the name of an environment's class."""
        return self._kind

    @property
    def time_ns(self) -> float:
        """The simulated time at which it was taken."""
        return self._time_ns

    @property
    def num_bytes(self) -> int:
        """The memory that its arrays take."""
        arrays: Arrays = []
        to_plain(self._about, arrays)
        return sum(array.nbytes for array in arrays)

    def save(self, path: str | Path) -> None:
        """Write it to a file.

        Args:
            path: Where to; a file of that name is replaced.

        Raises:
            ConfigError: If it holds something that cannot be written, such as a function that makes configurations.
            OSError: If the file cannot be written.

        Example:
            >>> sim = dfe.Simulation(dfe.SimulationConfig(topology="72"))
            >>> sim.snapshot().save("start.snapshot")
            >>> dfe.Simulation.restore(dfe.Snapshot.load("start.snapshot")).time_ns
            0.0
        """
        target = check_path("path", path)
        with replacing(target) as temporary, temporary.open("wb") as file:
            digest = hashlib.sha256()
            for piece in self._pieces():
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())

    @classmethod
    def load(cls, path: str | Path) -> Snapshot:
        """Read a file that ``save`` wrote.

        Args:
            path: The file.

        Returns:
            The snapshot. What is in its states is checked when a run is restored from it.

        Raises:
            ConfigError: If the file cannot be read, is damaged or none of these, or was written by another version.

        Example:
            >>> try:
            ...     dfe.Snapshot.load("no-such.snapshot")
            ... except dfe.ConfigError as error:
            ...     print(str(error).split(":")[0])
            path = 'no-such.snapshot'
        """
        file = check_path("path", path)
        try:
            size = file.stat().st_size  # no more memory than that
        except OSError:
            size = 0
        content = read_bytes(file, "path", min(max(size, 1), _MOST_BYTES))
        try:
            return cls._parsed(content)
        except ConfigError as error:
            raise config_error("path", str(file), f"{_DAMAGED} ({error})") from None

    def __repr__(self) -> str:
        return f"<Snapshot of a {self._kind} at {self._time_ns:g} ns>"

    def __copy__(self) -> Snapshot:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Snapshot:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return _unpickled, (self._kind, self._time_ns, self._about)

    # For who makes and uses them.

    def _require(self, kind: str) -> Any:
        """What it holds, if it is of this kind; who takes it must not change it.

        Raises:
            ConfigError: If it is of another kind.
        """
        if self._kind != kind:
            raise config_error("snapshot", f"of a {self._kind}", f"must be one of a {kind}")
        return self._about

    def _pieces(self) -> list[bytes | memoryview]:
        arrays: Arrays = []
        about = to_plain(self._about, arrays)
        header = {
            "version": installed_version(),
            "archive": _core.archive_format,
            "kind": self._kind,
            "time_ns": self._time_ns,
            "about": about,
            "arrays": [[str(array.dtype), list(array.shape)] for array in arrays],
        }
        try:
            text = json.dumps(header, allow_nan=False).encode()
        except ValueError as error:
            raise config_error("snapshot", str(error), "must hold finite numbers only") from None
        begin = _MAGIC + _LENGTHS.pack(_FORMAT, len(text))
        return [
            begin,
            text,
            *(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for array in arrays),
        ]

    @classmethod
    def _parsed(cls, content: bytes) -> Snapshot:
        def require(holds: bool, what: str) -> None:
            if not holds:
                raise ConfigError(what)  # load() says of which file

        require(content.startswith(_MAGIC), "another kind of file")
        at = len(_MAGIC) + _LENGTHS.size
        require(len(content) >= at + _DIGEST_BYTES, "cut off")
        written, header_bytes = _LENGTHS.unpack_from(content, len(_MAGIC))
        require(written == _FORMAT, f"format {written}, not {_FORMAT}")
        end = len(content) - _DIGEST_BYTES
        view = memoryview(content)
        require(hashlib.sha256(view[:end]).digest() == view[end:], "damaged: its checksum is another")
        require(header_bytes <= end - at, "cut off")
        try:
            text = content[at : at + header_bytes].decode()
        except UnicodeDecodeError:
            require(False, "damaged")
        header = check_mapping("snapshot", parse_json(text, "snapshot"))
        known = {"version", "archive", "kind", "time_ns", "about", "arrays"}
        require(set(header) == known, "another header")
        version = header["version"]
        require(version == installed_version(), f"version {version!r}, not {installed_version()!r}")
        require(header["archive"] == _core.archive_format, f"state format {header['archive']!r}")
        at += header_bytes
        arrays: Arrays = []
        require(isinstance(header["arrays"], list), "another header")
        for one in header["arrays"]:
            require(isinstance(one, list) and len(one) == 2 and one[0] in TYPES, "another header")
            name, shape = one
            whole = isinstance(shape, list) and all(type(n) is int and 0 <= n <= _MOST_BYTES for n in shape)
            require(whole and len(shape) <= 4, "another header")
            size = int(np.dtype(name).itemsize)
            for n in shape:
                size *= n
            require(size <= end - at, "cut off")
            array = np.frombuffer(view[at : at + size], np.uint8)
            if name == "bool":
                require(bool((array <= 1).all()), "a flag that is none")
            arrays.append(array.view(name).reshape(shape))
            at += size
        require(at == end, "longer than its header says")
        kind, time_ns = header["kind"], header["time_ns"]
        require(isinstance(kind, str) and isinstance(time_ns, (int, float)), "another header")
        with reading_snapshot():
            about = from_plain(header["about"], arrays)
        return cls._of(kind, float(time_ns), about, trusted=False)


def _unpickled(kind: str, time_ns: float, about: Any) -> Snapshot:
    return Snapshot._of(kind, time_ns, about, trusted=False)


@contextmanager
def reading_snapshot() -> Iterator[None]:
    """Around what reads the Python side of a snapshot: an error there means that the snapshot is damaged.

    Raises:
        ConfigError: Instead of the errors that missing or impossible values raise.
    """
    try:
        yield
    except ConfigError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, AssertionError) as error:
        raise config_error("snapshot", reason(error), _DAMAGED) from None
