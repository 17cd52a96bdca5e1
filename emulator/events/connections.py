"""External clients: their connections, requests and responses.

Each connection has a unique number and belongs to one broker.
"""

from emulator.events.base import Event


class ClientConnected(Event, frozen=True, gc=False):
    """A client connected to a broker from ``address``, its host and port (empty: unknown)."""

    connection: int
    broker: int
    address: str


class ClientIdentified(Event, frozen=True, gc=False):
    """A client sent its library's name and version, in ApiVersions 3 or later (KIP-511)."""

    connection: int
    software: str
    software_version: str


class ClientRequestReceived(Event, frozen=True, gc=False):
    """A broker started to handle a client's request.

    ``client`` is the client id (``connection-7`` if it has none), ``api`` Kafka's name of the API,
    ``group`` the consumer group on whose behalf a member sent it (empty: none).
    """

    connection: int
    broker: int
    client: str
    api: str
    api_version: int
    group: str


class ClientResponseSent(Event, frozen=True, gc=False):
    """A broker sent the response to a client's request.

    ``request`` is the ``seq`` of the corresponding ClientRequestReceived, ``errors`` holds the
    distinct names of the errors in the response. Produce with acks=0 has no response.
    """

    connection: int
    broker: int
    request: int
    api: str
    errors: list[str]


class ClientDisconnected(Event, frozen=True, gc=False):
    """A connection was closed; ``reason`` says by which side, or what was wrong with its data."""

    connection: int
    broker: int
    reason: str
