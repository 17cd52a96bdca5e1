"""Questions asked of many recorded sessions at once, answered by Spark."""
