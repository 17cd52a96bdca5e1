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


class ConfigKey(Struct, frozen=True):
    """A configuration from release ``since`` to ``until``, or to the newest (None)."""

    since: str
    until: str | None
    type: ConfigType
    name: str

    def is_in(self, numbers: Numbers) -> bool:
        """Whether it is that in a release."""
        return is_since(numbers, self.since) and (
            self.until is None or is_until(numbers, self.until)
        )


class BrokerConfigKey(ConfigKey, frozen=True):
    """A configuration of brokers; ``default`` is None if there is none."""

    mode: UpdateMode
    default: str | None


class TopicConfigKey(ConfigKey, frozen=True):
    """A configuration of topics.

    ``of_broker`` is the broker's configuration that it overrides (empty: none), ``default`` its
    value if the broker's has none.
    """

    of_broker: str
    default: str


def _broker_config(line: str) -> BrokerConfigKey:
    since, until, kind, mode, name, *rest = line.split(" ", 5)
    return BrokerConfigKey(
        since,
        None if until == _OPEN else until,
        cast("ConfigType", kind),
        name,
        cast("UpdateMode", mode),
        rest[0].removeprefix("=") if rest else None,
    )


def _topic_config(line: str) -> TopicConfigKey:
    since, until, kind, of_broker, name, default = line.split(" ", 5)
    return TopicConfigKey(
        since,
        None if until == _OPEN else until,
        cast("ConfigType", kind),
        name,
        "" if of_broker == _OPEN else of_broker,
        default.removeprefix("="),
    )


BROKER_CONFIGS: Final = tuple(map(_broker_config, TABLE.splitlines()))
TOPIC_CONFIGS: Final = tuple(map(_topic_config, TOPICS_TABLE.splitlines()))
"""What each configuration has been since 0.11, the oldest of a name first."""


@cache
def broker_configs(numbers: Numbers) -> dict[str, BrokerConfigKey]:
    """Return a release's configurations by name; none before 0.11, which describes none."""
    return {key.name: key for key in BROKER_CONFIGS if key.is_in(numbers)}


@cache
def topic_configs(numbers: Numbers) -> dict[str, TopicConfigKey]:
    """Return what topics of a release have, by name; nothing before 0.11, which describes none."""
    return {key.name: key for key in TOPIC_CONFIGS if key.is_in(numbers)}
