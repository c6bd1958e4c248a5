"""What may become of one input."""

from __future__ import annotations

import enum
import linecache
import re
from collections.abc import Callable

from dragonfly_env.errors import ConfigError

# What Python itself says of arguments that a signature does not have.
_SIGNATURE = re.compile(r"unexpected keyword|missing \d+ required|takes \d+|takes from|multiple values")


class Outcome(enum.Enum):
    """The two good ends of an input; whatever is raised instead is wrong."""

    RUN = "run"
    """It was accepted, and worked."""
    REFUSED = "refused"
    """It was turned away with the documented error."""


class WrongError(AssertionError):
    """Accepted, and then it did not hold what it promises; or refused in another way than documented."""


def outcome(call: Callable[[], object], *refusals: type[Exception]) -> Outcome:
    """``RUN`` if ``call`` returns; ``REFUSED`` if it raises what a user who passes something impossible may get.

    Args:
        call: What is tried.
        *refusals: Errors that count as refusals as well.
    """
    try:
        call()
    except refusals:
        return Outcome.REFUSED
    except Exception as error:
        if not is_refusal(error):
            raise
        return Outcome.REFUSED
    return Outcome.RUN


def is_refusal(error: Exception) -> bool:
    """Whether it is a ``ConfigError``, or a ``TypeError`` that somebody raised on purpose."""
    if isinstance(error, ConfigError):
        return True
    if not isinstance(error, TypeError):
        return False
    if _SIGNATURE.search(str(error)):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return line.strip().startswith("raise")


def require(condition: object, fact: str) -> None:
    """Raise ``WrongError`` with ``fact``, what should have held, unless ``condition`` is true."""
    if not condition:
        raise WrongError(fact)
