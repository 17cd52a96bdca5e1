"""Clients outside the emulator: what they send and are sent by Kafka's wire protocol."""
