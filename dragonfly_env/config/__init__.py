"""The ground: rows of settings, the topology, the network. Nothing here knows policies, traffic or jobs."""
