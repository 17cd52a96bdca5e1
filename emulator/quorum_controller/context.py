"""The common dependencies of the controller's parts: state, configuration and release rules."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.metadata_log.changes import TopicImage
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.registrations import BrokerRegistration
from emulator.quorum_controller.partition_change_builder import ElectionRules
from emulator.quorum_controller.result import ApiException
from emulator.quorum_controller.settings import ControllerSettings, ReleaseRules
from emulator.quorum_controller.state import ControllerState

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"
UNCLEAN_LEADER_ELECTION: Final = "unclean.leader.election.enable"


class Context(Struct):
    """The controller's state, its configuration, and its release's rules."""

    state: ControllerState
    settings: ControllerSettings
    rules: ReleaseRules

    @property
    def image(self) -> MetadataImage:
        """The metadata, including records that are not committed yet."""
        return self.state.image

    def active_brokers(self) -> set[int]:
        """The brokers that may become leaders: unfenced and not in controlled shutdown."""
        return {broker.id for broker in self.image.brokers.values() if broker.is_active}

    def check_broker_epoch(self, broker: int, epoch: int) -> BrokerRegistration:
        """Return a broker's registration.

        Raises:
            ApiException: STALE_BROKER_EPOCH if it is not registered, or with another epoch.
        """
        registration = self.image.brokers.get(broker)
        if registration is None:
            raise ApiException("STALE_BROKER_EPOCH", f"Broker {broker} is not registered.")
        if registration.epoch != epoch:
            raise ApiException(
                "STALE_BROKER_EPOCH",
                f"Broker {broker} has the broker epoch {registration.epoch}, not {epoch}.",
            )
        return registration

    def topic(self, name: str) -> TopicImage:
        """Return a topic by name.

        Raises:
            ApiException: UNKNOWN_TOPIC_OR_PARTITION if there is none.
        """
        topic = self.image.topic(name)
        if topic is None:
            raise ApiException("UNKNOWN_TOPIC_OR_PARTITION", f"There is no topic {name!r}.")
        return topic

    def election_rules(self, topic: TopicImage) -> ElectionRules:
        rules = self.rules.elections(self.image, self._min_isr(topic))
        if self.settings.zookeeper_metadata_migration_enable:
            # Brokers in ZooKeeper mode notice a smaller ISR by the leader epoch alone (KIP-866).
            return replace(rules, bumps_epoch_on_shrink=True)
        return rules

    def elects_uncleanly(self, topic: str) -> bool:
        """Whether a topic's configuration enables unclean leader election.

        Before 3.9 the configuration had no effect in KRaft mode (KAFKA-12670).
        """
        if not self.rules.kraft_unclean_election_by_config:
            return False
        value = self._topic_config(topic, UNCLEAN_LEADER_ELECTION)
        if value is None:
            return self.settings.unclean_leader_election_enable
        return value.strip().lower() == "true"

    def _min_isr(self, topic: TopicImage) -> int:
        """min.insync.replicas, limited to the replication factor."""
        value = self._topic_config(topic.name, MIN_INSYNC_REPLICAS)
        min_isr = self.settings.min_insync_replicas if value is None else int(value)
        return min(min_isr, len(topic.partitions[0].replicas))

    def _topic_config(self, topic: str, name: str) -> str | None:
        """A topic's value, the controller's dynamic value, or the cluster-wide default."""
        image = self.image
        for value in (
            image.topic_config(topic, name),
            image.broker_config(self.settings.node_id, name),
            image.broker_config(None, name),
        ):
            if value is not None:
                return value
        return None
