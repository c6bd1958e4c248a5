"""Expected errors become one sentence on the error stream and an exit code, without a traceback.

A setting is checked where its object is made, so that its message names a field of Python. The sentence names the
option or the argument that was typed instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import typer
from rich.text import Text

from dragonfly_env.cli.console import note
from dragonfly_env.errors import ConfigError, DeadlockError

FAILED = 1
WRONG_SETTING = 2
INTERRUPTED = 130

Typed: TypeAlias = Mapping[str, tuple[str, str]]
"""By the name of an option's parameter: how the option is called, and what was typed for it (empty: nothing)."""

_UsageError: Any = typer.BadParameter.__bases__[0]  # typer exports only this class of its wrong usages


@contextmanager
def one_line_errors(typed: Typed, command: str) -> Iterator[None]:
    """Report the errors of users and machines; a fault of this program keeps its traceback."""
    try:
        yield
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as interrupt:
        note(Text(str(interrupt) or "interrupted", style="yellow"))
        raise typer.Exit(INTERRUPTED) from None
    except ConfigError as error:
        complain(_refusal(error, typed))
        raise typer.Exit(WRONG_SETTING) from None
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        complain(_wrong_usage(error, typed, command))
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
    note(Text.assemble(("error: ", "bold red"), message if lines else " ".join(message.split())))


def typed_texts(parameters: Sequence[Any], given: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Collect the typed texts of the parameters of a command; ``given`` is what typer's parser returns."""
    texts = {}
    for parameter in parameters:
        value = given.get(parameter.name)
        items = value if isinstance(value, (list, tuple)) else [value]
        text = ",".join(item for item in items if isinstance(item, str))
        is_option = parameter.param_type_name == "option"
        called = parameter.opts[0] if is_option else parameter.metavar.removesuffix("...")
        texts[str(parameter.name)] = (called, text)
    return texts


def _refusal(error: ConfigError, typed: Typed) -> str:
    field, allowed = (vars(error).get(name) for name in ("field", "allowed"))
    if field is None:  # an error of the core, or one with a place before its field
        match = re.match(r"([\w.\[\]-]+) = .*?: (.*)", str(error), re.DOTALL)
        if match is None:
            return str(error)
        field, allowed = match.groups()
    option = _option_of(field, typed)
    file = typed.get("scenario", ("", ""))[1]
    if file and not (option and option[1]):  # nothing was typed for the field, so it is in the file
        return f"{file}: {error}"
    return f"{_spell(*option)}: {allowed}" if option else str(error)


def _option_of(field: str, typed: Typed) -> tuple[str, str] | None:
    """The option that set a field: the option has the name of the field, or its text has."""
    options = dict(sorted(typed.items(), key=lambda item: not item[1][1]))  # what was typed comes first
    words = re.split(r"[. \[]", field)
    first, last = words[0], words[-1]
    in_text = (option for option in options.values() if f"{last}=" in option[1])
    begin = (option for option in options.values() if option[1].startswith(first))
    by_name = (_called(name, options) for name in (field.replace(" ", "_"), first, last))
    exact = next(by_name)
    return exact or next(in_text, None) or next(by_name) or next(begin, None) or next(by_name)


def _called(field: str, options: Typed) -> tuple[str, str] | None:
    """The option that is called like a field."""
    for name, option in options.items():
        flag = option[0].removeprefix("--").replace("-", "_").lower()
        singular = "policy" if name.endswith("policies") else name.removesuffix("s")
        if {field, field.removesuffix("_ns")} & {name, singular, flag, option[0]}:
            return option
    return None


def _spell(option: str, text: str) -> str:
    return f"{option} {text}" if text else option


def _wrong_usage(error: Any, typed: Typed, command: str) -> str:
    """The sentence for what typer's own parser refuses: its own, but for the value of an option."""
    parameter = getattr(error, "param", None)
    if parameter is None or type(error).__name__ == "MissingParameter":
        message = error.format_message().rstrip(".")
        return f"{message}{'' if message.endswith('?') else ';'} '{command} --help' says more"
    option, text = typed.get(str(parameter.name), (parameter.opts[0], ""))
    own, _, rest = error.message.partition("Input ")  # Input should be a valid integer, unable to parse it
    return f"{_spell(option, text)}: {own or rest.partition(',')[0]}"
