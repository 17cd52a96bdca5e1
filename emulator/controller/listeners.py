"""What an active controller makes of the topic and admin znodes.

New topics, more partitions, preferred elections.
"""

from sys import intern

import msgspec

from emulator.controller.channels import Batch
from emulator.controller.context import NEW, Part
from emulator.controller.reassignment import REASSIGN
from emulator.controller.topic_deletion import DELETE_TOPICS

TOPICS = "/brokers/topics"
CONFIG_CHANGES = "/config/changes"
ISR_CHANGES = "/isr_change_notification"
PREFERRED = "/admin/preferred_replica_election"


class TopicJson(msgspec.Struct):
    """What a topic's znode holds; from 2.4 also what is being moved."""

    partitions: dict[str, list[int]]
    adding_replicas: dict[str, list[int]] = {}
    removing_replicas: dict[str, list[int]] = {}


class AdminPartition(msgspec.Struct):
    """One entry of an admin znode."""

    topic: str
    partition: int


class PartitionsJson(msgspec.Struct):
    """What an admin or notification znode lists."""

    partitions: list[AdminPartition]


class ConfigChangeJson(msgspec.Struct):
    """What a notification of a changed configuration names (0.10.2 and later)."""

    entity_path: str = ""


class Topics(Part):
    """The topic changes of an active controller."""

    def load_all(self) -> None:
        """Read every topic and its assignment; watch them."""
        for topic in self.world.children(TOPICS):
            self._load(topic)

    def _load(self, topic: str) -> list[str]:
        """Read one topic's assignment; returns the partitions that are new."""
        zookeeper, state = self.world.zookeeper, self.state
        path = f"{TOPICS}/{topic}"
        zookeeper.watch_data(self.context.id, path)
        node = zookeeper.find(path)
        try:
            found = msgspec.json.decode((node.data if node else None) or "", type=TopicJson)
        except msgspec.MsgspecError:
            return []
        new: list[str] = []
        lists = {int(n): r for n, r in found.partitions.items() if n.isdecimal() and r}
        moving = found.adding_replicas, found.removing_replicas
        moves = any(moving)
        for number in sorted(lists):
            tp = intern(f"{topic}-{number}")
            if tp not in state.assignments:
                new.append(tp)
                state.assignments[tp] = lists[number]
                if moves:
                    adding, removing = (each.get(str(number), []) for each in moving)
                    self.controller.reassignment.load(tp, adding, removing)
        state.topics[topic] = len(lists)
        return new

    def changed(self, path: str, kind: str) -> None:
        """A watch on a topic or admin znode fired."""
        if path == TOPICS:
            self.look_for_topics()
        elif path.startswith(f"{TOPICS}/") and path.count("/") == 3:  # noqa: PLR2004
            self._partitions_changed(path.rpartition("/")[2])
        elif path == PREFERRED:
            if self.asks_anew(kind):
                self.preferred_election()
        elif path == ISR_CHANGES:
            self.isr_changes()
        elif path == DELETE_TOPICS:
            self.controller.deletion.look()
        elif path == REASSIGN:
            self.controller.reassignment.changed(kind)
        elif path == CONFIG_CHANGES:
            self.config_changes()
        elif path.endswith("/state"):
            self.controller.reassignment.check(tp_of_state(path))

    def config_changes(self) -> None:
        """Configuration was changed: unclean election, turned on, may act at once.

        From 2.1 it does for a topic, from 2.0 for the controller's own broker.
        """
        zookeeper, state = self.world.zookeeper, self.state
        zookeeper.watch_children(self.context.id, CONFIG_CHANGES)
        profile = self.controller.profile
        if not profile.has("unclean_topic_config_elects") and not (
            profile.has("unclean_broker_config_elects") and self._changed_itself()
        ):
            return
        able = [
            tp
            for tp in self.controller.partitions.waiting()
            if self.world.unclean_election(self.context.id, tp.rpartition("-")[0])
            and state.partitions[tp] != NEW
        ]
        batch = Batch()
        self.controller.partitions.elect_offline(able, batch)
        self.controller.channels.send(batch)

    def _changed_itself(self) -> bool:
        """Whether what was changed last is the configuration of the controller's own broker."""
        names = self.world.children(CONFIG_CHANGES)
        if not names:
            return False
        data = self.world.zookeeper.get(f"{CONFIG_CHANGES}/{max(names)}").data
        try:
            change = msgspec.json.decode(data or "{}", type=ConfigChangeJson)
        except msgspec.MsgspecError:
            return False
        return change.entity_path == f"brokers/{self.context.id}"

    def isr_changes(self) -> None:
        """Leaders wrote ISRs: read them again, tell every broker, delete the notifications."""
        zookeeper, state = self.world.zookeeper, self.state
        zookeeper.watch_children(self.context.id, ISR_CHANGES)
        batch = Batch()
        names = self.world.children(ISR_CHANGES)
        for name in names:
            for tp in self._listed(zookeeper.get(f"{ISR_CHANGES}/{name}").data):
                info = self.controller.partitions.read(tp)
                if info is not None and tp in state.infos:
                    self.controller.partitions.remember(tp, info)
                    batch.metadata[tp] = info
                    self.controller.reassignment.check(tp)
        self.controller.channels.send(batch)
        for name in names:
            zookeeper.delete(self.world, f"{ISR_CHANGES}/{name}")

    def _listed(self, data: str | None) -> list[str]:
        """The topic-partitions that an admin or notification znode lists."""
        try:
            found = msgspec.json.decode(data or "", type=PartitionsJson).partitions
        except msgspec.MsgspecError:
            return []
        return [f"{each.topic}-{each.partition}" for each in found]

    def look_again(self) -> None:
        """After a time without ZooKeeper: look at everything that is watched."""
        self.look_for_topics()
        for topic in list(self.state.topics):
            self._partitions_changed(topic)
        self.preferred_election()
        self.controller.deletion.look()
        self.controller.reassignment.look_again()

    def look_for_topics(self) -> None:
        """TopicChange: new topics get leaders; deleted ones are forgotten."""
        zookeeper, state = self.world.zookeeper, self.state
        zookeeper.watch_children(self.context.id, TOPICS)
        names = self.world.children(TOPICS)
        new: list[str] = []
        for topic in names:
            if topic not in state.topics:
                new += self._load(topic)
        if new:
            self.controller.partitions.create(new)
        for topic in [t for t in state.topics if t not in names]:
            self.forget(topic)

    def forget(self, topic: str) -> None:
        """A topic is gone."""
        state = self.state
        for number in range(state.topics.pop(topic)):
            tp = f"{topic}-{number}"
            self.controller.machines.forget(tp)
            state.assignments.pop(tp, None)
            state.infos.pop(tp, None)

    def _partitions_changed(self, topic: str) -> None:
        """PartitionModifications: only partitions that are new matter."""
        if self.world.zookeeper.find(f"{TOPICS}/{topic}") is not None:
            new = self._load(topic)
            if new:
                self.controller.partitions.create(new)

    def take_over_election(self) -> None:
        """A new controller goes on with a preferred election of what there is."""
        self.preferred_election(taken_over=True)

    def preferred_election(self, *, taken_over: bool = False) -> None:
        """Do what /admin/preferred_replica_election asks, and delete it."""
        zookeeper = self.world.zookeeper
        node = zookeeper.find(PREFERRED)
        if node is not None and not self._left_unread(node.data):
            asked = self._listed(node.data)
            self.controller.partitions.elect_preferred(asked)
            if taken_over or not self._stays(asked):
                zookeeper.delete(self.world, PREFERRED)
        zookeeper.watch_exists(self.context.id, PREFERRED)

    def _stays(self, asked: list[str]) -> bool:
        """Whether tidying up after an election ends in an exception, at an unknown partition."""
        known = self.state.infos
        return self.controller.profile.has("unknown_preferred_election_stays") and any(
            tp not in known for tp in asked
        )

    def _left_unread(self, data: str | None) -> bool:
        """Whether reading an admin znode ends in an exception, and nothing is done."""
        try:
            msgspec.json.decode(data or "", type=PartitionsJson)
        except msgspec.MsgspecError:
            return self.controller.profile.has("unreadable_preferred_election_stays")
        return False


def tp_of_state(path: str) -> str:
    """The topic-partition whose state a path holds."""
    parts = path.split("/")
    return f"{parts[3]}-{parts[5]}"
