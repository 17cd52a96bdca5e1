"""Admin requests of external clients: topics, partitions, elections, reassignments."""

from collections import Counter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator import protocol
from emulator.clients.context import ClientContext
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import by_topic, tp_of, uuid_bytes
from emulator.clients.external.metadata import TopicIds
from emulator.common.errors import ERRORS, NONE
from emulator.common.names import METADATA_TOPIC
from emulator.protocol import AnyMessage
from emulator.wire.messages import offsets, partitions
from emulator.wire.messages import topics as wire
from emulator.wire.types import NO_UUID, Message

US_PER_MS: Final = 1_000
PREFERRED: Final = 0
UNCLEAN: Final = 1
ELECTIONS: Final = (PREFERRED, UNCLEAN)
"""Types of elections (``ElectionType``)."""


class CreateTopics(Struct, eq=False):
    """CreateTopics: completed when the topics have leaders."""

    context: ClientContext
    known_ids: TopicIds

    def ask(self, call: Call[wire.CreateTopicsRequest]) -> list[AnyMessage]:
        """Create all topics in one request, but those that are refused here."""
        request = call.message
        refused = _named_twice(request).keys() | self._prohibited(request)
        topics = {
            topic.name: protocol.NewTopic(
                topic.num_partitions,
                topic.replication_factor,
                {row.partition_index: row.broker_ids for row in topic.assignments},
                {config.name: config.value or "" for config in topic.configs},
            )
            for topic in request.topics
            if topic.name not in refused
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreateTopicsRequest(topics, timeout_us, request.validate_only)]

    def respond(
        self, call: Call[wire.CreateTopicsRequest], response: protocol.TopicsResponse
    ) -> Message:
        twice = _named_twice(call.message)
        rows = self._refused_twice(twice)
        rows += [self._prohibition() for _ in self._prohibited(call.message) - twice.keys()]
        for name, error in response.errors.items():
            made = response.created.get(name)
            row = wire.CreatableTopicResult(
                name, error_code=ERRORS[error].code, error_message=response.messages.get(name)
            )
            if made is not None and made.topic_id:  # also if the leaders are awaited in vain
                self.known_ids.replace(name, made.topic_id)
                row = replace(row, topic_id=uuid_bytes(made.topic_id))
            if made is not None and error == NONE:
                row = replace(
                    row,
                    topic_config_error_code=ERRORS[made.config_error].code,
                    num_partitions=made.partitions,
                    replication_factor=made.replication_factor,
                    configs=[
                        wire.CreatableTopicConfigs(
                            entry.name, entry.value, entry.is_read_only, entry.source
                        )
                        for entry in made.entries
                    ],
                )
            rows.append(row)
        return wire.CreateTopicsResponse(topics=rows)

    def _prohibited(self, request: wire.CreateTopicsRequest) -> set[str]:
        """The topics of a request that nobody may create: since 3.3, that of the metadata log."""
        if not self.context.profile.has("metadata_topic_prohibited"):
            return set()
        return {topic.name for topic in request.topics} & {METADATA_TOPIC}

    def _prohibition(self) -> wire.CreatableTopicResult:
        if self.context.profile.has("metadata_topic_prohibition_explained"):
            code = ERRORS["INVALID_REQUEST"].code
            reason = f"Creation of internal topic {METADATA_TOPIC} is prohibited."
            return wire.CreatableTopicResult(METADATA_TOPIC, error_code=code, error_message=reason)
        code = ERRORS["TOPIC_AUTHORIZATION_FAILED"].code
        return wire.CreatableTopicResult(
            METADATA_TOPIC,
            error_code=code,
            error_message="Authorization failed.",
            topic_config_error_code=code,
        )

    def _refused_twice(self, names: dict[str, int]) -> list[wire.CreatableTopicResult]:
        """The results for topics that a request names more than once.

        From 2.4 on a broker with ZooKeeper answers for each time that a name is there. Source:
        ``KafkaApis.handleCreateTopicsRequest``, ``ControllerApis.createTopics``.
        """
        code, is_kraft = ERRORS["INVALID_REQUEST"].code, self.context.in_kraft_mode
        reason = "Duplicate topic name." if is_kraft else "Found multiple entries for this topic."
        each_time = not is_kraft and self.context.profile.has("topics_named_twice_answered_twice")
        return [
            wire.CreatableTopicResult(name, error_code=code, error_message=reason)
            for name, times in names.items()
            for _ in range(times if each_time else 1)
        ]


