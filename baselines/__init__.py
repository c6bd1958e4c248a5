"""Parameters of the routing heuristics (installed as ``dragonfly_env.baselines``)."""
