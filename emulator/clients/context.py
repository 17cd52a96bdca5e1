"""The common dependencies of the client host's parts: state, time, network, release defaults.

No part depends on the host. A part receives what it needs from others on construction.
"""

from collections.abc import Callable, Collection
from typing import Protocol

from emulator.clients.state import ClientsState
from emulator.common.acls import Acl
from emulator.events import CLIENTS
from emulator.protocol import AnyMessage
from emulator.releases.config import consumer_defaults, producer_defaults
from emulator.releases.profiles import Profile
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.storage.record_ledger import RecordLedger


class Membership(Protocol):
    """What a broker knows of its cluster when it decides about a request."""

    @property
    def acls(self) -> Collection[Acl]:
        """The access control entries that it knows."""

    @property
    def handles_administration(self) -> bool:
        """Whether it handles requests for the controller, or passes them on."""


class ClientContext:
    """The environment shared by all producers and consumers."""

    def __init__(  # noqa: PLR0913 - what a client of the cluster needs to know
        self,
        state: ClientsState,
        *,
        kernel: Kernel,
        network: Network,
        profile: Profile,
        ledger: RecordLedger,
        bootstrap: list[int],
        in_kraft_mode: bool = False,
        transaction_version: Callable[[], int] = lambda: 0,
        membership_of: Callable[[int], Membership] | None = None,
    ) -> None:
        """Operate on ``state``; ``bootstrap`` lists the brokers of bootstrap.servers in id order.

        ``in_kraft_mode``: producers behave as in the recordings of real KRaft clusters. Records
        without a key start at partition 0, and for a topic unknown to all brokers a producer
        reports that it found no leader. ``transaction_version`` is the cluster's level of that
        feature, ``membership_of`` tells what a broker knows of its cluster.
        """
        self.state = state
        self.kernel = kernel
        self.emit = kernel.emit
        self.network = network
        self.profile = profile
        self.ledger = ledger
        self.bootstrap = bootstrap
        self.in_kraft_mode = in_kraft_mode
        self.transaction_version = transaction_version
        self.membership_of = membership_of
        self.producer_defaults = producer_defaults(profile.version)
        self.consumer_defaults = consumer_defaults(profile.version)

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""
        return self.kernel.state.now_us

    def new_id(self) -> int:
        """A number for a statement, or to distinguish a timer from older ones."""
        self.state.next_id += 1
        return self.state.next_id

    def send(self, broker: int, request: AnyMessage) -> int:
        """Send a request to a broker; return the number that its response will carry."""
        return self.network.send(CLIENTS, broker, request)

    def withdraw(self, broker: int, request: int) -> None:
        """Close the connection of a pending request; messages held on the way are lost."""
        self.network.withdraw(CLIENTS, broker, {request})

    def later(self, task: str, client: str, token: int, delay_us: int) -> None:
        """Schedule ``task`` of a client after ``delay_us``, with ``token``."""
        self.kernel.timer(CLIENTS, delay_us, task, client, token)
