"""Fetches of external consumers: the exact bytes that producers sent, or their equivalent."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from emulator import events, protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.encoded_records import EncodedRecords
from emulator.clients.external.ids import named_once, split_tp, tp_of
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.common.names import UNRESOLVED
from emulator.protocol import (
    AnyMessage,
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
)
from emulator.protocol.fetch import DEBUGGING, LISTED_SINCE
from emulator.releases.profiles import Profile
from emulator.wire.exceptions import UnsupportedCompression, WireError
from emulator.wire.messages import fetch as wire
from emulator.wire.messages import offsets
from emulator.wire.types import NO_UUID, Message

US_PER_MS: Final = 1_000
UNKNOWN_ID: Final = ERRORS["UNKNOWN_TOPIC_ID"].code
RACK_SINCE: Final = 11
TOPIC_IDS_SINCE: Final = 13
"""The first Fetch version that names topics by id (KIP-516)."""
READ_COMMITTED: Final = 1
TOO_NEW: Final = ERRORS["UNSUPPORTED_COMPRESSION_TYPE"].code
CORRUPT: Final = ERRORS["CORRUPT_MESSAGE"].code


class Fetch:
    """Fetch, with the session that the broker may grant (KIP-227)."""

    def __init__(
        self, context: ClientContext, encoded: EncodedRecords, known_ids: TopicIds
    ) -> None:
        self.context = context
        self.kernel = context.kernel
        self.encoded = encoded
        self.known_ids = known_ids
        self.always_tells_stable = context.profile.has("fetch_tells_last_stable_offset")

    def ask(self, call: Call[wire.FetchRequest]) -> list[AnyMessage]:
        request = call.message
        partitions = {
            tp_of(name, partition.partition): FetchPartition(
                partition.fetch_offset,
                partition.current_leader_epoch,
                partition.last_fetched_epoch,
                partition.partition_max_bytes,
            )
            for topic in request.topics
            for name in (self._name(topic),)
            for partition in topic.partitions
        }
        fetched_ids = {topic.topic_id for topic in request.topics}
        forgotten = [
            tp
            for topic in request.forgotten_topics_data
            for tp in (tp_of(self._name(topic), number) for number in topic.partitions)
            # a topic that was created anew is forgotten by its old id, and fetched by the new
            if tp not in partitions or topic.topic_id in fetched_ids
        ]
        return [
            FetchRequest(
                -1,
                max(0, request.max_wait_ms) * US_PER_MS,
                partitions,
                forgotten,
                rack=request.rack_id if call.header.api_version >= RACK_SINCE else None,
                min_bytes=request.min_bytes,
                max_bytes=request.max_bytes,
                read_committed=request.isolation_level == READ_COMMITTED,
                session_id=request.session_id,
                session_epoch=request.session_epoch,
                uses_topic_ids=call.header.api_version >= TOPIC_IDS_SINCE,
            )
        ]

    def _name(self, topic: wire.FetchTopic | wire.ForgottenTopic) -> str:
        """The topic's name, or what stands for an id that no topic has."""
        if topic.topic_id == NO_UUID:
            return topic.topic
        return self.known_ids.name(topic.topic_id) or f"{UNRESOLVED}{topic.topic_id.hex()}"

    def respond(self, call: AnyCall, *responses: FetchResponse) -> Message:
        """Return the records of each partition, neighbours of one topic together."""
        (response,) = responses
        topics = [
            self._topic(name, [self._partition(tp, row, call) for tp, row in rows], call)
            for name, rows in groupby(
                response.partitions.items(), lambda item: split_tp(item[0])[0]
            )
        ]
        for tp, row in response.partitions.items():
            self._note_given(call, tp, row)
        code = ERRORS[response.error].code
        return wire.FetchResponse(error_code=code, session_id=response.session_id, responses=topics)

    def _topic(
        self, name: str, rows: list[wire.PartitionData], call: AnyCall
    ) -> wire.FetchableTopicResponse:
        if call.header.api_version < TOPIC_IDS_SINCE:
            return wire.FetchableTopicResponse(name, partitions=rows)
        if name.startswith(UNRESOLVED):
            topic_id = bytes.fromhex(name.removeprefix(UNRESOLVED))
        else:
            topic_id = self.known_ids.id(name)
        return wire.FetchableTopicResponse(topic_id=topic_id, partitions=rows)

    def _partition(self, tp: str, row: FetchedPartition, call: AnyCall) -> wire.PartitionData:
        name, number = split_tp(tp)
        if name.startswith(UNRESOLVED):
            return wire.PartitionData(number, UNKNOWN_ID, -1)
        try:
            records = self.encoded.of(row.batches, call.header.api_version)
        except UnsupportedCompression:
            return wire.PartitionData(number, TOO_NEW, -1)
        except WireError:  # invalid compressed data from a client that needs down-conversion
            return wire.PartitionData(number, CORRUPT, -1)
        diverging = wire.EpochEndOffset()
        if row.diverging is not None:
            diverging = wire.EpochEndOffset(*row.diverging)
        return wire.PartitionData(
            number,
            ERRORS[row.error].code,
            row.high_watermark,
            row.last_stable_offset if self._tells_last_stable_offset(call) else -1,
            row.log_start,
            diverging,
            aborted_transactions=_aborted(row),
            preferred_read_replica=row.preferred_read_replica,
            records=records,
        )

    def _tells_last_stable_offset(self, call: Call[wire.FetchRequest]) -> bool:
        return self.always_tells_stable or call.message.isolation_level == READ_COMMITTED

    def _note_given(self, call: AnyCall, tp: str, row: FetchedPartition) -> None:
        """Note records returned to a consumer for the audit, whether or not it uses them."""
        if row.error == NONE and row.batches:
            given = _from(row.batches, row.fetch_offset)
            if not given:
                return
            first = max(row.fetch_offset, _first_offset(row.batches))
            fields = (call.client, tp, first, given, row.batches[-1].end_offset)
            self.kernel.emit(events.RecordsConsumed, *fields)


