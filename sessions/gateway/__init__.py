"""A TCP port for every emulated broker: clients of any language reach the cluster by them."""
