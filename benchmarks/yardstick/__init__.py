"""The yardstick: a fixed program that is measured next to everything else; speeds are also given as multiples of it."""
