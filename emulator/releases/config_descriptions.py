"""Configurations as brokers describe them: each value, where it comes from, and its synonyms.

A topic's value overrides the broker's, which may come from several places itself (KIP-226); lower
numbers of a source win. Source: ``ConfigHelper``, ``DynamicBrokerConfig.brokerConfigSynonyms``,
``ServerTopicConfigSynonyms``, ``ConfigDef.Type``.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.releases.broker_configs import BrokerConfigKey, ConfigType, broker_configs
from emulator.releases.config import Address, Settings, default_of, profile_of, type_of
from emulator.releases.config_names import SETTINGS, TOPIC_DEFAULTS
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
    "CLASS": 8,
    "PASSWORD": 9,
}
"""Types of values (``DescribeConfigsResponse.ConfigType``)."""

Synonym = tuple[str, str | None, int]
"""A name that the value may be given by, its value there (None: sensitive), and its source."""
Layers = Sequence[tuple[int, Mapping[str, str]]]
"""A broker's own values, by source: those that override the others come first."""


class ConfigEntry(Struct, frozen=True, array_like=True):
    """One value. ``is_read_only``: only a restart changes it.

    ``value`` is None if it has none, or if it is sensitive, as passwords are.
    """

    name: str
    value: str | None
    source: int
    is_read_only: bool
    type: int
    synonyms: list[Synonym]
    is_sensitive: bool = False


_RETENTION: Final = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
_ROLL: Final = ("log.roll.ms", "log.roll.hours")
_JITTER: Final = ("log.roll.jitter.ms", "log.roll.jitter.hours")
_SYNONYMS: Final = {
    **dict.fromkeys(_RETENTION, _RETENTION),
    **dict.fromkeys(_ROLL, _ROLL),
    **dict.fromkeys(_JITTER, _JITTER),
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
}
"""Names of one value in several units (``DynamicBrokerConfig.brokerConfigSynonyms``)."""

_SERVER_NAMES: Final = {"cleanup.policy": "log.cleanup.policy"}
"""The brokers' names of topic settings that have no effect in a broker's configuration here."""


def static_values(settings: Settings, broker: int, *, in_kraft_mode: bool) -> dict[str, str]:
    """Return the values of a broker's file: the cluster's, and what tells brokers apart."""
    keys = broker_configs(profile_of(settings.version).numbers)
    values: dict[str, str] = {}
    for name in ("broker.id", "node.id"):
        if name in keys:
            values[name] = str(broker)
    if in_kraft_mode:
        values["process.roles"] = "broker"
    if broker in settings.racks:
        values["broker.rack"] = settings.racks[broker]
    return values | _listeners(settings, broker) | settings.defaults


def _listeners(settings: Settings, broker: int) -> dict[str, str]:
    """Where a broker that is served listens, and which addresses clients are told."""
    found = settings.listeners.get(broker, {})
    if not found:
        return {}
    bound, advertised = zip(
        *(
            [f"{name}://{written_address(address)}" for address in addresses]
            for name, addresses in found.items()
        ),
        strict=True,
    )
    return {"listeners": ",".join(bound), "advertised.listeners": ",".join(advertised)}


def written_address(address: Address) -> str:
    """Return host and port as configurations have them: ``[::1]:9092``."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def describe_broker(release: str, layers: Layers) -> list[ConfigEntry]:
    """Describe all configurations of a broker, including those without effect here."""
    keys = broker_configs(profile_of(release).numbers)
    found = []
    for key in keys.values():
        synonyms = _of_broker(key.name, keys, layers)
        value, source = _effective(synonyms)
        entry = ConfigEntry(
            key.name, value, source, key.mode == "read-only", TYPES[key.type], synonyms
        )
        found.append(_hidden(entry) if key.type == "PASSWORD" else entry)
    return found


def _hidden(entry: ConfigEntry) -> ConfigEntry:
    """The entry without its values, which are sensitive."""
    synonyms: list[Synonym] = [(name, None, source) for name, _, source in entry.synonyms]
    return replace(entry, value=None, synonyms=synonyms, is_sensitive=True)


def describe_defaults(release: str, values: Mapping[str, str]) -> list[ConfigEntry]:
    """Describe the dynamic default values of all brokers, and nothing else."""
    keys = broker_configs(profile_of(release).numbers)
    return [
        ConfigEntry(
            name,
            value,
            DEFAULT_BROKER,
            is_read_only=False,
            type=TYPES[keys[name].type] if name in keys else TYPES["STRING"],
            synonyms=[(name, value, DEFAULT_BROKER)],
        )
        for name, value in values.items()
    ]


def describe_topic(release: str, own: Mapping[str, str], layers: Layers) -> list[ConfigEntry]:
    """Describe a topic's configuration; ``own`` are the topic's values."""
    found, keys = {}, broker_configs(profile_of(release).numbers)
    for name, of_broker, default in _topic_settings(release):
        found[name] = _of_topic(name, own, _of_broker(of_broker, keys, layers), default)
    for name, default in TOPIC_DEFAULTS.items():
        inherited = _of_broker(_SERVER_NAMES.get(name, name), keys, layers)
        found[name] = _of_topic(name, own, inherited, default)
    for name, value in own.items():
        if name not in found:
            found[name] = _of_topic(name, own, [], value)
    return list(found.values())


@cache
def _topic_settings(release: str) -> tuple[tuple[str, str, str], ...]:
    """The settings that topics can override in a release: their names and a broker's, defaults."""
    numbers = profile_of(release).numbers
    return tuple(
        (setting.topic_name or setting.name, setting.name, default_of(setting, release))
        for setting in SETTINGS
        if setting.per_topic
        and is_since(numbers, setting.since)
        and (setting.until is None or is_until(numbers, setting.until))
    )


def _of_broker(name: str, keys: Mapping[str, BrokerConfigKey], layers: Layers) -> list[Synonym]:
    """The values of a broker's configuration, the effective one first.

    A value that is given in another unit alone is none (``dropWhile`` in ``ConfigHelper``).
    """
    names = _SYNONYMS.get(name, (name,))
    synonyms: list[Synonym] = [
        (each, values[each], source)
        for source, values in layers
        for each in names
        if values.get(each)
    ]
    for each in names:
        key = keys.get(each)
        if key is not None and key.default is not None:
            synonyms.append((each, key.default, DEFAULT))
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
