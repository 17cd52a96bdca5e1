"""Recordings: the read model, session files, replay, verification, export and analysis."""
