"""A transaction's changes as records of KRaft, as a migration would write them.

They have the values of ZooKeeper: leader epochs as they are in the znodes, the data's version as
partition epoch, and the czxid of ``/brokers/ids/N`` as broker epoch. So the image, the timeline and
the report of a cluster with ZooKeeper are those of one without. A registration that is gone counts
as fenced: nobody wrote down whether the process died.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    BROKER_RESOURCE,
    FENCE,
    IN_CONTROLLED_SHUTDOWN,
    RECOVERED,
    RECOVERING,
    TOPIC_RESOURCE,
    UNFENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    LeaderChangeMessage,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.zookeeper import data as znodes
from sessions.own_cluster.zookeeper_history.znode_tree import Znode, ZnodeChange

NO_LEADER: Final = -1
_BROKERS: Final = f"{znodes.BROKER_IDS}/"
_TOPIC_CONFIGS: Final = f"{znodes.TOPIC_CONFIGS}/"
_BROKER_CONFIGS: Final = f"{znodes.BROKER_CONFIGS}/"


class _Registration(Struct):
    rack: str | None = None


class RecordWriter:
    """Writes the records of transactions, given the image before each."""

    def __init__(self, image: MetadataImage) -> None:
        """Write for ``image``, to which the caller applies what is written."""
        self.image = image
        self.is_closed = False
        """Whether the transaction is a session's end by its own client, as in a shutdown."""
        self._assignments: dict[str, znodes.TopicAssignment] = {}
        self._states: dict[str, tuple[znodes.PartitionState, int]] = {}

    def records(self, changes: Sequence[ZnodeChange]) -> Iterator[AnyRecord]:
        """Yield the records of a transaction."""
        for change in changes:
            path, after = change.path, change.after
            if path.startswith(_BROKERS):
                yield from self._broker(path.removeprefix(_BROKERS), change)
            elif path.startswith(_TOPIC_CONFIGS):
                name = path.removeprefix(_TOPIC_CONFIGS)
                yield from self._config(TOPIC_RESOURCE, name, after)
            elif path.startswith(_BROKER_CONFIGS):
                name = path.removeprefix(_BROKER_CONFIGS)
                name = "" if name == znodes.ALL_BROKERS else name
                yield from self._config(BROKER_RESOURCE, name, after)
            elif path == znodes.CONTROLLER and after is not None:
                broker = znodes.controller_in(after.text)
                if broker is not None:
                    yield LeaderChangeMessage(broker)
            elif (topic := znodes.topic_of(path)) is not None:
                yield from self._topic(topic, after)
            elif (tp := znodes.partition_of(path)) is not None:
                yield from self._state(tp, after)

    # ---- brokers and configurations

    def _broker(self, name: str, change: ZnodeChange) -> Iterator[AnyRecord]:
        if not name.isdecimal():
            return
        broker, after = int(name), change.after
        known = self.image.brokers.get(broker)
        if after is not None and change.before is None:
            yield RegisterBrokerRecord(broker, f"{after.owner:x}", after.czxid, rack=_rack(after))
            yield BrokerRegistrationChangeRecord(broker, after.czxid, UNFENCE)
        elif after is None and known is not None:
            if self.is_closed:
                yield BrokerRegistrationChangeRecord(
                    broker, known.epoch, in_controlled_shutdown=IN_CONTROLLED_SHUTDOWN
                )
            yield BrokerRegistrationChangeRecord(broker, known.epoch, FENCE)

    def _config(self, resource: int, name: str, after: Znode | None) -> Iterator[AnyRecord]:
        kind = "topic" if resource == TOPIC_RESOURCE else "broker"
        before = self.image.configs.get(f"{kind}:{name}", {})
        now = {} if after is None else znodes.config_in(after.text) or {}
        for key in dict.fromkeys((*before, *now)):
            if before.get(key) != now.get(key):
                yield ConfigRecord(resource, name, key, now.get(key))

    # ---- topics

    def _topic(self, topic: str, after: Znode | None) -> Iterator[AnyRecord]:
        known = self.image.topic(topic)
        if after is None:
            self._assignments.pop(topic, None)
            if known is not None:
                yield RemoveTopicRecord(known.id)
            return
        assignment = znodes.topic_in(after.text)
        if assignment is None:
            return
        self._assignments[topic] = assignment
        topic_id = known.id if known is not None else znodes.topic_id_in(after.text) or topic
        if known is None:
            yield TopicRecord(topic, topic_id)
        for number, replicas in assignment.replicas.items():
            before = None if known is None else known.partitions.get(number)
            if before is not None and list(before.replicas) != replicas:
                yield from self._partition(topic, number)

    def _state(self, tp: str, after: Znode | None) -> Iterator[AnyRecord]:
        topic, _, number = tp.rpartition("-")
        state = None if after is None else znodes.state_in(after.text)
        if after is None or state is None:
            self._states.pop(tp, None)
            return
        self._states[tp] = state, after.version
        yield from self._partition(topic, int(number))

    def _partition(self, topic: str, number: int) -> Iterator[AnyRecord]:
        """A partition as its topic's znode and its own say it is, once both exist."""
        stored = self._states.get(f"{topic}-{number}")
        assignment, known = self._assignments.get(topic), self.image.topic(topic)
        if stored is None or assignment is None:
            return
        state, version = stored
        before = None if known is None else known.partitions.get(number)
        topic_id = known.id if known is not None else znodes.topic_id_in(assignment.text) or topic
        yield PartitionRecord(
            number,
            topic_id,
            tuple(assignment.replicas.get(number, ())),
            tuple(state.isr),
            tuple(assignment.removing.get(number, ())),
            tuple(assignment.adding.get(number, ())),
            state.leader,
            _recovery(before, state),
            state.leader_epoch,
            version,
        )


def _recovery(before: PartitionRegistration | None, state: znodes.PartitionState) -> int:
    """Releases before 3.2 do not write down that a leader was elected uncleanly; the ISR tells."""
    if state.leader_recovery_state:
        return state.leader_recovery_state
    if before is None or state.leader in (NO_LEADER, before.leader):
        return RECOVERED if before is None else _kept(before, state)
    return RECOVERED if state.leader in before.isr else RECOVERING


def _kept(before: PartitionRegistration, state: znodes.PartitionState) -> int:
    is_same = tuple(state.isr) == before.isr and state.leader == before.leader
    return before.leader_recovery_state if is_same else RECOVERED


def _rack(znode: Znode) -> str | None:
    try:
        return msgspec.json.decode(znode.data or b"", type=_Registration).rack
    except msgspec.DecodeError:
        return None
