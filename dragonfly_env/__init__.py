"""A Dragonfly interconnect as a reinforcement-learning environment."""
