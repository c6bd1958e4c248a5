"""Modules that users name, ``file.py:Class`` or ``module:Class``: found, told apart by their contents, and loaded.

A file is its path and its contents, never just its name: two files of one name in two folders are two modules, each
with the helper modules next to it, and a file that has changed is loaded anew. So the modules of a folder are kept in
a shelf of their own. They are in ``sys.modules`` while code of theirs runs, and only then. What is installed
elsewhere belongs to the whole process, as ever.

What a module is made of is its own file and those that it imports from next to it, directly or not, in functions too:
the standard library's ``modulefinder`` lists them without running anything. What was imported by name while the module
was loaded counts too.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import modulefinder
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

_OURS = "dragonfly_env"
_PACKAGE = 5  # what modulefinder calls a folder


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """A module and what it is made of.

    Attributes:
        module: The module.
        sha256: Of all files that it is made of.
        shelf: The modules of its folder; None if it belongs to the whole process.
    """

    module: ModuleType
    sha256: str
    shelf: _Shelf | None

    def at_work(self) -> AbstractContextManager[None]:
        """While code of the module runs: its own helpers are the ones that it imports."""
        return nullcontext() if self.shelf is None else self.shelf.opened()


def load_module(name: str, folder: Path) -> LoadedModule:
    """The module that ``file.py`` or ``package.module`` means to somebody who is in ``folder``.

    Raises:
        Exception: Whatever a user's module raises when it is imported; ``ImportError`` if there is none.
    """
    if name.endswith(".py"):
        file = (folder / name).absolute()
        if not file.is_file():
            raise ModuleNotFoundError(f"there is no file {name!r}")
        return _load_beside(file.stem, file.parent, file)
    top = name.partition(".")[0]
    beside = importlib.machinery.PathFinder.find_spec(top, [str(folder)])
    if top != _OURS and beside is not None and beside.origin is not None:
        return _load_beside(name, folder, None)
    module = importlib.import_module(name)
    digest = _digest(_installed_files(module))
    if _INSTALLED.setdefault(name, digest) != digest:
        raise ImportError("the module has changed since it was imported; begin a new process")
    return LoadedModule(module, digest, None)


@dataclass(slots=True)
class _Shelf:
    """The modules that were imported from one folder.

    Attributes:
        folder: Where they are looked for.
        names: Top-level modules that the folder has.
        modules: Those that were imported, by full name.
        more_folders: What they have added to the path.
    """

    folder: Path
    names: frozenset[str]
    modules: dict[str, ModuleType] = field(default_factory=dict)
    more_folders: list[str] = field(default_factory=list)
    _open: bool = False

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Have these modules, and no others of their names, in ``sys.modules``. Not for several threads at once."""
        if self._open:
            yield
            return
        others = self._take()
        path, writes_bytecode = list(sys.path), sys.dont_write_bytecode
        sys.path[:0] = [str(self.folder), *self.more_folders]
        # Bytecode is told apart by seconds: code that was changed within one would be run as it was before.
        sys.dont_write_bytecode = True
        sys.modules.update(self.modules)
        self._open = True
        try:
            yield
        finally:
            self._open = False
            self.modules = self._take()
            sys.modules.update(others)
            self.more_folders = [one for one in sys.path if one not in (*path, str(self.folder))]
            sys.path[:] = path
            sys.dont_write_bytecode = writes_bytecode

    def _take(self) -> dict[str, ModuleType]:
        """Take all modules of these names out of ``sys.modules``."""
        taken = [name for name in sys.modules if name.partition(".")[0] in self.names]
        return {name: sys.modules.pop(name) for name in taken}


# Of this process: what was loaded, by folder, name and contents; and what installed modules were made of.
_LOADED: dict[tuple[Path, str, str], LoadedModule] = {}
_INSTALLED: dict[str, str] = {}


