"""Group requests of external clients; member metadata and assignments are treated as opaque."""

from typing import Final

from emulator import protocol
from emulator.clients.external.call import AnyCall, Call
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage, Subscription
from emulator.releases.profiles import Profile
from emulator.wire.messages import groups as admin
from emulator.wire.messages import membership as wire
from emulator.wire.types import Message

US_PER_MS: Final = 1_000
SKIPS_SINCE: Final = 9
"""The first JoinGroup version that tells a leader not to assign (KIP-814)."""
MEMBER_ID_SINCE: Final = 4
"""The first JoinGroup version that assigns a member id before joining (KIP-394)."""
NULL_PROTOCOL_SINCE: Final = 7
"""The first JoinGroup version whose error response has a null protocol name."""
PROTOCOL_NAMED_SINCE: Final = 5
"""The first SyncGroup version that must name the protocol and its type (KIP-559)."""
SEVERAL_SINCE: Final = 3
"""The first LeaveGroup version with a batch of members (KIP-345)."""


class JoinGroup:
    """JoinGroup: completed when all members have joined."""

    def __init__(self, profile: Profile) -> None:
        self.no_generation = 0 if profile.has("refused_joins_have_generation_zero") else -1

    def ask(self, call: Call[wire.JoinGroupRequest]) -> list[AnyMessage]:
        request = call.message
        if not request.group_id:
            return [protocol.JoinGroupResponse(0, "", "INVALID_GROUP_ID", request.member_id)]
        session_us = request.session_timeout_ms * US_PER_MS
        rebalance_us = request.rebalance_timeout_ms * US_PER_MS
        return [
            protocol.JoinGroupRequest(
                request.group_id,
                request.member_id,
                call.client,
                "",
                Subscription([]),
                session_us,
                rebalance_us if rebalance_us >= 0 else session_us,
                request.protocol_type,
                [
                    protocol.Protocol(offered.name, offered.metadata)
                    for offered in request.protocols
                ],
                call.header.api_version >= MEMBER_ID_SINCE,
                request.group_instance_id or "",
                call.header.api_version >= SKIPS_SINCE,
            )
        ]

    def respond(self, call: AnyCall, response: protocol.JoinGroupResponse) -> Message:
        """Return the generation, and the member list to the leader."""
        is_in = response.error == NONE
        may_be_null = call.header.api_version >= NULL_PROTOCOL_SINCE
        return wire.JoinGroupResponse(
            error_code=ERRORS[response.error].code,
            generation_id=response.generation if is_in else self.no_generation,
            protocol_type=response.protocol_type if is_in else None,
            protocol_name=response.protocol if is_in or not may_be_null else None,
            leader=response.leader,
            member_id=response.member_id,
            members=[
                wire.JoinGroupResponseMember(
                    member, response.instances.get(member) or None, metadata
                )
                for member, metadata in response.metadata.items()
            ],
            skip_assignment=response.skip_assignment,
        )


class SyncGroup:
    """SyncGroup: the leader supplies the assignment of every member."""

    def ask(self, call: Call[wire.SyncGroupRequest]) -> list[AnyMessage]:
        request = call.message
        is_named = None not in (request.protocol_type, request.protocol_name)
        if call.header.api_version >= PROTOCOL_NAMED_SINCE and not is_named:
            return [protocol.SyncGroupResponse(0, request.group_id, "INCONSISTENT_GROUP_PROTOCOL")]
        assignments = {
            assignment.member_id: assignment.assignment for assignment in request.assignments
        }
        return [
            protocol.SyncGroupRequest(
                request.group_id,
                request.generation_id,
                request.member_id,
                {},
                assignments,
                request.group_instance_id or "",
                request.protocol_type,
                request.protocol_name,
            )
        ]

    def respond(self, _call: AnyCall, response: protocol.SyncGroupResponse) -> Message:
        return wire.SyncGroupResponse(
            error_code=ERRORS[response.error].code,
            protocol_type=response.protocol_type or None,
            protocol_name=response.protocol or None,
            assignment=response.assignment,
        )


