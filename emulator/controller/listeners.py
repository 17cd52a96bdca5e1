"""The active controller's handling of znode changes: topics, configurations, ISRs, requests.

Each watch is set again by re-reading; the controller acts on the difference to its cache.
"""

from collections.abc import Mapping
from sys import intern

from msgspec import Struct

from emulator.controller.broker_changes import BrokerChanges
from emulator.controller.channels import Batch, Channels
from emulator.controller.context import NEW, ControllerContext
from emulator.controller.leader_rebalance import LeaderRebalance
from emulator.controller.partition_state_machine import PartitionStateMachine
from emulator.controller.reassignment import Reassignment
from emulator.controller.topic_deletion import TopicDeletion
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.data import TopicAssignment

Assignments = Mapping[str, TopicAssignment | None]
"""Assignments by topic; None if one is missing or malformed."""


class Listeners(Struct, eq=False):
    """The znode listeners of an active controller."""

    context: ControllerContext
    channels: Channels
    partitions: PartitionStateMachine
    deletion: TopicDeletion
    reassignment: Reassignment
    rebalance: LeaderRebalance
    brokers: BrokerChanges

    # ---- dispatch

    def changed(self, path: str, kind: str) -> None:
        """Handle a watch event of the controller; ``kind`` is ZooKeeper's event type."""
        if path == znodes.BROKER_IDS:
            self.brokers.look()
        elif path == znodes.TOPICS:
            self.look_for_topics()
        elif path == znodes.PREFERRED_ELECTION:
            if self.context.asks_anew(kind):
                self.rebalance.look()
        elif path == znodes.ISR_CHANGES:
            self.isr_changes()
        elif path == znodes.DELETE_TOPICS:
            self.deletion.look()
        elif path == znodes.REASSIGN_PARTITIONS:
            self.reassignment.changed(kind)
        elif (topic := znodes.topic_of(path)) is not None:
            self._partitions_changed(topic)
        elif (tp := znodes.partition_of(path)) is not None:
            self.reassignment.state_changed(tp, kind)

    def look_again(self) -> None:
        """Re-read everything that is watched, after a loss of ZooKeeper."""
        self.look_for_topics()
        for topic in list(self.context.state.topics):
            self._partitions_changed(topic)
        self.rebalance.look()
        self.deletion.look()
        self.reassignment.look_again()

    # ---- topics

    def load_all(self) -> None:
        """Read every topic and its assignment; watch them."""
        names = self.context.zk.children(znodes.TOPICS)
        assignments = {topic: self._read(topic) for topic in names}
        for topic, assignment in assignments.items():
            self._load(topic, assignment)
        self.context.state.order.read(_numbers(assignments))
        self._identify(assignments)

    def _read(self, topic: str) -> TopicAssignment | None:
        """A topic's assignment, which is watched from now on."""
        self.context.metadata.watch_assignment(topic)
        return self.context.metadata.assignment(topic)

    def _load(self, topic: str, assignment: TopicAssignment | None) -> list[str]:
        """Take in one topic's assignment; return the new partitions.

        A topic whose assignment cannot be read is ignored, as if it had no partitions.
        """
        state = self.context.state
        if assignment is None:
            return []
        new: list[str] = []
        assignments, numbers = state.assignments, state.topics.get(topic, [])
        is_moving = bool(assignment.adding or assignment.removing)
        for number, replicas in assignment.replicas.items():
            tp = intern(f"{topic}-{number}")
            if tp not in assignments:
                new.append(tp)
                numbers.append(number)
                assignments[tp] = replicas
                if is_moving:
                    adding, removing = (
                        changes.get(number, [])
                        for changes in (assignment.adding, assignment.removing)
                    )
                    self.reassignment.load(tp, adding, removing)
        state.topics[topic] = sorted(numbers)
        return new

    def _identify(self, assignments: Assignments) -> None:
        """Give ids to topics that somebody else has created without one (``processTopicIds``)."""
        if not self.context.profile.has("topic_ids"):
            return
        for topic, assignment in assignments.items():
            if assignment is not None and not assignment.topic_id:
                self.context.check_epoch()
                text = znodes.identified_topic_json(assignment, self.context.kernel.random_below)
                self.context.zk.set_data(znodes.topic_path(topic), text)

    def look_for_topics(self) -> None:
        """TopicChange: elect leaders for new topics; forget deleted ones."""
        state = self.context.state
        self.context.zk.watch_children(znodes.TOPICS)
        names = self.context.zk.children(znodes.TOPICS)
        new: list[str] = []
        added = {topic: self._read(topic) for topic in names if topic not in state.topics}
        for topic, assignment in added.items():
            new += self._load(topic, assignment)
        self._identify(added)
        there = frozenset(names)
        deleted = [topic for topic in state.topics if topic not in there]
        state.order.change_topics(_numbers(added), deleted)
        if new:
            self.partitions.create(new)
        for topic in deleted:
            self.deletion.forget(topic)

    def _partitions_changed(self, topic: str) -> None:
        """PartitionModifications: only new partitions matter; a topic being deleted gets none."""
        if topic in self.context.state.deleting:
            self._undo_partitions(topic)
        elif self.context.zk.find(znodes.topic_path(topic)) is not None:
            assignment = self._read(topic)
            new = self._load(topic, assignment)
            if assignment is not None and new:
                self.context.state.order.add_partitions(topic, assignment.replicas, new)
                self.partitions.create(new)

    def _undo_partitions(self, topic: str) -> None:
        """Take partitions without a state out of a deleted topic's znode; up to 1.1 ignore them."""
        self.context.metadata.watch_assignment(topic)
        assignment = self.context.metadata.assignment(topic)
        is_undone = self.context.profile.has("added_partitions_of_deleted_topic_undone")
        if assignment is None or not is_undone:
            return
        assigned = self.context.state.assignments
        if any(f"{topic}-{number}" not in assigned for number in assignment.replicas):
            numbers = self.context.zk.children(znodes.partitions_path(topic))
            self.context.check_epoch()
            self.context.zk.set_data(
                znodes.topic_path(topic), znodes.shrunk_topic_json(assignment, numbers)
            )

    # ---- configurations

    def config_changed(self, kind: str, name: str) -> None:
        """Handle a configuration applied by this broker: enabling unclean election acts at once.

        It does so for a topic from 2.1, for the controller's own broker from 2.0.
        """
        has = self.context.profile.has
        is_topic = kind == "topics" and has("unclean_topic_config_elects")
        is_own = kind == "brokers" and name == str(self.context.id)
        if not is_topic and not (is_own and has("unclean_broker_config_elects")):
            return
        broker, partitions = self.context.broker, self.context.state.partitions
        able = [
            tp
            for tp in self.context.leaderless()
            if partitions[tp] != NEW
            and (is_own or tp.rpartition("-")[0] == name)
            and broker.unclean_election(tp.rpartition("-")[0])
        ]
        batch = Batch()
        self.partitions.elect_offline(able, batch)
        self.channels.send(batch)

    # ---- ISRs written by leaders

    def isr_changes(self) -> None:
        """Re-read the ISRs that leaders wrote, inform all brokers, delete the notifications."""
        state = self.context.state
        self.context.metadata.watch_announcements()
        batch = Batch()
        announced = self.context.metadata.announced()
        for tps in announced.values():
            for tp in tps:
                info = self.context.read(tp)
                if info is not None and tp in state.infos:
                    self.context.remember(tp, info)
                    batch.metadata[tp] = info
                    self.reassignment.check(tp)
        self.channels.send(batch)
        for path in announced:
            self.delete_notification(path)

    def delete_notification(self, path: str) -> None:
        """Delete a notification, unless an external client has created children below it."""
        try:
            self.context.zk.delete(path)
        except (errors.NoNodeError, errors.NotEmptyError):
            return


def _numbers(assignments: Assignments) -> dict[str, list[int]]:
    """The numbers of topics' partitions as they stand in their znodes."""
    return {
        topic: [] if assignment is None else list(assignment.replicas)
        for topic, assignment in assignments.items()
    }
