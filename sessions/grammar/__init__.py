"""How conditions, times and places are written: the same in scripts, filters and prompts."""
