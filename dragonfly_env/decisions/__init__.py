"""What is asked and answered: batches of decisions, the layout of their columns, transitions, reports, actions."""