def _aborted(row: FetchedPartition) -> list[wire.AbortedTransaction] | None:
    if row.aborted is None:
        return None
    return [wire.AbortedTransaction(*transaction) for transaction in row.aborted]


def _from(batches: Iterable[protocol.RecordBatch], offset: int) -> list[tuple[int, int]]:
    """Runs of (first record id, count) from an offset on, possibly within the first batch."""
    runs = []
    for batch in batches:
        if batch.is_empty:
            continue
        skipped = max(0, offset - batch.base_offset)
        runs.append((batch.first_record + skipped, batch.count - skipped))
    return runs


def _first_offset(batches: Iterable[protocol.RecordBatch]) -> int:
    return next((batch.base_offset for batch in batches if not batch.is_empty), 0)


class ListOffsets(Struct, eq=False):
    """ListOffsets: one request for each partition."""

    profile: Profile

    def ask(self, call: Call[offsets.ListOffsetsRequest]) -> list[AnyMessage]:
        request, version = call.message, call.header.api_version
        times = Counter(
            tp_of(topic.name, partition.partition_index)
            for topic in request.topics
            for partition in topic.partitions
        )
        asked = [
            protocol.ListOffsetsRequest(
                DEBUGGING if request.replica_id == DEBUGGING else -1,
                tp_of(topic.name, partition.partition_index),
                partition.current_leader_epoch,
                partition.timestamp,
                by_wall_clock=True,
                read_committed=request.isolation_level == READ_COMMITTED,
            )
            for topic in self._topics(request)
            for partition in topic.partitions
        ]
        refused = (self._refusal(row, version, times[row.tp]) for row in asked)
        return [
            row if error == NONE else protocol.ListOffsetsResponse(0, row.tp, error, -1, -1)
            for row, error in zip(asked, refused, strict=True)
        ]

    def _topics(self, request: offsets.ListOffsetsRequest) -> Sequence[offsets.ListOffsetsTopic]:
        """The topics of a request, each partition as often as it is answered."""
        if self.profile.has("listed_offsets_by_row"):
            return request.topics
        return named_once(request.topics, "name", "partition_index")

    def _refusal(self, asked: protocol.ListOffsetsRequest, version: int, times: int) -> str:
        """Return the error of a partition that need not be looked at.

        Source: ``KafkaApis.handleListOffsetRequestV1AndAbove``.
        """
        if version == 0:
            return NONE
        if times > 1:
            return "INVALID_REQUEST"
        is_special = asked.timestamp_ms < 0 and self.profile.has("listed_timestamps_need_version")
        if is_special and version < LISTED_SINCE.get(asked.timestamp_ms, version + 1):
            return "UNSUPPORTED_VERSION"
        return NONE

    def respond(
        self, call: Call[offsets.ListOffsetsRequest], *responses: protocol.ListOffsetsResponse
    ) -> Message:
        remaining = iter(responses)
        topics = []
        for topic in self._topics(call.message):
            rows = []
            for partition in topic.partitions:
                response = next(remaining)
                rows.append(
                    offsets.ListOffsetsPartitionResponse(
                        partition.partition_index,
                        ERRORS[response.error].code,
                        _old_style(response, partition.timestamp, partition.max_num_offsets),
                        response.timestamp_ms,
                        response.offset,
                        response.leader_epoch if response.offset >= 0 else -1,
                    )
                )
            topics.append(offsets.ListOffsetsTopicResponse(topic.name, rows))
        return offsets.ListOffsetsResponse(topics=topics)


