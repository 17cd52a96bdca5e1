"""Frames of the wire protocol: a length of four bytes, followed by a message of that length."""

from typing import Final

LENGTH_BYTES: Final = 4
KEY_BYTES: Final = 2
OTHER_REQUEST_BYTES_MAX: Final = 16 << 20
"""Maximum size of a request that is no Produce: such requests are decoded to many small objects."""
PRODUCE_KEY: Final = bytes(KEY_BYTES)
HEADER_BYTES_MIN: Final = 8
"""API key, version and correlation id: the minimum size of a request."""


TLS_HANDSHAKE: Final = b"\x16\x03"
"""How the first message of a TLS client begins: a handshake record of version 3.x."""


class BadFrameError(Exception):
    """Received data is not a valid Kafka request; the message says why."""


class FrameBuffer:
    """Splits a stream of bytes into frames. It holds at most one incomplete frame."""

    def __init__(self, limit_bytes: int) -> None:
        """Take frames of up to ``limit_bytes`` (``socket.request.max.bytes``)."""
        self.limit_bytes = limit_bytes
        self._buffer = bytearray()

    @property
    def held_bytes(self) -> int:
        """Return the size of the incomplete frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the frames completed so far.

        Raises:
            BadFrameError: a length is negative, too small for a request, or over the limit
                (``NetworkReceive`` throws InvalidReceiveException), which is lower for what is
                no Produce.
        """
        buffer = self._buffer
        buffer += data
        frames: list[bytes] = []
        at, end = 0, len(buffer)
        while end - at >= LENGTH_BYTES:
            length = int.from_bytes(buffer[at : at + LENGTH_BYTES], signed=True)
            if not HEADER_BYTES_MIN <= length <= self.limit_bytes:
                raise BadFrameError(_wrong_length(length, self.limit_bytes))
            at_key = at + LENGTH_BYTES
            key = buffer[at_key : at_key + KEY_BYTES]
            if length > OTHER_REQUEST_BYTES_MAX and len(key) == KEY_BYTES and key != PRODUCE_KEY:
                raise BadFrameError(_wrong_length(length, OTHER_REQUEST_BYTES_MAX))
            if end - at_key < length:
                break
            at = at_key
            with memoryview(buffer) as view:
                frames.append(bytes(view[at : at + length]))
            at += length
        if at:
            del buffer[:at]
        return frames


def _wrong_length(length: int, limit_bytes: int) -> str:
    if length > limit_bytes:
        text = length.to_bytes(LENGTH_BYTES, signed=True)
        if text.isascii() and text.decode().isprintable():
            return f"a frame of {length:,} bytes: it begins with '{text.decode()}', as no request"
        if text.startswith(TLS_HANDSHAKE):
            return (
                "it begins with a TLS handshake, but this listener is not encrypted: connect"
                " without TLS (security.protocol=PLAINTEXT), or serve with --protocol SSL"
            )
        return f"a frame of {length:,} bytes; at most {limit_bytes:,} are taken"
    return f"a frame of {length:,} bytes; a request has {HEADER_BYTES_MIN} at least"
