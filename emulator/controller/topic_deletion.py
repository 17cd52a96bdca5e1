"""Deleting topics: queued by a znode, held up by dead replicas, done when every log is gone.

Source: kafka.controller.TopicDeletionManager. Replicas on live brokers go at once; those on dead
ones make the topic wait until their brokers return.
"""

from msgspec.structs import replace

from emulator.controller.channels import Batch, Channels
from emulator.controller.context import ControllerContext, ControllerState, Deletion
from emulator.controller.hash_order import SMALL_SET, map_order, replica_hash, trie_path
from emulator.controller.partition_state_machine import PartitionStateMachine
from emulator.controller.replica_state_machine import (
    DELETION_INELIGIBLE,
    DELETION_STARTED,
    DELETION_SUCCESSFUL,
    REPLICA_OFFLINE,
    REPLICA_ONLINE,
    ReplicaStateMachine,
)
from emulator.protocol import StopReplicaRequest
from emulator.protocol.controller import DURING_DELETE
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors

BEGUN = (DELETION_STARTED, DELETION_SUCCESSFUL)
"""States of a replica whose broker has been told to delete it."""


class TopicDeletion:
    """The topics that an active controller is deleting."""

    def __init__(
        self,
        context: ControllerContext,
        channels: Channels,
        partitions: PartitionStateMachine,
        replicas: ReplicaStateMachine,
    ) -> None:
        """Delete for the broker of ``context``."""
        self.context = context
        self.channels = channels
        self.partitions = partitions
        self.replicas = replicas
        self.profile = context.profile
        self.zk = context.zk

    @property
    def state(self) -> ControllerState:
        """The cache of the controller."""
        return self.context.state

    def queue(self) -> None:
        """What a new controller finds to be deleted; nothing is done about it yet."""
        state = self.state
        for topic in self.zk.children(znodes.DELETE_TOPICS):
            if topic in state.topics and self._is_enabled:
                state.deleting.setdefault(topic, Deletion())

    def look(self) -> None:
        """TopicDeletion event: queue what /admin/delete_topics names."""
        state = self.state
        self.zk.watch_children(znodes.DELETE_TOPICS)
        for topic in self.zk.children(znodes.DELETE_TOPICS):
            if topic not in state.topics or not self._is_enabled:
                self._delete(znodes.delete_topic_path(topic))
            elif topic not in state.deleting:
                state.deleting[topic] = Deletion()
        self.resume()

    def resume(self) -> None:
        """Go on with every queued topic that is not being moved."""
        for topic in list(self.state.deleting):
            partitions = self.context.partitions_of(topic)
            self._retry(topic, partitions)
            if not any(tp in self.state.reassigning for tp in partitions):
                self._advance(topic, partitions)

    @property
    def _is_enabled(self) -> bool:
        """delete.topic.enable of the controller's broker."""
        return self.context.broker.config.delete_topic_enable

    def _delete(self, path: str) -> None:
        """Delete a znode; one that an outsider has put something below stays, as in Kafka."""
        try:
            self.zk.delete(path)
        except (errors.NoNodeError, errors.NotEmptyError):
            return

    def _advance(self, topic: str, partitions: list[str]) -> None:
        """Stop and delete the replicas on live brokers that have not been told yet."""
        state, replicas = self.state, self.replicas
        stop, delete = Batch(), Batch()
        dead: list[tuple[str, int]] = []
        if not self._has_begun(partitions):
            self._hide(partitions)
        for tp, broker in self._in_order(partitions):
            if broker not in state.live:
                dead.append((tp, broker))
            elif replicas.of(tp, broker) not in BEGUN:
                info = state.infos.get(tp)
                epoch = DURING_DELETE if info is None else info.leader_epoch
                stop.stop_replica(broker, tp, epoch)
                replicas.go_offline(tp, broker, stop)
                replicas.move(tp, broker, DELETION_STARTED)
                delete.delete_replica(broker, tp, DURING_DELETE)
        stop.leader_and_isr, stop.metadata = {}, {}
        self.channels.send(stop)
        self.channels.send(delete)
        self._cannot_delete(topic, dead)
        self._complete(topic, partitions)

    def _in_order(self, partitions: list[str]) -> list[tuple[str, int]]:
        """A topic's replicas in the order in which they leave their ISRs.

        Up to 1.0 that is the order of a set of all live replicas (``allLiveReplicas``), later
        broker by broker (``ReplicaStateMachine.handleStateChanges``).
        """
        assignments = self.state.assignments
        if not self.profile.has("topic_deletion_in_hash_order"):
            brokers = sorted({broker for tp in partitions for broker in assignments[tp]})
            return [(tp, b) for b in brokers for tp in partitions if b in assignments[tp]]
        live = self.context.live_brokers()
        replicas = sum(b in live for assigned in assignments.values() for b in assigned)
        if replicas > SMALL_SET:
            found = [(tp, broker) for tp in partitions for broker in assignments[tp]]
            return sorted(found, key=lambda replica: trie_path(replica_hash(*replica)))
        in_map = map_order(partitions)
        brokers = sorted({broker for tp in partitions for broker in assignments[tp]})
        return [(tp, broker) for broker in brokers for tp in in_map if broker in assignments[tp]]

    def _has_begun(self, partitions: list[str]) -> bool:
        replicas, assignments = self.replicas, self.state.assignments
        return any(replicas.of(tp, b) in BEGUN for tp in partitions for b in assignments[tp])

    def _cannot_delete(self, topic: str, dead: list[tuple[str, int]]) -> None:
        """Replicas on dead brokers hold the topic up, until they have been looked at again."""
        replicas, retried = self.replicas, self.state.deleting[topic].retried
        for tp, broker in dead:
            waits = replicas.of(tp, broker) in (REPLICA_OFFLINE, DELETION_STARTED)
            if waits and f"{tp}@{broker}" not in retried:
                replicas.move(tp, broker, DELETION_INELIGIBLE)

    def _retry(self, topic: str, partitions: list[str]) -> None:
        """Kafka's ``retryDeletionForIneligibleReplicas``.

        Once nobody is at work any more, the dead are offline replicas again. From 2.3 each leaves
        its ISR, and if it is the last member, that costs an epoch all the same.
        """
        replicas, retried = self.replicas, self.state.deleting[topic].retried
        states = {
            (tp, broker): replicas.of(tp, broker)
            for tp in partitions
            for broker in self.state.assignments[tp]
        }
        if DELETION_STARTED in states.values():
            return
        batch = Batch()
        for (tp, broker), state in states.items():
            if state == DELETION_INELIGIBLE:
                retried[f"{tp}@{broker}"] = None
                if self.profile.has("deletion_retry_leaves_isr"):
                    replicas.go_offline(tp, broker, batch)

    def _hide(self, partitions: list[str]) -> None:
        """Tell every broker that the partitions are going: clients no longer hear of them."""
        batch = Batch()
        for tp in partitions:
            info = self.state.infos.get(tp)
            if info is not None:
                batch.metadata[tp] = replace(info, leader=DURING_DELETE)
        self.channels.send(batch)

    def stopped(self, broker: int, request: StopReplicaRequest) -> None:
        """A broker has deleted logs."""
        if not request.delete:
            return
        topics: dict[str, None] = {}
        for tp in request.partitions:
            topic = tp.rpartition("-")[0]
            if topic in self.state.deleting:
                self.replicas.move(tp, broker, DELETION_SUCCESSFUL)
                topics[topic] = None
        for topic in topics:
            self._complete(topic, self.context.partitions_of(topic))
        self.resume()

    def broker_gone(self, brokers: list[int]) -> None:
        """Brokers died: what they were told is void, and their replicas cannot be deleted."""
        for topic, deletion in self.state.deleting.items():
            for tp in self.context.partitions_of(topic):
                for broker in [b for b in self.state.assignments[tp] if b in brokers]:
                    deletion.retried.pop(f"{tp}@{broker}", None)
                    self._failed(tp, broker)
        self.resume()

    def _failed(self, tp: str, broker: int) -> None:
        """FailReplicaDeletion: of one that was at it, or was still to begin."""
        replicas = self.replicas
        if replicas.of(tp, broker) == REPLICA_ONLINE:
            replicas.move(tp, broker, REPLICA_OFFLINE)
        if replicas.of(tp, broker) in (REPLICA_OFFLINE, DELETION_STARTED):
            replicas.move(tp, broker, DELETION_INELIGIBLE)

    def _complete(self, topic: str, partitions: list[str]) -> None:
        """All logs are gone: remove the znodes, in Kafka's order, and forget the topic."""
        state, replicas = self.state, self.replicas
        if any(
            replicas.of(tp, b) != DELETION_SUCCESSFUL
            for tp in partitions
            for b in state.assignments[tp]
        ):
            return
        self.context.check_epoch()
        self.zk.delete_tree(znodes.topic_path(topic))
        for path in (znodes.topic_config_path(topic), znodes.delete_topic_path(topic)):
            if self.zk.find(path) is not None:
                self._delete(path)
        del state.deleting[topic]
        self.forget(topic)
        self.context.step("topicDeletion", 1, "completeDeleteTopic", topic)

    def forget(self, topic: str) -> None:
        """A topic is gone."""
        state = self.state
        for tp in self.context.partitions_of(topic):
            self.partitions.forget(tp)
            self.replicas.forget(tp)
            state.assignments.pop(tp, None)
            state.infos.pop(tp, None)
            state.reassigning.pop(tp, None)
        state.topics.pop(topic, None)
