"""Campaigns: one script run with many seeds and every combination of parameters, on Spark."""
