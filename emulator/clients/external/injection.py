"""Errors on demand: what a broker would answer if it refused a request."""

from emulator import protocol
from emulator.protocol import AnyMessage

NOWHERE = -1
"""An offset that does not exist."""


def refusal(asked: AnyMessage, error: str) -> AnyMessage:
    """The answer that refuses a message with an error; what cannot be refused stays as it is."""
    match asked:
        case protocol.ProduceRequest():
            return protocol.ProduceResponse(0, asked.tp, error, NOWHERE)
        case protocol.FetchRequest():
            row = protocol.FetchedPartition(error, NOWHERE, NOWHERE, [])
            return protocol.FetchResponse(0, dict.fromkeys(asked.partitions, row))
        case protocol.ListOffsetsRequest():
            return protocol.ListOffsetsResponse(0, asked.tp, error, NOWHERE, NOWHERE)
        case protocol.FindCoordinatorRequest():
            return protocol.FindCoordinatorResponse(0, asked.group, error)
        case protocol.InitProducerIdRequest():
            return protocol.InitProducerIdResponse(0, error, -1, -1)
        case protocol.JoinGroupRequest():
            return protocol.JoinGroupResponse(0, asked.group, error, asked.member_id)
        case protocol.SyncGroupRequest():
            return protocol.SyncGroupResponse(0, asked.group, error)
        case protocol.HeartbeatRequest():
            return protocol.HeartbeatResponse(0, asked.group, error)
        case protocol.LeaveGroupRequest():
            return protocol.LeaveGroupResponse(0, asked.group, error)
        case protocol.OffsetCommitRequest():
            return protocol.OffsetCommitResponse(0, asked.group, error)
        case protocol.OffsetFetchRequest():
            return protocol.OffsetFetchResponse(0, asked.group, error)
        case protocol.CreateTopicsRequest() | protocol.CreatePartitionsRequest():
            return protocol.TopicsResponse(0, dict.fromkeys(asked.topics, error))
        case protocol.DeleteTopicsRequest():
            return protocol.TopicsResponse(0, dict.fromkeys(asked.topics, error))
        case _:
            return asked


REFUSABLE = (
    "CreatePartitions",
    "CreateTopics",
    "DeleteTopics",
    "Fetch",
    "FindCoordinator",
    "Heartbeat",
    "InitProducerId",
    "JoinGroup",
    "LeaveGroup",
    "ListOffsets",
    "OffsetCommit",
    "OffsetFetch",
    "Produce",
    "SyncGroup",
)
"""The APIs whose requests can be refused with any error."""
