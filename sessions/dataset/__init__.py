"""The dataset of recorded sessions: what its tables are, and how a session gets into it."""
