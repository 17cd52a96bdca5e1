"""Connections to a running cluster on which nothing but read requests can be sent.

kafka-python makes the connections. What it may send is the list :data:`READ_REQUESTS`; any other
request is refused before it is sent.
"""

import logging
from io import BytesIO
from types import TracebackType
from typing import Any, Final

from emulator.common.extras import missing_extra
from emulator.wire.apis import APIS
from emulator.wire.codec import decode_response, encode_request
from emulator.wire.exceptions import WireError
from emulator.wire.header import RequestHeader
from emulator.wire.types import Message
from sessions.own_cluster.client_properties import client_settings
from sessions.own_cluster.reading import SourceError
from sessions.text import clean

SCHEME: Final = "kafka://"
CONNECT_TIMEOUT_MS: Final = 10_000
CLIENT_ID: Final = "tidegauge"

READ_REQUESTS: Final = {
    2: "ListOffsets",
    3: "Metadata",
    9: "OffsetFetch",
    10: "FindCoordinator",
    15: "DescribeGroups",
    16: "ListGroups",
    17: "SaslHandshake",
    18: "ApiVersions",
    32: "DescribeConfigs",
    35: "DescribeLogDirs",
    36: "SaslAuthenticate",
    46: "ListPartitionReassignments",
    48: "DescribeClientQuotas",
    50: "DescribeUserScramCredentials",
    55: "DescribeQuorum",
    60: "DescribeCluster",
    75: "DescribeTopicPartitions",
}
"""The requests that may be sent, by API key. None of them changes anything: Metadata never asks for
a topic to be created, and a coordinator is looked for only of groups that exist."""
_NEWEST: Final = {9: 9}
"""The newest version of an API that is used: from OffsetFetch 10 on, topics are told by ids."""
NONSENSE: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What reading an answer raises that has values which no broker sends."""
_RESPONSE_BYTES_MAX: Final = 100_000_000
_SIZE_BYTES: Final = 4


class WriteRequestError(Exception):
    """A request that is not a read was about to be sent."""


class NoAnswerError(Exception):
    """The cluster did not answer a request; the text says why."""


def servers_of(address: str) -> list[str]:
    """Return the servers in ``kafka://HOST:PORT[,HOST:PORT..]``.

    Raises:
        SourceError: there is none, or a port is missing.
    """
    servers = [server for server in address.removeprefix(SCHEME).rstrip("/").split(",") if server]
    for server in servers:
        if not server.rpartition(":")[2].isdecimal() or not server.rpartition(":")[0]:
            raise SourceError(f"{clean(server)!r} is no server (written kafka://HOST:PORT)")
    if not servers:
        raise SourceError(f"{clean(address)} names no server (written kafka://HOST:PORT)")
    return servers


class ReadOnlyClient:
    """A client of one cluster.

    ``admin`` is kafka-python's, ``failure`` are the errors that its requests raise. :meth:`ask`
    sends a request of :mod:`emulator.wire` instead, and leaves the response as bytes: a large one
    that is the same as before need not be decoded.
    """

    def __init__(self, address: str, properties: dict[str, str], **settings: int) -> None:
        """Connect; ``settings`` are kafka-python's, and give way to those in ``properties``.

        Raises:
            SourceError: kafka-python is not installed, or the cluster cannot be reached.
        """
        try:
            from kafka.admin import KafkaAdminClient
            from kafka.errors import KafkaError
        except ImportError as error:
            raise SourceError(missing_extra(clean(address), "kafka-python", "attach")) from error
        logging.getLogger("kafka").setLevel(logging.CRITICAL)
        clients: list[Any] = []

        def connections(**configs: Any) -> Any:  # noqa: ANN401
            clients.append(guarded_connections(**configs))
            return clients[0]

        try:
            self.admin = KafkaAdminClient(
                bootstrap_servers=servers_of(address),
                client_id=CLIENT_ID,
                bootstrap_timeout_ms=CONNECT_TIMEOUT_MS,
                receive_message_max_bytes=_RESPONSE_BYTES_MAX,
                kafka_client=connections,
                **{**settings, **client_settings(properties)},
            )
        except (KafkaError, OSError, *NONSENSE) as error:
            for client in clients:  # the library leaves them open
                client.close()
                client._manager._net.stop()
            hint = (
                "are the address and, in --command-config, protocol, certificates and password"
                " right?"
            )
            raise SourceError(
                f"{clean(address)} cannot be reached ({reason_of(error)}): {hint}"
            ) from error
        self.failure = (KafkaError, *NONSENSE)
        self._manager = self.admin._manager
        self.versions = {int(key): tuple(span) for key, span in self.admin.api_versions().items()}

    def __enter__(self) -> "ReadOnlyClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.admin.close()

    def brokers(self) -> list[int]:
        """Return the ids of the brokers that were alive when the client connected."""
        return [broker.node_id for broker in self._manager.cluster.brokers()]

    def version_of(self, key: int) -> int | None:
        """The newest version of an API that the cluster and we know; None if there is none."""
        first, last = self.versions.get(key, (0, -1))
        version = min(last, APIS[key].last_version, _NEWEST.get(key, last))
        return version if version >= first else None

    def ask(self, node: int, key: int, request: Message) -> bytes:
        """Send a request to a node; return the frame of its response, without correlation id.

        Raises:
            NoAnswerError: there is no response, or no version that both sides know.
        """
        version = self.version_of(key)
        if version is None:
            raise NoAnswerError(f"the cluster does not know {APIS[key].name}")
        wrapped = _Request(key, version, request)

        async def send() -> Any:  # noqa: ANN401
            return await self._manager.send(wrapped, node_id=node)

        try:
            frame: bytes = self._manager.run(send)
        except (*self.failure, OSError, RuntimeError) as error:
            raise NoAnswerError(reason_of(error)) from error
        return frame

    def decode(self, key: int, frame: bytes) -> Any:  # noqa: ANN401 - a message of any API
        """Return the message in a frame that :meth:`ask` returned.

        Raises:
            NoAnswerError: it is none.
        """
        version = self.version_of(key)
        assert version is not None
        try:
            return decode_response(key, version, bytes(_SIZE_BYTES) + frame)[1]
        except WireError as error:
            raise NoAnswerError(reason_of(error)) from error


def guarded_connections(**configs: Any) -> Any:  # noqa: ANN401 - of a library without types
    """Return kafka-python's client, with a guard before everything that it sends."""
    from kafka.net.compat import KafkaNetClient

    client = KafkaNetClient(**configs)
    manager = client._manager
    send = manager.send

    def guarded(request: Any, *more: Any, **named: Any) -> Any:  # noqa: ANN401
        if request.API_KEY not in READ_REQUESTS:
            raise WriteRequestError(f"{type(request).__name__} is no read request")
        return send(request, *more, **named)

    manager.send = guarded
    return client


