"""Imported first by packages that need the extra [analysis] as a whole: fails with the command that installs it."""

from __future__ import annotations

from dragonfly_env._process import is_command_line
from dragonfly_env.checks.extras import require_analysis

try:
    require_analysis("this part of dragonfly-env (commands, tables, figures)")
except ImportError as error:
    if is_command_line():  # one line instead of a traceback
        raise SystemExit(f"error: {error}") from None
    raise
