"""The response that a broker would send if a request failed, in whole or in part."""

from collections.abc import Callable
from typing import Any, Final

from emulator import protocol
from emulator.common.errors import NONE
from emulator.protocol import AnyMessage
from emulator.wire.apis import API_NAMED

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
    | protocol.DeleteTopicsRequest
    | protocol.AlterConfigsRequest,
    error: str,
) -> AnyMessage:
    return protocol.TopicsResponse(0, dict.fromkeys(asked.topics, error))


def _metadata(asked: protocol.ClusterMetadataRequest, error: str) -> AnyMessage:
    rows = dict.fromkeys(asked.topics or (), protocol.TopicDescription(error))
    return protocol.ClusterMetadataResponse(0, [], NOWHERE, "", rows)


def _groups(asked: protocol.DescribeGroupsRequest, error: str) -> AnyMessage:
    rows = dict.fromkeys(asked.groups or (), protocol.GroupDescription(error))
    return protocol.DescribeGroupsResponse(0, NONE if rows else error, rows)


def _offset_delete(asked: protocol.OffsetDeleteRequest, error: str) -> AnyMessage:
    if error.startswith("TOPIC_"):
        return protocol.OffsetDeleteResponse(0, NONE, dict.fromkeys(asked.partitions, error))
    return protocol.OffsetDeleteResponse(0, error, {})


def _offset_fetch(asked: protocol.OffsetFetchRequest, error: str) -> AnyMessage:
    if not error.startswith("TOPIC_"):
        return protocol.OffsetFetchResponse(0, asked.group, error)
    partitions = asked.partitions or ()
    offsets, errors = dict.fromkeys(partitions, NOWHERE), dict.fromkeys(partitions, error)
    return protocol.OffsetFetchResponse(0, asked.group, NONE, offsets, errors=errors)


def _share(response: type[Any], field: str) -> Refuse:
    """The response of a share group's request about partitions: the group's error, or theirs."""

    def refuse(asked: Any, error: str) -> AnyMessage:  # noqa: ANN401 - one of several requests
        made: AnyMessage
        if not error.startswith("TOPIC_"):
            made = response(0, asked.group, error)
        else:
            rows = dict.fromkeys(getattr(asked, field), protocol.SharedPartition(error))
            made = response(0, asked.group, NONE, partitions=rows)
        return made

    return refuse


def _share_offsets(
    asked: protocol.AlterShareGroupOffsetsRequest | protocol.DeleteShareGroupOffsetsRequest,
    error: str,
) -> AnyMessage:
    if isinstance(asked, protocol.AlterShareGroupOffsetsRequest):
        named = list(asked.offsets)
    else:
        named = asked.topics
    if not error.startswith("TOPIC_"):
        return protocol.ShareGroupOffsetsResponse(0, asked.group, error)
    rows = dict.fromkeys(named, (error, ""))
    return protocol.ShareGroupOffsetsResponse(0, asked.group, NONE, errors=rows)


