"""Kafka's wire protocol: bytes to messages and back, with no socket and no clock.

:mod:`~emulator.wire.codec` reads and writes requests and responses, :mod:`~emulator.wire.records`
the record batches in them, :mod:`~emulator.wire.versions` says what each release understands.
"""
