"""``python -m dragonfly_env.cli`` is ``dragonfly-env``."""

from dragonfly_env.cli import main

main()
