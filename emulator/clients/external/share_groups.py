"""Requests of external clients about share groups (KIP-932)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from emulator import events, protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.consumer_groups import (
    HOST,
    Described,
    GroupDescribe,
    GroupHeartbeat,
    described_assignment,
    description_fields,
)
from emulator.clients.external.encoded_records import EncodedRecords
from emulator.clients.external.ids import by_topic, split_tp, tp_of
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS
from emulator.common.names import UNRESOLVED
from emulator.protocol import AnyMessage
from emulator.wire.messages import share_groups as wire
from emulator.wire.types import NO_UUID, Message

US_PER_MS: Final = 1_000
UNLIMITED: Final = 2**31 - 1
FETCH_VERSION: Final = 4
"""The first Fetch version with batches of the format that share fetches return."""


class ShareGroupHeartbeat(GroupHeartbeat):
    """ShareGroupHeartbeat."""

    response = wire.ShareGroupHeartbeatResponse

    def ask(self, call: Call[wire.ShareGroupHeartbeatRequest]) -> list[AnyMessage]:
        request = call.message
        return [
            protocol.ShareGroupHeartbeatRequest(
                request.group_id,
                request.member_id,
                request.member_epoch,
                request.rack_id,
                request.subscribed_topic_names,
                call.client,
                HOST,
            )
        ]


class ShareGroupDescribe(GroupDescribe):
    """ShareGroupDescribe."""

    request = protocol.ShareGroupDescribeRequest

    def described(self, groups: Sequence[Described]) -> Message:
        return wire.ShareGroupDescribeResponse(
            groups=[_group(name, group) for name, group in groups]
        )


def _group(name: str, group: protocol.ConsumerGroupDescription) -> wire.DescribedShareGroup:
    return wire.DescribedShareGroup(
        *description_fields(name, group),
        [
            wire.DescribedShareMember(
                member.id,
                member.rack_id or None,
                member.epoch,
                member.client,
                member.host,
                member.topics,
                described_assignment(member.assigned, group.names),
            )
            for member in group.members
        ],
    )


# ---- records


def _name(known_ids: TopicIds, topic_id: bytes) -> str:
    """A topic's name, or what stands for an id that no topic has."""
    return known_ids.name(topic_id) or f"{UNRESOLVED}{topic_id.hex()}"


def _id(known_ids: TopicIds, name: str) -> bytes:
    if name.startswith(UNRESOLVED):
        return bytes.fromhex(name.removeprefix(UNRESOLVED))
    return known_ids.id(name)


def _acknowledged(
    known_ids: TopicIds, topics: Iterable[wire.ShareFetchTopic | wire.ShareAcknowledgeTopic]
) -> dict[str, list[protocol.Acknowledgement]]:
    return {
        tp_of(_name(known_ids, topic.topic_id), row.partition_index): [
            protocol.Acknowledgement(batch.first_offset, batch.last_offset, batch.acknowledge_types)
            for batch in row.acknowledgement_batches
        ]
        for topic in topics
        for row in topic.partitions
    }


class ShareFetch:
    """ShareFetch: acquires records in the member's share session."""

    def __init__(
        self, context: ClientContext, encoded: EncodedRecords, known_ids: TopicIds
    ) -> None:
        self.kernel = context.kernel
        self.encoded = encoded
        self.known_ids = known_ids

    def ask(self, call: Call[wire.ShareFetchRequest]) -> list[AnyMessage]:
        """Send the acknowledgements, and fetch all partitions of the session."""
        request = call.message
        acknowledged = _acknowledged(self.known_ids, request.topics)
        forgotten = [
            tp_of(_name(self.known_ids, topic.topic_id), number)
            for topic in request.forgotten_topics_data
            for number in topic.partitions
        ]
        has_any = any(acknowledged.values())
        is_early_access = call.header.api_version == 0
        limits = {
            tp_of(_name(self.known_ids, topic.topic_id), row.partition_index): (
                row.partition_max_bytes
            )
            for topic in (request.topics if is_early_access else ())
            for row in topic.partitions
            if row.partition_max_bytes > 0  # 0: it is only acknowledged
        }
        return [
            protocol.ShareFetchRequest(
                request.group_id or "",
                request.member_id or "",
                request.share_session_epoch,
                max(0, request.max_wait_ms) * US_PER_MS,
                request.min_bytes,
                request.max_bytes,
                UNLIMITED if is_early_access else request.max_records,
                UNLIMITED if is_early_access else request.batch_size,
                list(limits if is_early_access else acknowledged),
                forgotten,
                acknowledged if has_any else {},
                request.share_acquire_mode == 1,
                request.is_renew_ack,
                call.client,
                call.header.api_version,
                str(call.number),
                limits,
            )
        ]

    def respond(self, call: AnyCall, *responses: protocol.ShareFetchResponse) -> Message:
        """Return the records of each partition, and which of them were acquired."""
        (response,) = responses
        topics: dict[bytes, list[wire.ShareFetchedPartition]] = {}
        for tp, row in response.partitions.items():
            name, number = split_tp(tp)
            topic = topics.setdefault(_id(self.known_ids, name), [])
            topic.append(
                wire.ShareFetchedPartition(
                    number,
                    ERRORS[row.error].code,
                    row.message or None,
                    ERRORS[row.acknowledge_error].code,
                    row.acknowledge_message or None,
                    wire.ShareLeader(row.leader, row.leader_epoch),
                    self.encoded.of(row.batches, FETCH_VERSION),
                    [wire.AcquiredRecords(*astuple(acquired)) for acquired in row.acquired],
                )
            )
            self._note_given(call, tp, row)
        return wire.ShareFetchResponse(
            error_code=ERRORS[response.error].code,
            error_message=response.message or None,
            acquisition_lock_timeout_ms=response.lock_ms,
            responses=[wire.ShareFetchedTopic(topic, rows) for topic, rows in topics.items()],
        )

    def _note_given(self, call: AnyCall, tp: str, row: protocol.SharedPartition) -> None:
        """Note records that a member acquired for the audit."""
        for acquired in row.acquired:
            runs = []
            for batch in row.batches:
                first = max(acquired.first, batch.base_offset)
                last = min(acquired.last, batch.end_offset - 1)
                if first <= last and not batch.is_empty and not batch.is_control:
                    runs.append((batch.first_record + first - batch.base_offset, last - first + 1))
            if runs:
                fields = (call.client, tp, acquired.first, runs, acquired.last + 1)
                self.kernel.emit(events.RecordsConsumed, *fields)


