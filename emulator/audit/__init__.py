"""Observers that nothing depends on: ground truth about records, and the invariants."""
