"""Keyframes: periodic copies of the read model, as deltas to the previous keyframe.

A full keyframe has no base. Others are based on the previous one, so that an idle cluster costs
nothing, whatever its size, and each run of a log is written about once. Batches of records are not
included; they are in the chunks.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Final

import msgspec

from emulator.simulation.packed_list import same_start
from sessions.decoding import STRUCT_BYTES, DecodingError, decode_msgpack, memory_of_msgpack
from sessions.format import codec, limits
from sessions.model.changes import Changes
from sessions.model.cluster_view import ClusterView
from sessions.model.folding import Snapshot
from sessions.model.handlers.quorum import ELECTION, elected
from sessions.model.long_metadata_log import LongMetadataLog, Piece, plain_list
from sessions.model.states import Batch, Batches, PartitionState, QuorumState, ViewState


class Keyframe(msgspec.Struct, array_like=True):
    """The state after event ``seq``, as a delta to the keyframe ``base_seq`` (0: none).

    ``state`` contains only the partitions, znodes, producers, consumers and groups that changed.
    ``kept`` is the number of runs that the log of a replica (``orders-0@2``) still has of its
    earlier ones; ``log`` in ``state`` has those that follow. ``gone_partitions`` and
    ``gone_znodes`` were deleted. ``kept_records`` is the number of records that the metadata log
    still has of its earlier ones; the log in ``state`` has those that follow. Of a long log it has
    none: ``pieces`` say in which events its records are, from those that the base knows on.
    """

    base_seq: int
    state: ViewState
    kept: list[tuple[str, int, int]]
    gone_partitions: list[str]
    gone_znodes: list[str]
    kept_records: int = 0
    pieces: list[Piece] = []

    @property
    def seq(self) -> int:
        """The number of the last event that it includes."""
        return self.state.seq


class Beginning(msgspec.Struct, frozen=True):
    """The start of a recording whose beginning was dropped: a state and earlier batches."""

    snapshot: Snapshot
    batches: list[Batch]


EMPTY: Final = ClusterView().snapshot()
"""The empty state, on which the first keyframe is based."""


def take(view: ClusterView, base: Snapshot, snapshot: Snapshot) -> Keyframe:
    """Return the keyframe for ``snapshot``, just taken of ``view``, as a delta to ``base``."""
    old, new = base.state, snapshot.state
    since = base.seq
    state = copy(new)
    frame = Keyframe(since, state, [], [], [])
    touched, frame.gone_partitions = _differences(
        view.partition_changes, old.partitions, new.partitions, since
    )
    state.partitions = {
        tp: _short(new.partitions[tp], old.partitions.get(tp), frame.kept)
        for tp in touched
        if new.partitions[tp].changed > since
    }
    touched, frame.gone_znodes = _differences(view.znode_changes, old.znodes, new.znodes, since)
    state.znodes = {path: new.znodes[path] for path in touched if new.znodes[path].changed > since}
    state.producers = {k: v for k, v in new.producers.items() if v.changed > since}
    state.consumers = {k: v for k, v in new.consumers.items() if v.changed > since}
    state.groups = {k: v for k, v in new.groups.items() if v.changed > since}
    state.batches = []
    _take_log(frame, old.quorum)
    return frame


def _take_log(frame: Keyframe, base: QuorumState | None) -> None:
    """Leave out the records of the metadata log that the base has: it only grows."""
    quorum = frame.state.quorum
    if quorum is not None and (pieces := _pieces_of(quorum)):
        base_pieces = len(_pieces_of(base)) if base is not None else 0
        frame.pieces, frame.kept_records = pieces[base_pieces:], len(quorum.log)
        frame.state.quorum = copy(quorum)
        frame.state.quorum.log = []
        return
    if quorum is None or base is None or not base.log or len(quorum.log) < len(base.log):
        return
    base_count = len(base.log)
    if quorum.log[base_count - 1] == base.log[-1]:
        frame.kept_records = base_count
        frame.state.quorum = copy(quorum)
        frame.state.quorum.log = quorum.log[base_count:]


def _pieces_of(quorum: QuorumState) -> list[Piece]:
    """Where the records of a log are in the recording; empty: it has them itself."""
    log = quorum.log
    if isinstance(log, LongMetadataLog) and log.pieces and log.pieces[-1][1] == len(log):
        return log.pieces
    return []


def _differences(
    changes: Changes, before: Mapping[str, object], now: Mapping[str, object], since: int
) -> tuple[list[str], list[str]]:
    """Return the keys that may have changed, and those deleted, since the state ``before``."""
    noted = changes.since(since)
    keys = [*before, *(key for key in now if key not in before)] if noted is None else noted
    return [key for key in keys if key in now], [
        key for key in keys if key in before and key not in now
    ]


def _short(
    partition: PartitionState, base: PartitionState | None, shared_runs: list[tuple[str, int, int]]
) -> PartitionState:
    """Return the partition with only those runs of its logs that ``base`` does not have."""
    short = copy(partition)
    replicas = short.replica_states = dict(partition.replica_states)
    for broker, replica in partition.replica_states.items():
        before = None if base is None else base.replica_states.get(broker)
        if before is None or not before.log:
            continue
        shared = same_start(before.log, replica.log)
        if shared:
            rest = replicas[broker] = copy(replica)
            rest.log = replica.log[shared:]
            shared_runs.append((partition.name, broker, shared))
    return short


def rebuild(base: Snapshot, frames: Iterable[Keyframe]) -> ClusterView:
    """Rebuild the view of the last of ``frames``, each based on the previous, starting at ``base``.

    The view takes ownership of the frames' objects: a frame can be used only once.
    """
    view = ClusterView.of(base)
    touched: set[str] = set()
    for frame in frames:
        _lay_on(view, frame)
        touched.update(frame.state.partitions)
    view.release_changed()
    view.believers_changed()
    view.count_brokers()  # whether a partition is leaderless depends on which brokers serve
    for tp in touched & view.partitions.keys():
        view.take_over(tp)
    view.start_noting()
    return view


def _lay_on(view: ClusterView, frame: Keyframe) -> None:
    """Apply ``frame`` to a view's state, which must be at the keyframe that it is based on."""
    old, new = view.state, frame.state
    _join_logs(view, frame)
    _join_metadata_logs(old.quorum, frame)
    for name in _WHOLE:
        setattr(old, name, getattr(new, name))
    for tp in frame.gone_partitions:
        view.remove_partition(tp)
    old.partitions.update(new.partitions)
    for path in frame.gone_znodes:
        old.znodes.pop(path, None)
    old.znodes.update(new.znodes)
    old.producers.update(new.producers)
    old.consumers.update(new.consumers)
    old.groups.update(new.groups)
    old.batches = Batches()


