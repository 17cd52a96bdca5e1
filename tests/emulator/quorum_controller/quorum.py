"""A controller with a log of its own: what it writes is committed at once."""

from typing import Any

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import AnyRecord, Replicas
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.metadata_log.shown import LogNames, ShownRecord, show
from emulator.quorum_controller.alter_partition import AlterPartitionItem, AlterPartitionResult
from emulator.quorum_controller.cluster_control import (
    BrokerHeartbeatReply,
    BrokerRegistrationRequest,
)
from emulator.quorum_controller.feature_control import default_features
from emulator.quorum_controller.heartbeats import Heartbeat
from emulator.quorum_controller.quorum_controller import QuorumController
from emulator.quorum_controller.result import ResponseT, Result
from emulator.quorum_controller.settings import ControllerSettings
from emulator.quorum_controller.topics import CreatableTopic
from emulator.releases.versions import numbers_of


class Quorum:
    """One active controller of a release, and as many brokers as are started; time in seconds."""

    def __init__(
        self, release: str = "4.1.2", *, features: dict[str, int] | None = None, **settings: Any
    ) -> None:
        self.release = numbers_of(release)
        self.settings = ControllerSettings(broker_session_timeout_us=4_000_000, **settings)
        self.seed = 7
        self.log: list[list[AnyRecord]] = []
        self.now_us = 0
        self.epoch = 1
        self.controller = self._activated(MetadataImage())
        self.append(self.controller.bootstrap(default_features(release, features)))

    @property
    def end(self) -> int:
        return self.controller.image.offset + 1

    def append(self, result: Result[ResponseT]) -> ResponseT:
        self.log += result.batches
        self.controller.appended(result, self.end, self.epoch, self.now_us)
        return result.response

    def fail_over(self) -> None:
        """Another controller takes over with the same log."""
        image = MetadataImage()
        for offset, record in enumerate(record for batch in self.log for record in batch):
            image.replay(record, offset, self.controller.image.epoch)
        assert image == self.controller.image
        self.epoch += 1
        self.controller = self._activated(image)

    def shown(self, since: int = 0) -> list[list[ShownRecord]]:
        """The batches written since one, as people are shown them."""
        names = LogNames()
        return [[show(record, names) for record in batch] for batch in self.log][since:]

    def _activated(self, image: MetadataImage) -> QuorumController:
        return QuorumController.activate(
            image, self.settings, self.release, self.random_below, self.now_us
        )

    def random_below(self, limit: int) -> int:
        self.seed = (self.seed * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.seed >> 33) % limit

    # ---- brokers

    def register(
        self, broker: int, incarnation: str = "", *, clean: bool = False, rack: str | None = None
    ) -> int:
        known = self.controller.image.brokers.get(broker)
        request = BrokerRegistrationRequest(
            broker,
            incarnation or f"{broker}@{self.end}",
            rack,
            known.epoch if clean and known else -1,
        )
        reply = self.append(self.controller.register_broker(request, self.end, self.now_us))
        epoch: int = reply.broker_epoch
        return epoch

    def start(self, *brokers: int, clean: bool = False) -> None:
        """Register brokers and unfence them."""
        for broker in brokers:
            self.register(broker, clean=clean)
            self.heartbeat(broker)

    def heartbeat(
        self, broker: int, *, offset: int | None = None, **wants: Any
    ) -> BrokerHeartbeatReply:
        """A heartbeat of a broker that has read the whole log, or up to ``offset``."""
        epoch = self.controller.image.brokers[broker].epoch
        read = self.end - 1 if offset is None else offset
        return self.append(
            self.controller.process_broker_heartbeat(
                broker, epoch, Heartbeat(read, **wants), self.now_us
            )
        )

    def let_pass(self, seconds: float, *beating: int) -> None:
        """Let time pass in steps of half a second, with heartbeats of ``beating``, and fence."""
        for _ in range(int(seconds * 2)):
            self.now_us += 500_000
            for broker in beating:
                self.heartbeat(broker)
            while self.append(self.controller.maybe_fence_one_stale_broker(self.now_us)):
                pass

    # ---- topics

    def create(self, topic: str, *replicas: Replicas, **configs: str) -> None:
        wanted = CreatableTopic(
            topic,
            assignments=dict(enumerate(replicas)),
            configs={name.replace("_", "."): value for name, value in configs.items()},
        )
        result = self.append(self.controller.create_topics([wanted]))[topic]
        assert not result.error.is_failure, result

    def partition(self, topic: str, number: int = 0) -> PartitionRegistration:
        found = self.controller.image.partition(topic, number)
        assert found is not None
        return found

    def alter_partition(
        self,
        topic: str,
        *isr: int,
        broker: int | None = None,
        leader_epoch: int = 0,
        partition_epoch: int = 0,
        broker_epoch: int = 0,
        isr_epochs: dict[int, int] | None = None,
        recovery: int = 0,
        number: int = 0,
    ) -> AlterPartitionResult:
        """The leader asks for an ISR; each epoch is added to the true one."""
        partition = self.partition(topic, number)
        brokers = self.controller.image.brokers
        leader = partition.leader if broker is None else broker
        checked = isr_epochs or {}
        item = AlterPartitionItem(
            self.controller.image.topic_ids[topic],
            number,
            partition.leader_epoch + leader_epoch,
            partition.partition_epoch + partition_epoch,
            tuple(
                (each, brokers[each].epoch + checked[each] if each in checked else -1)
                for each in isr
            ),
            recovery,
        )
        response = self.append(
            self.controller.alter_partition(leader, brokers[leader].epoch + broker_epoch, [item])
        )
        result: AlterPartitionResult = next(iter(response.values()))
        return result
