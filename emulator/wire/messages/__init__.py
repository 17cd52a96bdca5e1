"""The messages of the protocol, by subject, with Kafka's names of structures and fields."""
