"""The data on disk: logs, epoch caches, producer states, the ledger of records."""
