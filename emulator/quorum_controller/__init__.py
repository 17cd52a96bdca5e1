"""The active controller of a KRaft cluster: what it writes and answers, as pure rules."""
