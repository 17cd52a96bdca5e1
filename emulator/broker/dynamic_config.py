"""How configuration reaches a broker: through ZooKeeper reads and change notifications.

Values in ``/config`` have no effect until a broker reads them. It does so when it starts, for a
topic when it creates its first log of that topic, and again when a notification under
``/config/changes`` names them. A broker that cannot reach ZooKeeper keeps the values last read.

Source: ``DynamicConfigManager``, ``ZkNodeChangeNotificationListener``, ``TopicConfigHandler``,
``DynamicBrokerConfig`` 0.9 to 3.9.
"""

from collections.abc import Callable

from emulator.broker_context import BrokerContext
from emulator.releases.config import ConfigError, resolve, resolve_topic
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.metadata import state_changes

ConfigListener = Callable[[str, str], None]
"""Called with ``topics`` or ``brokers`` and the name of the entity that was read again."""


class DynamicConfig:
    """Keeps one broker's view of the configuration in ZooKeeper."""

    def __init__(self, context: BrokerContext, taken: ConfigListener) -> None:
        """Read for the broker of ``context``; ``taken`` is called after each notification."""
        self.context = context
        self.process = context.process
        self.zk = context.zk
        self.taken = taken
        self._texts: dict[str, str | None] = {}

    def start(self) -> None:
        """Read all configuration and watch for changes, right after connecting.

        Raises:
            ConnectionLoss: ZooKeeper does not respond.
        """
        self._texts.clear()
        self.zk.watch_children(znodes.CONFIG_CHANGES)
        numbers = [number for number, _ in self._notifications()]
        self.process.config_change = max(numbers, default=-1)
        self._read_own(is_start=True)
        for topic in self.zk.children(znodes.TOPIC_CONFIGS):
            self._read_topic(topic)

    def changed(self) -> None:
        """Process unseen notifications in order.

        Raises:
            ConnectionLoss: ZooKeeper does not respond; the rest is processed the next time.
        """
        self.zk.watch_children(znodes.CONFIG_CHANGES)
        for number, name in self._notifications():
            if number > self.process.config_change:
                data = self.zk.data(f"{znodes.CONFIG_CHANGES}/{name}")
                self.process.config_change = number
                change = znodes.config_change_in(data)
                if change is not None:
                    self._take(*change)

    def log_created(self, topic: str) -> None:
        """Read a topic's configuration, for logs being created."""
        try:
            self._read_topic(topic)
        except errors.ConnectionLoss:
            self.process.unread_topics[topic] = None

    def reconnected(self) -> None:
        """Catch up on missed changes after reconnecting (``afterInitializingSession``)."""
        try:
            self.changed()
            for topic in list(self.process.unread_topics):
                self._read_topic(topic)
                del self.process.unread_topics[topic]
        except errors.ConnectionLoss:
            return

    # ---- reading

    def _notifications(self) -> list[tuple[int, str]]:
        """The existing notifications, by number; names not written by brokers or tools are ignored.

        Kafka throws an exception at a non-numeric name, and then misses later notifications too.
        """
        prefix = znodes.CONFIG_CHANGE.rpartition("/")[2]
        found: list[tuple[int, str]] = []
        for name in self.zk.children(znodes.CONFIG_CHANGES):
            number = znodes.number_in(name.removeprefix(prefix).lstrip("0") or "0")
            if name.startswith(prefix) and number is not None:
                found.append((number, name))
        return sorted(found)

    def _take(self, kind: str, name: str) -> None:
        if kind == "topics":
            self._read_topic(name)
        elif kind == "brokers" and name == str(self.context.id):
            self._read_own()
        self.taken(kind, name)

    def _read_topic(self, topic: str) -> None:
        """Apply a topic's values; if they cannot be read, the known values stay in force."""
        data = self.zk.data(znodes.topic_config_path(topic))
        if topic in self._texts and self._texts[topic] == data:
            return
        self._texts[topic] = data
        values = znodes.config_in(data) if data else {}
        known = self.process.topic_configs.get(topic, {})
        if values is None or values == known:
            return
        try:
            resolve_topic(self.context.config, values)
        except ConfigError:
            return
        self.process.topic_configs[topic] = values
        self.context.configuration.changed()

    def _read_own(self, *, is_start: bool = False) -> None:
        """Apply this broker's own values (1.1+), unless one of them is invalid.

        Up to 2.4 a broker keeps using a value that was removed until it is restarted.
        """
        context = self.context
        if not context.profile.has("dynamic_broker_config"):
            return
        data = self.zk.data(znodes.broker_config_path(context.id))
        values = znodes.config_in(data) if data else {}
        if values is None:
            return
        settings = context.settings
        before = settings.brokers.get(context.id, {})
        if not is_start and context.profile.has("removed_broker_config_stays"):
            values = before | values
        try:
            resolve(settings.version, {**settings.defaults, **values})
        except ConfigError:
            return
        if values != before:
            settings.brokers[context.id] = values
            context.configuration.changed()
            state_changes(context.emit, "broker", str(context.id), before, values)
