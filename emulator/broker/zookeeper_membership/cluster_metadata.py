"""What a broker knows of a cluster whose metadata is in ZooKeeper.

The controller's requests tell it who leads and who lives; topics it reads in ZooKeeper itself.
"""

from collections.abc import Mapping
from contextlib import suppress

from emulator.broker_context import BrokerContext, TopicInfo
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.admin_client import AdminZkClient
from emulator.zookeeper.client import ZkClient


class ZooKeeperMetadata:
    """Answers what a broker's parts ask about the cluster."""

    known_topic_ids: None = None
    arrives_in_requests = True
    has_broker_epochs = False
    fetchers_start_late = False

    def __init__(self, context: BrokerContext, zk: ZkClient) -> None:
        """Read through ``zk``, and in what the process of ``context`` was told."""
        self.process = context.process
        self.topic_ids: Mapping[str, str] = {}
        self.zk = zk
        settings, draw = context.settings, context.kernel.random_below
        self.admin = AdminZkClient(context.profile, lambda: settings.racks, draw, zk.write)

    @property
    def controller(self) -> int:
        """The controller that requests can be sent to; -1 if no live broker is known to be it."""
        controller = self.process.known_controller
        return controller if controller in self.process.live_brokers else -1

    def partition_count(self, topic: str) -> int:
        """The number of partitions in a topic's znode; 0 if it does not exist.

        Raises:
            ConnectionLoss: ZooKeeper does not respond.
        """
        node = self.zk.find(znodes.topic_path(topic))
        assignment = znodes.topic_in(None if node is None else node.data)
        return len(assignment.replicas if assignment else ())

    def exists(self, topic: str) -> bool:
        """Whether a topic has a znode, whether or not this broker could read it now."""
        return self.zk.zookeeper.find(znodes.topic_path(topic)) is not None

    def topic(self, _name: str) -> TopicInfo | None:
        """A topic with an id: those in ZooKeeper do not count, whatever their ids."""
        return None

    def topic_with_id(self, _topic_id: str) -> TopicInfo | None:
        """A topic with an id: none counts."""
        return None

    def feature_level(self, _name: str) -> int:
        """The finalized level of a feature: none has one here."""
        return 0

    def group_config(self, _group: str) -> dict[str, str]:
        """The configuration of a group: none has its own."""
        return {}

    def topic_names(self) -> tuple[str, ...]:
        """The names of topics with ids: none."""
        return ()

    def leader(self, tp: str) -> int | None:
        """The live leader of a partition; -1 if it has none, None if there is no such partition."""
        info = self.process.metadata.get(tp)
        if info is None:
            return None
        return info.leader if info.leader in self.process.live_brokers else -1

    def broker_epoch(self, _broker: int) -> int | None:
        """The epoch of a broker: unknown, as the controller does not tell it."""
        return None

    def create(self, topic: str, partitions: int, factor: int, config: dict[str, str]) -> None:
        """Write a topic's znodes, unless it exists or ZooKeeper does not respond."""
        with suppress(errors.ConnectionLoss):
            if self.zk.find(znodes.topic_path(topic)) is None:
                lists = self.admin.assign(self.process.live_brokers, partitions, factor)
                self.admin.create(topic, lists, config)
