"""JSON as brokers, controller and tools write it into znodes."""

import msgspec


def compact(value: object) -> str:
    """JSON without spaces, fields in the order given, other letters as they are (Jackson's way)."""
    return msgspec.json.encode(value).decode()
