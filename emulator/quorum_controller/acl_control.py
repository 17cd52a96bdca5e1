"""Access control entries. Source: ``AclControlManager``, 3.3 to 4.4."""

from collections.abc import Sequence

from emulator.common.acls import (
    ALLOW,
    ANY,
    DENY,
    LITERAL,
    MATCH,
    OPERATIONS,
    PREFIXED,
    RESOURCE_TYPES,
    Acl,
    is_principal,
)
from emulator.common.names import random_uuid
from emulator.metadata_log.image import record_of_acl
from emulator.metadata_log.records import AnyRecord, RemoveAccessControlEntryRecord
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.replica_placer import RandomBelow
from emulator.quorum_controller.result import ApiError, Result

PATTERN_TYPES = {0: "UNKNOWN", ANY: "ANY", MATCH: "MATCH"}
"""Pattern types of filters only."""


def create_acls(
    context: Context, acls: Sequence[Acl], random_below: RandomBelow
) -> Result[list[ApiError]]:
    """Create entries that are valid and do not exist yet."""
    records: list[AnyRecord] = []
    errors = []
    existing = set(map(_key, context.image.acls.values()))
    for acl in acls:
        reason = why_invalid(acl)
        is_checked = context.rules.acl_principals_checked
        if not reason and is_checked and not is_principal(acl.principal):
            reason = f"Could not parse principal from `{acl.principal}` (no colon is present)"
        if reason:
            errors.append(ApiError("INVALID_REQUEST", reason))
            continue
        errors.append(ApiError())
        if _key(acl) not in existing:
            existing.add(_key(acl))
            records.append(record_of_acl(random_uuid(random_below), acl))
    return Result(records, errors, is_atomic=True)


def delete_acls(
    context: Context, filters: Sequence[Acl]
) -> Result[list[tuple[ApiError, list[Acl]]]]:
    """Delete the entries that match filters; each filter is answered with all that it matches."""
    deleted: dict[str, None] = {}
    answers = []
    for acl_filter in filters:
        if reason := why_no_filter(acl_filter):
            answers.append((ApiError("INVALID_REQUEST", reason), list[Acl]()))
            continue
        matching = {key: acl for key, acl in context.image.acls.items() if acl.matches(acl_filter)}
        deleted |= dict.fromkeys(matching)
        answers.append((ApiError(), list(matching.values())))
    records: list[AnyRecord] = [RemoveAccessControlEntryRecord(key) for key in deleted]
    return Result(records, answers, is_atomic=True)


def _key(acl: Acl) -> tuple[object, ...]:
    return tuple(getattr(acl, name) for name in acl.__struct_fields__)


def why_invalid(acl: Acl) -> str:
    """Return why an entry cannot be created, in Kafka's words; empty if it can."""
    if acl.resource_type not in RESOURCE_TYPES:
        return f"Invalid resourceType {_any_or_unknown(acl.resource_type)}"
    if acl.pattern_type not in (LITERAL, PREFIXED):
        return f"Invalid patternType {PATTERN_TYPES.get(acl.pattern_type, 'UNKNOWN')}"
    if acl.operation not in OPERATIONS:
        return f"Invalid operation {_any_or_unknown(acl.operation)}"
    if acl.permission not in (DENY, ALLOW):
        return f"Invalid permissionType {_any_or_unknown(acl.permission)}"
    return "" if acl.resource_name else "Resource name should not be empty"


def why_no_filter(acl_filter: Acl) -> str:
    """Return why a filter is not valid, in Kafka's words; empty if it is."""
    kinds = (ANY, MATCH, LITERAL, PREFIXED)
    if (
        acl_filter.resource_type not in (ANY, *RESOURCE_TYPES)
        or acl_filter.pattern_type not in kinds
    ):
        return "Unknown patternFilter."
    if acl_filter.operation not in (ANY, *OPERATIONS) or acl_filter.permission not in (
        ANY,
        DENY,
        ALLOW,
    ):
        return "Unknown entryFilter."
    return ""


def _any_or_unknown(number: int) -> str:
    return "ANY" if number == ANY else "UNKNOWN"