REFUSALS: Final[dict[type, Refuse]] = {
    protocol.ProduceRequest: lambda r, e: protocol.ProduceResponse(0, r.tp, e, NOWHERE),
    protocol.FetchRequest: _fetch,
    protocol.ListOffsetsRequest: lambda r, e: protocol.ListOffsetsResponse(
        0, r.tp, e, NOWHERE, NOWHERE
    ),
    protocol.OffsetsForLeaderEpochRequest: lambda r, e: protocol.OffsetsForLeaderEpochResponse(
        0, dict.fromkeys(r.partitions, (e, NOWHERE, NOWHERE))
    ),
    protocol.ClusterMetadataRequest: _metadata,
    protocol.FindCoordinatorRequest: lambda r, e: protocol.FindCoordinatorResponse(0, r.group, e),
    protocol.InitProducerIdRequest: lambda _, e: protocol.InitProducerIdResponse(0, e, -1, -1),
    protocol.AddPartitionsToTxnRequest: lambda r, e: protocol.AddPartitionsToTxnResponse(
        0, r.transactional_id, dict.fromkeys(r.partitions, e)
    ),
    protocol.AddOffsetsToTxnRequest: lambda r, e: protocol.AddOffsetsToTxnResponse(
        0, r.transactional_id, e
    ),
    protocol.EndTxnRequest: lambda r, e: protocol.EndTxnResponse(0, r.transactional_id, e),
    protocol.WriteTxnMarkersRequest: lambda r, e: protocol.WriteTxnMarkersResponse(
        0, r.producer_id, dict.fromkeys(r.partitions, e)
    ),
    protocol.TxnOffsetCommitRequest: lambda r, e: protocol.OffsetCommitResponse(0, r.group, e),
    protocol.DescribeProducersRequest: lambda r, e: protocol.DescribeProducersResponse(
        0, {tp: (e, []) for tp in r.partitions}
    ),
    protocol.DescribeTransactionsRequest: lambda r, e: protocol.DescribeTransactionsResponse(
        0,
        NONE,
        dict.fromkeys(r.transactional_ids or (), protocol.TransactionDescription(e)),
    ),
    protocol.JoinGroupRequest: lambda r, e: protocol.JoinGroupResponse(0, r.group, e, r.member_id),
    protocol.SyncGroupRequest: lambda r, e: protocol.SyncGroupResponse(0, r.group, e),
    protocol.HeartbeatRequest: lambda r, e: protocol.HeartbeatResponse(0, r.group, e),
    protocol.LeaveGroupRequest: lambda r, e: protocol.LeaveGroupResponse(0, r.group, e),
    protocol.OffsetCommitRequest: lambda r, e: protocol.OffsetCommitResponse(0, r.group, e),
    protocol.OffsetFetchRequest: _offset_fetch,
    protocol.OffsetDeleteRequest: _offset_delete,
    protocol.DescribeGroupsRequest: _groups,
    protocol.DeleteGroupsRequest: lambda r, e: protocol.DeleteGroupsResponse(
        0, dict.fromkeys(r.groups, e)
    ),
    protocol.ConsumerGroupHeartbeatRequest: lambda r, e: protocol.ConsumerGroupHeartbeatResponse(
        0, r.group, e
    ),
    protocol.ConsumerGroupDescribeRequest: lambda r, e: protocol.ConsumerGroupDescribeResponse(
        0, dict.fromkeys(r.groups, protocol.ConsumerGroupDescription(e))
    ),
    protocol.ShareGroupHeartbeatRequest: lambda r, e: protocol.ShareGroupHeartbeatResponse(
        0, r.group, e
    ),
    protocol.ShareGroupDescribeRequest: lambda r, e: protocol.ShareGroupDescribeResponse(
        0, dict.fromkeys(r.groups, protocol.ConsumerGroupDescription(e))
    ),
    protocol.ShareFetchRequest: _share(protocol.ShareFetchResponse, "partitions"),
    protocol.ShareAcknowledgeRequest: _share(protocol.ShareAcknowledgeResponse, "acknowledged"),
    protocol.DescribeShareGroupOffsetsRequest: lambda r, e: (
        protocol.DescribeShareGroupOffsetsResponse(0, dict.fromkeys(r.groups, e))
    ),
    protocol.AlterShareGroupOffsetsRequest: _share_offsets,
    protocol.DeleteShareGroupOffsetsRequest: _share_offsets,
    protocol.CreateTopicsRequest: _topics,
    protocol.CreatePartitionsRequest: _topics,
    protocol.DeleteTopicsRequest: _topics,
    protocol.AlterConfigsRequest: _topics,
    protocol.IncrementalAlterConfigsRequest: lambda r, e: protocol.IncrementalAlterConfigsResponse(
        0, NONE, {r.resource_name: e}
    ),
    protocol.DescribeConfigsRequest: lambda _, e: protocol.DescribeConfigsResponse(0, e),
    protocol.DeleteRecordsRequest: lambda r, e: protocol.DeleteRecordsResponse(
        0, dict.fromkeys(r.offsets, (e, NOWHERE))
    ),
    protocol.ElectLeadersRequest: lambda _, e: protocol.ElectLeadersResponse(0, e, {}),
    protocol.AlterPartitionReassignmentsRequest: lambda _, e: (
        protocol.AlterPartitionReassignmentsResponse(0, e, {})
    ),
    protocol.ListPartitionReassignmentsRequest: lambda _, e: (
        protocol.ListPartitionReassignmentsResponse(0, e, {})
    ),
    protocol.DescribeLogDirsRequest: lambda _, e: protocol.DescribeLogDirsResponse(0, {}, e),
    protocol.AlterReplicaLogDirsRequest: lambda r, e: protocol.AlterReplicaLogDirsResponse(
        0, dict.fromkeys(r.partitions, e)
    ),
    protocol.DescribeQuorumRequest: lambda _, e: protocol.DescribeQuorumResponse(0, e, None),
    protocol.UpdateFeaturesRequest: lambda _, e: protocol.UpdateFeaturesResponse(0, e, {}),
    protocol.UnregisterBrokerRequest: lambda _, e: protocol.UnregisterBrokerResponse(0, e, {}),
    protocol.ListConfigResourcesRequest: lambda _, e: protocol.ListConfigResourcesResponse(
        0, [], [], error=e
    ),
    protocol.CreateAclsRequest: lambda _, e: protocol.AclsResponse(0, e, {}),
    protocol.DeleteAclsRequest: lambda _, e: protocol.AclsResponse(0, e, {}),
}

REFUSABLE: Final = tuple(
    name
    for name in sorted(kind.__name__.removesuffix("Request") for kind in REFUSALS)
    if name in API_NAMED
)
"""The APIs whose requests can fail with any error."""
THROTTLED: Final = tuple(
    name
    for name, api in sorted(API_NAMED.items())
    if "throttle_time_ms" in api.response.__struct_fields__
)
"""The APIs whose responses tell how long a client is throttled."""


def refusal(asked: AnyMessage, error: str) -> AnyMessage:
    """The error response to a message; a message without one is returned unchanged."""
    refuse = REFUSALS.get(type(asked))
    return asked if refuse is None else refuse(asked, error)
