"""Requests about access control entries (KIP-140).

Without an authorizer they are refused. Source: ``AclApis``.
"""

from typing import Final

from msgspec import Struct

from emulator import protocol
from emulator.clients.external.authorization import Authorizer
from emulator.clients.external.call import AnyCall, Call
from emulator.common.acls import (
    ANY,
    CLUSTER,
    CLUSTER_NAME,
    DESCRIBE,
    MATCH,
    USER,
    Acl,
)
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.releases.profiles import Profile
from emulator.wire.messages import security as wire
from emulator.wire.types import Message

NOT_CONFIGURED: Final = "No Authorizer is configured."
ON_BROKER: Final = "No Authorizer is configured on the broker"
SECURITY_DISABLED: Final = ERRORS["SECURITY_DISABLED"].code
UNKNOWN: Final = 0
"""The word of an entry or a filter that stands for all that are unknown."""
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
    has_users: bool

    def ask(self, call: Call[wire.CreateAclsRequest]) -> list[AnyMessage]:
        """Create the entries whose resources have valid names."""
        if not self.authorizer.is_there:
            return []
        if any(map(_is_no_entry, call.message.creations)):
            return [protocol.AclsResponse(0, "UNKNOWN_SERVER_ERROR", {})]
        valid = [
            _entry(creation)
            for creation in call.message.creations
            if not self._wrong_resource(creation)
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
            if reason := self._wrong_resource(creation):
                rows.append(wire.AclCreationResult(ERRORS["INVALID_REQUEST"].code, reason))
                continue
            key = str(number)
            code = ERRORS[response.errors[key]].code
            rows.append(wire.AclCreationResult(code, response.messages.get(key)))
            number += 1
        return wire.CreateAclsResponse(results=rows)

    def _wrong_resource(self, creation: wire.AclCreation) -> str:
        """Why an entry cannot have its resource; empty if it can."""
        if creation.resource_type == USER and not self.has_users:
            return "Invalid resourceType UNKNOWN"
        if creation.resource_type == CLUSTER and creation.resource_name != CLUSTER_NAME:
            return ONLY_CLUSTER
        return "" if creation.resource_name else NAMELESS


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
    words = (creation.resource_type, creation.operation, creation.permission_type)
    return ANY in words or creation.resource_pattern_type in (ANY, MATCH)


def why_unreadable(message: Message, profile: Profile) -> str:
    """Why a broker fails to read a request about entries, and hangs up; empty if it does not.

    Source: ``CreateAclsRequest``, ``DescribeAclsRequest``, ``DeleteAclsRequest``.
    """
    if isinstance(message, wire.CreateAclsRequest):
        if profile.has("acl_entries_read_early") and any(map(_is_no_entry, message.creations)):
            return "an entry has a word that only filters have"
        entries = [_entry(creation) for creation in message.creations]
    elif isinstance(message, wire.DescribeAclsRequest):
        entries = [_filter(message)]
    elif isinstance(message, wire.DeleteAclsRequest):
        entries = [_filter(acl_filter) for acl_filter in message.filters]
    else:
        return ""
    is_unknown = profile.has("unknown_acl_words_unreadable") and any(
        UNKNOWN in (acl.resource_type, acl.pattern_type, acl.operation, acl.permission)
        for acl in entries
    )
    return "a word of an access control entry is unknown" if is_unknown else ""


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
