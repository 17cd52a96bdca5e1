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
            path, znode = change.path, change.after
            if path.startswith(_BROKERS):
                yield from self._broker(path.removeprefix(_BROKERS), change)
            elif path.startswith(_TOPIC_CONFIGS):
                name = path.removeprefix(_TOPIC_CONFIGS)
                yield from self._config(TOPIC_RESOURCE, name, znode)
            elif path.startswith(_BROKER_CONFIGS):
                name = path.removeprefix(_BROKER_CONFIGS)
                name = "" if name == znodes.ALL_BROKERS else name
                yield from self._config(BROKER_RESOURCE, name, znode)
            elif path == znodes.CONTROLLER and znode is not None:
                broker = znodes.controller_in(znode.text)
                if broker is not None:
                    yield LeaderChangeMessage(broker)
            elif (topic := znodes.topic_of(path)) is not None:
                yield from self._topic(topic, znode)
            elif (tp := znodes.partition_of(path)) is not None:
                yield from self._state(tp, znode)

    # ---- brokers and configurations

    def _broker(self, name: str, change: ZnodeChange) -> Iterator[AnyRecord]:
        if not name.isdecimal():
            return
        broker, znode = int(name), change.after
        registration = self.image.brokers.get(broker)
        if znode is not None and change.before is None:
            yield RegisterBrokerRecord(broker, f"{znode.owner:x}", znode.czxid, rack=_rack(znode))
            yield BrokerRegistrationChangeRecord(broker, znode.czxid, UNFENCE)
        elif znode is None and registration is not None:
            if self.is_closed:
                yield BrokerRegistrationChangeRecord(
                    broker, registration.epoch, in_controlled_shutdown=IN_CONTROLLED_SHUTDOWN
                )
            yield BrokerRegistrationChangeRecord(broker, registration.epoch, FENCE)

    def _config(self, resource: int, name: str, znode: Znode | None) -> Iterator[AnyRecord]:
        kind = "topic" if resource == TOPIC_RESOURCE else "broker"
        former = self.image.configs.get(f"{kind}:{name}", {})
        values = {} if znode is None else znodes.config_in(znode.text) or {}
        for key in dict.fromkeys((*former, *values)):
            if former.get(key) != values.get(key):
                yield ConfigRecord(resource, name, key, values.get(key))

    # ---- topics

    def _topic(self, topic: str, znode: Znode | None) -> Iterator[AnyRecord]:
        topic_image = self.image.topic(topic)
        if znode is None:
            self._assignments.pop(topic, None)
            if topic_image is not None:
                yield RemoveTopicRecord(topic_image.id)
            return
        assignment = znodes.topic_in(znode.text)
        if assignment is None:
            return
        self._assignments[topic] = assignment
        if topic_image is None:
            yield TopicRecord(topic, znodes.topic_id_in(znode.text) or topic)
        for number, replicas in assignment.replicas.items():
            partition = None if topic_image is None else topic_image.partitions.get(number)
            if partition is not None and list(partition.replicas) != replicas:
                yield from self._partition(topic, number)

    def _state(self, tp: str, znode: Znode | None) -> Iterator[AnyRecord]:
        topic, _, number = tp.rpartition("-")
        state = None if znode is None else znodes.state_in(znode.text)
        if znode is None or state is None:
            self._states.pop(tp, None)
            return
        self._states[tp] = state, znode.version
        yield from self._partition(topic, int(number))

    def _partition(self, topic: str, number: int) -> Iterator[AnyRecord]:
        """A partition as its topic's znode and its own say it is, once both exist."""
        stored = self._states.get(f"{topic}-{number}")
        assignment, topic_image = self._assignments.get(topic), self.image.topic(topic)
        if stored is None or assignment is None or topic_image is None:
            return
        state, version = stored
        yield PartitionRecord(
            number,
            topic_image.id,
            tuple(assignment.replicas.get(number, ())),
            tuple(state.isr),
            tuple(assignment.removing.get(number, ())),
            tuple(assignment.adding.get(number, ())),
            state.leader,
            _recovery(topic_image.partitions.get(number), state),
            state.leader_epoch,
            version,
        )


def _recovery(former: PartitionRegistration | None, state: znodes.PartitionState) -> int:
    """Releases before 3.2 do not write down that a leader was elected uncleanly; the ISR tells."""
    if state.leader_recovery_state:
        return state.leader_recovery_state
    if former is None or state.leader in (NO_LEADER, former.leader):
        return RECOVERED if former is None else _kept_recovery(former, state)
    return RECOVERED if state.leader in former.isr else RECOVERING


def _kept_recovery(former: PartitionRegistration, state: znodes.PartitionState) -> int:
    is_same = tuple(state.isr) == former.isr and state.leader == former.leader
    return former.leader_recovery_state if is_same else RECOVERED


def _rack(znode: Znode) -> str | None:
    try:
        return msgspec.json.decode(znode.data or b"", type=_Registration).rack
    except msgspec.DecodeError:
        return None
