"""The behaviour of each Kafka release, and its configuration."""
