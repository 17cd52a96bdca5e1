"""The session file: its schema, its codec, how it is written and read."""
