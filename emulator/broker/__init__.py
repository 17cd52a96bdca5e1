"""A broker: one process with its replicas, fetchers and requests."""
