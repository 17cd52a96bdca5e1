"""The messages of the protocol, by subject, with Kafka's own names of structures and fields."""
