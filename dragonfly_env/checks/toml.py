"""Names that move to ``files``."""

from dragonfly_env.checks.files import dump_toml

dumps = dump_toml