class _Request:
    """A request of :mod:`emulator.wire` as kafka-python sends it."""

    def __init__(self, key: int, version: int, message: Message) -> None:
        self.API_KEY = key
        self.API_VERSION = version
        self.message = message
        self.header = _Header(key, version)
        self._client_id = ""

    def with_header(self, correlation_id: int, client_id: str) -> None:
        self.header.correlation_id = correlation_id
        self._client_id = client_id

    def encode(self, *, framed: bool, header: bool) -> bytes:
        assert framed
        assert header
        request_header = RequestHeader(
            self.API_KEY, self.API_VERSION, self.header.correlation_id, self._client_id
        )
        data = encode_request(request_header, self.message)
        return len(data).to_bytes(_SIZE_BYTES, "big") + data

    def expect_response(self) -> bool:
        return True


class _Header:
    """kafka-python's record of a request in flight, with the parser of its response."""

    def __init__(self, key: int, version: int) -> None:
        self.api_key = key
        self.api_version = version
        self.correlation_id = 0

    def get_response_class(self) -> "_Header":
        return self

    def parse_header(self, data: BytesIO) -> "_Header":
        read = _Header(self.api_key, self.api_version)
        read.correlation_id = int.from_bytes(data.read(_SIZE_BYTES), "big")
        return read

    def decode(self, data: BytesIO) -> bytes:
        return data.read()


def reason_of(error: Exception) -> str:
    """Return the name and text of an error, in at most 200 characters."""
    name = type(error).__name__
    start = "an answer that no broker gives: " if isinstance(error, NONSENSE) else ""
    return f"{start}{name}: {clean(str(error)).removeprefix(f'{name}: ')}"[:200]
