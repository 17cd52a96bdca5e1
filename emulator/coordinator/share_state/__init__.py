"""The state of share-partitions at their share coordinator (KIP-932): rules and records.

The state is rebuilt from records alone.
"""
