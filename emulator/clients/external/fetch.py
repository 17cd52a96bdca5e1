"""Fetches of external consumers: the exact bytes that producers sent, or their equivalent."""

from collections.abc import Iterable, Sequence
from typing import Final

from emulator import events, protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.call import Call
from emulator.clients.external.encoded_records import EncodedRecords
from emulator.clients.external.metadata import TopicIds
from emulator.protocol import (
    AnyMessage,
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
)
from emulator.protocol.errors import ERRORS, NONE
from emulator.wire.exceptions import UnsupportedCompression, WireError
from emulator.wire.messages import fetch as wire
from emulator.wire.messages import offsets
from emulator.wire.types import Message

US_PER_MS: Final = 1_000
UNKNOWN_ID: Final = FetchedPartition("UNKNOWN_TOPIC_ID", -1, -1, [])
NO_SESSION: Final = 0
FINAL_EPOCH: Final = -1
"""The session epoch of a fetch without a session (KIP-227)."""
READ_COMMITTED: Final = 1
TOO_NEW: Final = ERRORS["UNSUPPORTED_COMPRESSION_TYPE"].code
CORRUPT: Final = ERRORS["CORRUPT_MESSAGE"].code


class Fetch:
    """Fetch without a fetch session, as a broker responds when its session cache is full."""

    def __init__(
        self, context: ClientContext, encoded: EncodedRecords, known_ids: TopicIds
    ) -> None:
        """Encode records with ``encoded``."""
        self.context = context
        self.kernel = context.kernel
        self.encoded = encoded
        self.known_ids = known_ids
        self.always_tells_stable = context.profile.has("fetch_tells_last_stable_offset")

    def ask(self, call: Call) -> list[AnyMessage]:
        """Fetch all partitions in one request."""
        request = call.message
        assert isinstance(request, wire.FetchRequest)
        if request.session_id != NO_SESSION and request.session_epoch != FINAL_EPOCH:
            return []
        partitions = {
            f"{self._name(topic)}-{each.partition}": FetchPartition(
                each.fetch_offset,
                each.current_leader_epoch,
                each.last_fetched_epoch,
                each.partition_max_bytes,
            )
            for topic in request.topics
            for each in topic.partitions
            if self._name(topic)
        }
        return [
            FetchRequest(
                -1,
                max(0, request.max_wait_ms) * US_PER_MS,
                partitions,
                rack=request.rack_id,
                min_bytes=request.min_bytes,
                max_bytes=request.max_bytes,
                read_committed=request.isolation_level == READ_COMMITTED,
            )
        ]

    def _name(self, topic: wire.FetchTopic) -> str:
        return topic.topic or self.known_ids.name(topic.topic_id) or ""

    def answer(self, call: Call, answers: Sequence[AnyMessage]) -> Message:
        """Return the records of each partition, in the order of the request."""
        request = call.message
        assert isinstance(request, wire.FetchRequest)
        if not answers:
            return wire.FetchResponse(error_code=ERRORS["FETCH_SESSION_ID_NOT_FOUND"].code)
        (found,) = answers
        assert isinstance(found, FetchResponse)
        responses = []
        for topic in request.topics:
            name = self._name(topic)
            rows = []
            for each in topic.partitions:
                tp = f"{name}-{each.partition}"
                row = found.partitions[tp] if name else UNKNOWN_ID
                rows.append(self._partition(each, row, call))
                self._note_given(call, tp, each.fetch_offset, row)
            responses.append(wire.FetchableTopicResponse(topic.topic, topic.topic_id, rows))
        return wire.FetchResponse(responses=responses)

    def _partition(
        self, asked: wire.FetchPartition, row: FetchedPartition, call: Call
    ) -> wire.PartitionData:
        try:
            records = self.encoded.of(row.batches, call.header.api_version)
        except UnsupportedCompression:
            return wire.PartitionData(asked.partition, TOO_NEW, -1)
        except WireError:  # invalid compressed data from a client that needs down-conversion
            return wire.PartitionData(asked.partition, CORRUPT, -1)
        diverging = wire.EpochEndOffset()
        if row.diverging is not None:
            diverging = wire.EpochEndOffset(*row.diverging)
        return wire.PartitionData(
            asked.partition,
            ERRORS[row.error].code,
            row.high_watermark,
            row.last_stable_offset if self._tells_last_stable_offset(call) else -1,
            row.log_start,
            diverging,
            aborted_transactions=_aborted(row),
            preferred_read_replica=row.preferred_read_replica,
            records=records,
        )

    def _tells_last_stable_offset(self, call: Call) -> bool:
        request = call.message
        assert isinstance(request, wire.FetchRequest)
        return self.always_tells_stable or request.isolation_level == READ_COMMITTED

    def _note_given(self, call: Call, tp: str, offset: int, row: FetchedPartition) -> None:
        """Note records returned to a consumer for the audit, whether or not it uses them."""
        if row.error == NONE and row.batches:
            given = _from(row.batches, offset)
            end = row.batches[-1].end_offset
            self.kernel.emit(events.RecordsConsumed, call.client, tp, offset, given, end)