def _named_twice(
    request: wire.CreateTopicsRequest | wire.CreatePartitionsRequest,
) -> dict[str, int]:
    """How often a request names the topics that it names more than once."""
    times = Counter(topic.name for topic in request.topics)
    return {name: count for name, count in times.items() if count > 1}


class DeleteTopics(Struct, eq=False):
    """DeleteTopics: by name, or by id from version 6 on.

    Source: ``KafkaApis.handleDeleteTopicsRequest``, ``ControllerApis.deleteTopics``.
    """

    context: ClientContext
    known_ids: TopicIds

    def ask(self, call: Call[wire.DeleteTopicsRequest]) -> list[AnyMessage]:
        """Delete the topics that the request identifies by name or by id."""
        request = call.message
        if self._is_refused(request):
            return []
        names, _ = self._topics_of(request)
        if not self.context.in_kraft_mode:
            names = list(dict.fromkeys(names))
        return [protocol.DeleteTopicsRequest(names, request.timeout_ms * US_PER_MS)]

    def respond(
        self, call: Call[wire.DeleteTopicsRequest], *responses: protocol.TopicsResponse
    ) -> Message:
        """Return the result for each topic, first for those that are refused here.

        A controller in KRaft mode also tells the ids of topics that are deleted by name; a broker
        with ZooKeeper answers for each time that a topic is named, since 2.4.
        """
        request, is_kraft = call.message, self.context.in_kraft_mode
        if not responses:
            code = ERRORS["INVALID_REQUEST"].code
            return wire.DeleteTopicsResponse(
                responses=[
                    wire.DeletableTopicResult(topic.name, topic.topic_id, code)
                    for topic in request.topics
                ]
            )
        (response,) = responses
        names, rows = self._topics_of(request)
        ids = {
            self.known_ids.name(topic.topic_id): topic.topic_id
            for topic in request.topics
            if topic.name is None
        }
        times = Counter(names)
        each_time = not is_kraft and self.context.profile.has("topics_named_twice_answered_twice")
        for name, error in response.errors.items():
            topic_id = ids.get(name, NO_UUID)
            if is_kraft and error == NONE:
                topic_id = self.known_ids.id(name)
            code, reason = ERRORS[error].code, response.messages.get(name)
            row = wire.DeletableTopicResult(name, topic_id, code, reason)
            rows += [row] * (times[name] if each_time else 1)
        return wire.DeleteTopicsResponse(responses=rows)

    def _is_refused(self, request: wire.DeleteTopicsRequest) -> bool:
        """Whether a broker with ZooKeeper refuses all topics: one has both a name and an id."""
        return not self.context.in_kraft_mode and any(map(_has_both, request.topics))

    def _topics_of(
        self, request: wire.DeleteTopicsRequest
    ) -> tuple[list[str], list[wire.DeletableTopicResult]]:
        """The names of the topics to delete, and the results for those that are refused here."""
        is_kraft = self.context.in_kraft_mode
        names, rows = list(request.topic_names), []
        ids: Counter[bytes] = Counter()
        for topic in request.topics:
            if _has_both(topic):
                reason = "You may not specify both topic name and topic id."
                rows.append(_not_deleted(topic.name, topic.topic_id, "INVALID_REQUEST", reason))
            elif topic.name is not None:
                names.append(topic.name)
            elif topic.topic_id != NO_UUID:
                ids[topic.topic_id] += 1
            elif is_kraft:
                reason = "Neither topic name nor id were specified."
                rows.append(_not_deleted(None, NO_UUID, "INVALID_REQUEST", reason))
            else:
                rows.append(_not_deleted(None, NO_UUID, "TOPIC_AUTHORIZATION_FAILED"))
        for topic_id, times in ids.items():
            name = self.known_ids.name(topic_id)
            if is_kraft and times > 1:
                reason = "Duplicate topic id."
                rows.append(_not_deleted(None, topic_id, "INVALID_REQUEST", reason))
            elif name is None:
                rows += [_not_deleted(None, topic_id, "UNKNOWN_TOPIC_ID")] * times
            else:
                names += [name] * times
        return names, rows


