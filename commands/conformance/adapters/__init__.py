"""Adapters of client libraries: each runs as a process of its own, and needs only its library."""
