"""Queries over many recorded sessions at once, run on Spark."""
