"""What each release of Kafka does, and its configuration."""