def _old_style(response: protocol.ListOffsetsResponse, timestamp: int, limit: int) -> list[int]:
    """Offsets as version 0 returns them, newest first: log end and segment base offsets."""
    if response.error != NONE or response.offset < 0:
        return []
    first = response.log_start
    both = (
        [response.offset, first]
        if timestamp == LATEST and response.offset > first
        else [response.offset]
    )
    return both[: max(0, limit)]


LATEST: Final = -1


class OffsetForLeaderEpoch(Struct, eq=False):
    """OffsetForLeaderEpoch: end offsets of leader epochs (KIP-101, KIP-320)."""

    profile: Profile

    def ask(self, call: Call[offsets.OffsetForLeaderEpochRequest]) -> list[AnyMessage]:
        """Ask about all partitions at once, and again about those that are named again."""
        asked: list[dict[str, tuple[int, int]]] = [{}]
        for at, tp, row in self._rows(call.message):
            if at == len(asked):
                asked.append({})
            asked[at][tp] = (row.current_leader_epoch, row.leader_epoch)
        return [protocol.OffsetsForLeaderEpochRequest(-1, them, one_shot=True) for them in asked]

    def _topics(
        self, request: offsets.OffsetForLeaderEpochRequest
    ) -> Sequence[offsets.OffsetForLeaderTopic]:
        if self.profile.has("epoch_ends_by_row"):
            return request.topics
        return named_once(request.topics, "topic", "partition")

    def _rows(
        self, request: offsets.OffsetForLeaderEpochRequest
    ) -> Iterator[tuple[int, str, offsets.OffsetForLeaderPartition]]:
        """How often each partition was named before, its name, and what is asked about it."""
        times: Counter[str] = Counter()
        for topic in self._topics(request):
            for partition in topic.partitions:
                tp = tp_of(topic.topic, partition.partition)
                yield times[tp], tp, partition
                times[tp] += 1

    def respond(
        self,
        call: Call[offsets.OffsetForLeaderEpochRequest],
        *responses: protocol.OffsetsForLeaderEpochResponse,
    ) -> Message:
        rows = self._rows(call.message)
        topics = []
        for topic in self._topics(call.message):
            ends = []
            for partition in topic.partitions:
                at, tp, _ = next(rows)
                error, epoch, end = responses[at].partitions[tp]
                ends.append(
                    offsets.EpochEndOffset(ERRORS[error].code, partition.partition, epoch, end)
                )
            topics.append(offsets.OffsetForLeaderTopicResult(topic.topic, ends))
        return offsets.OffsetForLeaderEpochResponse(topics=topics)
