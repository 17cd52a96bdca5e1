"""Access control entries of an image, in words, and as brokers and controllers have them."""

from collections.abc import Iterable
from typing import Final

from emulator.cluster_image.image import AclEntry, ClusterImage
from emulator.common.acls import ALLOW, DENY, LITERAL, OPERATIONS, PREFIXED, RESOURCE_TYPES, Acl
from emulator.common.names import nearest_hint
from emulator.releases.config import AUTHORIZER, AUTHORIZER_CLASS

_PATTERNS: Final = {LITERAL: "LITERAL", PREFIXED: "PREFIXED"}
_PERMISSIONS: Final = {DENY: "DENY", ALLOW: "ALLOW"}


def entries_of(acls: Iterable[Acl]) -> tuple[AclEntry, ...]:
    """Return entries in words, sorted; those whose words are not known here are left out."""
    entries = (
        AclEntry(
            permission=_PERMISSIONS[acl.permission],
            principal=acl.principal or "",
            operation=OPERATIONS[acl.operation],
            resource_type=RESOURCE_TYPES[acl.resource_type],
            resource=acl.resource_name or "",
            pattern=_PATTERNS[acl.pattern_type],
            host=acl.host or "",
        )
        for acl in acls
        if acl.permission in _PERMISSIONS
        and acl.operation in OPERATIONS
        and acl.resource_type in RESOURCE_TYPES
        and acl.pattern_type in _PATTERNS
    )
    return tuple(sorted(entries, key=in_words))


def acls_of(entries: Iterable[AclEntry]) -> list[Acl]:
    """Return entries as brokers and controllers have them.

    Raises:
        ValueError: a word of an entry is none of Kafka's.
    """
    return [
        Acl(
            resource_type=_number(RESOURCE_TYPES, entry.resource_type, "resource type"),
            resource_name=entry.resource,
            pattern_type=_number(_PATTERNS, entry.pattern, "pattern"),
            principal=entry.principal,
            host=entry.host,
            operation=_number(OPERATIONS, entry.operation, "operation"),
            permission=_number(_PERMISSIONS, entry.permission, "permission"),
        )
        for entry in entries
    ]


def authorizer_of(image: ClusterImage) -> dict[str, str]:
    """Return the authorizer of an image's brokers, and its settings, by Kafka's names.

    They stand in ``server.properties``, alike on all brokers of a cluster, or are given by hand.
    """
    configs = {**(image.static_configs or {}), **(image.configs or {})}
    for broker in image.brokers:
        configs = {**(broker.static_configs or {}), **configs}
    return {name: configs[name] for name in (AUTHORIZER_CLASS, *AUTHORIZER) if name in configs}


def in_words(entry: AclEntry) -> str:
    """Return an entry as text: ``ALLOW User:alice READ TOPIC orders LITERAL *``."""
    words = (entry.permission, entry.principal, entry.operation, entry.resource_type)
    return " ".join((*words, entry.resource, entry.pattern, entry.host))


def _number(names: dict[int, str], word: str, field: str) -> int:
    for number, name in names.items():
        if name == word:
            return number
    hint = nearest_hint(word, names.values())
    raise ValueError(f"an access control entry has no {field} {word!r}{hint}")
