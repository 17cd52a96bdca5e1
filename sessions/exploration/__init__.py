"""Searches of the explorer that outlive a process: kept in a folder, here or on Spark."""
