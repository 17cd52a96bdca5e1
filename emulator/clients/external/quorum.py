"""Requests of external clients that only KRaft clusters support."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from emulator import protocol
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import topic_id_of
from emulator.common.errors import ERRORS, NONE
from emulator.common.names import INTERNAL_TOPICS, METADATA_TOPIC
from emulator.protocol import AnyMessage, ClusterMetadataRequest, ClusterMetadataResponse
from emulator.simulation.kernel import KernelState
from emulator.wire.messages import cluster
from emulator.wire.messages import quorum as wire
from emulator.wire.types import Message

PARTITIONS_MAX: Final = 2_000
"""The maximum number of partitions in a page (max.request.partition.size.limit)."""


class DescribeQuorum(Struct, eq=False):
    """DescribeQuorum: forwarded to the active controller (KIP-595, KIP-836)."""

    clock: KernelState

    def ask(self, call: AnyCall) -> list[AnyMessage]:
        """Request the quorum's state if the metadata partition is named."""
        named = self._named(call)
        return [protocol.DescribeQuorumRequest()] if named == [(METADATA_TOPIC, 0)] else []

    @staticmethod
    def _named(call: Call[wire.DescribeQuorumRequest]) -> list[tuple[str, int]]:
        return [
            (topic.topic_name, partition.partition_index)
            for topic in call.message.topics
            for partition in topic.partitions
        ]

    def respond(self, call: AnyCall, *responses: protocol.DescribeQuorumResponse) -> Message:
        if not responses:
            code = ERRORS["UNKNOWN_TOPIC_OR_PARTITION"].code
            topics = [
                wire.TopicData(topic, [wire.PartitionData(number, code, None)])
                for topic, number in self._named(call)
            ]
            return wire.DescribeQuorumResponse(error_message=None, topics=topics)
        (response,) = responses
        quorum = response.quorum
        if quorum is None:
            return wire.DescribeQuorumResponse(ERRORS[response.error].code, None)
        partition = wire.PartitionData(
            0,
            ERRORS[NONE].code,
            None,
            quorum.leader,
            quorum.epoch,
            quorum.high_watermark,
            [_state(voter, self.clock) for voter in quorum.voters],
            [_state(observer, self.clock) for observer in quorum.observers],
        )
        topic = wire.TopicData(METADATA_TOPIC, [partition])
        return wire.DescribeQuorumResponse(ERRORS[NONE].code, None, [topic])


def _state(member: protocol.QuorumMember, clock: KernelState) -> wire.ReplicaState:
    return wire.ReplicaState(
        member.id,
        log_end_offset=member.log_end,
        last_fetch_timestamp=_wall_clock_ms(member.fetched_us, clock),
        last_caught_up_timestamp=_wall_clock_ms(member.caught_up_us, clock),
    )


def _wall_clock_ms(virtual_us: int, clock: KernelState) -> int:
    return -1 if virtual_us < 0 else clock.wall_clock_ms(virtual_us)


class DescribeTopicPartitions:
    """DescribeTopicPartitions: topics by name, with paging (KIP-966)."""

    def ask(self, call: Call[cluster.DescribeTopicPartitionsRequest]) -> list[AnyMessage]:
        """Request the named topics, or all topics."""
        if not self._is_valid(call.message):
            return []
        return [ClusterMetadataRequest([topic.name for topic in call.message.topics] or None)]

    @staticmethod
    def _is_valid(request: cluster.DescribeTopicPartitionsRequest) -> bool:
        """Whether the cursor names a partition, of one of the topics if any are named.

        Source: ``DescribeTopicPartitionsRequestHandler``.
        """
        cursor, names = request.cursor, [topic.name for topic in request.topics]
        return cursor is None or (
            cursor.partition_index >= 0 and (not names or cursor.topic_name in names)
        )

    def respond(
        self,
        call: Call[cluster.DescribeTopicPartitionsRequest],
        *responses: ClusterMetadataResponse,
    ) -> Message:
        """Return partitions from the cursor on, up to the requested limit."""
        request = call.message
        if not responses:
            code = ERRORS["INVALID_REQUEST"].code
            refused = [
                cluster.DescribeTopicPartitionsResponseTopic(code, topic.name)
                for topic in request.topics
            ]
            return self._page(refused, None)
        (response,) = responses
        cursor = request.cursor
        first = ("", 0) if cursor is None else (cursor.topic_name, cursor.partition_index)
        left = max(1, min(request.response_partition_limit, PARTITIONS_MAX))
        topics: list[cluster.DescribeTopicPartitionsResponseTopic] = []
        for name in sorted(response.topics):
            topic = response.topics[name]
            begin = first[1] if name == first[0] else 0
            numbers = [number for number in topic.partitions if number >= begin]
            if name < first[0]:
                continue
            if not left:
                return self._page(topics, cluster.Cursor(name, begin))
            given = list(islice(numbers, left))
            left -= len(given)
            topics.append(_topic(name, topic, given, response.brokers))
            if len(given) < len(numbers):
                return self._page(topics, cluster.Cursor(name, numbers[len(given)]))
        return self._page(topics, None)

    @staticmethod
    def _page(
        topics: list[cluster.DescribeTopicPartitionsResponseTopic], cursor: cluster.Cursor | None
    ) -> Message:
        return cluster.DescribeTopicPartitionsResponse(topics=topics, next_cursor=cursor)


def _topic(
    name: str, topic: protocol.TopicDescription, numbers: Iterable[int], brokers: Sequence[int]
) -> cluster.DescribeTopicPartitionsResponseTopic:
    rows = []
    for number in numbers:
        partition = topic.partitions[number]
        rows.append(
            cluster.DescribeTopicPartitionsResponsePartition(
                ERRORS[partition.error].code,
                number,
                partition.leader,
                partition.leader_epoch,
                partition.replicas,
                partition.isr,
                partition.elr,
                partition.last_known_elr,
                [broker for broker in partition.replicas if broker not in brokers],
            )
        )
    return cluster.DescribeTopicPartitionsResponseTopic(
        ERRORS[topic.error].code, name, topic_id_of(topic), name in INTERNAL_TOPICS, rows
    )
