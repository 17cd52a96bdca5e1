"""External clients: their connections, requests and responses.

A connection has a unique number, and belongs to one broker.
"""

from emulator.events.base import Event


class ClientConnected(Event, frozen=True, gc=False):
    """A client connected to a broker from ``address``, its host and port (empty: not known)."""

    connection: int
    broker: int
    address: str


class ClientIdentified(Event, frozen=True, gc=False):
    """A client named its library and the library's version, by ApiVersions 3 or later (KIP-511)."""

    connection: int
    software: str
    software_version: str


class ClientRequestReceived(Event, frozen=True, gc=False):
    """A broker began with a request of a client.

    ``client`` is its client id (``connection-7`` if it has none), ``api`` Kafka's name of the API,
    ``group`` the consumer group that it speaks of as a member (empty: none).
    """

    connection: int
    broker: int
    client: str
    api: str
    api_version: int
    group: str


class ClientResponseSent(Event, frozen=True, gc=False):
    """A broker answered a request of a client.

    ``request`` is the ``seq`` of the ClientRequestReceived that it answers, ``errors`` are the
    names of the errors in it, each once. Produce with acks=0 has no response.
    """

    connection: int
    broker: int
    request: int
    api: str
    errors: list[str]


class ClientDisconnected(Event, frozen=True, gc=False):
    """A connection ended; ``reason`` says by whom, or what was wrong with what came by it."""

    connection: int
    broker: int
    reason: str
