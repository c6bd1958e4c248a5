"""Learning routing agents (installed as ``dragonfly_env.agents``)."""
