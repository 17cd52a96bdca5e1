"""The rules of replication as pure functions of plain values."""