class Heartbeat:
    """Heartbeat."""

    def ask(self, call: Call[wire.HeartbeatRequest]) -> list[AnyMessage]:
        request = call.message
        return [
            protocol.HeartbeatRequest(
                request.group_id,
                request.generation_id,
                request.member_id,
                request.group_instance_id or "",
            )
        ]

    def respond(self, _call: AnyCall, response: protocol.HeartbeatResponse) -> Message:
        return wire.HeartbeatResponse(error_code=ERRORS[response.error].code)


class LeaveGroup:
    """LeaveGroup: for one member, or for several from version 3 on."""

    def ask(self, call: Call[wire.LeaveGroupRequest]) -> list[AnyMessage]:
        request = call.message
        members = [(member.member_id, member.group_instance_id or "") for member in request.members]
        if call.header.api_version < SEVERAL_SINCE:
            members = [(request.member_id, "")]
        if not members:
            return []
        return [protocol.LeaveGroupRequest(request.group_id, *members[0], members[1:])]

    def respond(
        self, call: Call[wire.LeaveGroupRequest], *responses: protocol.LeaveGroupResponse
    ) -> Message:
        """Return the result for each member; where there is no coordinator, there is only one."""
        errors: list[str] = []
        for response in responses:
            errors = response.errors
            if call.header.api_version < SEVERAL_SINCE or not errors:
                return wire.LeaveGroupResponse(error_code=ERRORS[response.error].code)
        members = [
            wire.MemberResponse(member.member_id, member.group_instance_id, ERRORS[error].code)
            for member, error in zip(call.message.members, errors, strict=True)
        ]
        return wire.LeaveGroupResponse(members=members)


ABSENCE_SINCE: Final = 6
"""The first DescribeGroups version with an error for groups that do not exist (KIP-1043)."""
COMPLETING: Final = "CompletingRebalance"
AWAITING_SYNC: Final = "AwaitingSync"
"""The state of a group that waits for its leader's assignment, and its name before 1.1."""


class DescribeGroups:
    """DescribeGroups."""

    def __init__(self, profile: Profile) -> None:
        self.is_completing = profile.has("completing_rebalance_state")

    def ask(self, call: Call[admin.DescribeGroupsRequest]) -> list[AnyMessage]:
        return [protocol.DescribeGroupsRequest(call.message.groups)]

    def respond(self, call: AnyCall, response: protocol.DescribeGroupsResponse) -> Message:
        tells_absence = call.header.api_version >= ABSENCE_SINCE
        groups = [
            admin.DescribedGroup(
                ERRORS[
                    "GROUP_ID_NOT_FOUND" if group.message and tells_absence else group.error
                ].code,
                group.message or None,
                name,
                self._state(group.state),
                group.protocol_type,
                group.protocol,
                [
                    admin.DescribedGroupMember(
                        member,
                        description.instance_id or None,
                        description.client,
                        "/127.0.0.1",
                        description.metadata,
                        description.assignment,
                    )
                    for member, description in group.members.items()
                ],
            )
            for name, group in response.groups.items()
        ]
        return admin.DescribeGroupsResponse(groups=groups)

    def _state(self, state: str) -> str:
        return AWAITING_SYNC if state == COMPLETING and not self.is_completing else state


class ListGroups:
    """ListGroups: the groups that the broker coordinates."""

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return [protocol.DescribeGroupsRequest(None)]

    def respond(
        self, call: Call[admin.ListGroupsRequest], response: protocol.DescribeGroupsResponse
    ) -> Message:
        request = call.message
        states = {state.lower() for state in request.states_filter}
        types = {kind.lower() for kind in request.types_filter}
        groups = [
            admin.ListedGroup(name, group.protocol_type, group.state, group.type)
            for name, group in response.groups.items()
            if (not states or group.state.lower() in states) and (not types or group.type in types)
        ]
        return admin.ListGroupsResponse(error_code=ERRORS[response.error].code, groups=groups)


class DeleteGroups:
    """DeleteGroups."""

    def ask(self, call: Call[admin.DeleteGroupsRequest]) -> list[AnyMessage]:
        return [protocol.DeleteGroupsRequest(call.message.groups_names)]

    def respond(self, _call: AnyCall, response: protocol.DeleteGroupsResponse) -> Message:
        results = [
            admin.DeletableGroupResult(name, ERRORS[error].code)
            for name, error in response.errors.items()
        ]
        return admin.DeleteGroupsResponse(results=results)
