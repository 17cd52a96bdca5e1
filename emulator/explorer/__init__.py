"""Search over replication: every interleaving within bounds, and the shortest counterexample."""
