"""Access control entries, and what they allow (KIP-11, KIP-290).

Source: ``StandardAuthorizerData`` 3.9 to 4.4, ``AclAuthorizer`` 2.4 to 3.9.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

ANY: Final = 1
"""A filter's code for any resource type, pattern type, operation or permission."""
MATCH: Final = 2
"""A filter's pattern type: entries whose resource is the one that is named, by any pattern."""
LITERAL: Final = 3
PREFIXED: Final = 4
WILDCARD: Final = "*"
"""The literal name of all resources, and the host of all hosts."""
EVERYBODY: Final = "User:*"
CLUSTER_NAME: Final = "kafka-cluster"
"""The name of the only resource of type CLUSTER."""

TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER = range(2, 8)
RESOURCE_TYPES: Final = {
    2: "TOPIC",
    3: "GROUP",
    4: "CLUSTER",
    5: "TRANSACTIONAL_ID",
    6: "DELEGATION_TOKEN",
    7: "USER",
}
OPERATIONS: Final = {
    2: "ALL",
    3: "READ",
    4: "WRITE",
    5: "CREATE",
    6: "DELETE",
    7: "ALTER",
    8: "DESCRIBE",
    9: "CLUSTER_ACTION",
    10: "DESCRIBE_CONFIGS",
    11: "ALTER_CONFIGS",
    12: "IDEMPOTENT_WRITE",
    13: "CREATE_TOKENS",
    14: "DESCRIBE_TOKENS",
    15: "TWO_PHASE_COMMIT",
}
(ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION) = range(2, 10)
DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = 10, 11, 12
DENY, ALLOW = 2, 3
IMPLIED_BY: Final = {
    DESCRIBE: (DESCRIBE, READ, WRITE, DELETE, ALTER),
    DESCRIBE_CONFIGS: (DESCRIBE_CONFIGS, ALTER_CONFIGS),
}
"""Operations that are allowed to whom another one is allowed; denials imply nothing."""
OPERATIONS_ON: Final = {
    TOPIC: (READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS),
    GROUP: (READ, DELETE, DESCRIBE),
    CLUSTER: (
        *(CREATE, ALTER, DESCRIBE, CLUSTER_ACTION),
        *(DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE),
    ),
}
"""The operations on a resource that clients can ask for (``AclEntry.supportedOperations``)."""


class Acl(Struct, frozen=True, array_like=True, gc=False):
    """An access control entry (``AclBinding``): numbers and names are those of the protocol.

    In a filter a name, principal or host of None, and a number of :data:`ANY`, match all.
    """

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission: int

    def covers(self, resource_type: int, name: str) -> bool:
        """Return whether the entry is for a resource."""
        own = self.resource_name or ""
        if self.resource_type != resource_type:
            return False
        if self.pattern_type == PREFIXED:
            return name.startswith(own)
        return own in (name, WILDCARD)

    def is_of(self, principal: str, host: str) -> bool:
        """Return whether the entry is for a client."""
        return self.principal in (principal, EVERYBODY) and self.host in (host, WILDCARD)

    def concerns(self, operation: int) -> bool:
        """Return whether the entry allows or denies an operation."""
        if self.operation in (ALL, operation):
            return True
        return self.permission == ALLOW and self.operation in IMPLIED_BY.get(operation, ())

    def matches(self, acl_filter: "Acl") -> bool:
        """Return whether the entry is one of those of a filter (``AclBindingFilter``)."""
        return (
            acl_filter.resource_type in (ANY, self.resource_type)
            and self._has_resource_of(acl_filter)
            and acl_filter.principal in (None, self.principal)
            and acl_filter.host in (None, self.host)
            and acl_filter.operation in (ANY, self.operation)
            and acl_filter.permission in (ANY, self.permission)
        )

    def _has_resource_of(self, acl_filter: "Acl") -> bool:
        if acl_filter.pattern_type not in (ANY, MATCH, self.pattern_type):
            return False
        name = acl_filter.resource_name
        if name is None or name == self.resource_name:
            return True
        return acl_filter.pattern_type == MATCH and self.covers(self.resource_type, name)


def is_principal(text: str | None) -> bool:
    """Return whether a text names a principal, with its type (``SecurityUtils``)."""
    return ":" in (text or "")


def is_allowed(
    acls: Iterable[Acl],
    principal: str,
    host: str,
    operation: int,
    resource_type: int,
    name: str,
    *,
    otherwise: bool = False,
) -> bool:
    """Return whether entries allow an operation; a denial is stronger than any allowance.

    ``otherwise`` holds for a resource without any entry (``allow.everyone.if.no.acl.found``).
    """
    has_entry = allows = False
    for acl in acls:
        if not acl.covers(resource_type, name):
            continue
        has_entry = True
        if acl.is_of(principal, host) and acl.concerns(operation):
            if acl.permission == DENY:
                return False
            allows = True
    return allows or (otherwise and not has_entry)


def is_allowed_on_any(
    acls: Iterable[Acl],
    principal: str,
    host: str,
    operation: int,
    resource_type: int,
    *,
    otherwise: bool = False,
) -> bool:
    """Return whether an operation is allowed on at least one resource of a type.

    Source: ``Authorizer.authorizeByResourceType`` (KIP-679), which first asks about a resource that
    is called "hardcode".
    """
    acls = list(acls)
    if is_allowed(acls, principal, host, operation, resource_type, "hardcode", otherwise=otherwise):
        return True
    own = [
        acl
        for acl in acls
        if acl.resource_type == resource_type
        and acl.is_of(principal, host)
        and acl.operation in (operation, ALL)
    ]
    denied = [acl for acl in own if acl.permission == DENY]
    if any(acl.resource_name == WILDCARD and acl.pattern_type == LITERAL for acl in denied):
        return False
    return any(
        not any(_dominates(acl, allowed) for acl in denied)
        for allowed in own
        if allowed.permission == ALLOW
    )


def _dominates(denial: Acl, allowed: Acl) -> bool:
    """Whether a denial covers all resources that are allowed."""
    name = allowed.resource_name or ""
    if denial.pattern_type == PREFIXED:
        return name.startswith(denial.resource_name or "")
    return allowed.pattern_type == LITERAL and denial.resource_name == name
