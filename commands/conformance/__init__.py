"""The conformance suite: what a Kafka client must keep to while an emulated cluster fails."""