def _join_logs(view: ClusterView, frame: Keyframe) -> None:
    """Append the frame's runs to the kept ones; a snapshot's log is copied first."""
    before, now, frozen = view.state.partitions, frame.state.partitions, view.frozen
    for tp, broker, runs in frame.kept:
        old = before[tp].replica_states[broker]
        new = now[tp].replica_states[broker]
        log = old.log[:runs] if old.changed <= frozen else old.log
        del log[runs:]
        log += new.log
        new.log = log


def _join_metadata_logs(old: QuorumState | None, frame: Keyframe) -> None:
    """Append the frame's records to the kept ones, which a snapshot may share."""
    new, kept_records = frame.state.quorum, frame.kept_records
    if new is None:
        return
    if frame.pieces:
        before = _pieces_of(old) if old is not None and frame.base_seq else []
        new.log = LongMetadataLog.stored([*before, *frame.pieces])
        return
    if not new.led:  # older programs did not note who led
        led = {elected(record.data): record.epoch for record in new.log if record.kind == ELECTION}
        new.led = led if old is None else old.led | led
    if old is None or not kept_records:
        return
    log = old.log.copy() if isinstance(old.log, LongMetadataLog) else old.log[:kept_records]
    log.extend(new.log)
    new.log = log


_BY_OBJECT: Final = {"partitions", "znodes", "producers", "consumers", "groups", "batches"}
_WHOLE: Final = tuple(name for name in ViewState.__struct_fields__ if name not in _BY_OBJECT)
"""The parts of a state that every keyframe contains in full."""

_ENCODE: Final = msgspec.msgpack.Encoder(enc_hook=plain_list).encode
_KEYFRAMES: Final = msgspec.msgpack.Decoder(Keyframe)


def encode(frame: Keyframe) -> bytes:
    """Encode a keyframe as compressed bytes."""
    return codec.compress(_ENCODE(frame))


WALKED_MAX: Final = 4
"""How many times too large a keyframe may seem for its strings to be found and counted."""


class Room:
    """The memory that keyframes based on each other may take together."""

    def __init__(self, memory_max: int = limits.KEYFRAME_MEMORY_MAX) -> None:
        self.left = memory_max


def room_of_beginning(data: bytes) -> Room:
    """Return the room of a keyframe at which a file begins."""
    needed = min(limits.BEGINNING_MEMORY_MAX, len(data) * limits.BEGINNING_EXPANSION_MAX)
    return Room(max(limits.KEYFRAME_MEMORY_MAX, needed))


def decode(data: bytes, room: Room | None = None) -> Keyframe:
    """Decode a keyframe; ``room`` is that of the keyframes on which it is based.

    Raises:
        sessions.format.codec.BlockError: the bytes are not a valid keyframe, or there is no room.
    """
    raw = codec.decompress(data)
    room = Room() if room is None else room
    memory = memory_of_msgpack(raw, STRUCT_BYTES)
    if room.left < memory <= WALKED_MAX * room.left:
        memory = memory_of_msgpack(raw, STRUCT_BYTES, room.left)
    try:
        frame = decode_msgpack(raw, _KEYFRAMES, memory, room.left)
    except DecodingError as error:
        raise codec.BlockError(str(error)) from error
    _require_places(frame)
    room.left -= memory
    return frame


def _require_places(frame: Keyframe) -> None:
    """Refuse pieces of a log that no recording has: each record is an event of its own."""
    seq = count = 0
    for last, total in frame.pieces:
        if not seq < last <= frame.seq or not count < total <= last:
            raise codec.BlockError("its metadata log is in no order")
        seq, count = last, total
