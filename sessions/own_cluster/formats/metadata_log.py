"""KRaft's metadata: the folder ``__cluster_metadata-0``, a ``.log`` of it, or a ``.checkpoint``.

The image is exact as of the last record that is read. A copy of a running controller's log may
contain records at its end that were not committed yet; nothing in the files tells. Of a folder, the
newest complete snapshot is read, and what follows it in the logs.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.cluster_image.acls import entries_of
from emulator.cluster_image.image import (
    Broker,
    ClientQuota,
    ClusterImage,
    Controller,
    Group,
    Listener,
    Partition,
    Quorum,
    ScramUser,
    Topic,
)
from emulator.common.acls import Acl
from emulator.common.scram import BY_NUMBER
from emulator.metadata_log.changes import TopicImage
from emulator.metadata_log.image import MetadataImage, config_key
from emulator.metadata_log.metadata_version import (
    KRAFT_VERSION,
    LEVELS,
    METADATA_VERSION,
    is_elr_supported,
    name_of,
)
from emulator.metadata_log.records import (
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.wire.exceptions import LibraryMissing, WireError
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch, NotMetadata, Torn, read_batches
from emulator.wire.metadata.codec import UnknownRecord
from emulator.wire.metadata.control_records import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VoterEndpoint,
    VotersRecord,
)
from emulator.wire.metadata.translation import translate, uuid_text
from emulator.wire.records.record_batch import HEADER_BYTES, MAGIC
from emulator.wire.types import NO_UUID, Message
from sessions.decoding import DecodingError, decode_json
from sessions.own_cluster.access import PROTOCOLS, Entity, entity_of
from sessions.own_cluster.content import Content, open_content
from sessions.own_cluster.places import END, LAST_MS, NOWHERE, US_PER_MS, Place, time_text
from sessions.own_cluster.reading import Authority, FormatError, Reading, SourceError
from sessions.text import plural

NAME: Final = "KRaft metadata log"
WANTED: Final = (
    "wanted is the folder __cluster_metadata-0 of a controller, or its newest *.checkpoint"
)

SEGMENT: Final = re.compile(r"(\d{20})\.log(?:\.gz|\.zst)?")
SNAPSHOT: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint(?:\.gz|\.zst)?")
_QUORUM_STATE: Final = "quorum-state"
_MAGIC_AT: Final = 16
_GROUP_RESOURCE: Final = 32
"""The resource type of groups (``ConfigResource.Type.GROUP``)."""
_QUORUM_STATE_BYTES_MAX: Final = 1 << 16


def recognizes(head: bytes) -> bool:
    """Whether bytes begin with a record batch of format 2."""
    return len(head) >= HEADER_BYTES and head[_MAGIC_AT] == MAGIC and head[:4] == bytes(4)


def is_folder(folder: Path) -> bool:
    """Whether a folder has segments of a log."""
    return any(
        SEGMENT.fullmatch(path.name) or SNAPSHOT.fullmatch(path.name) for path in _in(folder)
    )


def read(content: Content, until: Place = END) -> Reading:
    """Return what one log or snapshot says, up to a place.

    Raises:
        FormatError: it is the log of another partition, starts in the middle or after that place,
            or is damaged.
    """
    metadata = Metadata(until)
    metadata.read(content)
    return metadata.reading(content.name)


def read_folder(folder: Path, name: str, until: Place = END) -> Reading:
    """Return what a folder of logs and snapshots says, up to a place.

    Raises:
        FormatError: as :func:`read`, or a log is missing between the snapshot and the end.
    """
    metadata = Metadata(until)
    snapshots = sorted(
        (path for path in _in(folder) if SNAPSHOT.fullmatch(path.name)), reverse=True
    )
    logs = sorted(path for path in _in(folder) if SEGMENT.fullmatch(path.name))
    if not logs or _offset(logs[0]):
        for path in snapshots:
            snapshot = Metadata(until)
            snapshot.read_file(path)
            if snapshot.is_complete_snapshot and not snapshot.is_over:
                metadata = snapshot
                break
            metadata.begin_ms = snapshot.begin_ms
    for number, path in enumerate(logs):
        after = _offset(logs[number + 1]) if number + 1 < len(logs) else None
        if not metadata.is_over and (after is None or after > metadata.next_offset):
            metadata.read_file(path)
    if until == END:
        _read_quorum_state(folder / _QUORUM_STATE, metadata)
    return metadata.reading(name)


def batches_of(content: Content, *, joins_idle: bool = False) -> Iterator[MetadataBatch | Torn]:
    """Yield the batches of a log or snapshot; last, if it is torn, where that is.

    ``joins_idle``: as :func:`~emulator.wire.metadata.batches.read_batches`.

    Raises:
        FormatError: it is the log of another partition, of an unknown release, or damaged.
    """
    try:
        for batch in read_batches(content.read, joins_idle=joins_idle):
            if isinstance(batch, MetadataBatch) and batch.timestamp > LAST_MS:
                batch = replace(batch, timestamp=LAST_MS)  # noqa: PLW2901 - the same otherwise
            yield batch
    except LibraryMissing as error:
        raise FormatError(f"cannot be read: {error}") from error
    except NotMetadata as error:
        raise FormatError(f"is the log of another partition ({error}); {WANTED}") from error
    except UnknownRecord as error:
        raise FormatError(f"was written by a release that is not known here: {error}") from error
    except WireError as error:
        raise FormatError(f"is damaged: {error}") from error


def torn_note(name: str, torn: Torn) -> str:
    """Return a sentence about a torn end, which is normal on a running cluster."""
    return (
        f"the last batch of {name} is torn ({torn.size:,} bytes at {torn.at:,}): what is whole "
        "before it was read"
    )


class Metadata:
    """Collects records into an image, and what the image has no place for.

    ``until`` is the last record that counts. ``is_over``: there was one after it. ``begin_ms`` is
    the time of the first record that was met.
    """

    def __init__(self, until: Place = END) -> None:
        self.image = MetadataImage()
        self.until = until
        self.is_over = False
        self.begin_ms: int | None = None
        self.next_offset = 0
        self.timestamp: int | None = None
        self.is_complete_snapshot = False
        self.extra = _Extra()
        self.notes: list[str] = []
        self._in_snapshot = False
        self._transaction: list[tuple[Message, int, int]] | None = None

    def read_file(self, path: Path) -> None:
        """Read a log or snapshot of a folder."""
        with open_content(path, path.name) as content:
            try:
                self.read(content)
            except FormatError as error:
                raise FormatError(f"{path.name} {error}") from error

    def read(self, content: Content) -> None:
        """Read a log or snapshot; a log continues what was read before."""
        match = SNAPSHOT.fullmatch(Path(content.name).name)
        if match is not None and self.until.is_before(int(match[1]) - 1, NOWHERE):
            self.is_over = True
            return
        for batch in batches_of(content):
            if isinstance(batch, Torn):
                self.notes.append(torn_note(content.name, batch))
            else:
                self.apply(batch)
                if self.is_over:
                    return
        if match is not None and self.is_complete_snapshot:
            self.next_offset = int(match[1])  # a snapshot's own offsets are not those of the log
            self.image.offset = self.next_offset - 1

    def apply(self, batch: MetadataBatch) -> None:
        """Continue with a batch; those of a snapshot come first."""
        first = batch.records[0] if batch.records else None
        stamp_ms = batch.timestamp
        if isinstance(first, SnapshotHeaderRecord):
            self._in_snapshot = True
            stamp_ms = first.last_contained_log_timestamp
            self.is_over |= self.until.is_before(NOWHERE, stamp_ms * US_PER_MS)
        elif not self._in_snapshot:
            self.is_over |= self.until.is_before(batch.base_offset, stamp_ms * US_PER_MS)
        self.begin_ms = stamp_ms if self.begin_ms is None else self.begin_ms
        if self.is_over:
            return
        end = batch.base_offset + len(batch.records)
        if self._in_snapshot:
            for record in batch.records:
                self.is_complete_snapshot |= isinstance(record, SnapshotFooterRecord)
        elif end <= self.next_offset:
            return  # the snapshot has it already
        elif batch.base_offset > self.next_offset:
            missing = f"offsets {self.next_offset:,} to {batch.base_offset - 1:,} are missing"
            advice = (
                "; wanted is the whole folder, whose snapshot has them"
                if not self.next_offset
                else ""
            )
            raise FormatError(f"starts in the middle of a log: {missing}{advice}")
        self.timestamp = stamp_ms or batch.timestamp
        for offset, record in enumerate(batch.records, batch.base_offset):
            self._record(record, offset, batch.leader_epoch)
        self.next_offset = end
        self._in_snapshot = self._in_snapshot and not self.is_complete_snapshot

    def _record(self, record: Message, offset: int, epoch: int) -> None:
        translated = translate(record)
        if isinstance(translated, BeginTransactionRecord):
            self._transaction = []
        elif isinstance(translated, AbortTransactionRecord):
            self._transaction = None
        elif isinstance(translated, EndTransactionRecord):
            entries, self._transaction = self._transaction or [], None
            for entry in entries:
                self._replay(*entry)
        elif self._transaction is not None:
            self._transaction.append((record, offset, epoch))
        else:
            self._replay(record, offset, epoch)
        self.image.offset, self.image.epoch = offset, epoch

    def _replay(self, record: Message, offset: int, epoch: int) -> None:
        self.extra.add(record)
        translated = translate(record)
        if translated is None:
            return
        try:
            self.image.replay(translated, offset, epoch)
        except KeyError as error:
            raise FormatError(
                f"is damaged: a {type(record).__name__} at offset {offset:,} refers to {error}, "
                "which no record before it created"
            ) from error

    def reading(self, source: str) -> Reading:
        """Return the image and its notes.

        Raises:
            FormatError: there is no metadata of a cluster in what was read.
        """
        if self.is_over and self.timestamp is None:
            begin = "" if self.begin_ms is None else f": it begins at {_time_of(self.begin_ms)}"
            raise FormatError(f"has no record up to that place{begin}")
        if self.timestamp is not None and self.until != END:
            at = f"offset {self.image.offset:,}, {_time_of(self.timestamp)}"
            self.notes.append(f"the cluster as of {at}")
        if not self.image.brokers and not self.image.topics:
            is_snapshot = self._in_snapshot or self.is_complete_snapshot
            kind = "the empty snapshot that a quorum starts from" if is_snapshot else "empty"
            if self.next_offset and not is_snapshot:
                kind = "the log of a cluster without brokers"
            raise FormatError(f"is {kind}; {WANTED}")
        if self._in_snapshot and not self.is_complete_snapshot:
            raise FormatError("is a truncated snapshot: its last record is missing")
        if self._transaction is not None:
            count = plural(len(self._transaction), "record")
            self.notes.append(f"a metadata transaction of {count} has no end yet and is left out")
        image, notes = _image(self.image, self.extra)
        return Reading(source, NAME, Authority.METADATA, image, (*self.notes, *notes))


class _Extra(Struct):
    """Data of records for which the metadata image has no place."""

    listeners: dict[int, tuple[Listener, ...]] = field(default_factory=dict)
    directories: dict[int, tuple[str, ...]] = field(default_factory=dict)
    highest_levels: dict[int, int] = field(default_factory=dict)
    controllers: dict[int, tuple[str, int]] = field(default_factory=dict)
    voters: dict[int, str | None] | None = None
    leader: int | None = None
    epoch: int | None = None
    kraft_version: int | None = None
    assigned: dict[tuple[bytes, int], tuple[bytes, ...]] = field(default_factory=dict)
    group_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    acls: dict[bytes, Acl] = field(default_factory=dict)
    users: dict[str, dict[str, int]] = field(default_factory=dict)
    quotas: dict[Entity, dict[str, float]] = field(default_factory=dict)

    def add(self, record: Message) -> None:
        collect = _COLLECTORS.get(type(record))
        if collect is not None:
            collect(self, record)

    def assign(self, record: wire.PartitionRecord | wire.PartitionChangeRecord) -> None:
        if record.directories:
            self.assigned[record.topic_id, record.partition_id] = tuple(record.directories)

    def register_broker(self, record: wire.RegisterBrokerRecord) -> None:
        broker = record.broker_id
        self.listeners[broker] = tuple(
            Listener(own.name, own.host, own.port, PROTOCOLS.get(own.security_protocol))
            for own in record.end_points
        )
        self.directories[broker] = tuple(map(uuid_text, record.log_dirs))
        for feature in record.features:
            if feature.name == METADATA_VERSION:
                self.highest_levels[broker] = feature.max_supported_version

    def change_broker(self, record: wire.BrokerRegistrationChangeRecord) -> None:
        if record.log_dirs:
            self.directories[record.broker_id] = tuple(map(uuid_text, record.log_dirs))

    def register_controller(self, record: wire.RegisterControllerRecord) -> None:
        self.controllers.update(_first_endpoint(record.controller_id, record.end_points))

    def unregister_controller(self, record: wire.UnregisterControllerRecord) -> None:
        self.controllers.pop(record.controller_id, None)

    def configure(self, record: wire.ConfigRecord) -> None:
        if record.resource_type != _GROUP_RESOURCE:
            return
        values = self.group_configs.setdefault(record.resource_name, {})
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value

    def allow(self, record: wire.AccessControlEntryRecord) -> None:
        self.acls[record.id] = Acl(
            resource_type=record.resource_type,
            resource_name=record.resource_name,
            pattern_type=record.pattern_type,
            principal=record.principal,
            host=record.host,
            operation=record.operation,
            permission=record.permission_type,
        )

    def remove_acl(self, record: wire.RemoveAccessControlEntryRecord) -> None:
        self.acls.pop(record.id, None)

    def set_credential(self, record: wire.UserScramCredentialRecord) -> None:
        mechanism = BY_NUMBER.get(record.mechanism)
        if mechanism is not None:
            self.users.setdefault(record.name, {})[mechanism] = record.iterations

    def remove_credential(self, record: wire.RemoveUserScramCredentialRecord) -> None:
        self.users.get(record.name, {}).pop(BY_NUMBER.get(record.mechanism, ""), None)

    def limit(self, record: wire.ClientQuotaRecord) -> None:
        entity = entity_of((part.entity_type, part.entity_name) for part in record.entity)
        values = self.quotas.setdefault(entity, {})
        if record.remove:
            values.pop(record.key, None)
        elif isfinite(record.value):
            values[record.key] = record.value

    def lead(self, record: LeaderChangeMessage) -> None:
        self.leader = record.leader_id
        self.voters = {
            voter.voter_id: _directory(voter.voter_directory_id) for voter in record.voters
        }

    def vote(self, record: VotersRecord) -> None:
        self.voters = {
            voter.voter_id: _directory(voter.voter_directory_id) for voter in record.voters
        }
        for voter in record.voters:
            self.controllers.update(_first_endpoint(voter.voter_id, voter.endpoints))

    def use_kraft_version(self, record: KRaftVersionRecord) -> None:
        self.kraft_version = record.k_raft_version


_COLLECTORS: Final[dict[type[Message], Callable[[_Extra, Any], None]]] = {
    wire.PartitionRecord: _Extra.assign,
    wire.PartitionChangeRecord: _Extra.assign,
    wire.RegisterBrokerRecord: _Extra.register_broker,
    wire.BrokerRegistrationChangeRecord: _Extra.change_broker,
    wire.RegisterControllerRecord: _Extra.register_controller,
    wire.UnregisterControllerRecord: _Extra.unregister_controller,
    wire.ConfigRecord: _Extra.configure,
    wire.AccessControlEntryRecord: _Extra.allow,
    wire.RemoveAccessControlEntryRecord: _Extra.remove_acl,
    wire.UserScramCredentialRecord: _Extra.set_credential,
    wire.RemoveUserScramCredentialRecord: _Extra.remove_credential,
    wire.ClientQuotaRecord: _Extra.limit,
    LeaderChangeMessage: _Extra.lead,
    VotersRecord: _Extra.vote,
    KRaftVersionRecord: _Extra.use_kraft_version,
}


class _QuorumState(Struct, rename="camel"):
    leader_id: int = -1
    leader_epoch: int = 0
    current_voters: list[dict[str, int | str]] | None = None


def _read_quorum_state(path: Path, metadata: Metadata) -> None:
    """The file ``quorum-state``: it names the leader of the epoch, also without a record of it."""
    try:
        with open_content(path, path.name) as content:
            data = content.read(_QUORUM_STATE_BYTES_MAX)
        state = decode_json(data, _QuorumState)
    except (SourceError, FormatError, DecodingError):
        return  # the log alone suffices
    extra = metadata.extra
    if state.leader_id >= 0 and state.leader_epoch >= metadata.image.epoch:
        extra.leader, extra.epoch = state.leader_id, state.leader_epoch
    if extra.voters is None and state.current_voters:
        extra.voters = {int(voter["voterId"]): None for voter in state.current_voters}


# ---- the image


def _image(metadata: MetadataImage, extra: _Extra) -> tuple[ClusterImage, list[str]]:
    release, notes = _release(metadata, extra)
    configs = metadata.configs
    features = dict(metadata.features)
    if extra.kraft_version:
        features[KRAFT_VERSION] = extra.kraft_version
    has_elr = is_elr_supported(metadata.metadata_version)
    image = ClusterImage(
        release=release,
        mode="kraft",
        quorum=_quorum(metadata, extra),
        features=features,
        configs=configs.get(config_key(BROKER_RESOURCE, ""), {}),
        next_producer_id=metadata.next_producer_id,
        acls=entries_of(extra.acls.values()),
        users=tuple(ScramUser(name, kinds) for name, kinds in extra.users.items() if kinds),
        quotas=tuple(
            ClientQuota(*entity, values) for entity, values in extra.quotas.items() if values
        ),
        brokers=tuple(
            Broker(
                broker.id,
                rack=broker.rack or "",
                up=not broker.fenced,
                fenced=broker.fenced,
                in_controlled_shutdown=broker.in_controlled_shutdown,
                epoch=broker.epoch,
                incarnation_id=broker.incarnation_id,
                **_addresses(extra.listeners.get(broker.id)),
                directories=extra.directories.get(broker.id) or None,
                configs=configs.get(config_key(BROKER_RESOURCE, str(broker.id)), {}),
            )
            for broker in metadata.brokers.values()
        ),
        topics=tuple(
            Topic(
                topic.name,
                id=topic.id,
                configs=configs.get(config_key(TOPIC_RESOURCE, topic.name), {}),
                partitions=tuple(_partitions(topic, has_elr=has_elr)),
            )
            for topic in metadata.topics.values()
        ),
        groups=tuple(
            Group(name, configs=values) for name, values in extra.group_configs.items() if values
        ),
    )
    return _with_directories(image, extra), notes


def _partitions(topic: TopicImage, *, has_elr: bool) -> Iterator[Partition]:
    for number, partition in topic.partitions.items():
        yield _partition(number, partition, has_elr=has_elr)


def _partition(number: int, partition: PartitionRegistration, *, has_elr: bool) -> Partition:
    return Partition(
        number,
        replicas=partition.replicas,
        leader=partition.leader,
        isr=partition.isr,
        elr=partition.elr if has_elr else None,
        last_known_elr=partition.last_known_elr if has_elr else None,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        recovering=bool(partition.leader_recovery_state),
        adding=partition.adding_replicas,
        removing=partition.removing_replicas,
    )


def _with_directories(image: ClusterImage, extra: _Extra) -> ClusterImage:
    if not extra.assigned:
        return image
    assigned = {
        (uuid_text(topic), number): directories
        for (topic, number), directories in extra.assigned.items()
    }
    topics = []
    for topic in image.topics:
        partitions = (
            _with_ids(partition, assigned.get((topic.id or "", partition.partition)))
            for partition in topic.partitions
        )
        topics.append(replace(topic, partitions=tuple(partitions)))
    return replace(image, topics=tuple(topics))


def _with_ids(partition: Partition, ids: tuple[bytes, ...] | None) -> Partition:
    if ids is None or len(ids) != len(partition.replicas):
        return partition
    return replace(partition, directories=tuple(map(uuid_text, ids)))


def _quorum(metadata: MetadataImage, extra: _Extra) -> Quorum:
    voters = extra.voters or {}
    incarnations = metadata.controllers
    ids = sorted({*voters, *extra.controllers})
    return Quorum(
        leader=extra.leader,
        epoch=metadata.epoch if extra.epoch is None else extra.epoch,
        offset=metadata.offset,
        controllers=tuple(
            Controller(
                node,
                voter=node in voters if extra.voters is not None else None,
                directory_id=voters.get(node),
                incarnation_id=incarnations.get(node),
                host=extra.controllers.get(node, (None, None))[0],
                port=extra.controllers.get(node, (None, None))[1],
            )
            for node in ids
        ),
    )


def _release(metadata: MetadataImage, extra: _Extra) -> tuple[str | None, list[str]]:
    """The release of the brokers' software, from the highest level that they support."""
    levels = {
        extra.highest_levels[broker]
        for broker in metadata.brokers
        if broker in extra.highest_levels
    }
    if not levels:
        return None, []
    notes = []
    lowest = min(levels)
    if len(levels) > 1:
        notes.append("its brokers are of different releases: the oldest of them is assumed")
    if lowest > len(LEVELS):
        notes.append(f"its brokers are newer than {name_of(len(LEVELS))}, the newest that is known")
        lowest = len(LEVELS)
    return name_of(lowest).split("-")[0], notes


# ---- little things


def _time_of(time_ms: int) -> str:
    return time_text(time_ms * US_PER_MS)


def _addresses(listeners: tuple[Listener, ...] | None) -> dict[str, Any]:
    """A broker's listeners, and the first of them."""
    if not listeners:
        return {}
    return {"host": listeners[0].host, "port": listeners[0].port, "listeners": listeners}


def _first_endpoint(
    node: int, endpoints: Iterable[wire.ControllerEndpoint | VoterEndpoint]
) -> dict[int, tuple[str, int]]:
    for endpoint in endpoints:
        return {node: (endpoint.host, endpoint.port)}
    return {}


def _directory(uuid: bytes) -> str | None:
    return None if uuid == NO_UUID else uuid_text(uuid)


def _in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def _offset(path: Path) -> int:
    return int(path.name[:20])
