"""Environments are pickled and copied with their running episode; snapshots of them are saved and restored.

An environment is made again from the arguments of its constructor; then it takes over which seeds come next, and the
episode with the state of its network. Vector classes, which send environments to other processes, need no more.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

from dragonfly_env.checks.values import check_instance
from dragonfly_env.errors import StateError
from dragonfly_env.simulation.snapshot import Snapshot, reading_snapshot

_Env = TypeVar("_Env", bound="Copied")


class Copied:
    """Base of all environments.

    A subclass says with ``_seed_state`` what decides on the seeds of later episodes, and takes that over with
    ``_go_on`` in an environment that was just made. ``_episode`` and ``_resume`` do the same with the running episode.
    """

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        given = inspect.signature(cls.__init__)  # what the constructor takes is not what `__new__` says
        cls.__signature__ = given.replace(parameters=[*given.parameters.values()][1:])  # type: ignore[attr-defined]

    def __new__(cls: type[_Env], *arguments: Any, **settings: Any) -> _Env:
        self = super().__new__(cls)
        self._arguments = arguments, settings
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        arguments, settings = self._arguments
        return _made_again, (type(self), arguments, settings), self._saved()

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self._take_over(saved, trusted=False)

    def snapshot(self) -> Snapshot:
        """The state of this environment in the middle of its episode: the network, and what comes next.

        ``restore`` of the same class makes an environment of it that goes on exactly as this one does;
        ``Snapshot.save`` writes it to a file, if the arguments of the constructor are plain settings. Objects among
        them, such as a policy, are shared.

        Example:
            >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
            >>> batch = env.reset(seed=1)
            >>> again = dfe.BatchedRoutingEnv.restore(env.snapshot())
            >>> bool((again.pending.obs == batch.obs).all())
            True
        """
        arguments, settings = self._arguments
        about = {"arguments": arguments, "settings": settings, **self._saved()}
        return Snapshot._of(type(self).__name__, self._saved_ns(), about)

    @classmethod
    def restore(cls: type[_Env], snapshot: Snapshot) -> _Env:
        """A new environment in the middle of the episode that the snapshot was taken of.

        Args:
            snapshot: Of an environment of this class, from memory or a file. It can be used again.

        Raises:
            ConfigError: If it is of something else, or damaged.

        Example:
            >>> env = dfe.BatchedRoutingEnv(dfe.SimulationConfig(topology="72"))
            >>> batch = env.reset(seed=1)
            >>> again = dfe.BatchedRoutingEnv.restore(env.snapshot())
            >>> again.time_ns == env.time_ns
            True
        """
        return cls._restored(snapshot, {})

    def fork(self: _Env, seed: int | None = None, traffic: Any = None, *, load: float | None = None) -> _Env:
        """An independent environment that goes on from this moment, perhaps with something else.

        What is in the network and in source queues is the same. What the arguments name changes from here on; without
        any, equal actions have equal outcomes in both.

        Args:
            seed: Of all random numbers of the episode from now on.
            traffic: What hosts without a program send from now on. Times of a schedule count from time 0.
            load: With that traffic, or with the present one.

        Raises:
            ConfigError: For what cannot be simulated, or cannot change in the middle of a run.
            StateError: With arguments, before ``reset``.

        Example:
            >>> config = dfe.SimulationConfig(topology="72", traffic="uniform")
            >>> env = dfe.BatchedRoutingEnv(config)
            >>> batch = env.reset(seed=1)
            >>> other = env.fork(traffic="adv+1")
            >>> other.config.traffic, env.config.traffic
            ('adv+1', 'uniform')
        """
        given = {"seed": seed, "traffic": traffic, "load": load}
        return self._restored(self.snapshot(), {name: one for name, one in given.items() if one is not None})

    @classmethod
    def _restored(cls: type[_Env], snapshot: Snapshot, changes: Mapping[str, Any]) -> _Env:
        check_instance("snapshot", snapshot, Snapshot)
        saved = snapshot._require(cls.__name__)
        with reading_snapshot():
            arguments, settings = tuple(saved["arguments"]), dict(saved["settings"])
        environment = _made_again(cls, arguments, settings)
        environment._take_over(saved, trusted=snapshot._trusted, changes=changes)
        return environment

    def _saved(self) -> dict[str, Any]:
        return {"seeds": self._seed_state(), "episode": self._episode()}

    def _take_over(
        self, saved: Mapping[str, Any], *, trusted: bool, changes: Mapping[str, Any] | None = None
    ) -> None:
        with reading_snapshot():
            seeds, episode = saved["seeds"], saved["episode"]
            self._go_on(seeds)
            if episode is None and changes:
                raise StateError("fork(): call reset() first, or give the constructor other settings")
            if episode is not None:
                self._resume(episode, trusted, changes or {})

    @abstractmethod
    def _seed_state(self) -> dict[str, Any]:
        """What decides on the seeds of later episodes."""

    @abstractmethod
    def _go_on(self, seeds: dict[str, Any]) -> None:
        """Take over what `_seed_state` gave, in an environment that was just made."""

    @abstractmethod
    def _episode(self) -> dict[str, Any] | None:
        """The running episode, of values that do not change any more; None before the first reset."""

    @abstractmethod
    def _resume(self, episode: dict[str, Any], trusted: bool, changes: Mapping[str, Any]) -> None:
        """Take over what `_episode` gave, in an environment that was just made; perhaps with something else from now
        on. ``trusted``: whether this process made it.
        """

    @abstractmethod
    def _saved_ns(self) -> float:
        """The simulated time, for snapshots; 0 before the first reset."""

    def _not_begun(self, call: str) -> StateError:
        """What to raise before the first reset."""
        return StateError(f"{call}: call reset() first")


def _made_again(kind: type[_Env], arguments: tuple[Any, ...], settings: dict[str, Any]) -> _Env:
    return kind(*arguments, **settings)
