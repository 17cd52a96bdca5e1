"""The header of a request."""

from msgspec import Struct


class RequestHeader(Struct, frozen=True):
    """A request's header: ``client_id`` is None if the client does not send it."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None = None