def _has_both(topic: wire.DeleteTopicState) -> bool:
    return topic.name is not None and topic.topic_id != NO_UUID


def _not_deleted(
    name: str | None, topic_id: bytes, error: str, reason: str | None = None
) -> wire.DeletableTopicResult:
    return wire.DeletableTopicResult(name, topic_id, ERRORS[error].code, reason)


class DeleteRecords:
    """DeleteRecords (KIP-107): completed when the leader and the live followers have deleted."""

    def ask(self, call: Call[offsets.DeleteRecordsRequest]) -> list[AnyMessage]:
        """Delete records of all partitions in one request."""
        request = call.message
        limits = {
            tp_of(topic.name, partition.partition_index): partition.offset
            for topic in request.topics
            for partition in topic.partitions
        }
        return [protocol.DeleteRecordsRequest(limits, request.timeout_ms * US_PER_MS)]

    def respond(
        self, call: Call[offsets.DeleteRecordsRequest], response: protocol.DeleteRecordsResponse
    ) -> Message:
        """Return the new log start offset of each partition."""
        topics = []
        for topic in call.message.topics:
            rows = []
            for partition in topic.partitions:
                number = partition.partition_index
                error, start = response.results[tp_of(topic.name, number)]
                row = offsets.DeleteRecordsPartitionResult(number, start, ERRORS[error].code)
                rows.append(row)
            topics.append(offsets.DeleteRecordsTopicResult(topic.name, rows))
        return offsets.DeleteRecordsResponse(topics=topics)


class CreatePartitions(Struct, eq=False):
    """CreatePartitions."""

    context: ClientContext

    def ask(self, call: Call[wire.CreatePartitionsRequest]) -> list[AnyMessage]:
        """Add partitions to all topics in one request, but those that it names twice."""
        request = call.message
        twice = _named_twice(request)
        topics = {
            topic.name: (
                topic.count,
                None
                if topic.assignments is None
                else [row.broker_ids for row in topic.assignments],
            )
            for topic in request.topics
            if topic.name not in twice
        }
        timeout_us = request.timeout_ms * US_PER_MS
        return [protocol.CreatePartitionsRequest(topics, timeout_us, request.validate_only)]

    def respond(
        self, call: Call[wire.CreatePartitionsRequest], response: protocol.TopicsResponse
    ) -> Message:
        is_kraft = self.context.in_kraft_mode
        reason = "Duplicate topic name." if is_kraft else "Duplicate topic in request."
        code = ERRORS["INVALID_REQUEST"].code
        rows = [
            wire.CreatePartitionsTopicResult(name, code, reason)
            for name in _named_twice(call.message)
        ]
        rows += [
            wire.CreatePartitionsTopicResult(name, ERRORS[error].code, response.messages.get(name))
            for name, error in response.errors.items()
        ]
        return wire.CreatePartitionsResponse(results=rows)


