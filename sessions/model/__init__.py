"""The read model: what the events of a cluster add up to."""
