"""The active controller's state, as plain data."""

from msgspec import Struct

from emulator.metadata_log.changes import MetadataDelta
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    AnyRecord,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from emulator.quorum_controller.heartbeats import BrokerHeartbeats
from emulator.quorum_controller.partition_index import PartitionIndex
from emulator.quorum_controller.settings import ControllerSettings, ReleaseRules


class ControllerState(Struct):
    """The active controller's image, including uncommitted records, and its soft state.

    Create it with :meth:`activate` when the controller becomes the quorum's leader, and discard it
    when it resigns: everything but the heartbeats can be rebuilt from the log.
    """

    image: MetadataImage
    partitions: PartitionIndex
    heartbeats: BrokerHeartbeats

    @staticmethod
    def activate(
        image: MetadataImage, settings: ControllerSettings, rules: ReleaseRules, now_us: int
    ) -> "ControllerState":
        """Return the state of a controller that becomes active with its whole log in ``image``.

        All sessions are restarted (``ClusterControlManager.activate``; KAFKA-18138).
        """
        heartbeats = BrokerHeartbeats(
            settings.broker_session_timeout_us, rules.contact_times_by_broker_epoch
        )
        for broker in image.brokers.values():
            heartbeats.register(broker.id, now_us, fenced=broker.fenced)
            if not broker.fenced or rules.contact_times_of_fenced_brokers:
                heartbeats.track(broker.id, broker.epoch, now_us)
        return ControllerState(image, PartitionIndex.of(image), heartbeats)

    def replay(
        self,
        record: AnyRecord,
        offset: int,
        epoch: int,
        now_us: int,
        delta: MetadataDelta | None = None,
    ) -> None:
        """Apply a record that the controller itself has just written."""
        changes = MetadataDelta()
        self.image.replay(record, offset, epoch, changes)
        for key, change in changes.partitions.items():
            self.partitions.update(key, change.before, change.after)
        match record:
            case RegisterBrokerRecord(broker_id=broker, fenced=fenced):
                self.heartbeats.remove(broker)
                self.heartbeats.register(broker, now_us, fenced=fenced)
            case BrokerRegistrationChangeRecord(broker_id=broker):
                fenced = self.image.brokers[broker].fenced
                self.heartbeats.register(broker, now_us, fenced=fenced)
            case UnregisterBrokerRecord(broker_id=broker):
                self.heartbeats.remove(broker)
            case _:
                pass
        if delta is not None:
            delta.add(changes)
