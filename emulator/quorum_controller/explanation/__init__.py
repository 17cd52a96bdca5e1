"""Which rule of a release permits what a real controller has written (trace validation)."""
