"""The rules of replication, pure: functions of plain values."""
