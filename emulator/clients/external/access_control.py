"""Requests about access control entries (KIP-140).

Without an authorizer they are refused. Source: ``AclApis``.
"""

from typing import Final

from msgspec import Struct

from emulator import protocol
from emulator.clients.external.authorization import Authorizer
from emulator.clients.external.call import AnyCall, Call
from emulator.common.acls import (
    ALLOW,
    CLUSTER,
    CLUSTER_NAME,
    DENY,
    DESCRIBE,
    LITERAL,
    OPERATIONS,
    PREFIXED,
    RESOURCE_TYPES,
    Acl,
)
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.quorum_controller.acl_control import why_no_filter
from emulator.wire.messages import security as wire
from emulator.wire.types import Message

NOT_CONFIGURED: Final = "No Authorizer is configured."
ON_BROKER: Final = "No Authorizer is configured on the broker"
SECURITY_DISABLED: Final = ERRORS["SECURITY_DISABLED"].code
UNAUTHORIZED: Final = "CLUSTER_AUTHORIZATION_FAILED"
NAMELESS: Final = "Invalid empty resource name"
ONLY_CLUSTER: Final = f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"


class DescribeAcls(Struct, eq=False):
    """DescribeAcls: the entries that the connection's broker knows."""

    authorizer: Authorizer

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return []

    def respond(self, call: Call[wire.DescribeAclsRequest], *_responses: AnyMessage) -> Message:
        if not self.authorizer.is_there:
            return wire.DescribeAclsResponse(0, SECURITY_DISABLED, ON_BROKER)
        client = self.authorizer.client(call.connection)
        if not client.may_on_cluster(DESCRIBE):
            return wire.DescribeAclsResponse(0, ERRORS[UNAUTHORIZED].code, None)
        acl_filter = _filter(call.message)
        if reason := why_no_filter(acl_filter):
            return wire.DescribeAclsResponse(0, ERRORS["INVALID_REQUEST"].code, reason)
        resources: dict[tuple[int, str, int], list[wire.AclDescription]] = {}
        for acl in client.acls:
            if acl.matches(acl_filter):
                resource = (acl.resource_type, acl.resource_name or "", acl.pattern_type)
                row = wire.AclDescription(
                    acl.principal or "", acl.host or "", acl.operation, acl.permission
                )
                resources.setdefault(resource, []).append(row)
        rows = [wire.DescribeAclsResource(*resource, acls) for resource, acls in resources.items()]
        return wire.DescribeAclsResponse(0, 0, None, rows)


class CreateAcls(Struct, eq=False):
    """CreateAcls: completed when the entries are written."""

    authorizer: Authorizer

    def ask(self, call: Call[wire.CreateAclsRequest]) -> list[AnyMessage]:
        """Create the entries whose resources have valid names."""
        if not self.authorizer.is_there:
            return []
        if any(map(_is_no_entry, call.message.creations)):
            return [protocol.AclsResponse(0, "UNKNOWN_SERVER_ERROR", {})]
        valid = [
            _entry(creation) for creation in call.message.creations if not _wrong_name(creation)
        ]
        return [protocol.CreateAclsRequest(valid)]

    def respond(
        self, call: Call[wire.CreateAclsRequest], *responses: protocol.AclsResponse
    ) -> Message:
        creations = call.message.creations
        if not responses:
            refused = wire.AclCreationResult(SECURITY_DISABLED, NOT_CONFIGURED)
            return wire.CreateAclsResponse(results=[refused] * len(creations))
        (response,) = responses
        if response.error != NONE:
            refused = wire.AclCreationResult(ERRORS[response.error].code, _text(response))
            return wire.CreateAclsResponse(results=[refused] * len(creations))
        rows, number = [], 0
        for creation in creations:
            if reason := _wrong_name(creation):
                rows.append(wire.AclCreationResult(ERRORS["INVALID_REQUEST"].code, reason))
                continue
            key = str(number)
            code = ERRORS[response.errors[key]].code
            rows.append(wire.AclCreationResult(code, response.messages.get(key)))
            number += 1
        return wire.CreateAclsResponse(results=rows)


class DeleteAcls(Struct, eq=False):
    """DeleteAcls: completed when the entries are gone."""

    authorizer: Authorizer

    def ask(self, call: Call[wire.DeleteAclsRequest]) -> list[AnyMessage]:
        if not self.authorizer.is_there:
            return []
        return [
            protocol.DeleteAclsRequest([_filter(acl_filter) for acl_filter in call.message.filters])
        ]

    def respond(
        self, call: Call[wire.DeleteAclsRequest], *responses: protocol.AclsResponse
    ) -> Message:
        filters = call.message.filters
        if not responses:
            refused = wire.DeleteAclsFilterResult(SECURITY_DISABLED, NOT_CONFIGURED)
            return wire.DeleteAclsResponse(filter_results=[refused] * len(filters))
        (response,) = responses
        if response.error != NONE:
            refused = wire.DeleteAclsFilterResult(ERRORS[response.error].code, _text(response))
            return wire.DeleteAclsResponse(filter_results=[refused] * len(filters))
        rows = [
            wire.DeleteAclsFilterResult(
                ERRORS[response.errors[str(number)]].code,
                response.messages.get(str(number)),
                [_matching(acl) for acl in acls],
            )
            for number, acls in enumerate(response.acls)
        ]
        return wire.DeleteAclsResponse(filter_results=rows)


def _text(response: protocol.AclsResponse) -> str | None:
    return response.messages.get("")


def _is_no_entry(creation: wire.AclCreation) -> bool:
    """Whether a creation has words that only filters have: brokers fail on the whole request."""
    return (
        creation.resource_type not in RESOURCE_TYPES
        or creation.resource_pattern_type not in (LITERAL, PREFIXED)
        or creation.operation not in OPERATIONS
        or creation.permission_type not in (DENY, ALLOW)
    )


def _wrong_name(creation: wire.AclCreation) -> str:
    """Why an entry's resource cannot have its name; empty if it can."""
    if creation.resource_type == CLUSTER and creation.resource_name != CLUSTER_NAME:
        return ONLY_CLUSTER
    return "" if creation.resource_name else NAMELESS


def _entry(creation: wire.AclCreation) -> Acl:
    return Acl(
        resource_type=creation.resource_type,
        resource_name=creation.resource_name,
        pattern_type=creation.resource_pattern_type,
        principal=creation.principal,
        host=creation.host,
        operation=creation.operation,
        permission=creation.permission_type,
    )


def _filter(acl_filter: wire.DescribeAclsRequest | wire.DeleteAclsFilter) -> Acl:
    return Acl(
        resource_type=acl_filter.resource_type_filter,
        resource_name=acl_filter.resource_name_filter,
        pattern_type=acl_filter.pattern_type_filter,
        principal=acl_filter.principal_filter,
        host=acl_filter.host_filter,
        operation=acl_filter.operation,
        permission=acl_filter.permission_type,
    )


def _matching(acl: Acl) -> wire.DeleteAclsMatchingAcl:
    return wire.DeleteAclsMatchingAcl(
        *(0, None, acl.resource_type, acl.resource_name or "", acl.pattern_type),
        *(acl.principal or "", acl.host or "", acl.operation, acl.permission),
    )
