"""Training runs: learners, saved agents, and the folder from which an interrupted training goes on."""
