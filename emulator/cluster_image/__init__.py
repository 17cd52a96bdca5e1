"""The image of a cluster: its state at one moment as plain data, and its JSON document."""
