"""What brokers' and topics' configurations are: types, defaults and update modes, by release.

This is all that a broker of a release describes (since 0.11), including what has no effect here.
Source: ``KafkaConfig``, ``DynamicBrokerConfig`` and ``LogConfig`` of each release, asked for their
tables.
"""

from functools import cache
from typing import Final, Literal, cast

from msgspec import Struct

from emulator.releases.broker_configs_table import TABLE
from emulator.releases.topic_configs_table import TABLE as TOPICS_TABLE
from emulator.releases.versions import Numbers, is_since, is_until

ConfigType = Literal[
    "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"
]
"""The types of configurations (``ConfigDef.Type``)."""
UpdateMode = Literal["read-only", "cluster-wide", "per-broker"]
"""How a value changes: by a restart, for all brokers or one of them, or for each on its own."""
_OPEN: Final = "-"


class BrokerConfigKey(Struct, frozen=True):
    """A configuration of brokers; ``default`` is None if there is none."""

    name: str
    type: ConfigType
    mode: UpdateMode
    default: str | None


@cache
def broker_configs(numbers: Numbers) -> dict[str, BrokerConfigKey]:
    """Return a release's configurations by name; none before 0.11, which describes none."""
    keys = {}
    for line in TABLE.splitlines():
        since, until, kind, mode, name, *rest = line.split(" ", 5)
        if is_since(numbers, since) and (until == _OPEN or is_until(numbers, until)):
            default = rest[0].removeprefix("=") if rest else None
            key = BrokerConfigKey(name, cast("ConfigType", kind), cast("UpdateMode", mode), default)
            keys[name] = key
    return keys


class TopicConfigKey(Struct, frozen=True):
    """A configuration of topics.

    ``of_broker`` is the broker's configuration that it overrides (empty: none), ``default`` its
    value if the broker's has none.
    """

    name: str
    type: ConfigType
    of_broker: str
    default: str


@cache
def topic_configs(numbers: Numbers) -> dict[str, TopicConfigKey]:
    """Return what topics of a release have, by name; nothing before 0.11, which describes none."""
    keys = {}
    for line in TOPICS_TABLE.splitlines():
        since, until, kind, of_broker, name, default = line.split(" ", 5)
        if is_since(numbers, since) and (until == _OPEN or is_until(numbers, until)):
            broker = "" if of_broker == _OPEN else of_broker
            key = TopicConfigKey(name, cast("ConfigType", kind), broker, default.removeprefix("="))
            keys[name] = key
    return keys
