"""Topic deletion: queued by a znode, halted by dead replicas, complete when every log is gone.

Source: kafka.controller.TopicDeletionManager. Replicas on live brokers are deleted at once; those
on dead ones make the topic wait until their brokers return.
"""

from collections.abc import Collection

from msgspec import Struct

from emulator.common.names import split
from emulator.controller.channels import Batch, Channels
from emulator.controller.context import ControllerContext, Deletion, Move
from emulator.controller.hash_order import SMALL_SET, replica_hash, trie_path
from emulator.controller.partition_state_machine import PartitionStateMachine
from emulator.controller.replica_state_machine import (
    DELETION_INELIGIBLE,
    DELETION_STARTED,
    DELETION_SUCCESSFUL,
    ReplicaStateMachine,
)
from emulator.protocol import StopReplicaRequest
from emulator.protocol.controller import DURING_DELETE
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors


class TopicDeletion(Struct, eq=False):
    """The topics that an active controller is deleting."""

    context: ControllerContext
    channels: Channels
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine

    def queue(self) -> None:
        """Queue pending deletions as a new controller.

        A topic is halted that has a replica on a dead broker, or a partition being reassigned.
        """
        state = self.context.state
        for topic in self.context.zk.children(znodes.DELETE_TOPICS):
            if topic in state.topics and self._is_enabled:
                hosts = self._hosts(self.context.partitions_of(topic))
                has_dead = any(broker not in state.live for broker in hosts)
                state.deleting.setdefault(topic, Deletion(has_dead or self._is_moving(topic)))

    def look(self) -> None:
        """TopicDeletion event: queue what /admin/delete_topics names.

        Kafka halts a topic for a reassignment in progress before it queues the topic, and halts
        only queued ones: so a reassignment does not keep a deletion from starting, but the next
        event halts what is then still queued.
        """
        state = self.context.state
        self.context.zk.watch_children(znodes.DELETE_TOPICS)
        for topic in self.context.zk.children(znodes.DELETE_TOPICS):
            if topic not in state.topics or not self._is_enabled:
                self._delete(znodes.delete_topic_path(topic))
            elif topic not in state.deleting:
                state.deleting[topic] = Deletion()
            elif self._is_moving(topic):
                self.halt(topic)
        self.resume()

    def resume(self) -> None:
        """ResumeDeletions: check every queued topic, and start those that are eligible."""
        for topic in list(self.context.state.deleting):
            partitions = self.context.partitions_of(topic)
            states = self._states(partitions)
            if all(state == DELETION_SUCCESSFUL for state in states.values()):
                self._complete(topic, partitions)
                continue
            if DELETION_STARTED in states.values():
                continue
            self._retry(partitions, states)
            if not self.context.state.deleting[topic].halted:
                self._begin(topic, partitions)

    def halt(self, topic: str) -> None:
        """MarkTopicIneligibleForDeletion: start no further deletions of a queued topic."""
        if topic in self.context.state.deleting:
            self.context.state.deleting[topic].halted = True

    def resume_for(self, topics: Collection[str]) -> None:
        """ResumeDeletionForTopics: make these topics eligible again, if any is queued."""
        deleting = self.context.state.deleting
        queued = [deletion for topic, deletion in deleting.items() if topic in topics]
        for deletion in queued:
            deletion.halted = False
        if queued:
            self.resume()

    def _is_moving(self, topic: str) -> bool:
        return any(split(tp)[0] == topic for tp in self.context.state.reassigning)

    def _hosts(self, partitions: list[str]) -> set[int]:
        return {broker for tp in partitions for broker in self.context.state.assignments[tp]}

    def _states(self, partitions: list[str]) -> dict[tuple[str, int], str]:
        """The state of each replica, in the order in which they go offline."""
        return {replica: self.replicas.state_of(*replica) for replica in self._in_order(partitions)}

    @property
    def _is_enabled(self) -> bool:
        """delete.topic.enable of the controller's broker."""
        return self.context.broker.config.delete_topic_enable

    def _delete(self, path: str) -> None:
        """Delete a znode, unless an external client created children below it, as in Kafka."""
        try:
            self.context.zk.delete(path)
        except (errors.NoNodeError, errors.NotEmptyError):
            return

    def _begin(self, topic: str, partitions: list[str]) -> None:
        """Stop and delete the replicas on live brokers; one on a dead broker halts the topic."""
        state, replicas = self.context.state, self.replicas
        self._hide(partitions)
        stop, delete = Batch(), Batch()
        for (tp, broker), current in self._states(partitions).items():
            if broker not in state.live:
                replicas.move(tp, broker, DELETION_INELIGIBLE)
                state.deleting[topic].halted = True
            elif current != DELETION_SUCCESSFUL:
                info = state.infos.get(tp)
                epoch = DURING_DELETE if info is None else info.leader_epoch
                stop.stop_replica(broker, tp, epoch)
                replicas.go_offline(tp, broker, stop)
                if replicas.move(tp, broker, DELETION_STARTED):
                    delete.delete_replica(broker, tp, DURING_DELETE)
        # The replicas that remain are not told of the smaller ISR (doHandleStateChanges).
        stop.leader_and_isr, stop.metadata = {}, {}
        # OfflineReplica, then ReplicaDeletionStarted: each transition sends requests of its own.
        self.channels.send(stop)
        self.channels.send(delete)

    def _in_order(self, partitions: list[str]) -> list[tuple[str, int]]:
        """A topic's replicas in the order in which they leave their ISRs.

        Up to 1.0 that is the iteration order of a set of all live replicas (``allLiveReplicas``),
        later broker by broker (``ReplicaStateMachine.handleStateChanges``).
        """
        assignments = self.context.state.assignments
        if not self.context.profile.has("topic_deletion_in_hash_order"):
            brokers = self.context.in_turn(self._hosts(partitions))
            return [(tp, b) for b in brokers for tp in partitions if b in assignments[tp]]
        live = self.context.live_brokers()
        replicas = sum(b in live for assigned in assignments.values() for b in assigned)
        if replicas > SMALL_SET:
            pairs = [(tp, broker) for tp in partitions for broker in assignments[tp]]
            return sorted(pairs, key=lambda replica: trie_path(replica_hash(*replica)))
        is_copied = self.context.profile.has("assignments_filtered_into_a_map")
        in_map = self.context.state.order.partitions(partitions.__contains__, is_copied=is_copied)
        brokers = sorted(self._hosts(partitions))
        return [(tp, broker) for broker in brokers for tp in in_map if broker in assignments[tp]]

    def _retry(self, partitions: list[str], states: dict[tuple[str, int], str]) -> None:
        """Kafka's ``retryDeletionForIneligibleReplicas``.

        Once no deletion is in progress, failed replicas become offline again, and thereby leave
        their ISR; for the last member this still increments the epoch.
        """
        batch = Batch()
        for (tp, broker), state in states.items():
            if state == DELETION_INELIGIBLE:
                self.replicas.go_offline(tp, broker, batch)

    def _hide(self, partitions: list[str]) -> None:
        """Announce the partitions as being deleted to every broker, so that clients ignore them."""
        batch = Batch()
        infos = self.context.state.infos
        batch.metadata = {tp: infos[tp] for tp in partitions if tp in infos}
        self.channels.send(batch)

    def stopped(self, broker: int, request: StopReplicaRequest) -> None:
        """Handle a broker's completed StopReplica with deletion."""
        if not request.delete:
            return
        for tp in request.partitions:
            if self.context.is_deleting(tp):
                self.replicas.move(tp, broker, DELETION_SUCCESSFUL)
        self.resume()

    def broker_gone(self, brokers: list[int]) -> None:
        """Handle dead brokers (failReplicaDeletion): their deletions fail, their topics halt."""
        partitions = [tp for tp in self.context.hosted(brokers) if self.context.is_deleting(tp)]
        for tp in partitions:
            for broker in [b for b in self.context.state.assignments[tp] if b in brokers]:
                self.replicas.move(tp, broker, DELETION_INELIGIBLE)
            self.halt(split(tp)[0])
        if partitions:
            self.resume()

    def _complete(self, topic: str, partitions: list[str]) -> None:
        """Remove the znodes in Kafka's order once all logs are gone, and forget the topic."""
        self.context.check_epoch()
        self.context.zk.delete_tree(znodes.topic_path(topic))
        for path in (znodes.topic_config_path(topic), znodes.delete_topic_path(topic)):
            if self.context.zk.find(path) is not None:
                self._delete(path)
        del self.context.state.deleting[topic]
        self.forget(topic)
        self.context.step("topicDeletion", 1, "completeDeleteTopic", topic)

    def forget(self, topic: str) -> None:
        """Forget a deleted topic, but not that its partitions were being reassigned.

        In Kafka, too, these remain in ``partitionsBeingReassigned``, from 2.4 on without a target.
        """
        state = self.context.state
        state.order.change_topics({}, [topic])
        is_listed = self.context.profile.has("cancel_reassignment")
        for tp in self.context.partitions_of(topic):
            self.partitions.forget(tp)
            self.replicas.forget(tp)
            state.assignments.pop(tp, None)
            state.infos.pop(tp, None)
            if is_listed and tp in state.reassigning:
                state.reassigning[tp] = Move([], [])
        state.topics.pop(topic, None)
