"""Strimzi's ``KafkaUser`` and authorization: users of SCRAM, quotas, access control entries.

Source: Strimzi's ``KafkaUserSpec`` and its User Operator (``KafkaUserModel``): a user whose
certificate authenticates it has the principal ``CN=NAME``, every other one ``NAME``.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from emulator.cluster_image.acls import acls_of
from emulator.cluster_image.image import AclEntry, ClientQuota, ScramUser
from emulator.releases.config import ACL_AUTHORIZER, AUTHORIZER_CLASS, STANDARD_AUTHORIZER
from sessions.own_cluster.access import quota_values
from sessions.own_cluster.reading import FormatError
from sessions.text import clean

SCRAM: Final = "scram-sha-512"
SCRAM_ITERATIONS: Final = 4096
"""How often the User Operator applies the hash (``ScramCredentialsOperator``)."""
SIMPLE: Final = "simple"
"""The type of authorization with Kafka's own authorizer."""
_BY_CERTIFICATE: Final = ("tls", "tls-external")
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CLUSTER: Final = "kafka-cluster"
"""The name of the cluster as a resource (``Resource.CLUSTER_NAME``)."""
_PATTERNS: Final = {"literal": "LITERAL", "prefix": "PREFIXED"}


class Users:
    """What the ``KafkaUser`` resources of a cluster say together."""

    def __init__(self) -> None:
        self.users: dict[str, ScramUser] = {}
        self.quotas: dict[str, ClientQuota] = {}
        self.acls: list[AclEntry] = []

    def take(self, name: str, spec: dict[str, Any]) -> None:
        """Add a resource.

        Raises:
            FormatError: a field is not what it should be.
        """
        if not name:
            raise FormatError("has a KafkaUser without a name")
        authentication = mapping_in(spec, "authentication").get("type")
        principal = f"CN={name}" if authentication in _BY_CERTIFICATE else name
        if authentication == SCRAM:
            self.users[name] = ScramUser(name, {"SCRAM-SHA-512": SCRAM_ITERATIONS})
        limits = mapping_in(spec, "quotas")
        values = quota_values({_kafkas(quota).lower(): str(limits[quota]) for quota in limits})
        if values:
            self.quotas[principal] = ClientQuota(user=principal, values=values)
        for rule in _list(mapping_in(spec, "authorization"), "acls"):
            entries = tuple(_entries(f"User:{principal}", rule))
            try:
                acls_of(entries)
            except ValueError as error:
                raise FormatError(f"has a KafkaUser of which {clean(str(error))}") from error
            self.acls += entries


def authorizer(authorization: dict[str, Any], *, with_zookeeper: bool) -> dict[str, str]:
    """Return the settings of ``server.properties`` that the authorization of a ``Kafka`` means."""
    if authorization.get("type") != SIMPLE:
        return {}
    settings = {AUTHORIZER_CLASS: ACL_AUTHORIZER if with_zookeeper else STANDARD_AUTHORIZER}
    super_users = [f"User:{user}" for user in _list(authorization, "superUsers")]
    if super_users:
        settings["super.users"] = ";".join(super_users)
    return settings


def _entries(principal: str, rule: Any) -> Iterator[AclEntry]:  # noqa: ANN401 - YAML
    """Yield the entries of a rule, one for each of its operations."""
    if not isinstance(rule, dict):
        raise FormatError("has an access control rule that is no mapping")
    resource = mapping_in(rule, "resource")
    kind = _kafkas(resource.get("type", ""))
    pattern = str(resource.get("patternType", "literal"))
    if pattern not in _PATTERNS:
        raise FormatError(f"has the pattern {clean(pattern[:40])!r} in an access control rule")
    operations = _list(rule, "operations") or [rule.get("operation", "")]
    for operation in operations:
        yield AclEntry(
            permission=_kafkas(rule.get("type", "allow")),
            principal=principal,
            operation=_kafkas(operation),
            resource_type=kind,
            resource=_CLUSTER if kind == "CLUSTER" else str(resource.get("name", "*")),
            pattern=_PATTERNS[pattern],
            host=str(rule.get("host", "*")),
        )


def _kafkas(name: object) -> str:
    """Return Kafka's spelling of a name of Strimzi: ``TRANSACTIONAL_ID`` for transactionalId."""
    return _CAPITAL.sub("_", str(name)).upper()


def mapping_in(value: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a field that is a mapping; an empty one if it is absent.

    Raises:
        FormatError: it is something else.
    """
    mapping = value.get(name) or {}
    if not isinstance(mapping, dict):
        raise FormatError(f"has a field {name!r} that is no mapping")
    return mapping


def _list(value: dict[str, Any], name: str) -> list[Any]:
    items = value.get(name) or []
    if not isinstance(items, list):
        raise FormatError(f"has a field {name!r} that is no list")
    return items
