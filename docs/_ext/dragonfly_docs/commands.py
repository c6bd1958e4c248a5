"""A page for every command of ``dragonfly-env``, from typer's application."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any

from rich.text import Text

from dragonfly_docs.markdown import GENERATED, code, table
from dragonfly_env.cli import COMMANDS, command

FOLDER = "commands"
_WIDTH = 80


def _plain(text: str | None) -> str:
    """Help text without rich's markup, safe in Markdown."""
    plain = Text.from_markup(text or "").plain
    return plain.replace("<", "&lt;").replace("*", "\\*")


def _narrow(command: str) -> str:
    """A command on lines of at most 80 columns, as a shell reads them; an option stays with its value."""
    lines, line = [], ""
    for part in re.split(r" (?=-)", command):
        if line and len(line) + len(part) + 3 > _WIDTH:
            lines.append(f"{line} \\")
            line = "   "
        line = f"{line} {part}" if line else part
    return "\n".join([*lines, line])


def _help(text: str | None) -> str:
    """A command's help: its examples become blocks of code."""
    parts = []
    for is_code, group in itertools.groupby(
        filter(None, (text or "").split("\n")), key=lambda line: line.startswith("dragonfly-env ")
    ):
        if is_code:
            parts.append("```sh\n" + "\n".join(_narrow(" ".join(line.split())) for line in group) + "\n```")
        else:
            parts += [
                f"**{_plain(line)}**"
                if line.startswith("[bold]") and line.endswith("[/bold]")
                else _plain(line)
                for line in group
            ]
    return "\n\n".join(parts) + "\n"


# If a default depends on something else, the last words of the help describe it.
_SAID_IN_HELP = re.compile(r"\s*\[default: ([^\]]*)\]$")


def _default_and_meaning(option: Any) -> tuple[str, str]:
    meaning = _plain(option.help)
    if said := _SAID_IN_HELP.search(meaning):
        return said[1], meaning[: said.start()]
    default = option.default
    if default is None or default is False or default in ((), []) or callable(default):
        return "", meaning
    return code(default), meaning


def _spelling(option: Any) -> str:
    names = ", ".join(code(name) for name in (*option.opts, *option.secondary_opts))
    return names + (f" {code(option.metavar)}" if option.metavar else "")


def _options(parameters: Iterable[Any]) -> str:
    parts = []
    shown = [option for option in parameters if not option.hidden]
    panels = dict.fromkeys(option.rich_help_panel or "Options" for option in shown)
    for panel in panels:
        rows = [
            (_spelling(option), *_default_and_meaning(option))
            for option in shown
            if (option.rich_help_panel or "Options") == panel
        ]
        parts += [f"## {panel}\n", table(("option", "default", "meaning"), rows)]
    return "\n".join(parts)


def _page(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(
        ["dragonfly-env", name, *((p.metavar or p.name).upper() for p in arguments), "[OPTIONS]"]
    )
    parts = [GENERATED, f"# {name}\n", f"```text\n{usage}\n```\n", _help(command.help)]
    if arguments:
        rows = [
            (code((p.metavar or p.name).upper()), "" if p.required else "optional", _plain(p.help))
            for p in arguments
        ]
        parts += ["## Arguments\n", table(("argument", "", "meaning"), rows)]
    parts.append(_options(options))
    return "\n".join(parts)


def command_table() -> str:
    """All commands."""
    rows = ((f"[{name}](commands/{name}.md)", _plain(summary)) for name, summary in COMMANDS.items())
    return table(("command", "what it does"), rows)


def command_pages() -> dict[str, str]:
    """The pages by their path below ``docs/``."""
    return {f"{FOLDER}/{name}.md": _page(name, command(name)) for name in COMMANDS}
