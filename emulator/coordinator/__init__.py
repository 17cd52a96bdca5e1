"""The group coordinator: what the leader of a partition of __consumer_offsets does for groups."""
