"""Commands: what a person types becomes the arguments of a function, and an expected error becomes one sentence.

A command is a function. A parameter of the type ``Typed`` stands for the flags of rows, and gets what was typed::

    def bounds(settings: Annotated[Typed, rows(Scenario, "topology network loads")], as_json: AsJson = False) -> None:
        plan = Scenario.from_dict(settings.over({"policies": ["min"]}))

The text of a flag becomes the value that a TOML file would have, and the record checks it. A message names a row, and
so the flag that was typed for the row.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias

import typer
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from dragonfly_env.checks.values import reading
from dragonfly_env.cli.console import be_quiet, console, note, spell_missing_characters
from dragonfly_env.config.rows import MACHINE, Flag, Record, change
from dragonfly_env.config.systems import PRESETS, is_xc
from dragonfly_env.errors import ConfigError, DeadlockError

FAILED = 1
WRONG_SETTING = 2
INTERRUPTED = 130
APP: dict[str, Any] = {"rich_markup_mode": "rich", "pretty_exceptions_enable": False}

Texts: TypeAlias = Mapping[str, tuple[str, str]]
"""The option of a parameter, and the text that was typed for it (empty: nothing), by the parameter's name."""

_UsageError: Any = typer.BadParameter.__bases__[0]  # typer exports only this class of its wrong usages

# Flags.


def option(flags: str, text: str, panel: str | None = None, *, default: object = None, **more: Any) -> Any:
    """An option; ``flags`` are separated by spaces. ``default`` describes what holds if the option is left out."""
    if default is not None:
        text = f"{text} [dim]\\[default: {default}][/dim]"
    return typer.Option(*flags.split(), help=text, rich_help_panel=panel, **more)


def completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """The function by which a shell completes a name, or the last of several names with commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a record whose flags a command has."""

    record: Any
    flags: Mapping[str, tuple[Flag, ...]]
    """The flags by row."""
    changed: tuple[str, ...]
    """The rows of which the command has defaults of its own, those that their flags show."""


def rows(record: Any, names: str = "", *, without: str = "", **defaults: str | Flag) -> Rows:
    """The flags of some rows of a record.

    Args:
        record: The class.
        names: The rows, separated by spaces, in the order of the help page; empty: all rows that have flags, the
            record's own before those that it inherits.
        without: Rows that are left out.
        **defaults: Defaults of the command by row, as they would be typed; or a flag that shows the default.
    """
    known = {field.name: field.metadata.get("flags", ()) for field in dataclasses.fields(record)}
    base = {
        field.name for kind in record.__bases__ if kind is not Record for field in dataclasses.fields(kind)
    }
    chosen = names.split() or [row for row in sorted(known, key=base.__contains__) if known[row]]
    flags = {row: known[row] for row in chosen if row not in without.split()}
    for row, usual in defaults.items():
        first, *others = flags[row]
        flags[row] = (dataclasses.replace(first, usual=usual) if isinstance(usual, str) else usual, *others)
    return Rows(record, flags, tuple(defaults))


