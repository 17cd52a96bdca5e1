"""Administration in KRaft mode: requests to a broker, which forwards them to the controller.

The controller's response is the statement's result. Source: ``Admin`` of the Java client, KIP-590.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from emulator.clients.state import AdminRequest
from emulator.cluster import Cluster
from emulator.inputs import statements as inputs
from emulator.metadata_log.changes import TopicImage
from emulator.metadata_log.records import BROKER_RESOURCE, GROUP_RESOURCE, TOPIC_RESOURCE
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


class KRaftAdmin(Struct, eq=False):
    """Administrative requests to a KRaft cluster; each method returns the request's job."""

    cluster: Cluster

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

    def create_topic(self, statement: inputs.CreateTopic) -> int:
        """Create a topic; with Kafka's policy the controller places the replicas."""
        lists = statement.assignment
        if not lists and statement.policy == "seed":
            lists = self._assigned(statement.partitions, statement.replication_factor, 0)
        assigned = dict(enumerate(lists))
        numbers = (-1, -1) if assigned else (statement.partitions, statement.replication_factor)
        topic = NewTopic(*numbers, assigned, dict(statement.config))
        return self._ask(CreateTopicsRequest({statement.topic: topic}, TIMEOUT_US))

    def _assigned(self, partitions: int, factor: int, first: int) -> list[list[int]]:
        try:
            return assignment.assign_seed(self._registered(), partitions, factor, first)
        except assignment.AssignmentError as error:
            raise RefusedError(error.error_name, str(error)) from None

    def add_partitions(self, statement: inputs.AddPartitions) -> int:
        """Add partitions; their replicas continue the pattern of a new topic's."""
        lists = statement.assignment
        topic = self._topic(statement.topic)
        if not lists and topic is not None:
            have = len(topic.partitions)
            factor = len(topic.partitions[0].replicas)
            new = statement.partitions - have
            lists = self._assigned(new, factor, have) if new > 0 else []
        return self._ask(
            CreatePartitionsRequest(
                {statement.topic: (statement.partitions, lists or None)}, TIMEOUT_US
            )
        )

    def configure_topic(self, statement: inputs.ConfigureTopic) -> int:
        return self._configure(TOPIC_RESOURCE, statement.topic, statement.config)

    def configure_broker(self, statement: inputs.ConfigureBroker) -> int:
        """Set a broker's configuration values, or the cluster-wide defaults."""
        name = "" if statement.broker is None else str(statement.broker)
        return self._configure(BROKER_RESOURCE, name, statement.config)

    def configure_group(self, statement: inputs.ConfigureGroup) -> int:
        if self.cluster.kraft is None:
            raise RefusedError("UNSUPPORTED_VERSION", "Groups have configurations from 4.0 on.")
        return self._configure(GROUP_RESOURCE, statement.group, statement.config)

    def _configure(self, resource_type: int, name: str, config: Mapping[str, str | None]) -> int:
        return self._ask(IncrementalAlterConfigsRequest(resource_type, name, dict(config)))

    def delete_topic(self, statement: inputs.DeleteTopic) -> int:
        return self._ask(DeleteTopicsRequest([statement.topic], TIMEOUT_US))

    def describe_topic(self, statement: inputs.DescribeTopic) -> Outcome:
        """Request a topic's ELRs as known to a live broker (DescribeTopicPartitions, KIP-966)."""
        cluster = self.cluster
        if cluster.kraft is None:
            raise RefusedError(
                "UNSUPPORTED_VERSION", "Eligible leader replicas exist only in KRaft mode."
            )
        broker = next(self._working_brokers(), None)
        member = None if broker is None else cluster.kraft_membership(broker)
        topic = None if member is None else member.image.topic(statement.topic)
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

    def elect_preferred(self, statement: inputs.ElectPreferred) -> int:
        return self._ask(ElectLeadersRequest(statement.partitions, unclean=False))

    def elect_unclean(self, statement: inputs.ElectUnclean) -> int:
        """Elect a leader outside the ISR."""
        return self._ask(ElectLeadersRequest([statement.tp]))

    def reassign(self, statement: inputs.Reassign) -> int:
        return self._ask(AlterPartitionReassignmentsRequest({statement.tp: statement.replicas}))

    def cancel_reassignment(self, statement: inputs.CancelReassignment) -> int:
        return self._ask(AlterPartitionReassignmentsRequest({statement.tp: None}))

    def alter_partition(self, statement: inputs.AlterPartition) -> int:
        """Send the active controller a leader's request, with epochs that may be wrong."""
        kraft = self.cluster.kraft
        if kraft is None:
            raise RefusedError("UNSUPPORTED_VERSION", "alterpartition works only in KRaft mode.")
        needs_partition(self.cluster, statement.tp)
        controller = self.cluster.active_controller()
        if controller is None:
            raise RefusedError("NOT_CONTROLLER", "The quorum has no leader.")
        image = kraft.committed.image
        topic, _, number = statement.tp.rpartition("-")
        partition = image.partition(topic, int(number))
        assert partition is not None
        epochs = {number: registration.epoch for number, registration in image.brokers.items()}
        differences = statement.isr_epochs
        item = AlterIsrItem(
            partition.leader_epoch + statement.leader_epoch,
            statement.isr,
            partition.partition_epoch + statement.partition_epoch,
            [epochs.get(b, -1) + differences[b] if b in differences else -1 for b in statement.isr],
        )
        broker_epoch = epochs.get(statement.broker, -1) + statement.broker_epoch
        request = AlterPartitionRequest(statement.broker, broker_epoch, {statement.tp: item})
        return self._ask(request, controller)

    # ---- ZooKeeper

    def refuse(self, _statement: inputs.ZkCommand | inputs.ExpireSession) -> Outcome:
        """Reject a ZooKeeper statement."""
        raise RefusedError("UNSUPPORTED_VERSION", NO_ZOOKEEPER)
