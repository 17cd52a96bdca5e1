"""The znodes of access control entries (KIP-11, KIP-290). Source: ``ZkData``, ``AclEntry``."""

from collections.abc import Sequence
from typing import Final

import msgspec

from emulator.common.acls import LITERAL, OPERATIONS, PREFIXED, RESOURCE_TYPES, Acl
from emulator.zookeeper.data import compact, number_in

LITERAL_ACLS: Final = "/kafka-acl"
CHANGES: Final = "/kafka-acl-changes"
EXTENDED: Final = "/kafka-acl-extended"
PREFIXED_ACLS: Final = "/kafka-acl-extended/prefixed"
EXTENDED_CHANGES: Final = "/kafka-acl-extended-changes"
CHANGE_PREFIX: Final = "acl_changes_"
PERMISSIONS: Final = {2: "Deny", 3: "Allow"}


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


TYPE_NAMES: Final = {number: _camel(name) for number, name in RESOURCE_TYPES.items()}
"""The names of resource types in paths: ``TransactionalId``."""
OPERATION_NAMES: Final = {number: _camel(name) for number, name in OPERATIONS.items()}
_TYPES: Final = {name: number for number, name in TYPE_NAMES.items()}
_OPERATIONS: Final = {name: number for number, name in OPERATION_NAMES.items()}
_PERMISSIONS: Final = {name: number for number, name in PERMISSIONS.items()}


class AclEntry(msgspec.Struct, rename="camel"):
    """One of the entries in a znode."""

    principal: str
    permission_type: str
    operation: str
    host: str


class AclNode(msgspec.Struct):
    """The content of a znode."""

    version: int
    acls: list[AclEntry]


class Change(msgspec.Struct, rename="camel"):
    """The content of a notification about a resource that is named by a prefix."""

    version: int
    resource_type: str
    name: str
    pattern_type: str


def stores(*, extended: bool) -> list[str]:
    """Return the znodes below which entries are."""
    return [LITERAL_ACLS, PREFIXED_ACLS] if extended else [LITERAL_ACLS]


def paths(*, extended: bool) -> list[str]:
    """Return the znodes that an authorizer creates when it starts."""
    more = [EXTENDED, PREFIXED_ACLS, EXTENDED_CHANGES] if extended else []
    return [LITERAL_ACLS, CHANGES, *more]


def path_of(acl: Acl) -> str:
    """Return the znode of an entry's resource."""
    store = PREFIXED_ACLS if acl.pattern_type == PREFIXED else LITERAL_ACLS
    return f"{store}/{TYPE_NAMES[acl.resource_type]}/{acl.resource_name}"


def _resource(path: str) -> tuple[int, str, int] | None:
    """The type, name and pattern type of a znode's resource; None if it is not one."""
    for store, pattern in ((PREFIXED_ACLS, PREFIXED), (LITERAL_ACLS, LITERAL)):
        if path.startswith(f"{store}/"):
            kind, _, name = path.removeprefix(f"{store}/").partition("/")
            return (_TYPES[kind], name, pattern) if kind in _TYPES else None
    return None


def acls_json(acls: Sequence[Acl]) -> str:
    """Return the content of a znode."""
    entries = [
        AclEntry(
            acl.principal or "",
            PERMISSIONS[acl.permission],
            OPERATION_NAMES[acl.operation],
            acl.host or "",
        )
        for acl in acls
    ]
    return compact(AclNode(1, entries))


def acls_in(path: str, data: str | None) -> list[Acl]:
    """Return the entries in a znode; none if it has another structure."""
    resource = _resource(path)
    try:
        node = msgspec.json.decode(data or "", type=AclNode)
    except msgspec.MsgspecError:
        return []
    if resource is None:
        return []
    return [
        Acl(
            *resource,
            entry.principal,
            entry.host,
            _OPERATIONS[entry.operation],
            _PERMISSIONS[entry.permission_type],
        )
        for entry in node.acls
        if entry.operation in _OPERATIONS and entry.permission_type in _PERMISSIONS
    ]


def change_of(path: str) -> tuple[str, str]:
    """Return where a change of a resource's znode is notified, and with which content."""
    resource = _resource(path)
    assert resource is not None
    number, name, pattern = resource
    if pattern == PREFIXED:
        return EXTENDED_CHANGES, compact(Change(1, TYPE_NAMES[number], name, "PREFIXED"))
    return CHANGES, f"{TYPE_NAMES[number]}:{name}"


def path_in_change(changes: str, data: str | None) -> str:
    """Return the znode that a notification names; empty if it names none."""
    if changes == CHANGES:
        kind, _, name = (data or "").partition(":")
        return f"{LITERAL_ACLS}/{kind}/{name}" if kind in _TYPES and name else ""
    try:
        change = msgspec.json.decode(data or "", type=Change)
    except msgspec.MsgspecError:
        return ""
    return f"{PREFIXED_ACLS}/{change.resource_type}/{change.name}"


def change_path(changes: str, number: int) -> str:
    """Return the path of a notification."""
    return f"{changes}/{CHANGE_PREFIX}{number:010}"


def number_of_change(name: str) -> int | None:
    """Return the number of a notification; None if it is none."""
    if not name.startswith(CHANGE_PREFIX):
        return None
    return number_in(name.removeprefix(CHANGE_PREFIX).lstrip("0") or "0")
