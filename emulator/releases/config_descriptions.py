"""Configurations as brokers describe them: each value, where it comes from, and its synonyms.

A topic's value overrides the broker's, which may come from several places itself (KIP-226); lower
numbers of a source win. Source: ``ConfigHelper``, ``DynamicBrokerConfig.brokerConfigSynonyms``,
``ServerTopicConfigSynonyms``, ``ConfigDef.Type``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from emulator.releases.config import DYNAMIC, ConfigType, default_of, profile_of, type_of
from emulator.releases.config_names import SETTINGS, TOPIC_DEFAULTS, Setting
from emulator.releases.versions import is_since, is_until

TOPIC: Final = 1
BROKER: Final = 2
DEFAULT_BROKER: Final = 3
STATIC_BROKER: Final = 4
DEFAULT: Final = 5
"""Sources of values (``DescribeConfigsResponse.ConfigSource``)."""

TYPES: Final[dict[ConfigType, int]] = {
    "BOOLEAN": 1,
    "STRING": 2,
    "INT": 3,
    "SHORT": 4,
    "LONG": 5,
    "DOUBLE": 6,
    "LIST": 7,
}
"""Types of values (``DescribeConfigsResponse.ConfigType``)."""

Synonym = tuple[str, str, int]
"""A name that the value may be given by, its value there, and its source."""
Layers = Sequence[tuple[int, Mapping[str, str]]]
"""A broker's own values, by source: those that override the others come first."""


class ConfigEntry(Struct, frozen=True, array_like=True):
    """One value. ``is_read_only``: only a restart changes it. ``value`` is None if it has none."""

    name: str
    value: str | None
    source: int
    is_read_only: bool
    type: int
    synonyms: list[Synonym]


_OTHER_NAMES: Final = {
    "log.retention.ms": (("log.retention.minutes", ""), ("log.retention.hours", "168")),
    "log.roll.ms": (("log.roll.hours", "168"),),
}
"""Names in other units, with their defaults: the name in milliseconds then has none."""

_SERVER_NAMES: Final = {"cleanup.policy": "log.cleanup.policy"}
"""The brokers' names of topic settings that have no effect in a broker's configuration here."""


def describe_broker(release: str, layers: Layers) -> list[ConfigEntry]:
    """Describe a broker's configuration."""
    found = []
    for setting in _settings(release):
        synonyms = _of_broker(setting.name, default_of(setting, release), layers)
        value, source = _effective(synonyms)
        if setting.name not in _OTHER_NAMES and value is None:
            value = default_of(setting, release)
        is_read_only = setting.name not in DYNAMIC
        found.append(
            ConfigEntry(
                setting.name, value, source, is_read_only, TYPES[type_of(setting.name)], synonyms
            )
        )
    return found


def describe_defaults(values: Mapping[str, str]) -> list[ConfigEntry]:
    """Describe the dynamic default values of all brokers, and nothing else."""
    return [
        ConfigEntry(
            name,
            value,
            DEFAULT_BROKER,
            is_read_only=False,
            type=TYPES[type_of(name)],
            synonyms=[(name, value, DEFAULT_BROKER)],
        )
        for name, value in values.items()
    ]


def describe_topic(release: str, own: Mapping[str, str], layers: Layers) -> list[ConfigEntry]:
    """Describe a topic's configuration; ``own`` are the topic's values."""
    found = {}
    for setting in _settings(release):
        if setting.per_topic:
            name, default = setting.topic_name or setting.name, default_of(setting, release)
            inherited = _of_broker(setting.name, default, layers)
            found[name] = _of_topic(name, own, inherited, default)
    for name, default in TOPIC_DEFAULTS.items():
        inherited = [(_SERVER_NAMES.get(name, name), default, DEFAULT)]
        found[name] = _of_topic(name, own, inherited, default)
    for name, value in own.items():
        if name not in found:
            found[name] = _of_topic(name, own, [], value)
    return list(found.values())


def _settings(release: str) -> Iterable[Setting]:
    numbers = profile_of(release).numbers
    for each in SETTINGS:
        if is_since(numbers, each.since) and (each.until is None or is_until(numbers, each.until)):
            yield each


def _of_broker(name: str, default: str, layers: Layers) -> list[Synonym]:
    """The values of a broker's setting, the effective one first; none if it has only a default.

    A default in another unit is no synonym by itself (``dropWhile`` in ``ConfigHelper``).
    """
    others = _OTHER_NAMES.get(name, ())
    names = (name, *(other for other, _ in others))
    given = [
        (each, values[each], source)
        for source, values in layers
        for each in names
        if values.get(each)
    ]
    defaults = [(other, value, DEFAULT) for other, value in others if value]
    synonyms = [*given, *(defaults or [(name, default, DEFAULT)])]
    while synonyms and synonyms[0][0] != name:
        del synonyms[0]
    return synonyms


def _of_topic(
    name: str, own: Mapping[str, str], inherited: list[Synonym], default: str
) -> ConfigEntry:
    synonyms = [(name, own[name], TOPIC), *inherited] if name in own else inherited
    value, source = _effective(synonyms)
    return ConfigEntry(
        name,
        default if value is None else value,
        source,
        is_read_only=False,
        type=TYPES[type_of(name)],
        synonyms=synonyms,
    )


def _effective(synonyms: list[Synonym]) -> tuple[str | None, int]:
    return (synonyms[0][1], synonyms[0][2]) if synonyms else (None, DEFAULT)