@dataclasses.dataclass(frozen=True, slots=True)
class Typed:
    """The values that were typed for rows of a record."""

    rows: Rows
    whole: Mapping[str, Any]
    """Values by row, as a TOML file has them."""
    parts: Sequence[tuple[str, Mapping[str, Any]]]
    """Rows whose tables have other keys, and these keys."""

    @classmethod
    def read(cls, rows: Rows, given: dict[str, Any]) -> Typed:
        """Take the texts of the rows' flags from ``given``, and read them."""
        whole, parts = {}, []
        for row, flags in rows.flags.items():
            for flag in flags:
                texts = given.pop(_name_of(flag))
                if texts in (None, []):
                    continue
                value = _value(row, flag, texts)
                if flag.is_part:
                    parts.append((row, value))
                else:
                    whole[row] = value
        return cls(rows, whole, parts)

    def over(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of ``base``, in which rows have the values that were typed.

        A note says which network an Aries machine has, if another one is taken for lack of an option.
        """
        given = {row: _value(row, (flag := self.rows.flags[row][0]), flag.usual) for row in self.rows.changed}
        settings: dict[str, Any] = self.rows.record.changed({**given, **base}, self.whole)
        unnamed = "network" in self.rows.flags and settings.get("network") is None
        for row, keys in self.parts:
            settings = change(settings, row, keys, self.rows.flags[row][0].usual)
        topology = settings.get("topology")
        name = topology.get("preset") if isinstance(topology, Mapping) else topology
        if unnamed and isinstance(name, str) and is_xc(PRESETS.get(name, {}).get("arrangement")):
            text = (
                f"note: {name} is an Aries machine, whose network is --network aries; running with 'default'"
            )
            note(Text(text, style="yellow"))
        return settings

    def make(self) -> Any:
        """The record with what was typed."""
        return self.rows.record.from_dict(self.over({}))


def _name_of(flag: Flag) -> str:
    return re.split("[ /]", flag.names)[0].removeprefix("--").replace("-", "_")


def _value(row: str, flag: Flag, typed: Any) -> Any:
    """The value of a flag as a TOML file would have it."""
    if not flag.metavar:
        return typed
    with reading(row), reading(_name_of(flag)):
        if flag.split is None:
            return flag.read(row, typed)
        read = [flag.read(row, item) for text in typed for item in flag.split(text)]
    return {key: value for table in read for key, value in table.items()} if flag.is_part else read


def _parameter(flag: Flag) -> inspect.Parameter:
    """The parameter that typer makes an option of. Its value is a text, which the row of the record reads."""
    kind: Any = bool | None if not flag.metavar else list[str] | None if flag.split else str | None
    more: dict[str, Any] = {"metavar": flag.metavar} if flag.metavar else {}
    if flag.names_of_values is not None:
        more["autocompletion"] = completing(flag.names_of_values)
    about = option(flag.names, flag.help, flag.panel, default=flag.usual or None, **more)
    return inspect.Parameter(
        _name_of(flag), inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, about]
    )


def make_command(name: str, function: Callable[..., None]) -> Any:
    """The command of a function, whose docstring is its help."""
    parameters: list[inspect.Parameter] = []
    settings: dict[str, list[str]] = {}  # the parameters that decide a setting, by its name in messages
    taken: dict[str, Rows] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        about = getattr(parameter.annotation, "__metadata__", (None,))[0]
        if not isinstance(about, Rows):
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        taken[parameter.name] = about
        for row, flags in about.flags.items():
            for flag in flags:
                parameters.append(_parameter(flag))
                for setting in (*([] if flag.is_part else [row]), *flag.decides):
                    settings.setdefault(setting, []).append(_name_of(flag))
    panels = [parameter.annotation.__metadata__[0].rich_help_panel for parameter in parameters]
    quiet = option(
        "--quiet -q", "Print results and errors alone.", MACHINE if MACHINE in panels else panels[-1]
    )
    parameters.append(
        inspect.Parameter(
            "quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, quiet]
        )
    )
    parameters.sort(key=lambda parameter: parameter.annotation.__metadata__[0].rich_help_panel == MACHINE)

    @functools.wraps(function)
    def call(*, quiet: bool, **given: Any) -> None:
        be_quiet(quiet)
        read = {parameter: Typed.read(about, given) for parameter, about in taken.items()}
        function(**given, **read)

    vars(call)["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    alone = typer.Typer(add_completion=False, **APP)
    alone.command(name, cls=Command, help=_joined(function.__doc__ or ""))(call)
    made: Any = typer.main.get_command(alone)
    for parameter in made.params:
        called = str(parameter.metavar if parameter.param_type_name == "argument" else parameter.opts[0])
        for setting in {parameter.name, called, called.strip("-.").replace("-", "_").lower()}:
            settings[setting] = [str(parameter.name), *settings.get(setting, ())]
    settings.setdefault("folder", ["out"] if "out" in settings else [])
    made.settings = settings
    return made


def _joined(docstring: str) -> str:
    """The paragraphs of a docstring, each on one line, so that the console breaks it; lines below a heading stay."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(
        paragraph if paragraph.startswith("[bold]") else " ".join(paragraph.split("\n"))
        for paragraph in paragraphs
    )


# Commands.


class Command(TyperCommand):
    """A command that reports expected errors in one sentence, and refuses an option whose first value would be lost."""

    settings: Mapping[str, list[str]]

    def make_parser(self, ctx: Any) -> Any:
        """The parser; it notes what was typed for each parameter."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            typed, rest, order = parse(args=args)
            ctx.obj = _texts(self.params, typed)
            for parameter in order:
                if order.count(parameter) > 1 and not (parameter.multiple or parameter.is_flag):
                    raise typer.BadParameter("may be typed only once", ctx=ctx, param=parameter)
            return typed, rest, order

        parser.parse_args = parse_args
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with one_line_errors(ctx, self.settings):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with one_line_errors(ctx, self.settings):
            return super().invoke(ctx)

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help, in the last panel of the command."""
        found: Any = super().get_help_option(ctx)
        panels = [
            panel for parameter in self.params if (panel := getattr(parameter, "rich_help_panel", None))
        ]
        if found is not None and panels:
            found.rich_help_panel = panels[-1]
        return found


