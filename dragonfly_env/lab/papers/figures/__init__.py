"""Figures in the layout of a paper, one file per kind."""
