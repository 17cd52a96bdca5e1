"""How configuration reaches a broker: through ZooKeeper reads and change notifications.

Values in ``/config`` have no effect until a broker reads them. It does so when it starts, for a
topic when it creates its first log of that topic, and again when a notification under
``/config/changes`` names them. A broker that cannot reach ZooKeeper keeps the values last read.

Source: ``DynamicConfigManager``, ``ZkNodeChangeNotificationListener``, ``TopicConfigHandler``,
``DynamicBrokerConfig`` 0.9 to 3.9.
"""

from collections.abc import Callable

from msgspec import Struct, field

from emulator.broker_context import BrokerContext
from emulator.releases.config import ConfigError, resolve, resolve_topic
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.client import ZkClient
from emulator.zookeeper.metadata import state_changes

ConfigListener = Callable[[str, str], None]
"""Called with ``topics`` or ``brokers`` and the name of the entity that was read again."""


class DynamicConfigState(Struct, array_like=True):
    """The last change notification that was processed (-1: none), and topics still to be read."""

    last_change: int = -1
    unread_topics: dict[str, None] = field(default_factory=dict)


class DynamicConfig:
    """Keeps one broker's view of the configuration in ZooKeeper."""

    def __init__(
        self,
        context: BrokerContext,
        state: DynamicConfigState,
        zk: ZkClient,
        listener: ConfigListener,
    ) -> None:
        """Read for the broker of ``context``; ``listener`` is called after each notification."""
        self.context = context
        self.state = state
        self.process = context.process
        self.zk = zk
        self.listener = listener
        self._texts: dict[str, str | None] = {}

    def start(self) -> None:
        """Read all configuration and watch for changes, right after connecting.

        Raises:
            ConnectionLoss: ZooKeeper does not respond.
        """
        self._texts.clear()
        self.zk.watch_children(znodes.CONFIG_CHANGES)
        numbers = [number for number, _ in self._notifications()]
        self.state.last_change = max(numbers, default=-1)
        self._read_brokers(is_start=True)
        for topic in self.zk.children(znodes.TOPIC_CONFIGS):
            self._read_topic(topic)

    def changed(self) -> None:
        """Process unseen notifications in order.

        Raises:
            ConnectionLoss: ZooKeeper does not respond; the rest is processed the next time.
        """
        self.zk.watch_children(znodes.CONFIG_CHANGES)
        for number, name in self._notifications():
            if number > self.state.last_change:
                data = self.zk.data(f"{znodes.CONFIG_CHANGES}/{name}")
                self.state.last_change = number
                change = znodes.config_change_in(data)
                if change is not None:
                    self._take(*change)

    def log_created(self, topic: str) -> None:
        """Read a topic's configuration, for logs being created."""
        try:
            self._read_topic(topic)
        except errors.ConnectionLoss:
            self.state.unread_topics[topic] = None

    def reconnected(self) -> None:
        """Catch up on missed changes after reconnecting (``afterInitializingSession``)."""
        try:
            self.changed()
            for topic in list(self.state.unread_topics):
                self._read_topic(topic)
                del self.state.unread_topics[topic]
        except errors.ConnectionLoss:
            return

    # ---- reading

    def _notifications(self) -> list[tuple[int, str]]:
        """The existing notifications, by number; names not written by brokers or tools are ignored.

        Kafka throws an exception at a non-numeric name, and then misses later notifications too.
        """
        prefix = znodes.CONFIG_CHANGE.rpartition("/")[2]
        notifications: list[tuple[int, str]] = []
        for name in self.zk.children(znodes.CONFIG_CHANGES):
            number = znodes.number_in(name.removeprefix(prefix).lstrip("0") or "0")
            if name.startswith(prefix) and number is not None:
                notifications.append((number, name))
        return sorted(notifications)

    def _take(self, kind: str, name: str) -> None:
        if kind == "topics":
            self._read_topic(name)
        elif kind == "brokers" and name in (str(self.context.id), znodes.ALL_BROKERS):
            self._read_brokers()
        self.listener(kind, name)

    def _read_topic(self, topic: str) -> None:
        """Apply a topic's values; if they cannot be read, the known values stay in force."""
        data = self.zk.data(znodes.topic_config_path(topic))
        if topic in self._texts and self._texts[topic] == data:
            return
        self._texts[topic] = data
        values = znodes.config_in(data) if data else {}
        configs = self.process.topic_configs.get(topic, {})
        if values is None or values == configs:
            return
        try:
            resolve_topic(self.context.config, values)
        except ConfigError:
            return
        self.process.topic_configs[topic] = values
        self.context.configuration.changed()

    def _read_brokers(self, *, is_start: bool = False) -> None:
        """Apply the values for all brokers and this broker's own (1.1+; KIP-226)."""
        context, settings = self.context, self.context.settings
        if context.profile.has("dynamic_broker_config"):
            self._read_values(None, settings.broker_defaults, is_start=is_start)
            self._read_values(context.id, settings.brokers, is_start=is_start)

    def _read_values(
        self, broker: int | None, applied: dict[int, dict[str, str]], *, is_start: bool
    ) -> None:
        """Apply the values in one znode, unless one of them is invalid.

        Up to 2.4 a broker keeps using a value that was removed until it is restarted.
        """
        context, settings = self.context, self.context.settings
        data = self.zk.data(znodes.broker_config_path(broker))
        values = znodes.config_in(data) if data else {}
        if values is None:
            return
        before = applied.get(context.id, {})
        if not is_start and context.profile.has("removed_broker_config_stays"):
            values = before | values
        if values == before:
            return
        applied[context.id] = values
        try:
            resolve(settings.version, settings.of_broker(context.id))
        except ConfigError:
            applied[context.id] = before
            return
        context.configuration.changed()
        state_changes(context.emit, "broker", str(context.id), before, values)
