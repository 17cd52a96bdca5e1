"""A TCP port for every emulated broker: clients of any language connect to the cluster there."""