class ElectLeaders(Struct, eq=False):
    """ElectLeaders: preferred or unclean leader election (KIP-460)."""

    context: ClientContext

    def ask(self, call: Call[partitions.ElectLeadersRequest]) -> list[AnyMessage]:
        """Request the election for all partitions at once.

        A broker with ZooKeeper fails to read an unknown type; a controller refuses it
        (``ElectionType.valueOf``, ``ReplicationControlManager.electLeaders``).
        """
        request = call.message
        if request.election_type not in ELECTIONS:
            error = "INVALID_REQUEST" if self.context.in_kraft_mode else "UNKNOWN_SERVER_ERROR"
            return [
                protocol.ElectLeadersResponse(
                    0,
                    error,
                    {
                        tp_of(topic.topic, number): error
                        for topic in request.topic_partitions or ()
                        for number in topic.partitions
                    },
                )
            ]
        if request.topic_partitions == []:  # null are all partitions
            return [protocol.ElectLeadersResponse(0, NONE, {})]
        named = [
            tp_of(topic.topic, number)
            for topic in request.topic_partitions or ()
            for number in topic.partitions
        ]
        return [protocol.ElectLeadersRequest(named, unclean=request.election_type == UNCLEAN)]

    def respond(self, _call: AnyCall, response: protocol.ElectLeadersResponse) -> Message:
        topics = by_topic(
            response.errors,
            lambda number, error: partitions.PartitionResult(number, ERRORS[error].code, None),
        )
        return partitions.ElectLeadersResponse(
            error_code=ERRORS[response.error].code,
            replica_election_results=[
                partitions.ReplicaElectionResult(*topic) for topic in topics.items()
            ],
        )


class AlterPartitionReassignments:
    """AlterPartitionReassignments (KIP-455)."""

    def ask(self, call: Call[partitions.AlterPartitionReassignmentsRequest]) -> list[AnyMessage]:
        targets = {
            tp_of(topic.name, partition.partition_index): partition.replicas
            for topic in call.message.topics
            for partition in topic.partitions
        }
        allowed = call.message.allow_replication_factor_change
        return [protocol.AlterPartitionReassignmentsRequest(targets, allowed)]

    def respond(
        self,
        call: Call[partitions.AlterPartitionReassignmentsRequest],
        *responses: protocol.AlterPartitionReassignmentsResponse,
    ) -> Message:
        (response,) = responses
        topics = []
        for topic in call.message.topics:
            rows = []
            for partition in topic.partitions:
                number = partition.partition_index
                error = response.errors.get(tp_of(topic.name, number), response.error)
                code = ERRORS[error].code
                rows.append(partitions.ReassignablePartitionResponse(number, code, None))
            topics.append(partitions.ReassignableTopicResponse(topic.name, rows))
        return partitions.AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=call.message.allow_replication_factor_change,
            error_code=ERRORS[response.error].code,
            error_message=None,
            responses=topics,
        )


class ListPartitionReassignments:
    """ListPartitionReassignments (KIP-455)."""

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return [protocol.ListPartitionReassignmentsRequest()]

    def respond(
        self,
        call: Call[partitions.ListPartitionReassignmentsRequest],
        response: protocol.ListPartitionReassignmentsResponse,
    ) -> Message:
        """Return the reassignments of the named partitions, or all."""
        request = call.message
        moves = response.moves
        if request.topics is not None:
            named = {
                tp_of(topic.name, number)
                for topic in request.topics
                for number in topic.partition_indexes
            }
            moves = {tp: move for tp, move in moves.items() if tp in named}
        topics = by_topic(moves, _ongoing)
        return partitions.ListPartitionReassignmentsResponse(
            error_code=ERRORS[response.error].code,
            error_message=None,
            topics=[partitions.OngoingTopicReassignment(*topic) for topic in topics.items()],
        )


def _ongoing(
    number: int, move: tuple[list[int], list[int]]
) -> partitions.OngoingPartitionReassignment:
    original, target = move
    removed = [broker for broker in original if broker not in target]
    added = [broker for broker in target if broker not in original]
    return partitions.OngoingPartitionReassignment(number, [*target, *removed], added, removed)
