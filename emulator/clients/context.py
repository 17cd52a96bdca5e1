"""What each part of the clients' host stands on: state, time, the network, a release's defaults.

No part knows the host. What a part needs of another it is given when it is made.
"""

from emulator.clients.state import ClientsState
from emulator.events import CLIENTS
from emulator.protocol import AnyMessage
from emulator.releases.config import consumer_defaults, producer_defaults
from emulator.releases.profiles import Profile
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.storage.record_ledger import RecordLedger


class ClientContext:
    """The surroundings of all producers and consumers, as their parts use them."""

    def __init__(
        self,
        state: ClientsState,
        *,
        kernel: Kernel,
        network: Network,
        profile: Profile,
        ledger: RecordLedger,
        bootstrap: list[int],
        in_kraft_mode: bool = False,
    ) -> None:
        """Act on ``state``; ``bootstrap`` are the brokers of bootstrap.servers, in id order.

        ``in_kraft_mode``: producers are those of the recordings of real clusters without ZooKeeper.
        Records without a key begin at partition 0, and of a topic that no broker knows a producer
        says that it found no leader.
        """
        self.state = state
        self.kernel = kernel
        self.emit = kernel.emit
        self.network = network
        self.profile = profile
        self.ledger = ledger
        self.bootstrap = bootstrap
        self.in_kraft_mode = in_kraft_mode
        self.producer_defaults = producer_defaults(profile.version)
        self.consumer_defaults = consumer_defaults(profile.version)

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""
        return self.kernel.state.now_us

    def new_id(self) -> int:
        """A number for a statement, or to tell one timer from older ones."""
        self.state.next_id += 1
        return self.state.next_id

    def send(self, broker: int, request: AnyMessage) -> int:
        """Send a request to a broker; returns the number that its answer will quote."""
        return self.network.send(CLIENTS, broker, request)

    def withdraw(self, broker: int, request: int) -> None:
        """Close the connection that a request waits on: what of it is stuck on the way is lost."""
        self.network.withdraw(CLIENTS, broker, {request})

    def later(self, task: str, client: str, token: int, delay_us: int) -> None:
        """Let ``task`` of a client be run after ``delay_us``, with ``token``."""
        self.kernel.timer(CLIENTS, delay_us, task, client, token)
