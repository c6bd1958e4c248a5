"""The lab: experiments that use the library. Nothing outside imports it but the commands that start them."""

from dragonfly_env.checks.extras import import_matplotlib, require_analysis

require_analysis(__name__)
import_matplotlib()
