"""The syntax of conditions, times and places, shared by scripts, filters and prompts."""
