"""The views of a partition's state: znode, controller, brokers, clients.

No party in a distributed system knows the actual state. The next election uses the znode, so the
others are compared with it. In KRaft that is the committed metadata log, of which each broker has
an image as of the offset it has applied; there ``zk_version`` is the partition epoch.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from sessions.model.cluster_view import ClusterView
from sessions.model.folding import CACHE
from sessions.model.metadata_log import end_of, image_of
from sessions.model.states import (
    Belief,
    BrokerState,
    CommittedRecord,
    PartitionState,
    QuorumState,
    ReplicaState,
)

NOBODY = -1
DOWN = "offline"
TOPIC_RECORDS: Final = ("Topic", "RemoveTopic")


class Truth(Struct, frozen=True):
    """One party's view: a field that it does not have is None; a leader of -1 means none.

    ``disagrees`` names the fields in which it differs from the znode.
    """

    who: str
    leader: int | None = None
    leader_epoch: int | None = None
    isr: list[int] | None = None
    zk_version: int | None = None
    high_watermark: int | None = None
    log_end_offset: int | None = None
    disagrees: tuple[str, ...] = ()


def truths(view: ClusterView, partition: PartitionState) -> list[Truth]:
    """Return each party's view of a partition: the znode, controller, replicas, clients."""
    znode = _znode(partition, "znode" if view.state.quorum is None else "metadata log")
    others = [
        *_controller(view, partition),
        *(_replica(view, replica) for _, replica in sorted(partition.replica_states.items())),
        *_clients(view, partition),
    ]
    return [znode, *(_compared(znode, truth) for truth in others)]


def _znode(partition: PartitionState, party: str) -> Truth:
    if partition.leader is None:
        return Truth(party)
    return Truth(
        party,
        partition.leader,
        partition.leader_epoch,
        partition.isr,
        partition.zk_version,
    )


def _controller(view: ClusterView, partition: PartitionState) -> Iterator[Truth]:
    """Return the controller's cache, if there is one; in KRaft it uses the log itself."""
    broker = view.state.controller.broker
    if broker is not None and view.state.quorum is None:
        yield _of_belief(f"controller {broker}", _belief(view, partition, CACHE))


def _replica(view: ClusterView, replica: ReplicaState) -> Truth:
    """Return a broker's own view of its replica, without what it no longer has in memory."""
    role = view.role(replica)
    frozen = role != replica.role
    party = f"broker {replica.broker} ({'frozen' if frozen else role})"
    offsets = (replica.high_watermark, replica.log_end_offset)
    if replica.role == DOWN:
        return Truth(party, None, None, None, None, *offsets)
    return Truth(
        party, replica.leader, replica.leader_epoch, replica.isr, replica.zk_version, *offsets
    )


def _clients(view: ClusterView, partition: PartitionState) -> Iterator[Truth]:
    """Return what brokers tell clients, grouped by equal responses; a frozen one sends none."""
    truths: dict[str, tuple[Truth, list[int]]] = {}
    for broker in view.state.brokers.values():
        if broker.state in ("running", "controlled_shutdown"):
            truth = _metadata(view, partition, broker)
            truths.setdefault(repr(truth), (truth, []))[1].append(broker.id)
    for truth, brokers in truths.values():
        fields = (truth.leader, truth.leader_epoch, truth.isr, truth.zk_version)
        yield Truth(f"clients of {', '.join(map(str, brokers))}", *fields)


def _metadata(view: ClusterView, partition: PartitionState, broker: BrokerState) -> Truth:
    quorum = view.state.quorum
    if quorum is not None:
        return _of_belief("", _image_of(quorum, partition, broker))
    alive = broker.live_brokers
    if alive is None:
        return Truth("")
    truth = _of_belief("", _belief(view, partition, broker.id))
    if truth.leader is None or truth.leader in alive:
        return truth
    return Truth("", NOBODY, truth.leader_epoch, truth.isr, truth.zk_version)


def _image_of(quorum: QuorumState, partition: PartitionState, broker: BrokerState) -> Belief | None:
    """Return a partition in a broker's image: the log's records, as far as it has applied them."""
    end = quorum.applied.get(broker.id, 0)
    if end < end_of(quorum) or partition.leader is None:
        image = image_of(_about(quorum.log, partition, end))
        now = image.partition(partition.topic, partition.partition)
        if now is None:
            return None
        return Belief(now.leader, now.leader_epoch, list(now.isr), now.partition_epoch)
    epoch, version = partition.leader_epoch, partition.zk_version
    assert epoch is not None
    assert version is not None
    return Belief(partition.leader, epoch, partition.isr, version)


def _about(
    log: Iterable[CommittedRecord], partition: PartitionState, end: int
) -> Iterator[CommittedRecord]:
    """The records about a partition, and those that concern all partitions of its topic.

    Most records are about others, so they are not all decoded.
    """
    id_in_json = re.compile(rf'"topicId":"{re.escape(partition.topic)}(#\d+)?"')
    own = re.compile(rf'"partitionId":{partition.partition}[,}}]')
    for record in log:
        if record.offset >= end:
            return
        if record.kind == "ClearElr":
            if f'"topicName":"{partition.topic}"' in record.data or '"topicName":""' in record.data:
                yield record
        elif not id_in_json.search(record.data):
            continue
        elif record.kind in TOPIC_RECORDS or own.search(record.data):
            yield record


def _belief(view: ClusterView, partition: PartitionState, host: int) -> Belief | None:
    """Return a party's view of the state: the znode's, unless it is known to differ."""
    behind = view.state.beliefs.get(partition.name, {})
    if host in behind:
        return behind[host]
    if partition.leader is None or partition.leader_epoch is None or partition.zk_version is None:
        return None
    return Belief(partition.leader, partition.leader_epoch, partition.isr, partition.zk_version)


def _of_belief(party: str, belief: Belief | None) -> Truth:
    if belief is None:
        return Truth(party)
    return Truth(party, belief.leader, belief.leader_epoch, belief.isr, belief.zk_version)


def _compared(znode: Truth, other: Truth) -> Truth:
    """Return the same view with the fields in which it differs from the znode's."""
    says_nothing = other.leader is None
    if says_nothing and (znode.leader is None or other.who.endswith(f"({DOWN})")):
        return other
    fields = ("leader", "leader_epoch", "isr", "zk_version")
    differs = tuple(
        name
        for name in fields
        if (says_nothing and name == "leader")
        or (
            (value := getattr(other, name)) is not None
            and _plain(value) != _plain(getattr(znode, name))
        )
    )
    return replace(other, disagrees=differs)


def _plain(value: int | list[int] | None) -> object:
    """Normalize for comparison: a different order of the ISR is not a disagreement."""
    return sorted(value) if isinstance(value, list) else value
