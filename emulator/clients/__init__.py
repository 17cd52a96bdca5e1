"""Client behaviour: partitioning, idempotence, group membership and metadata."""