class ShareAcknowledge(Struct, eq=False):
    """ShareAcknowledge: completed when what it changes is stored."""

    known_ids: TopicIds

    def ask(self, call: Call[wire.ShareAcknowledgeRequest]) -> list[AnyMessage]:
        request = call.message
        return [
            protocol.ShareAcknowledgeRequest(
                request.group_id or "",
                request.member_id or "",
                request.share_session_epoch,
                _acknowledged(self.known_ids, request.topics),
                request.is_renew_ack,
                call.client,
                call.header.api_version,
                str(call.number),
            )
        ]

    def respond(self, _call: AnyCall, *responses: protocol.ShareAcknowledgeResponse) -> Message:
        (response,) = responses
        topics = by_topic(
            response.partitions,
            lambda number, row: wire.ShareAcknowledgedPartition(
                number,
                ERRORS[row.error].code,
                row.message or None,
                wire.ShareLeader(row.leader, row.leader_epoch),
            ),
        )
        return wire.ShareAcknowledgeResponse(
            error_code=ERRORS[response.error].code,
            error_message=response.message or None,
            acquisition_lock_timeout_ms=response.lock_ms,
            responses=[
                wire.ShareAcknowledgedTopic(_id(self.known_ids, name), rows)
                for name, rows in topics.items()
            ],
        )


# ---- offsets


class DescribeShareGroupOffsets(Struct, eq=False):
    """DescribeShareGroupOffsets."""

    known_ids: TopicIds

    def ask(self, call: Call[wire.DescribeShareGroupOffsetsRequest]) -> list[AnyMessage]:
        """Request the offsets of all groups at once."""
        return [
            protocol.DescribeShareGroupOffsetsRequest(
                {
                    group.group_id: None
                    if group.topics is None
                    else [
                        tp_of(topic.topic_name, number)
                        for topic in group.topics
                        for number in topic.partitions
                    ]
                    for group in call.message.groups
                }
            )
        ]

    def respond(
        self, _call: AnyCall, response: protocol.DescribeShareGroupOffsetsResponse
    ) -> Message:
        return wire.DescribeShareGroupOffsetsResponse(
            groups=[
                wire.DescribedShareOffsets(
                    name, self._topics(response.offsets.get(name, {})), ERRORS[error].code
                )
                for name, error in response.errors.items()
            ]
        )

    def _topics(
        self, offsets: Mapping[str, protocol.ShareOffset]
    ) -> list[wire.DescribedShareOffsetsTopic]:
        topics = by_topic(offsets, _described_offset)
        return [
            wire.DescribedShareOffsetsTopic(name, self.known_ids.id(name), rows)
            for name, rows in topics.items()
        ]


def _described_offset(number: int, row: protocol.ShareOffset) -> wire.DescribedShareOffset:
    return wire.DescribedShareOffset(
        number, row.start, row.leader_epoch, row.lag, ERRORS[row.error].code, row.message or None
    )


class AlterShareGroupOffsets(Struct, eq=False):
    """AlterShareGroupOffsets."""

    known_ids: TopicIds

    def ask(self, call: Call[wire.AlterShareGroupOffsetsRequest]) -> list[AnyMessage]:
        request = call.message
        offsets = {
            tp_of(topic.topic_name, row.partition_index): row.start_offset
            for topic in request.topics
            for row in topic.partitions
        }
        return [protocol.AlterShareGroupOffsetsRequest(request.group_id, offsets)]

    def respond(self, _call: AnyCall, *responses: protocol.ShareGroupOffsetsResponse) -> Message:
        (response,) = responses
        topics = by_topic(
            response.errors,
            lambda number, error: wire.AlteredShareOffset(
                number, ERRORS[error[0]].code, error[1] or None
            ),
        )
        return wire.AlterShareGroupOffsetsResponse(
            error_code=ERRORS[response.error].code,
            error_message=response.message or None,
            responses=[
                wire.AlteredShareOffsetsTopic(name, self.known_ids.id(name), rows)
                for name, rows in topics.items()
            ],
        )


class DeleteShareGroupOffsets(Struct, eq=False):
    """DeleteShareGroupOffsets."""

    known_ids: TopicIds

    def ask(self, call: Call[wire.DeleteShareGroupOffsetsRequest]) -> list[AnyMessage]:
        request = call.message
        topics = [topic.topic_name for topic in request.topics]
        return [protocol.DeleteShareGroupOffsetsRequest(request.group_id, topics)]

    def respond(self, _call: AnyCall, *responses: protocol.ShareGroupOffsetsResponse) -> Message:
        (response,) = responses
        return wire.DeleteShareGroupOffsetsResponse(
            error_code=ERRORS[response.error].code,
            error_message=response.message or None,
            responses=[
                wire.DeletedShareOffsetsTopic(
                    name, self.known_ids.id(name) or NO_UUID, ERRORS[error].code, text or None
                )
                for name, (error, text) in response.errors.items()
            ],
        )
