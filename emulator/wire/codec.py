"""Encoding and decoding of requests and responses.

A request starts with API key, version, correlation id and client id, a response with the
correlation id; in flexible versions (KIP-482), tagged fields follow both.

On a connection, each frame is preceded by its length in four bytes::

    header, body = decode_request(frame)  # a broker
    frame = encode_response(header.api_key, header.api_version, header.correlation_id, response)

    frame = encode_request(RequestHeader(3, 9, 1, "me"), MetadataRequest())  # a client
    correlation_id, response = decode_response(3, 9, frame)

Decoding arbitrary bytes raises nothing but :class:`~emulator.wire.exceptions.WireError`.
"""

import struct
from typing import Final

from emulator.common.limits import REQUEST_ITEMS_MAX
from emulator.wire.apis import APIS
from emulator.wire.compiler import Reader, Writer, reader, skip_tags, writer
from emulator.wire.exceptions import (
    MalformedFrame,
    TrailingBytes,
    UnknownApiKey,
    UnsupportedVersion,
    UnwritableMessage,
)
from emulator.wire.header import RequestHeader
from emulator.wire.types import Api, Message

_HEADER: Final = struct.Struct(">hhih")
_INT32: Final = struct.Struct(">i")
_NO_TAGS: Final = b"\0"


def decode_request(frame: bytes) -> tuple[RequestHeader, Message]:
    """Return a request's header and body.

    Bytes after the body are ignored, as Kafka's ``RequestContext.parseRequest`` does: librdkafka
    (2.16) requests all topics with three extra bytes.

    Raises:
        UnsupportedVersion: The API has no such version; the header is in ``header``.
        MalformedFrame: The bytes are not a valid request, or its lists have too many items.
    """
    header, at = read_request_header(frame)
    api = APIS.get(header.api_key)
    if api is None:
        raise UnknownApiKey(header.api_key)
    version = header.api_version
    if version not in api.versions:
        raise UnsupportedVersion(header, api.name, api.versions)
    what = f"{api.name}Request {version}"
    flexible = api.is_flexible(version)
    if flexible:
        at = _after_tags(frame, at, what)
    read = reader(api.request, version, flexible=flexible, items_max=REQUEST_ITEMS_MAX)
    body, _ = _read(read, frame, at, what)
    return header, body


def encode_response(api_key: int, version: int, correlation_id: int, response: Message) -> bytes:
    """Return a response with its header, without the frame's length prefix.

    Raises:
        UnwritableMessage: A field is missing, or too large for its type.
    """
    api = APIS[api_key]
    start = _INT32.pack(correlation_id)
    if api.has_flexible_response_header(version):
        start += _NO_TAGS
    return start + _write(_writer(api.response, api, version), response, version)


def encode_request(header: RequestHeader, request: Message) -> bytes:
    """Return a request with its header, as a client sends it."""
    api = APIS[header.api_key]
    name = header.client_id
    client_id = b"" if name is None else name.encode()
    length = -1 if name is None else len(client_id)
    version = header.api_version
    start = _HEADER.pack(header.api_key, version, header.correlation_id, length) + client_id
    if api.is_flexible(version):
        start += _NO_TAGS
    return start + _write(_writer(api.request, api, version), request, version)


def decode_response(api_key: int, version: int, frame: bytes) -> tuple[int, Message]:
    """Return a response's correlation id and body; the client knows the API and version.

    Raises:
        TrailingBytes: The frame is longer than the response.
        MalformedFrame: The bytes are not a valid response.
    """
    api = APIS[api_key]
    what = f"{api.name}Response {version}"
    if len(frame) < _INT32.size:
        raise MalformedFrame(f"{what}: {len(frame)} bytes are too short for a header")
    (correlation_id,) = _INT32.unpack_from(frame)
    at = _INT32.size
    if api.has_flexible_response_header(version):
        at = _after_tags(frame, at, what)
    read = reader(api.response, version, flexible=api.is_flexible(version))
    body, end = _read(read, frame, at, what)
    if end < len(frame):
        raise TrailingBytes(f"{what}: {len(frame) - end} of {len(frame)} bytes are left over")
    return correlation_id, body


def read_request_header(frame: bytes) -> tuple[RequestHeader, int]:
    """Return the common fields of request headers, and their end; tagged fields may follow."""
    if len(frame) < _HEADER.size:
        raise MalformedFrame(f"a request of {len(frame)} bytes is too short for a header")
    api_key, version, correlation_id, length = _HEADER.unpack_from(frame)
    if length < 0:
        return RequestHeader(api_key, version, correlation_id), _HEADER.size
    end = _HEADER.size + length
    if end > len(frame):
        raise MalformedFrame(f"a client id of {length} bytes in a request of {len(frame)}")
    client_id = frame[_HEADER.size : end].decode("utf-8", "replace")
    return RequestHeader(api_key, version, correlation_id, client_id), end


def _writer(message: type[Message], api: Api, version: int) -> Writer:
    return writer(message, version, flexible=api.is_flexible(version))


def _after_tags(frame: bytes, at: int, what: str) -> int:
    """Return the start of the body after a header's tagged fields: usually one byte later."""
    if frame[at : at + 1] == _NO_TAGS:
        return at + 1
    try:
        return skip_tags(frame, at)
    except IndexError as error:
        raise MalformedFrame(f"{what}: the header ends too early") from error


def _read(read: Reader, frame: bytes, at: int, what: str) -> tuple[Message, int]:
    try:
        message, end = read(frame, at)
    except (IndexError, struct.error) as error:
        raise MalformedFrame(f"{what}: its {len(frame)} bytes end too early") from error
    except MalformedFrame as error:
        raise MalformedFrame(f"{what}: {error}") from error
    if end > len(frame):
        raise MalformedFrame(f"{what}: its {len(frame)} bytes end too early")
    return message, end


def _write(write: Writer, message: Message, version: int) -> bytes:
    try:
        return write(message)
    except (struct.error, TypeError, AttributeError, UnicodeEncodeError) as error:
        name = type(message).__name__
        raise UnwritableMessage(f"{name} {version} cannot carry its values: {error}") from error
