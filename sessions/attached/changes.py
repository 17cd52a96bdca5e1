"""The difference between two looks at a running cluster, as events.

The events are those that the emulator has, where they mean the same. What a client cannot know is
in none of them: a follower's high watermark, epoch caches, why a leader was elected. Whatever
changed more than once between two looks is told as one change.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from emulator import events
from emulator.cluster_image.image import NO_LEADER, Broker, ClusterImage, Group, Partition, Topic
from emulator.events import Event
from emulator.protocol.record_batch import NO_RECORDS
from emulator.releases.config import known_settings
from sessions.model.states import NO_SEED, UNKNOWN

SEEN: Final = "seen"
"""The occasion of a high watermark that a client was told."""
DEFAULT: Final = "<default>"
"""The name of a configuration of all brokers."""
NO_IMAGE: Final = ClusterImage()


class _Alive(Struct, frozen=True):
    """The brokers that are alive, and those among them that were not at the last look."""

    brokers: set[int]
    risen: set[int]


class Changes:
    """Turns the differences between two looks into events, which are numbered from 1 on."""

    def __init__(self) -> None:
        self.seq = 0
        self.image = NO_IMAGE
        self._time_us = 0
        self._emitted: list[Event] = []
        self._ends: dict[tuple[str, int], int] = {}
        self._down: dict[int, int] = {}
        self._applied: dict[int, int] = {}
        self._settings: frozenset[str] = frozenset()

    def look(
        self, image: ClusterImage, log_ends: Mapping[int, int], version: str, time_us: int
    ) -> list[Event]:
        """Return what is different now; ``version`` is the release, by its full number.

        ``log_ends`` is how far each node has the metadata log.
        """
        before, self.image = self.image, image
        self._time_us = time_us
        self._emitted = []
        self._settings = known_settings(version)
        self._down = {}
        if not self.seq:
            self._cluster(image, version)
        if image is not before:
            self._controllers(before, image)
            self._brokers(before, image)
            self._configs(before, image)
            self._topics(before, image)
            self._groups(before, image)
        self._quorum_progress(image, log_ends)
        return self._emitted

    def _emit(self, kind: type[Event], *fields: Any, cause: int = 0) -> int:
        self.seq += 1
        self._emitted.append(kind(self.seq, self._time_us, cause, *fields))
        return self.seq

    # ---- nodes

    def _cluster(self, image: ClusterImage, version: str) -> None:
        brokers = [broker.id for broker in image.brokers]
        racks = [broker.rack or "" for broker in image.brokers]
        config = self._common(image)
        self._emit(events.ClusterCreated, version, NO_SEED, brokers, racks, config, False)

    def _controllers(self, before: ClusterImage, now: ClusterImage) -> None:
        if now.quorum is not None and now.quorum != before.quorum:
            earlier = before.quorum
            states = {node.id: node.up for node in earlier.controllers} if earlier else {}
            leader, epoch = now.quorum.leader, now.quorum.epoch or 0
            term = (leader, now.quorum.epoch)
            is_other = earlier is None or (earlier.leader, earlier.epoch) != term
            for controller in now.quorum.controllers:
                if controller.up is not None and controller.up is not states.get(controller.id):
                    word = "running" if controller.up else "stopped"
                    self._emit(events.ControllerStateChanged, controller.id, word)
            if is_other and leader is not None:
                for controller in now.quorum.controllers:
                    if controller.id != leader and controller.up is not False:
                        role = events.QuorumRoleChanged
                        self._emit(role, controller.id, "follower", epoch, leader)
                if leader != NO_LEADER:
                    self._emit(events.QuorumRoleChanged, leader, "leader", epoch, leader)
                self._applied = {}
        if now.controller is not None and now.controller != before.controller:
            broker = now.controller.broker
            if broker is not None and broker != NO_LEADER:
                self._emit(events.ControllerElected, broker, UNKNOWN, UNKNOWN)

    def _quorum_progress(self, image: ClusterImage, log_ends: Mapping[int, int]) -> None:
        if image.quorum is None or image.quorum.leader in (None, NO_LEADER):
            return
        for node, end in sorted(log_ends.items()):
            if self._applied.get(node) != end:
                self._applied[node] = end
                self._emit(events.QuorumProgressChanged, image.quorum.leader, node, end)

    def _brokers(self, before: ClusterImage, now: ClusterImage) -> None:
        states = {broker.id: _state(broker) for broker in before.brokers}
        for broker in now.brokers:
            state = _state(broker)
            if states.get(broker.id) != state:
                seq = self._emit(events.BrokerStateChanged, broker.id, state)
                if state != "running":
                    self._down[broker.id] = seq

    # ---- configurations

    def _configs(self, before: ClusterImage, now: ClusterImage) -> None:
        if before is not NO_IMAGE:
            old, new = self._common(before), self._common(now)
            self._config_changes("broker", DEFAULT, old, new)
        brokers = {broker.id: broker for broker in before.brokers}
        for broker in now.brokers:
            earlier = brokers.get(broker.id)
            if earlier is not None and (earlier.configs, earlier.static_configs) == (
                broker.configs,
                broker.static_configs,
            ):
                continue
            old = {} if earlier is None else _own_config(earlier, self._common(before))
            new = _own_config(broker, self._common(now))
            self._config_changes("broker", str(broker.id), old, new)

    def _common(self, image: ClusterImage) -> dict[str, str]:
        """The configurations of all brokers: set dynamically, or in every ``server.properties``.

        Only what has an effect on replication is told.
        """
        static = [broker.static_configs for broker in image.brokers if broker.static_configs]
        counts = Counter(pair for settings in static for pair in settings.items())
        common = {key: value for (key, value), count in counts.items() if count == len(static)}
        common |= image.configs or {}
        return {key: common[key] for key in sorted(common) if key in self._settings}

    def _config_changes(
        self, entity: str, name: str, old: Mapping[str, str], new: Mapping[str, str]
    ) -> None:
        for key in sorted(old.keys() | new.keys()):
            value = new.get(key, "")
            if old.get(key, "") != value:
                self._emit(events.ConfigChanged, entity, name, key, value)

    # ---- topics and partitions

    def _topics(self, before: ClusterImage, now: ClusterImage) -> None:
        topics = {topic.name: topic for topic in before.topics}
        for topic in now.topics:
            earlier = topics.pop(topic.name, None)
            if earlier is topic:
                continue
            if earlier is not None and _is_another(earlier, topic):
                self._topic_deleted(earlier)
                earlier = None
            self._topic(earlier, topic, before, now)
        for deleted in topics.values():
            self._topic_deleted(deleted)

    def _topic_deleted(self, topic: Topic) -> None:
        """A topic and all its logs are no more."""
        cause = self._emit(events.TopicDeleted, topic.name)
        for partition in topic.partitions:
            tp = f"{topic.name}-{partition.partition}"
            for broker in partition.replicas:
                self._ends.pop((tp, broker), None)
                self._emit(events.LogDeleted, tp, broker, cause=cause)

    def _topic(
        self, before: Topic | None, now: Topic, image_before: ClusterImage, image: ClusterImage
    ) -> None:
        assigned = [list(partition.replicas) for partition in now.partitions]
        if before is None:
            self._emit(events.TopicCreated, now.name, assigned, now.configs or {})
        else:
            first = len(before.partitions)
            if len(assigned) > first:
                self._emit(events.PartitionsAdded, now.name, first, assigned[first:])
            if before.configs != now.configs:
                self._config_changes("topic", now.name, before.configs or {}, now.configs or {})
        partitions = (
            {}
            if before is None
            else {partition.partition: partition for partition in before.partitions}
        )
        alive = _Alive(_alive(image), _alive(image) - _alive(image_before))
        for partition in now.partitions:
            earlier = partitions.get(partition.partition)
            if earlier is not partition or not alive.risen.isdisjoint(partition.replicas):
                self._partition(now.name, earlier, partition, alive)

    def _partition(
        self, topic: str, before: Partition | None, now: Partition, alive: _Alive
    ) -> None:
        tp = f"{topic}-{now.partition}"
        old = before or Partition(now.partition, now.replicas, isr=())
        if (old.replicas, old.adding or (), old.removing or ()) != (
            now.replicas,
            now.adding or (),
            now.removing or (),
        ):
            moving = list(now.adding or ()), list(now.removing or ())
            self._emit(events.ReplicasAssigned, tp, list(now.replicas), *moving)
        leader, epoch = _led(now)
        isr = list(now.isr or ())
        cause = self._cause(old, now)
        is_new_leader = before is None or (old.leader, old.leader_epoch) != (
            now.leader,
            now.leader_epoch,
        )
        if is_new_leader or old.isr != now.isr:
            state = (tp, leader, epoch, isr, UNKNOWN, UNKNOWN)
            seq = self._emit(events.PartitionStateChanged, *state, cause=cause)
            self._roles(tp, old, now, alive, all_roles=is_new_leader, cause=seq)
            if old.isr != now.isr and leader != NO_LEADER:
                self._emit(events.IsrChanged, tp, leader, isr, UNKNOWN, cause=seq)
        elif alive.risen or old.replicas != now.replicas:
            self._roles(tp, old, now, alive, all_roles=False, cause=0)
        eligible = now.elr or (), now.last_known_elr or ()
        if eligible != (old.elr or (), old.last_known_elr or ()):
            self._emit(events.EligibleReplicasChanged, tp, *map(list, eligible), cause=cause)
        self._offsets(tp, old, now)

    def _cause(self, old: Partition, now: Partition) -> int:
        """The broker that went down meanwhile, if that is why it lost its leader or a replica."""
        lost = {broker for broker in old.isr or () if broker not in (now.isr or ())}
        if old.leader is not None and old.leader != now.leader:
            lost.add(old.leader)
        return next((self._down[broker] for broker in sorted(lost) if broker in self._down), 0)

    def _roles(
        self,
        tp: str,
        old: Partition,
        now: Partition,
        alive: _Alive,
        *,
        all_roles: bool,
        cause: int,
    ) -> None:
        leader, epoch = _led(now)
        for broker in now.replicas:
            is_news = all_roles or broker in alive.risen or broker not in old.replicas
            if broker in alive.brokers and is_news:
                role = "leader" if broker == leader else "follower"
                kind = events.ReplicaRoleChanged
                self._emit(kind, tp, broker, role, leader, epoch, cause=cause)
        for broker in old.replicas:
            if broker not in now.replicas:
                self._ends.pop((tp, broker), None)
                self._emit(events.LogDeleted, tp, broker, cause=cause)

    def _offsets(self, tp: str, old: Partition, now: Partition) -> None:
        leader, epoch = _led(now)
        if leader == NO_LEADER:
            return
        if now.log_start is not None and now.log_start != old.log_start:
            self._emit(events.LogStartOffsetChanged, tp, leader, now.log_start)
        end = now.high_watermark
        if end is None:
            return
        self._reaches(tp, leader, end, epoch)
        if end != old.high_watermark or leader != old.leader:
            previous = UNKNOWN if old.high_watermark is None else old.high_watermark
            self._emit(events.HighWatermarkChanged, tp, leader, end, previous, SEEN)
        for log in now.logs:
            if log.lag is not None and log.broker != leader and not log.future:
                self._reaches(tp, log.broker, max(0, end - log.lag), epoch)

    def _reaches(self, tp: str, broker: int, end: int, epoch: int) -> None:
        """Emit that a replica's log reaches ``end``; truncations are not reported by brokers."""
        previous_end = self._ends.get((tp, broker), 0)
        if end > previous_end or (tp, broker) not in self._ends:
            count = end - previous_end
            self._emit(events.RecordsAppended, tp, broker, previous_end, count, epoch, NO_RECORDS)
            self._ends[tp, broker] = end

    # ---- groups

    def _groups(self, before: ClusterImage, now: ClusterImage) -> None:
        if before.groups is now.groups:
            return
        groups = {group.id: group for group in before.groups}
        for group in now.groups:
            earlier = groups.pop(group.id, None)
            if group != earlier:
                self._group(earlier or Group(group.id), group)
        for ended in groups.values():
            self._group(ended, Group(ended.id, state="Dead", coordinator=ended.coordinator))

    def _group(self, before: Group, now: Group) -> None:
        broker = NO_LEADER if now.coordinator is None else now.coordinator
        if (before.state, before.coordinator) != (now.state, now.coordinator):
            self._emit(events.GroupStateChanged, now.id, broker, now.state or "", UNKNOWN)
        old = {member.id: member for member in before.members}
        new = {member.id: member for member in now.members}
        for member in new.keys() - old.keys():
            name = new[member].client_id or member
            self._emit(events.MemberJoined, now.id, broker, name, member)
        for member in old.keys() - new.keys():
            name = old[member].client_id or member
            self._emit(events.MemberLeft, now.id, broker, name, member, "no longer a member")
        offsets = {
            f"{committed.topic}-{committed.partition}": committed.offset
            for committed in before.offsets
        }
        for committed in now.offsets:
            tp = f"{committed.topic}-{committed.partition}"
            if committed.offset is not None and offsets.pop(tp, None) != committed.offset:
                self._emit(events.OffsetCommitted, now.id, tp, broker, committed.offset)
            offsets.pop(tp, None)
        for tp, offset in offsets.items():
            self._emit(events.OffsetExpired, now.id, tp, broker, offset or 0)


def _led(partition: Partition) -> tuple[int, int]:
    """The leader and its epoch, -1 for what there is not, or what is not known."""
    leader, epoch = partition.leader, partition.leader_epoch
    return (
        NO_LEADER if leader is None else leader,
        UNKNOWN if epoch is None else epoch,
    )


def _is_another(before: Topic, now: Topic) -> bool:
    """Whether a topic was deleted and created again: no topic loses partitions."""
    numbers = {partition.partition for partition in now.partitions}
    return (
        before.id != now.id
        or not {partition.partition for partition in before.partitions} <= numbers
    )


def _state(broker: Broker) -> str:
    """A broker's state in the cluster's metadata, which does not say why a broker is down."""
    if broker.up:
        return "running"
    return "fenced" if broker.fenced else "stopped"


def _alive(image: ClusterImage) -> set[int]:
    return {broker.id for broker in image.brokers if broker.up}


def _own_config(broker: Broker, common: Mapping[str, str]) -> dict[str, str]:
    """A broker's configurations that differ from those of all brokers."""
    own = {**(broker.static_configs or {}), **(broker.configs or {})}
    dynamic = broker.configs or {}
    return {key: value for key, value in own.items() if key in dynamic or common.get(key) != value}
