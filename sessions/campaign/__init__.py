"""Campaigns: one script run with many seeds, in every combination of what is varied, by Spark."""
