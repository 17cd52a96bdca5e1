"""The session file: schema, codec, writer and reader."""
