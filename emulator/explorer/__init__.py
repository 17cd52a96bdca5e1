"""State-space search over replication: all interleavings within bounds, shortest violations."""
