"""Error injection: the response a broker would send if a request failed."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from emulator import protocol
from emulator.clients.external.call import Call
from emulator.clients.external.metadata import TopicIds
from emulator.clients.external_state import Injection
from emulator.common.errors import NONE
from emulator.protocol import AnyMessage
from emulator.wire.types import Message

NOWHERE: Final = -1
"""An invalid offset."""
Refuse = Callable[[Any, str], AnyMessage]


def _fetch(asked: protocol.FetchRequest, error: str) -> AnyMessage:
    row = protocol.FetchedPartition(error, NOWHERE, NOWHERE, [])
    rows = dict.fromkeys(asked.partitions, row)
    return protocol.FetchResponse(0, rows, error=NONE if rows else error)


def _topics(
    asked: protocol.CreateTopicsRequest
    | protocol.CreatePartitionsRequest
    | protocol.DeleteTopicsRequest,
    error: str,
) -> AnyMessage:
    return protocol.TopicsResponse(0, dict.fromkeys(asked.topics, error))


def is_selected(injection: Injection, call: Call, known_ids: TopicIds) -> bool:
    """Return whether a request is one of those that an injection is for."""
    message, of_group = call.message, injection.group
    return (
        injection.client in ("", call.client)
        and injection.broker in (None, call.connection.broker)
        and injection.transactional_id in ("", getattr(message, "transactional_id", None))
        and (not of_group or of_group in _groups(message))
        and (not injection.topic or injection.topic in _topics_named(message, known_ids))
    )


def _groups(message: Message) -> Iterator[str]:
    """The groups that a request is about."""
    for name in ("group_id", "key"):
        if isinstance(found := getattr(message, name, None), str):
            yield found
    yield from getattr(message, "coordinator_keys", ())
    for each in getattr(message, "groups", ()):
        yield each if isinstance(each, str) else each.group_id


def _topics_named(message: Message, known_ids: TopicIds) -> Iterator[str]:
    """The topics that a request names, also by their ids."""
    for name in ("topics", "topic_data", "topic_names"):
        for each in getattr(message, name, None) or ():
            if isinstance(each, str):
                yield each
                continue
            named = getattr(each, "name", None) or getattr(each, "topic", None)
            topic_id = getattr(each, "topic_id", None)
            if named is None and topic_id is not None:
                named = known_ids.name(topic_id)
            if isinstance(named, str):
                yield named


_REFUSALS: Final[dict[type, Refuse]] = {
    protocol.ProduceRequest: lambda r, e: protocol.ProduceResponse(0, r.tp, e, NOWHERE),
    protocol.FetchRequest: _fetch,
    protocol.ListOffsetsRequest: lambda r, e: protocol.ListOffsetsResponse(
        0, r.tp, e, NOWHERE, NOWHERE
    ),
    protocol.FindCoordinatorRequest: lambda r, e: protocol.FindCoordinatorResponse(0, r.group, e),
    protocol.InitProducerIdRequest: lambda _, e: protocol.InitProducerIdResponse(0, e, -1, -1),
    protocol.JoinGroupRequest: lambda r, e: protocol.JoinGroupResponse(0, r.group, e, r.member_id),
    protocol.SyncGroupRequest: lambda r, e: protocol.SyncGroupResponse(0, r.group, e),
    protocol.HeartbeatRequest: lambda r, e: protocol.HeartbeatResponse(0, r.group, e),
    protocol.LeaveGroupRequest: lambda r, e: protocol.LeaveGroupResponse(0, r.group, e),
    protocol.OffsetCommitRequest: lambda r, e: protocol.OffsetCommitResponse(0, r.group, e),
    protocol.OffsetFetchRequest: lambda r, e: protocol.OffsetFetchResponse(0, r.group, e),
    protocol.ConsumerGroupHeartbeatRequest: lambda r, e: protocol.ConsumerGroupHeartbeatResponse(
        0, r.group, e
    ),
    protocol.CreateTopicsRequest: _topics,
    protocol.CreatePartitionsRequest: _topics,
    protocol.DeleteTopicsRequest: _topics,
}

REFUSABLE: Final = tuple(sorted(kind.__name__.removesuffix("Request") for kind in _REFUSALS))
"""The APIs whose requests can fail with any error."""


def refusal(asked: AnyMessage, error: str) -> AnyMessage:
    """The error response to a message; a message without one is returned unchanged."""
    refuse = _REFUSALS.get(type(asked))
    return asked if refuse is None else refuse(asked, error)