class Commands(TyperGroup):
    """Commands that are imported when they are called: ``find`` makes each of its name. ``words`` has the options that
    follow a command, as words in front of the command.
    """

    find: Callable[[str], Any]
    words: Mapping[str, str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        spell_missing_characters()
        if args and args[0] in self.words:
            args = [*args[1:2], self.words[args[0]]]
        with one_line_errors(ctx, {}):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command itself takes the place of its line in the help."""
        with one_line_errors(ctx, {}):
            name, known, rest = super().resolve_command(ctx, args)
            return name, known and type(self).find(str(known.name)), rest


def _texts(parameters: Sequence[Any], given: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The texts that typer's parser found for the parameters of a command."""
    texts = {}
    for parameter in parameters:
        value = given.get(parameter.name)
        items = value if isinstance(value, (list, tuple)) else [value]
        is_option = parameter.param_type_name == "option"
        called = parameter.opts[0] if is_option else parameter.metavar.removesuffix("...")
        text = ",".join(item for item in items if isinstance(item, str))
        texts[str(parameter.name)] = (called, text)
    return texts


# Errors.


@contextmanager
def one_line_errors(ctx: Any, settings: Mapping[str, list[str]]) -> Iterator[None]:
    """Report the errors of users and machines; a fault of this program keeps its traceback."""
    try:
        yield
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as interrupt:
        note(Text(str(interrupt) or "interrupted", style="yellow"))
        raise typer.Exit(INTERRUPTED) from None
    except ConfigError as error:
        complain(_refusal(error, ctx.obj or {}, settings))
        raise typer.Exit(WRONG_SETTING) from None
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        complain(_wrong_usage(error, ctx.obj or {}, ctx.command_path))
        raise typer.Exit(WRONG_SETTING) from None
    except DeadlockError as error:
        complain(str(error), lines=True)
    except MemoryError:
        complain("not enough memory for this system: choose a smaller topology, or fewer --workers")
    except OSError as error:
        complain(f"{error.filename or 'cannot write'}: {error.strerror or error}")
    else:
        return
    raise typer.Exit(FAILED)


def complain(message: str, *, lines: bool = False) -> None:
    """Write the message to the error stream, line by line."""
    text = Text.assemble(("error: ", "bold red"), message if lines else " ".join(message.split()))
    console(error=True, always=True).print(text, soft_wrap=True)


def _refusal(error: ConfigError, texts: Texts, settings: Mapping[str, list[str]]) -> str:
    field, allowed = (vars(error).get(name) for name in ("field", "allowed"))
    if field is None:  # an error of the core, or one with a place before its field
        match = re.match(r"([\w.\[\]-]+)(?: = .*?)?: (.*)", str(error), re.DOTALL)
        if match is None:
            return str(error)
        field, allowed = match.groups()
    words = re.split(r"[. \[]", field)
    known = [field.replace(" ", "_"), words[-1], words[0], *vars(error).get("rows", ())]
    called = [texts[name] for setting in known for name in settings.get(setting, ())]
    typed = next((flag for flag in called if flag[1]), called[0] if called else None)
    file = texts.get("scenario", ("", ""))[1]
    if file and not (typed and typed[1]):  # nothing was typed for the setting, so it is in the file
        return f"{file}: {error}"
    return f"{_spell(*typed)}: {allowed}" if typed else str(error)


def _spell(called: str, text: str) -> str:
    return f"{called} {text}" if text else called


def _wrong_usage(error: Any, texts: Texts, command: str) -> str:
    """The sentence for what typer's own parser refuses: its own, but for the value of an option."""
    parameter = getattr(error, "param", None)
    if parameter is None or type(error).__name__ == "MissingParameter":
        message = error.format_message().rstrip(".")
        return f"{message}{'' if message.endswith('?') else ';'} '{command} --help' says more"
    called, text = texts.get(str(parameter.name), (parameter.opts[0], ""))
    before, _, rest = error.message.partition("Input ")  # Input should be a valid integer, unable to parse it
    return f"{_spell(called, text)}: {before or rest.partition(',')[0]}"
