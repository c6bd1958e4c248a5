"""The lab: experiments that use the library. Nothing outside imports it but the commands that start them."""

from dragonfly_env.checks import analysis as _analysis  # noqa: F401 - before all that needs it
