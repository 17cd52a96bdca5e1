"""External clients: their connections, requests and responses.

Each connection has a unique number and belongs to one broker.
"""

from emulator.events import fields
from emulator.events.base import CHANGE, FAULT, TRAFFIC, Event


class ClientConnected(Event, frozen=True, label="CLIENT"):
    """A client connected to a broker from ``address``, its host and port (empty: unknown)."""

    connection: fields.Connection
    broker: fields.BrokerId
    address: str


class ClientIdentified(Event, frozen=True, label="CLIENT"):
    """A client sent its library's name and version, in ApiVersions 3 or later (KIP-511)."""

    connection: fields.Connection
    software: str
    software_version: str


class ClientAuthenticated(Event, frozen=True, label="CLIENT"):
    """A client proved who it is (SASL, or by a certificate: ``SSL``), or failed to.

    ``principal`` is Kafka's name of the user (``User:alice``), empty after a failure, whose
    ``error`` is then the response's.
    """

    connection: fields.Connection
    principal: str
    mechanism: str
    error: fields.Error


class ClientRequestReceived(Event, frozen=True, label="REQ", level=TRAFFIC):
    """A broker started to handle a client's request.

    ``client`` is the client id (``connection-7`` if it has none), ``api`` Kafka's name of the API,
    ``group`` the consumer group on whose behalf a member sent it (empty: none).
    """

    connection: fields.Connection
    broker: fields.BrokerId
    client: fields.Client
    api: fields.Api
    api_version: fields.ApiVersion
    group: fields.Group


class ClientResponseSent(Event, frozen=True, label="RESP", level=TRAFFIC):
    """A broker sent the response to a client's request.

    ``request`` is the ``seq`` of the corresponding ClientRequestReceived, ``errors`` holds the
    distinct names of the errors in the response. Produce with acks=0 has no response.
    """

    connection: fields.Connection
    broker: fields.BrokerId
    request: fields.Request
    api: fields.Api
    errors: fields.Errors

    @property
    def level(self) -> int:
        """A change if it has errors."""
        return CHANGE if self.errors else TRAFFIC


class FaultPrepared(Event, frozen=True, label="INJECT"):
    """A statement prepared a fault for later requests of an API.

    ``effect`` is what becomes of them, as the statement says it: an error, ``--drop``, ``--delay``
    or ``--close-after``. It comes ``times`` times, once ``after`` such requests have passed.
    """

    name: fields.Name
    api: fields.Api
    effect: str
    times: int
    after: int


class FaultInjected(Event, frozen=True, label="INJECT", level=FAULT):
    """The fault ``name`` came over a client's request.

    ``request`` is the ``seq`` of its ClientRequestReceived.
    """

    name: fields.Name
    connection: fields.Connection
    broker: fields.BrokerId
    request: fields.Request
    effect: str


class ClientDisconnected(Event, frozen=True, label="CLIENT"):
    """A connection was closed; ``reason`` says by which side, or what was wrong with its data."""

    connection: fields.Connection
    broker: fields.BrokerId
    reason: fields.Reason
