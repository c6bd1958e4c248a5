"""Figures in the layout of a paper, one file per kind.

A function draws a figure of a paper, by its name, from findings. Where it needs something that was not simulated it
raises ``NotFoundYetError``, or says so in the panel.
"""
