"""Every fact that a cluster states, as frozen values.

Everything outside the emulator (screens, JSON, recordings, Parquet, analysis) is folded from these events and from nothing
else. Each event carries

- ``seq``: its number, 1, 2, 3, .. without gaps; the order in which facts became true;
- ``time_us``: virtual time in microseconds since the cluster was made;
- ``cause``: the ``seq`` of the event that led to it (an input, a message, a task), 0 for a root. Following ``cause`` unfolds any
  fact to what somebody did.

Vocabulary of the fields: ``tp`` is a topic-partition written ``orders-0``; ``broker`` a broker id; ``leader`` -1 means none; a host
is a broker id, :data:`ZOOKEEPER` or :data:`CLIENTS`; offsets are Kafka's (LEO is the next offset to be written, HW the first one that is not
committed); record ids number every record ever produced, so two copies of one produced record have one id.
"""

from typing import Final

from msgspec import Struct


ZOOKEEPER: Final = -1
"""The host number of the ZooKeeper server in messages and links."""
CLIENTS: Final = -2
"""The host number that all producers and consumers share in messages and links."""


class Event(Struct, frozen=True, array_like=True, tag=True, gc=False):
    """What all events share: number, virtual time in microseconds, and the number of the event that caused it."""

    seq: int
    time_us: int
    cause: int


# ---- what was asked of the cluster


class ClusterCreated(Event, frozen=True, gc=False):
    """A cluster was made. ``racks`` has one entry a broker or is empty; ``config`` are broker defaults by Kafka's names."""

    version: str
    seed: int
    brokers: list[int]
    racks: list[str]
    config: dict[str, str]
    stepwise: bool


class InputReceived(Event, frozen=True, gc=False):
    """A statement was given to the cluster: the root of all that follows from it.

    ``text`` is the statement in the command language, ``line`` its line in a script (0: none), ``steps`` how many kernel events had
    been dispatched by then (with ``time_us`` the exact place at which running it again must give it).
    """

    text: str
    line: int
    steps: int


class InputFinished(Event, frozen=True, gc=False):
    """A statement came to its end; ``error`` is ``NONE`` or the name of the Kafka or ZooKeeper error that it ended in."""

    text: str
    line: int
    error: str


class ExpectationChecked(Event, frozen=True, gc=False):
    """An ``expect``, or a ``wait until`` that ran out, held or did not; ``actual`` is the left side's value as JSON text."""

    text: str
    line: int
    passed: bool
    actual: str


class BookmarkSet(Event, frozen=True, gc=False):
    """A ``mark``: a named place in the recording."""

    name: str
    note: str


class TimerFired(Event, frozen=True, gc=False):
    """A periodic task or time limit of ``host`` did something (ticks without effect are not stated)."""

    host: int
    task: str


# ---- topics and configuration


class TopicCreated(Event, frozen=True, gc=False):
    """The topic's znode was written. ``assignment[i]`` is partition i's replica list, its preferred leader first."""

    topic: str
    assignment: list[list[int]]
    config: dict[str, str]


class PartitionsAdded(Event, frozen=True, gc=False):
    """The topic grew: ``assignment`` holds the new partitions' replica lists, the first one being number ``first``."""

    topic: str
    first: int
    assignment: list[list[int]]


class TopicDeleted(Event, frozen=True, gc=False):
    """The topic's znodes are gone."""

    topic: str


class ReplicasAssigned(Event, frozen=True, gc=False):
    """A partition's assigned replicas changed (reassignment)."""

    tp: str
    replicas: list[int]
    adding: list[int]
    removing: list[int]


class ConfigChanged(Event, frozen=True, gc=False):
    """A configuration value was set; ``entity`` is ``topic`` or ``broker``; an empty ``value`` means it was removed."""

    entity: str
    name: str
    key: str
    value: str


# ---- brokers and network


class BrokerStateChanged(Event, frozen=True, gc=False):
    """A broker process changed: ``starting``, ``running``, ``controlled_shutdown``, ``frozen``, ``stopped`` or ``crashed``."""

    broker: int
    state: str


class BrokerRegistered(Event, frozen=True, gc=False):
    """A broker wrote /brokers/ids/N; ``broker_epoch`` is that znode's czxid (KIP-380), ``session`` its ZooKeeper session."""

    broker: int
    broker_epoch: int
    session: int


class LinkChanged(Event, frozen=True, gc=False):
    """The link from ``source`` to ``destination`` changed; ``holding`` names the messages kept waiting (``*``: all of them)."""

    source: int
    destination: int
    cut: bool
    delay_us: int
    drop_percent: float
    holding: list[str]


class MessageSent(Event, frozen=True, gc=False):
    """A request, response or notification left ``source``.

    ``name`` is Kafka's (``FetchRequest``, ``LeaderAndIsrResponse``, ..). ``request`` is the ``seq`` of the MessageSent that a response answers,
    0 in requests. ``detail`` lists what it says of partitions as ``[tp, number, ..]``: for a FetchRequest the partitions whose
    fetch state changed with their fetch offset, for a FetchResponse each partition in it with HW, base offset and record count.
    """

    name: str
    source: int
    destination: int
    request: int
    detail: list[list[str | int]]


