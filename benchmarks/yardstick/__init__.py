"""The yardstick: a fixed program that is measured beside everything else; speeds are also given as multiples of it."""
