"""External clients: translation of Kafka's wire protocol requests and responses."""