class MessageLost(Event, frozen=True, gc=False):
    """The message sent as event ``message`` will not arrive; ``reason`` says why (``cut``, ``dropped``, ``host down``, ``lost``)."""

    message: int
    reason: str


class MessageHeld(Event, frozen=True, gc=False):
    """The message sent as event ``message`` waits on its link (a cut or held link)."""

    message: int


class MessageReleased(Event, frozen=True, gc=False):
    """A message that waited goes on."""

    message: int


# ---- replicas


class LogCreated(Event, frozen=True, gc=False):
    """A broker made the (empty) log folder of a partition; it stays until :class:`LogDeleted`."""

    tp: str
    broker: int


class LogDeleted(Event, frozen=True, gc=False):
    """A broker removed its log of a partition."""

    tp: str
    broker: int


class LogLoaded(Event, frozen=True, gc=False):
    """A starting broker read a log from disk: its start, LEO, the HW it begins with, and its epoch cache (None before 0.11)."""

    tp: str
    broker: int
    log_start: int
    log_end_offset: int
    high_watermark: int
    epochs: list[tuple[int, int]] | None


class ReplicaRoleChanged(Event, frozen=True, gc=False):
    """A broker took a role for a partition: ``leader``, ``follower`` or ``offline`` (told to stop, or process gone)."""

    tp: str
    broker: int
    role: str
    leader: int
    leader_epoch: int


class RecordsAppended(Event, frozen=True, gc=False):
    """A replica wrote ``count`` records at ``base_offset``; its LEO is now their sum.

    The records have the consecutive ids ``first_record ..`` (see :class:`ProduceSent` for their values) and carry ``leader_epoch`` (-1 before
    message format 2). On a leader the records are new; on a follower they came with a FetchResponse.
    """

    tp: str
    broker: int
    base_offset: int
    count: int
    leader_epoch: int
    first_record: int


class HighWatermarkChanged(Event, frozen=True, gc=False):
    """A replica's HW moved from ``previous`` to ``high_watermark``; ``occasion`` names the rule (``append``, ``fetch``, ``make-leader``, ``isr``, ``response``, ``truncate``)."""

    tp: str
    broker: int
    high_watermark: int
    previous: int
    occasion: str


class RemoteLogEndOffsetChanged(Event, frozen=True, gc=False):
    """The leader ``broker`` now remembers ``log_end_offset`` of ``follower`` (-1: unknown, since becoming leader)."""

    tp: str
    broker: int
    follower: int
    log_end_offset: int


class LogTruncated(Event, frozen=True, gc=False):
    """A replica cut its log from LEO ``previous`` back to ``log_end_offset``; ``reason`` names the rule."""

    tp: str
    broker: int
    log_end_offset: int
    previous: int
    reason: str


class LogStartOffsetChanged(Event, frozen=True, gc=False):
    """A replica's first offset moved."""

    tp: str
    broker: int
    log_start: int


class EpochCacheChanged(Event, frozen=True, gc=False):
    """A replica's leader-epoch cache and checkpoint file now hold ``entries`` of (epoch, start offset)."""

    tp: str
    broker: int
    entries: list[tuple[int, int]]


class HighWatermarksCheckpointed(Event, frozen=True, gc=False):
    """A broker wrote replication-offset-checkpoint; ``high_watermarks`` holds those entries that changed."""

    broker: int
    high_watermarks: dict[str, int]


class IsrChangeStarted(Event, frozen=True, gc=False):
    """A leader asks for another ISR (``shrink`` or ``expand``), by ZooKeeper write or AlterPartition, for ``replica``'s sake."""

    tp: str
    broker: int
    isr: list[int]
    change: str
    replica: int


class IsrChanged(Event, frozen=True, gc=False):
    """The ISR that the leader ``broker`` itself acts on changed; ``zk_version`` is the znode version it believes in."""

    tp: str
    broker: int
    isr: list[int]
    zk_version: int


class ReplicaFetchPaused(Event, frozen=True, gc=False):
    """A follower was told to stop (or go on) fetching a partition."""

    tp: str
    broker: int
    paused: bool


# ---- ZooKeeper


class ZnodeCreated(Event, frozen=True, gc=False):
    """A znode was created with transaction ``zxid``; ``data`` None is ZooKeeper's null; ``session`` owns an ephemeral (0: persistent)."""

    path: str
    data: str | None
    session: int
    zxid: int


class ZnodeChanged(Event, frozen=True, gc=False):
    """A znode's data was set; ``version`` is its new dataVersion."""

    path: str
    data: str | None
    version: int
    zxid: int


class ZnodeDeleted(Event, frozen=True, gc=False):
    """A znode was deleted."""

    path: str
    zxid: int


