"""Who may connect where, and how much they may do, as Kafka writes it in texts."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import isfinite
from typing import Final
from urllib.parse import unquote

from emulator.cluster_image.image import DEFAULT, Listener, ScramUser
from emulator.common.scram import MECHANISMS
from sessions.own_cluster import client_properties

QUOTAS: Final = (
    *("producer_byte_rate", "consumer_byte_rate", "request_percentage"),
    *("controller_mutation_rate", "connection_creation_rate"),
)
"""The names of quotas (``QuotaConfig``)."""
PROTOCOLS: Final = dict(enumerate(client_properties.PROTOCOLS))
"""Security protocols by their number on the wire (``SecurityProtocol``)."""
Entity = tuple[str, str, str]
"""A user, client id and address, of which those are empty that a quota is not for."""
_ENDPOINT: Final = re.compile(r"([^:/]+)://\[?([^\]/]*?)\]?:(\d{1,5})")
_ENCODED: Final = re.compile(r"(?:[\w.-]|%[0-9A-F]{2})+", re.ASCII)
_ITERATIONS: Final = re.compile(r"iterations=(\d{1,9})")


def listeners_in(
    endpoints: Iterable[str], protocols: Mapping[str, str]
) -> tuple[Listener, ...] | None:
    """Return the listeners of ``NAME://HOST:PORT``; None if there are none.

    ``protocols`` is ``listener.security.protocol.map``: without an entry, a listener has the name
    of its protocol.
    """
    parts = (_ENDPOINT.fullmatch(endpoint.strip()) for endpoint in endpoints)
    listeners = (
        Listener(part[1], part[2], int(part[3]), protocols.get(part[1], part[1]))
        for part in parts
        if part is not None
    )
    return tuple(listeners) or None


def listeners_of(configs: Mapping[str, str]) -> tuple[Listener, ...] | None:
    """Return the listeners that a broker's configurations tell clients of; None if unknown."""
    endpoints = configs.get("advertised.listeners") or configs.get("listeners", "")
    pairs = configs.get("listener.security.protocol.map", "").split(",")
    protocols = dict(pair.strip().split(":", 1) for pair in pairs if ":" in pair)
    return listeners_in(endpoints.split(","), protocols)


def user_name(described: str) -> str:
    """Return the name of a user whose credentials a broker or a tool describes.

    With ZooKeeper, brokers give the name of the user's znode, which is encoded as in URLs
    (``ZkAdminManager.describeUserScramCredentials``); tools do not say which mode it is.
    """
    return unquote(described) if _ENCODED.fullmatch(described) else described


def scram_user(name: str, values: Mapping[str, str]) -> ScramUser:
    """Return a user with the mechanisms that are in ``values``; salts and keys are left out."""
    iterations = {
        mechanism: int(count[1])
        for mechanism in MECHANISMS
        if (count := _ITERATIONS.search(values.get(mechanism, ""))) is not None
    }
    return ScramUser(name, iterations)


def entity_of(parts: Iterable[tuple[str, str | None]]) -> Entity:
    """Return the entity of pairs of a type and a name; None is the default's name."""
    names = {kind: DEFAULT if name is None else name for kind, name in parts}
    return names.get("user", ""), names.get("client-id", ""), names.get("ip", "")


def quota_values(values: Mapping[str, str]) -> dict[str, float]:
    """Return the quotas among configurations; those that are no number are left out."""
    limits: dict[str, float] = {}
    for name in QUOTAS:
        with suppress(KeyError, ValueError):
            limit = float(values[name])
            if isfinite(limit):
                limits[name] = limit
    return limits
