"""Where brokers listen, and which addresses clients are told: Kafka's listeners.

A listener has a name, such as INTERNAL. A client that connects to one is told the brokers'
addresses of that listener and no other, so clients inside and outside of a container, or behind a
proxy, can each get addresses that they reach. Source: ``KafkaConfig.validateAdvertisedListeners``.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

Address = tuple[str, int]
"""A host and a port."""

PLAINTEXT: Final = "PLAINTEXT"
"""The security protocol without encryption and authentication, and the listener named after it."""
SSL: Final = "SSL"
"""The security protocol in which certificates alone say who brokers and clients are."""
PROTOCOLS: Final = (PLAINTEXT, SSL, "SASL_PLAINTEXT", "SASL_SSL")
"""The security protocols (``SecurityProtocol``)."""
LOOPBACK: Final = "127.0.0.1"
META_ADDRESSES: Final = ("0.0.0.0", "::", "0:0:0:0:0:0:0:0", "")
"""Addresses to listen on that no client can connect to."""


class UnreachableError(ValueError):
    """Clients would be told a meta-address; the message says what to give instead."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"advertised.listeners cannot use the nonroutable meta-address {host or '::'}: give"
            " one that clients can reach (--advertise HOST, or advertise=HOST of a --listener)"
        )


class Endpoint(Struct, frozen=True, kw_only=True):
    """A listener of each broker.

    The first broker listens on ``port``, the next one on ``port + 1``, and so on; 0: on free ports.
    Clients are told ``advertised_host`` (None: the host that the script gives the broker, or
    ``host``) and ``advertised_port`` and those that follow (0: the ports that brokers listen on).
    ``protocol`` is the security protocol.
    """

    name: str = PLAINTEXT
    protocol: str = PLAINTEXT
    host: str = LOOPBACK
    port: int = 0
    advertised_host: str | None = None
    advertised_port: int = 0

    @property
    def is_encrypted(self) -> bool:
        """Whether clients speak TLS."""
        return self.protocol.endswith("SSL")

    @property
    def is_authenticated(self) -> bool:
        """Whether clients authenticate by SASL."""
        return self.protocol.startswith("SASL_")

    def advertised(self, bound: Mapping[int, int], hosts: Mapping[int, str]) -> dict[int, Address]:
        """Return the address that clients are told, by broker.

        ``bound`` has the ports that brokers listen on, and ``hosts`` their hosts by the script.

        Raises:
            UnreachableError: it is a meta-address.
        """
        addresses = {}
        for at, (broker, port) in enumerate(bound.items()):
            host = self.advertised_host
            if host is None:
                host = hosts.get(broker) or self.host
            if host in META_ADDRESSES:
                raise UnreachableError(host)
            addresses[broker] = (host, self.advertised_port + at if self.advertised_port else port)
        return addresses