def _load_beside(name: str, folder: Path, file: Path | None) -> LoadedModule:
    """A module of a folder, with its helpers: the one that was loaded before, if its contents are the same."""
    if name.partition(".")[0] == _OURS:
        raise ImportError(f"a module of your own must not be called {_OURS}")
    importlib.invalidate_caches()
    files = _listed_files(name, folder, file)
    key = (folder, name, _digest(files, folder))
    if key not in _LOADED:
        shelf = _Shelf(folder, _names_in(folder) | {name.partition(".")[0]})
        with shelf.opened():
            module = importlib.import_module(name) if file is None else _execute(name, file)
        by_name = {Path(origin) for each in shelf.modules.values() if (origin := _file_of(each))}
        _LOADED[key] = LoadedModule(module, _digest(files | by_name, folder), shelf)
    return _LOADED[key]


def _names_in(folder: Path) -> frozenset[str]:
    """The top-level modules that an import finds in a folder if it looks there first."""
    modules = {module.name for module in pkgutil.iter_modules([str(folder)])}
    for (
        place
    ) in folder.iterdir():  # a folder without __init__.py is one too, unless there is a proper one elsewhere
        if place.name.isidentifier() and place.name not in modules and place.is_dir():
            found = importlib.machinery.PathFinder.find_spec(place.name, [str(folder), *sys.path])
            if found is not None and found.origin is None:
                modules.add(place.name)
    return frozenset(modules - sys.stdlib_module_names - {_OURS})


def _file_of(module: ModuleType) -> str | None:
    return getattr(module, "__file__", None)


def _execute(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name!r} is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Imports(modulefinder.ModuleFinder):
    """Follows imports, as far as they lead to modules of one folder.

    Args:
        folder: The folder.
        only: The top-level modules to follow there; None for all but this package.
    """

    def __init__(self, folder: Path, only: str | None = None) -> None:
        super().__init__([str(folder)])
        self._only = only

    def find_module(self, name: str, path: Any, parent: Any = None) -> Any:
        """See `modulefinder.ModuleFinder`, which knows no packages without ``__init__.py``."""
        if path is None and (name == _OURS if self._only is None else name != self._only):
            raise ImportError(name)
        spec = importlib.machinery.PathFinder.find_spec(name, path or self.path)
        if spec is not None and spec.origin is None and spec.submodule_search_locations:
            return None, next(iter(spec.submodule_search_locations)), ("", "", _PACKAGE)
        return super().find_module(name, path, parent)

    def load_package(self, fqname: str, pathname: str) -> Any:
        """See `find_module`."""
        if any(
            (Path(pathname) / f"__init__{suffix}").exists() for suffix in importlib.machinery.all_suffixes()
        ):
            return super().load_package(fqname, pathname)
        module = self.add_module(fqname)
        module.__path__ = [pathname]  # type: ignore[attr-defined]
        return module

    def files(self) -> set[Path]:
        """The files of all modules that were found."""
        return {Path(file) for module in self.modules.values() if (file := getattr(module, "__file__", None))}


def _listed_files(name: str, folder: Path, file: Path | None, only: str | None = None) -> set[Path]:
    """The files that a module is made of."""
    imports = _Imports(folder, only)
    if file is None:
        imports.import_hook(name)
    else:
        imports.run_script(str(file))
    return imports.files()


def files_of(file: Path) -> set[Path]:
    """The files that a module of your own is made of: its own, and those that it imports from next to it.

    Runs no code.
    """
    return _listed_files(file.stem, file.parent, file)


def _installed_files(module: ModuleType) -> set[Path]:
    """The same of an installed module: what its own top-level package holds of it."""
    if _file_of(module) is None:  # typed in, or built in
        return set()
    name = module.__name__
    top = sys.modules[name.partition(".")[0]]
    file = _file_of(top)
    if top.__name__ in (_OURS, "__main__") or file is None:
        return {Path(str(_file_of(module)))}
    folder = Path(file).parent
    return _listed_files(name, folder.parent if hasattr(top, "__path__") else folder, None, top.__name__)


def _digest(files: Iterable[Path], folder: Path = Path()) -> str:
    """Of the files' contents, and of their names below the folder."""
    digest = hashlib.sha256()
    for file in sorted(files):
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
        for part in (name.encode(errors="surrogateescape"), file.read_bytes()):
            digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()