def _aborted(row: FetchedPartition) -> list[wire.AbortedTransaction] | None:
    if row.aborted is None:
        return None
    return [wire.AbortedTransaction(*each) for each in row.aborted]


def _from(batches: Iterable[protocol.RecordBatch], offset: int) -> list[tuple[int, int]]:
    """Runs of (first record id, count) from an offset on, possibly within the first batch."""
    runs = []
    for batch in batches:
        skipped = max(0, offset - batch.base_offset)
        runs.append((batch.first_record + skipped, batch.count - skipped))
    return runs


class ListOffsets:
    """ListOffsets: one request for each partition."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Request each partition's offset."""
        request = call.message
        assert isinstance(request, offsets.ListOffsetsRequest)
        return [
            protocol.ListOffsetsRequest(
                -1,
                f"{topic.name}-{each.partition_index}",
                each.current_leader_epoch,
                each.timestamp,
                by_wall_clock=True,
                read_committed=request.isolation_level == READ_COMMITTED,
            )
            for topic in request.topics
            for each in topic.partitions
        ]

    def answer(self, call: Call, answers: Sequence[AnyMessage]) -> Message:
        """Return each partition's offset."""
        request = call.message
        assert isinstance(request, offsets.ListOffsetsRequest)
        told = iter(answers)
        topics = []
        for topic in request.topics:
            rows = []
            for each in topic.partitions:
                found = next(told)
                assert isinstance(found, protocol.ListOffsetsResponse)
                rows.append(
                    offsets.ListOffsetsPartitionResponse(
                        each.partition_index,
                        ERRORS[found.error].code,
                        _old_style(found, each.timestamp, each.max_num_offsets),
                        found.timestamp_ms,
                        found.offset,
                        found.leader_epoch if found.offset >= 0 else -1,
                    )
                )
            topics.append(offsets.ListOffsetsTopicResponse(topic.name, rows))
        return offsets.ListOffsetsResponse(topics=topics)


def _old_style(found: protocol.ListOffsetsResponse, timestamp: int, limit: int) -> list[int]:
    """Offsets as version 0 returns them, newest first: log end and segment base offsets."""
    if found.error != NONE or found.offset < 0:
        return []
    first = found.log_start
    both = [found.offset, first] if timestamp == LATEST and found.offset > first else [found.offset]
    return both[: max(0, limit)]


LATEST: Final = -1


class OffsetForLeaderEpoch:
    """OffsetForLeaderEpoch: end offsets of leader epochs (KIP-101, KIP-320)."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Request all partitions at once."""
        request = call.message
        assert isinstance(request, offsets.OffsetForLeaderEpochRequest)
        partitions = {
            f"{topic.topic}-{each.partition}": (each.current_leader_epoch, each.leader_epoch)
            for topic in request.topics
            for each in topic.partitions
        }
        return [protocol.OffsetsForLeaderEpochRequest(-1, partitions, one_shot=True)]

    def answer(self, call: Call, answers: Sequence[AnyMessage]) -> Message:
        """Return each partition's epoch and end offset."""
        request = call.message
        assert isinstance(request, offsets.OffsetForLeaderEpochRequest)
        (found,) = answers
        assert isinstance(found, protocol.OffsetsForLeaderEpochResponse)
        topics = []
        for topic in request.topics:
            rows = []
            for each in topic.partitions:
                error, epoch, end = found.partitions[f"{topic.topic}-{each.partition}"]
                rows.append(offsets.EpochEndOffset(ERRORS[error].code, each.partition, epoch, end))
            topics.append(offsets.OffsetForLeaderTopicResult(topic.topic, rows))
        return offsets.OffsetForLeaderEpochResponse(topics=topics)
