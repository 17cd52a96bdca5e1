"""What consumer groups (KIP-848) and share groups (KIP-932) have in common.

Members are assigned partitions by their coordinator, and move to their target assignment by epochs.
Source: the package ``org.apache.kafka.coordinator.group.modern``.
"""
