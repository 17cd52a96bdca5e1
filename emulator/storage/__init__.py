"""What survives a process: logs, epoch caches, producer states, the ledger of records."""
