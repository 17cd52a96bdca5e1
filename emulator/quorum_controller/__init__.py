"""The active controller of a KRaft cluster: its records and responses, as pure rules."""
