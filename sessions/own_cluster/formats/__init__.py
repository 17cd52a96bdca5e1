"""The formats in which a cluster is at hand, one a module."""
