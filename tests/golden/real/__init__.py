"""Scripts on real Kafka brokers and a real ZooKeeper: what recordings are made with.

``python -m tests.golden.record`` is the program; docs/real-kafka.md says how it is used.
"""
