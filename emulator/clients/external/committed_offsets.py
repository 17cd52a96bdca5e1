"""Committed offsets of external clients' groups: by the names of topics, or by their ids."""

from collections.abc import Sequence, Set
from itertools import repeat
from typing import Final, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from emulator import protocol
from emulator.clients.external.call import Call
from emulator.clients.external.ids import split_tp, tp_of
from emulator.clients.external.metadata import NamedTopic, TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage, ClusterMetadataRequest, ClusterMetadataResponse
from emulator.wire.messages import committed_offsets as committing
from emulator.wire.messages import groups as admin
from emulator.wire.messages import transactions
from emulator.wire.types import NO_UUID, Message

GROUPS_SINCE: Final = 8
"""The first OffsetFetch version with several groups (KIP-709)."""
IDS_SINCE: Final = 10
"""The first OffsetFetch version with topic ids (KIP-848)."""
UNKNOWN_ID: Final = ERRORS["UNKNOWN_TOPIC_ID"].code
UNKNOWN_TOPIC: Final = "UNKNOWN_TOPIC_OR_PARTITION"
UNKNOWN_PARTITION: Final = ERRORS[UNKNOWN_TOPIC].code
UNSTABLE: Final = ERRORS["UNSTABLE_OFFSET_COMMIT"].code
UNAUTHORIZED: Final = "TOPIC_AUTHORIZATION_FAILED"
WHOLE_ERRORS: Final = ("GROUP_AUTHORIZATION_FAILED", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
"""Errors of a request that come before those of its topics."""
IN_ZOOKEEPER: Final = 0
"""The OffsetFetch and OffsetCommit version that stores offsets in ZooKeeper."""


class NumberedPartition(Protocol):
    """A partition in a request."""

    @property
    def partition_index(self) -> int:
        """Its number."""


class TopicOfPartitions(NamedTopic, Protocol):
    """A topic in a request with its partitions."""

    @property
    def partitions(self) -> Sequence[NumberedPartition]:
        """The partitions."""


AnyTopic = TypeVar("AnyTopic", bound=TopicOfPartitions)
"""A topic of some request."""


class OffsetCommit(Struct, eq=False):
    """OffsetCommit: completed when the offsets are replicated.

    Topics are named by id from version 10 on.
    """

    known_ids: TopicIds

    def ask(self, call: Call[committing.OffsetCommitRequest]) -> list[AnyMessage]:
        """Commit all offsets in one request, and ask which partitions there are.

        There is no request if no topic is known by its id.
        """
        request = call.message
        committed = committed_by(request, self.known_ids)
        if committed is None:
            return []
        return [
            partitions_asked(committed),
            protocol.OffsetCommitRequest(
                request.group_id,
                request.generation_id_or_member_epoch,
                request.member_id,
                *committed,
                request.group_instance_id or "",
                call.header.api_version,
            ),
        ]

    def respond(
        self, call: Call[committing.OffsetCommitRequest], *responses: AnyMessage
    ) -> Message:
        topics = [
            committing.OffsetCommitResponseTopic(
                topic.name,
                topic.topic_id,
                [
                    committing.OffsetCommitResponsePartition(number, code)
                    for number, code in codes.items()
                ],
            )
            for topic, codes in commit_results(call.message.topics, responses, self.known_ids)
        ]
        return committing.OffsetCommitResponse(topics=topics)


class Committed(NamedTuple):
    """What a request commits, by partition: offsets, and leader epochs and metadata if given."""

    offsets: dict[str, int]
    leader_epochs: dict[str, int]
    metadata: dict[str, str]


def committed_by(
    request: committing.OffsetCommitRequest | transactions.TxnOffsetCommitRequest,
    known_ids: TopicIds,
) -> Committed | None:
    """Return what a request commits; None if it names topics, and none of them is known."""
    rows = {
        tp_of(name, partition.partition_index): partition
        for topic in request.topics
        if (name := known_ids.name_of(topic)) is not None
        for partition in topic.partitions
    }
    if request.topics and all(known_ids.name_of(topic) is None for topic in request.topics):
        return None
    return Committed(
        {tp: row.committed_offset for tp, row in rows.items()},
        {
            tp: row.committed_leader_epoch
            for tp, row in rows.items()
            if row.committed_leader_epoch >= 0
        },
        {tp: note for tp, row in rows.items() if (note := row.committed_metadata)},
    )


def partitions_asked(committed: Committed) -> ClusterMetadataRequest:
    """Return the request for the partitions of the topics whose offsets are committed."""
    return ClusterMetadataRequest(list(dict.fromkeys(split_tp(tp)[0] for tp in committed.offsets)))


def commit_results(
    topics: Sequence[AnyTopic],
    responses: Sequence[AnyMessage],
    known_ids: TopicIds,
) -> list[tuple[AnyTopic, dict[int, int]]]:
    """Return the topics of a request with the error code of each partition.

    ``responses`` are those to :func:`partitions_asked` and to the commit; without them no topic was
    known. Topics that the broker does not know come first.
    """
    unknown: list[tuple[AnyTopic, dict[int, int]]] = []
    known: list[tuple[AnyTopic, dict[int, int]]] = []
    for topic in topics:
        numbers = [partition.partition_index for partition in topic.partitions]
        name = known_ids.name_of(topic)
        # Without a response no topic was known then, even if one of them is by now.
        if not responses or name is None:
            unknown.append((topic, dict.fromkeys(numbers, UNKNOWN_ID)))
            continue
        described, response = responses
        assert isinstance(described, ClusterMetadataResponse)
        assert isinstance(response, protocol.OffsetCommitResponse)
        topic_there = described.topics.get(name)  # a topic without partitions was not asked for
        there = {} if topic_there is None else topic_there.partitions
        code = ERRORS[response.error].code
        is_whole = topic_there is not None and topic_there.error == response.error != NONE
        if response.error in WHOLE_ERRORS or is_whole:
            codes = dict.fromkeys(numbers, code)
        elif topic_there is not None and topic_there.error == UNAUTHORIZED:
            codes = dict.fromkeys(numbers, ERRORS[UNAUTHORIZED].code)
        else:
            own = {tp: ERRORS[error].code for tp, error in response.errors.items()}
            codes = {
                number: own.get(tp_of(name, number), code) if number in there else UNKNOWN_PARTITION
                for number in numbers
            }
        (known if there else unknown).append((topic, codes))
    return unknown + known


class OffsetFetch(Struct, eq=False):
    """OffsetFetch: for one group, or for several from version 8 on.

    Topics are named by id from version 10 on.
    """

    known_ids: TopicIds

    def ask(self, call: Call[committing.OffsetFetchRequest]) -> list[AnyMessage]:
        """Request each group's offsets, and the ids of the topics that are not named."""
        request = call.message
        version, stable = call.header.api_version, request.require_stable
        if version < GROUPS_SINCE:
            named = None if request.topics is None else _named(request.topics)
            return [protocol.OffsetFetchRequest(request.group_id, named, stable)]
        asked: list[AnyMessage] = [
            protocol.OffsetFetchRequest(
                group.group_id, self._named(group), stable, group.member_id, group.member_epoch
            )
            for group in request.groups
        ]
        if version < IDS_SINCE:
            return asked
        if any(group.topics is None for group in request.groups):
            return [*asked, ClusterMetadataRequest(None)]
        ids = [topic.topic_id for group in request.groups for topic in group.topics or ()]
        names = [name for topic_id in ids if (name := self.known_ids.name(topic_id)) is not None]
        return [*asked, ClusterMetadataRequest(list(dict.fromkeys(names)))]

    def _named(self, group: committing.OffsetFetchRequestGroup) -> list[str] | None:
        """The partitions that are requested of a group; None for all."""
        if group.topics is None:
            return None
        return [
            tp_of(name, index)
            for topic in group.topics
            if (name := self.known_ids.name_of(topic)) is not None
            for index in topic.partition_indexes
        ]

    def respond(self, call: Call[committing.OffsetFetchRequest], *responses: AnyMessage) -> Message:
        if call.header.api_version >= GROUPS_SINCE:
            gone: set[str] = set()
            for response in responses:
                if isinstance(response, ClusterMetadataResponse):
                    self.known_ids.learn(response)
                    topics_there = response.topics.items()
                    gone |= {name for name, topic in topics_there if topic.error == UNKNOWN_TOPIC}
            version = repeat(call.header.api_version)
            groups = map(self._group, call.message.groups, responses, version, repeat(gone))
            return committing.OffsetFetchResponse(groups=list(groups))
        (only,) = responses
        assert isinstance(only, protocol.OffsetFetchResponse)
        code = ERRORS[only.error].code
        positions = _positions(only, code)
        if call.header.api_version == IN_ZOOKEEPER:
            positions = _without_notes(positions)
        topics = [
            committing.OffsetFetchResponseTopic(
                topic, [committing.OffsetFetchResponsePartition(*row) for row in rows]
            )
            for topic, rows in positions.items()
        ]
        return committing.OffsetFetchResponse(topics=topics, error_code=code)

    def _group(
        self,
        asked: committing.OffsetFetchRequestGroup,
        response: AnyMessage,
        version: int,
        gone: Set[str],
    ) -> committing.OffsetFetchResponseGroup:
        """One group's offsets, those of unknown topic ids last; an error is the group's alone.

        The ids of topics that are ``gone`` are unknown again, and so are those of topics that were
        created again meanwhile.
        """
        assert isinstance(response, protocol.OffsetFetchResponse)
        if response.error != NONE:
            code = ERRORS[response.error].code
            return committing.OffsetFetchResponseGroup(asked.group_id, error_code=code)
        named = None
        if version >= IDS_SINCE and asked.topics is not None:
            named = {self.known_ids.name(topic.topic_id) for topic in asked.topics}
        topics = [
            committing.OffsetFetchResponseTopics(
                topic,
                self.known_ids.id(topic) if version >= IDS_SINCE else NO_UUID,
                [committing.OffsetFetchResponsePartitions(*row) for row in rows],
            )
            for topic, rows in _positions(response, 0).items()
            if topic not in gone and (named is None or topic in named)
        ]
        topics += [
            committing.OffsetFetchResponseTopics(
                "",
                topic.topic_id,
                [
                    committing.OffsetFetchResponsePartitions(index, -1, -1, "", UNKNOWN_ID)
                    for index in topic.partition_indexes
                ],
            )
            for topic in asked.topics or ()
            if (name := self.known_ids.name_of(topic)) is None or name in gone
        ]
        return committing.OffsetFetchResponseGroup(
            asked.group_id, topics, ERRORS[response.error].code
        )


def _named(topics: Sequence[committing.OffsetFetchRequestTopic]) -> list[str]:
    return [tp_of(topic.name, index) for topic in topics for index in topic.partition_indexes]


Position = tuple[int, int, int, str, int]
"""Partition, offset, leader epoch, metadata and error code name."""


def _without_notes(topics: dict[str, list[Position]]) -> dict[str, list[Position]]:
    """Return offsets as ZooKeeper stored them: without metadata, with an error if there is none."""
    unknown = ERRORS["UNKNOWN_TOPIC_OR_PARTITION"].code
    return {
        topic: [
            (partition, offset, epoch, "", unknown if offset < 0 and not error else error)
            for partition, offset, epoch, _, error in rows
        ]
        for topic, rows in topics.items()
    }


def _positions(response: protocol.OffsetFetchResponse, code: int) -> dict[str, list[Position]]:
    topics: dict[str, list[Position]] = {}
    for tp, offset in response.offsets.items():
        topic, partition = split_tp(tp)
        epoch, note = response.epochs.get(tp, -1), response.notes.get(tp, "")
        error = UNSTABLE if tp in response.unstable else code
        if tp in response.errors:
            error = ERRORS[response.errors[tp]].code
        topics.setdefault(topic, []).append((partition, offset, epoch, note, error))
    return topics


class OffsetDelete:
    """OffsetDelete (KIP-496)."""

    def ask(self, call: Call[admin.OffsetDeleteRequest]) -> list[AnyMessage]:
        """Delete the offsets of all partitions in one request."""
        request = call.message
        named = [
            tp_of(t.name, partition.partition_index)
            for t in request.topics
            for partition in t.partitions
        ]
        return [protocol.OffsetDeleteRequest(request.group_id, named)]

    def respond(
        self, call: Call[admin.OffsetDeleteRequest], response: protocol.OffsetDeleteResponse
    ) -> Message:
        """Return the result for each partition; a top-level error has no partitions."""
        if response.error != NONE:
            return admin.OffsetDeleteResponse(ERRORS[response.error].code)
        topics = [
            admin.OffsetDeleteResponseTopic(
                topic.name,
                [
                    admin.OffsetDeleteResponsePartition(
                        partition.partition_index,
                        ERRORS[response.errors[tp_of(topic.name, partition.partition_index)]].code,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in call.message.topics
        ]
        return admin.OffsetDeleteResponse(topics=topics)