class SessionCreated(Event, frozen=True, gc=False):
    """ZooKeeper gave ``host`` a session with the negotiated timeout."""

    session: int
    host: int
    timeout_ms: int
    zxid: int


class SessionEnded(Event, frozen=True, gc=False):
    """A session ended: ``expired`` (nothing heard for its timeout) or ``closed`` (by its client); its ephemerals go with it."""

    session: int
    host: int
    reason: str
    zxid: int


class WatchFired(Event, frozen=True, gc=False):
    """A one-shot watch of ``host`` on ``path`` fired; ``kind`` is ZooKeeper's event type (``NodeDataChanged``, ..)."""

    path: str
    kind: str
    host: int


class ZkConnectionChanged(Event, frozen=True, gc=False):
    """A broker's view of its ZooKeeper session: ``connected``, ``disconnected`` or ``expired``."""

    broker: int
    state: str


class PartitionStateChanged(Event, frozen=True, gc=False):
    """A partition's ``state`` znode says something new (leader -1: none). ``zk_version`` is the znode's dataVersion."""

    tp: str
    leader: int
    leader_epoch: int
    isr: list[int]
    controller_epoch: int
    zk_version: int


class PartitionStateRemoved(Event, frozen=True, gc=False):
    """A partition's ``state`` znode is gone."""

    tp: str


# ---- controller


class ControllerElected(Event, frozen=True, gc=False):
    """``broker`` became controller with ``epoch``; ``epoch_zk_version`` is the dataVersion of /controller_epoch."""

    broker: int
    epoch: int
    epoch_zk_version: int


class ControllerResigned(Event, frozen=True, gc=False):
    """``broker`` stopped being (or believing to be) controller."""

    broker: int
    epoch: int
    reason: str


class ControllerStep(Event, frozen=True, gc=False):
    """One step of the controller's procedures, e.g. ``procedure`` ``onControllerFailover``, ``step`` 4, ``name`` ``initializeControllerContext``."""

    broker: int
    procedure: str
    step: int
    name: str
    detail: str


class LeaderElected(Event, frozen=True, gc=False):
    """The controller chose a leader; ``strategy`` is ``New``, ``Offline``, ``Reassign``, ``Preferred``, ``ControlledShutdown`` or ``Unclean``."""

    tp: str
    controller: int
    leader: int
    leader_epoch: int
    isr: list[int]
    strategy: str


class ElectionFailed(Event, frozen=True, gc=False):
    """The controller found no leader for the partition; ``reason`` says why in words."""

    tp: str
    controller: int
    strategy: str
    reason: str


# ---- clients and truth


class ProduceSent(Event, frozen=True, gc=False):
    """A producer sent a batch for the first time: the place where its records, ids ``first_record ..``, are named.

    ``keys`` and ``values`` have one entry a record (``keys`` is empty if none has a key); ``acks`` is 0, 1 or -1.
    """

    producer: str
    tp: str
    first_record: int
    keys: list[str | None]
    values: list[str]
    acks: int


class ProduceRetried(Event, frozen=True, gc=False):
    """A producer will send the batch of ``first_record`` again; ``counted`` tells whether it used up one of its retries."""

    producer: str
    tp: str
    first_record: int
    error: str
    counted: bool


class ProduceAcknowledged(Event, frozen=True, gc=False):
    """A producer got a successful answer for a batch of ``count`` records (acks=0: handed it to the network; base offset -1)."""

    producer: str
    tp: str
    first_record: int
    count: int
    base_offset: int


class ProduceFailed(Event, frozen=True, gc=False):
    """A batch of ``count`` records ended in ``error`` for its producer. It may still be in the log."""

    producer: str
    tp: str
    first_record: int
    count: int
    error: str


class RecordsConsumed(Event, frozen=True, gc=False):
    """A consumer was given records: runs of ``[first_record, count]`` from ``offset`` on; its position is then ``position``."""

    consumer: str
    tp: str
    offset: int
    runs: list[tuple[int, int]]
    position: int


class ConsumeFinished(Event, frozen=True, gc=False):
    """A ``consume`` ended at ``position`` (of its last partition) with ``error`` (``NONE``: it has read what there is)."""

    consumer: str
    tp: str
    position: int
    error: str


class AuditChanged(Event, frozen=True, gc=False):
    """Ground truth about one partition, stated when it changes; each list holds ``[offset, record id]``.

    ``lost``: acknowledged records that are not in the current leader's log (``offset`` as acknowledged, -1 unknown). ``duplicated``: extra copies
    in it. ``diverged``: offsets below both LEOs at which two replicas hold different records. ``consumed_lost``: records given
    to a consumer and no longer in it.
    """

    tp: str
    lost: list[tuple[int, int]]
    duplicated: list[tuple[int, int]]
    diverged: list[tuple[int, int]]
    consumed_lost: list[tuple[int, int]]


class InvariantViolated(Event, frozen=True, gc=False):
    """A protocol invariant does not hold; ``known`` if the version profile is known to break it."""

    name: str
    tp: str
    detail: str
    known: bool
