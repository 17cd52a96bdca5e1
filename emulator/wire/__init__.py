"""Kafka's wire protocol: encoding and decoding of messages, without sockets or clocks.

:mod:`~emulator.wire.codec` encodes and decodes requests and responses,
:mod:`~emulator.wire.records` the record batches in them, and :mod:`~emulator.wire.versions` lists
the versions that each release supports.
"""
