"""Administration in KRaft mode: requests to a broker, which forwards them to the controller.

The controller's response is the statement's result. Source: ``Admin`` of the Java client, KIP-590.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from emulator.clients.state import AdminRequest
from emulator.cluster import Cluster
from emulator.inputs import statements as inputs
from emulator.metadata_log.image import TopicImage
from emulator.metadata_log.records import BROKER_RESOURCE, TOPIC_RESOURCE
from emulator.protocol import (
    AlterIsrItem,
    AlterPartitionReassignmentsRequest,
    AlterPartitionRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    NewTopic,
)
from emulator.replication import assignment
from emulator.scenario.outcome import Outcome
from emulator.scenario.refusals import NO_ZOOKEEPER, RefusedError, needs_partition

TIMEOUT_US: Final = 12_000_000
"""The timeout of a request."""


class KRaftAdmin:
    """Administrative requests to a KRaft cluster; each method returns the request's job."""

    def __init__(self, cluster: Cluster) -> None:
        """Send requests to ``cluster``."""
        self.cluster = cluster

    def _ask(self, request: AdminRequest, controller: int = -1) -> int:
        working = next(self._working_brokers(), -1)
        return self.cluster.clients.admin.ask(request, TIMEOUT_US, controller, working)

    def _working_brokers(self) -> Iterator[int]:
        return (b for b in self.cluster.brokers if self.cluster.host_works(b))

    def _registered(self) -> list[int]:
        assert self.cluster.kraft is not None
        return sorted(self.cluster.kraft.committed.image.brokers)

    def _topic(self, name: str) -> TopicImage | None:
        assert self.cluster.kraft is not None
        return self.cluster.kraft.committed.image.topic(name)

    # ---- topics

    def create_topic(self, wanted: inputs.CreateTopic) -> int:
        """Create a topic; with Kafka's policy the controller places the replicas."""
        lists = wanted.assignment
        if not lists and wanted.policy == "seed":
            lists = self._assigned(wanted.partitions, wanted.replication_factor, 0)
        assigned = dict(enumerate(lists))
        numbers = (wanted.partitions, wanted.replication_factor)
        topic = NewTopic(*numbers, assigned, dict(wanted.config))
        return self._ask(CreateTopicsRequest({wanted.topic: topic}, TIMEOUT_US))

    def _assigned(self, partitions: int, factor: int, first: int) -> list[list[int]]:
        try:
            return assignment.assign_seed(self._registered(), partitions, factor, first)
        except assignment.AssignmentError as error:
            raise RefusedError(error.error_name, str(error)) from None

    def add_partitions(self, wanted: inputs.AddPartitions) -> int:
        """Add partitions; their replicas continue the pattern of a new topic's."""
        lists = wanted.assignment
        topic = self._topic(wanted.topic)
        if not lists and topic is not None:
            have = len(topic.partitions)
            factor = len(topic.partitions[0].replicas)
            new = wanted.partitions - have
            lists = self._assigned(new, factor, have) if new > 0 else []
        return self._ask(
            CreatePartitionsRequest({wanted.topic: (wanted.partitions, lists)}, TIMEOUT_US)
        )

    def configure_topic(self, wanted: inputs.ConfigureTopic) -> int:
        """Set a topic's configuration values."""
        return self._configure(TOPIC_RESOURCE, wanted.topic, wanted.config)

    def configure_broker(self, wanted: inputs.ConfigureBroker) -> int:
        """Set a broker's configuration values, or the cluster-wide defaults."""
        name = "" if wanted.broker is None else str(wanted.broker)
        return self._configure(BROKER_RESOURCE, name, wanted.config)

    def _configure(self, resource_type: int, name: str, config: Mapping[str, str | None]) -> int:
        return self._ask(IncrementalAlterConfigsRequest(resource_type, name, dict(config)))

    def delete_topic(self, wanted: inputs.DeleteTopic) -> int:
        return self._ask(DeleteTopicsRequest([wanted.topic], TIMEOUT_US))

    def describe_topic(self, wanted: inputs.DescribeTopic) -> Outcome:
        """Request a topic's ELRs as known to a live broker (DescribeTopicPartitions, KIP-966)."""
        cluster = self.cluster
        if cluster.kraft is None:
            raise RefusedError(
                "UNSUPPORTED_VERSION", "Eligible leader replicas exist only in KRaft mode."
            )
        broker = next(self._working_brokers(), None)
        member = None if broker is None else cluster.kraft_membership(broker)
        topic = None if member is None else member.image.topic(wanted.topic)
        if topic is None:
            return Outcome(output="no broker knows it")
        elrs = {
            f"{topic.name}-{number}": {
                "elr": list(partition.elr),
                "last_known_elr": list(partition.last_known_elr),
            }
            for number, partition in sorted(topic.partitions.items())
        }
        rows = [
            f"{tp}: elr {entry['elr']}, last known {entry['last_known_elr']}"
            for tp, entry in elrs.items()
        ]
        return Outcome(output="\n".join(rows), result=elrs)

    # ---- partitions

    def elect_preferred(self, wanted: inputs.ElectPreferred) -> int:
        return self._ask(ElectLeadersRequest(wanted.partitions, unclean=False))

    def elect_unclean(self, wanted: inputs.ElectUnclean) -> int:
        """Elect a leader outside the ISR."""
        return self._ask(ElectLeadersRequest([wanted.tp]))

    def reassign(self, wanted: inputs.Reassign) -> int:
        return self._ask(AlterPartitionReassignmentsRequest({wanted.tp: wanted.replicas}))

    def cancel_reassignment(self, wanted: inputs.CancelReassignment) -> int:
        return self._ask(AlterPartitionReassignmentsRequest({wanted.tp: None}))

    def alter_partition(self, wanted: inputs.AlterPartition) -> int:
        """Send the active controller a leader's request, with epochs that may be wrong."""
        kraft = self.cluster.kraft
        if kraft is None:
            raise RefusedError("UNSUPPORTED_VERSION", "alterpartition works only in KRaft mode.")
        needs_partition(self.cluster, wanted.tp)
        controller = self.cluster.active_controller()
        if controller is None:
            raise RefusedError("NOT_CONTROLLER", "The quorum has no leader.")
        image = kraft.committed.image
        topic, _, number = wanted.tp.rpartition("-")
        partition = image.partition(topic, int(number))
        assert partition is not None
        epochs = {number: registration.epoch for number, registration in image.brokers.items()}
        differences = wanted.isr_epochs
        item = AlterIsrItem(
            partition.leader_epoch + wanted.leader_epoch,
            wanted.isr,
            partition.partition_epoch + wanted.partition_epoch,
            [epochs.get(b, -1) + differences[b] if b in differences else -1 for b in wanted.isr],
        )
        broker_epoch = epochs.get(wanted.broker, -1) + wanted.broker_epoch
        request = AlterPartitionRequest(wanted.broker, broker_epoch, {wanted.tp: item})
        return self._ask(request, controller)

    # ---- ZooKeeper

    def refuse(self, _wanted: inputs.ZkCommand | inputs.ExpireSession) -> Outcome:
        """Reject a ZooKeeper statement."""
        raise RefusedError("UNSUPPORTED_VERSION", NO_ZOOKEEPER)
