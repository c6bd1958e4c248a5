"""Decisions: their batches, the layout of their columns, transitions, reports, actions."""
