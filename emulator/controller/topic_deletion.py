"""Deleting topics: queued by a znode, held up by dead replicas, done when every log is gone.

Source: kafka.controller.TopicDeletionManager. Replicas on live brokers go at once; those on dead
ones make the topic wait until their brokers return.
"""

from msgspec.structs import replace

from emulator import events
from emulator.controller.channels import Batch
from emulator.controller.context import Deletion, Part
from emulator.controller.replica_state_machine import (
    DELETION_INELIGIBLE,
    DELETION_STARTED,
    DELETION_SUCCESSFUL,
    REPLICA_OFFLINE,
    REPLICA_ONLINE,
)
from emulator.protocol import StopReplicaRequest
from emulator.protocol.controller import DURING_DELETE

DELETE_TOPICS = "/admin/delete_topics"
BEGUN = (DELETION_STARTED, DELETION_SUCCESSFUL)
"""States of a replica whose broker has been told to delete it."""


class TopicDeletion(Part):
    """The topics that an active controller is deleting."""

    def queue(self) -> None:
        """What a new controller finds to be deleted; nothing is done about it yet."""
        state = self.state
        for topic in self.world.children(DELETE_TOPICS):
            if topic in state.topics and self.context.config.delete_topic_enable:
                state.deleting.setdefault(topic, Deletion())

    def look(self) -> None:
        """TopicDeletion event: queue what /admin/delete_topics names."""
        zookeeper, state = self.world.zookeeper, self.state
        zookeeper.watch_children(self.context.id, DELETE_TOPICS)
        for topic in self.world.children(DELETE_TOPICS):
            if topic not in state.topics or not self.context.config.delete_topic_enable:
                zookeeper.delete(self.world, f"{DELETE_TOPICS}/{topic}")
            elif topic not in state.deleting:
                state.deleting[topic] = Deletion()
        self.resume()

    def resume(self) -> None:
        """Go on with every queued topic that is not being moved."""
        for topic in list(self.state.deleting):
            partitions = self._partitions(topic)
            self._retry(topic, partitions)
            if not any(tp in self.state.reassigning for tp in partitions):
                self._advance(topic, partitions)

    def is_deleting(self, tp: str) -> bool:
        """Whether a partition's topic is to be deleted."""
        return tp.rpartition("-")[0] in self.state.deleting

    def _partitions(self, topic: str) -> list[str]:
        return [f"{topic}-{n}" for n in range(self.state.topics.get(topic, 0))]

    def _advance(self, topic: str, partitions: list[str]) -> None:
        """Stop and delete the replicas on live brokers that have not been told yet."""
        state, machines = self.state, self.controller.machines
        stop, delete = Batch(), Batch()
        dead: list[tuple[str, int]] = []
        if not self._has_begun(partitions):
            self._hide(partitions)
        for tp in partitions:
            for broker in state.assignments[tp]:
                if broker not in state.live:
                    dead.append((tp, broker))
                elif machines.replica(tp, broker) not in BEGUN:
                    info = state.infos.get(tp)
                    epoch = DURING_DELETE if info is None else info.leader_epoch
                    stop.stop_replica(broker, tp, epoch)
                    self.controller.partitions.replica_offline(tp, broker, stop)
                    machines.move_replica(tp, broker, DELETION_STARTED)
                    delete.delete_replica(broker, tp, DURING_DELETE)
        stop.leader_and_isr, stop.metadata = {}, {}
        self.controller.channels.send(stop)
        self.controller.channels.send(delete)
        self._cannot_delete(topic, dead)
        self._complete(topic, partitions)

    def _has_begun(self, partitions: list[str]) -> bool:
        machines, assignments = self.controller.machines, self.state.assignments
        return any(machines.replica(tp, b) in BEGUN for tp in partitions for b in assignments[tp])

    def _cannot_delete(self, topic: str, dead: list[tuple[str, int]]) -> None:
        """Replicas on dead brokers hold the topic up, until they have been looked at again."""
        machines, retried = self.controller.machines, self.state.deleting[topic].retried
        for tp, broker in dead:
            waits = machines.replica(tp, broker) in (REPLICA_OFFLINE, DELETION_STARTED)
            if waits and f"{tp}@{broker}" not in retried:
                machines.move_replica(tp, broker, DELETION_INELIGIBLE)

    def _retry(self, topic: str, partitions: list[str]) -> None:
        """RetryDeletionForIneligibleReplicas.

        Once nobody is at work any more, the dead are offline replicas again. From 2.3 each leaves
        its ISR, and if it is the last member, that costs an epoch all the same.
        """
        machines, retried = self.controller.machines, self.state.deleting[topic].retried
        states = {
            (tp, broker): machines.replica(tp, broker)
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
                    self.controller.partitions.replica_offline(tp, broker, batch)

    def _hide(self, partitions: list[str]) -> None:
        """Tell every broker that the partitions are going: clients no longer hear of them."""
        batch = Batch()
        for tp in partitions:
            info = self.state.infos.get(tp)
            if info is not None:
                batch.metadata[tp] = replace(info, leader=DURING_DELETE)
        self.controller.channels.send(batch)

    def stopped(self, broker: int, request: StopReplicaRequest) -> None:
        """A broker has deleted logs."""
        if not request.delete:
            return
        topics: dict[str, None] = {}
        for tp in request.partitions:
            topic = tp.rpartition("-")[0]
            if topic in self.state.deleting:
                self.controller.machines.move_replica(tp, broker, DELETION_SUCCESSFUL)
                topics[topic] = None
        for topic in topics:
            self._complete(topic, self._partitions(topic))
        self.resume()

    def broker_gone(self, brokers: list[int]) -> None:
        """Brokers died: what they were told is void, and their replicas cannot be deleted."""
        for topic, deletion in self.state.deleting.items():
            for tp in self._partitions(topic):
                for broker in [b for b in self.state.assignments[tp] if b in brokers]:
                    deletion.retried.pop(f"{tp}@{broker}", None)
                    self._failed(tp, broker)
        self.resume()

    def _failed(self, tp: str, broker: int) -> None:
        """FailReplicaDeletion: of one that was at it, or was still to begin."""
        machines = self.controller.machines
        if machines.replica(tp, broker) == REPLICA_ONLINE:
            machines.move_replica(tp, broker, REPLICA_OFFLINE)
        if machines.replica(tp, broker) in (REPLICA_OFFLINE, DELETION_STARTED):
            machines.move_replica(tp, broker, DELETION_INELIGIBLE)

    def _complete(self, topic: str, partitions: list[str]) -> None:
        """All logs are gone: remove the znodes, in Kafka's order, and forget the topic."""
        state, zookeeper = self.state, self.world.zookeeper
        machines = self.controller.machines
        if any(
            machines.replica(tp, b) != DELETION_SUCCESSFUL
            for tp in partitions
            for b in state.assignments[tp]
        ):
            return
        self.controller.partitions.check_office()
        self._remove(f"/brokers/topics/{topic}")
        for path in (f"/config/topics/{topic}", f"{DELETE_TOPICS}/{topic}"):
            if zookeeper.find(path) is not None:
                zookeeper.delete(self.world, path)
        del state.deleting[topic]
        self.controller.topics.forget(topic)
        self.world.emit(
            events.ControllerStep,
            self.context.id,
            "topicDeletion",
            1,
            "completeDeleteTopic",
            topic,
        )

    def _remove(self, path: str) -> None:
        """Delete a znode and everything below it."""
        zookeeper = self.world.zookeeper
        if zookeeper.find(path) is None:
            return
        for name in zookeeper.children(path):
            self._remove(f"{path}/{name}")
        zookeeper.delete(self.world, path)
