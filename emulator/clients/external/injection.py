"""Error injection: the response a broker would send if a request failed."""

from collections.abc import Callable
from typing import Any, Final

from emulator import protocol
from emulator.common.errors import NONE
from emulator.protocol import AnyMessage

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
