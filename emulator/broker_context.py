"""What every actor of one cluster shares.

The kernel, the network, ZooKeeper, the release's features, the configuration.
"""

from collections.abc import Callable

from emulator.events import ZOOKEEPER
from emulator.protocol import WatchEvent
from emulator.releases.config import BrokerConfig, Settings, resolve
from emulator.releases.profiles import PROFILES
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.storage.record_ledger import RecordLedger
from emulator.zookeeper.tree import ZooKeeper

ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
ID_LENGTH = 22


AGAIN = "again"
"""The kind of a znode's change that is none: somebody reads it once more."""


ZnodeObserver = Callable[[str, str, str | None, int], None]
"""Is told of each committed znode change: kind, path, data, version."""


class World:
    """The shared surroundings. Holds no state of its own that is not plain data elsewhere."""

    def __init__(
        self, kernel: Kernel, network: Network, zookeeper: ZooKeeper, settings: Settings
    ) -> None:
        """Tie the parts together."""
        self.kernel = kernel
        self.emit = kernel.emit
        self.network = network
        self.zookeeper = zookeeper
        self.settings = settings
        self.profile = PROFILES[settings.version]
        self.stepwise = settings.stepwise
        self.session_opened: Callable[[], None] = _nobody
        self.ledger: RecordLedger
        self.znode_observers: list[ZnodeObserver] = []
        self.config_version = 0
        self._configs: dict[int, BrokerConfig] = {}
        self._topic_values: dict[tuple[int, str], tuple[int, bool, int]] = {}

    # ---- what ZooKeeper acts through (ZkEnvironment)

    @property
    def now(self) -> int:
        """Virtual time in microseconds."""
        return self.kernel.state.now_us

    def notify(self, host: int, path: str, kind: str, /) -> None:
        """Send ``host`` the event of a watch that fired."""
        self.network.send(ZOOKEEPER, host, WatchEvent(path, kind))

    def znode_changed(self, kind: str, path: str, data: str | None, version: int, /) -> None:
        """Pass on a committed znode change."""
        for observe in self.znode_observers:
            observe(kind, path, data, version)

    def read_again(self, path: str) -> None:
        """Pass on what a znode holds, for somebody who goes by something else; nothing if none."""
        node = self.zookeeper.find(path)
        if node is not None:
            self.znode_changed(AGAIN, path, node.data, node.version)

    def children(self, path: str) -> list[str]:
        """The names below a znode, sorted; none if an outsider has deleted it."""
        return [] if self.zookeeper.find(path) is None else self.zookeeper.children(path)

    # ---- the release

    def cluster_id(self) -> str:
        """A cluster id of 22 characters, drawn from the seeded sequence."""
        draw = self.kernel.random_below
        return "".join(ID_CHARACTERS[draw(len(ID_CHARACTERS))] for _ in range(ID_LENGTH))

    # ---- configuration

    def config(self, broker: int) -> BrokerConfig:
        """A broker's configuration as it is now."""
        found = self._configs.get(broker)
        if found is None:
            overrides = {**self.settings.defaults, **self.settings.brokers.get(broker, {})}
            found = self._configs[broker] = resolve(self.settings.version, overrides)
        return found

    def configuration_changed(self) -> None:
        """Forget what was worked out from older settings."""
        self.config_version += 1
        self._configs.clear()
        self._topic_values.clear()

    def min_insync_replicas(self, broker: int, topic: str) -> int:
        """min.insync.replicas of a topic as that broker sees it."""
        return self._values(broker, topic)[0]

    def unclean_election(self, broker: int, topic: str) -> bool:
        """unclean.leader.election.enable of a topic as that broker (the controller) sees it."""
        return self._values(broker, topic)[1]

    def max_message_bytes(self, broker: int, topic: str) -> int:
        """max.message.bytes of a topic as that broker sees it."""
        return self._values(broker, topic)[2]

    def _values(self, broker: int, topic: str) -> tuple[int, bool, int]:
        key = (broker, topic)
        found = self._topic_values.get(key)
        if found is None:
            overrides = self.settings.topics.get(topic, {})
            defaults = self.config(broker)
            min_isr = overrides.get("min.insync.replicas")
            unclean = overrides.get("unclean.leader.election.enable")
            largest = overrides.get("max.message.bytes")
            found = (
                defaults.min_insync_replicas if min_isr is None else int(min_isr),
                defaults.unclean_leader_election_enable if unclean is None else unclean == "true",
                defaults.message_max_bytes if largest is None else int(largest),
            )
            self._topic_values[key] = found
        return found


def _nobody() -> None:
    """Nobody waits for sessions yet."""
