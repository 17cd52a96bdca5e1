"""The transaction logs and snapshots of an ensemble, and the znodes that they lead to."""
