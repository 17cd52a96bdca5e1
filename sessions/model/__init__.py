"""The read model: a cluster's state, computed from its events."""
