"""A cluster that somebody runs, read from what its operator has at hand."""
