"""Configurations as brokers describe them: each value, where it comes from, and its synonyms.

A topic's value overrides the broker's, which may come from several places itself (KIP-226); lower
numbers of a source win. Source: ``ConfigHelper``, ``DynamicBrokerConfig.brokerConfigSynonyms``,
``ServerTopicConfigSynonyms``, ``ConfigDef.Type``.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from emulator.common.java_numbers import java_integer
from emulator.releases import client_metrics
from emulator.releases.broker_configs import (
    BrokerConfigKey,
    ConfigType,
    broker_configs,
    topic_configs,
)
from emulator.releases.config import Address, Settings, profile_of, type_of
from emulator.releases.group_configs import group_configs

TOPIC: Final = 1
BROKER: Final = 2
DEFAULT_BROKER: Final = 3
STATIC_BROKER: Final = 4
DEFAULT: Final = 5
METRICS: Final = 7
GROUP: Final = 8
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
    """The listeners of a broker that is served, and the addresses announced to clients."""
    listeners = settings.listeners.get(broker, {})
    if not listeners:
        return {}
    bound, advertised = zip(
        *(
            [f"{name}://{written_address(address)}" for address in addresses]
            for name, addresses in listeners.items()
        ),
        strict=True,
    )
    return {"listeners": ",".join(bound), "advertised.listeners": ",".join(advertised)}


def written_address(address: Address) -> str:
    """Return host and port as configurations have them: ``[::1]:9092``."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def unexpected_broker(name: str, broker: int, *, or_all: bool = True) -> str:
    """Why a broker does not describe a resource of that name, or '' if it does.

    The empty name is all brokers, if ``or_all``. Source: ``ConfigHelper.describeConfigs``.
    """
    if not name:
        return "" if or_all else "Broker id must not be empty"
    number = java_integer(name)
    if number is None:
        return f"Broker id must be an integer, but it is: {name}"
    if number == broker:
        return ""
    described = f"{broker} or empty string," if or_all else str(broker)
    return f"Unexpected broker id, expected {described} but received {name}"


def describe_broker(release: str, layers: Layers) -> list[ConfigEntry]:
    """Describe all configurations of a broker, including those without effect here."""
    keys = broker_configs(profile_of(release).numbers)
    entries = []
    for key in keys.values():
        synonyms = _of_broker(key.name, keys, layers)
        value, source = _effective(synonyms)
        entry = ConfigEntry(
            key.name, value, source, key.mode == "read-only", TYPES[key.type], synonyms
        )
        entries.append(_hidden(entry) if key.type == "PASSWORD" else entry)
    return entries


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
    values = [(source, tuple(of_source.items())) for source, of_source in layers]
    return list(_described_topic(release, tuple(own.items()), tuple(values)))


# Most topics have the same values, and each creation describes one.
@lru_cache(maxsize=1 << 8)
def _described_topic(
    release: str,
    values: tuple[tuple[str, str], ...],
    sources: tuple[tuple[int, tuple[tuple[str, str], ...]], ...],
) -> tuple[ConfigEntry, ...]:
    own, layers = dict(values), [(source, dict(of_source)) for source, of_source in sources]
    numbers = profile_of(release).numbers
    entries: dict[str, ConfigEntry] = {}
    keys = broker_configs(numbers)
    for key in topic_configs(numbers).values():
        inherited = _of_broker(key.of_broker, keys, layers) if key.of_broker else []
        default = _in_another_unit(key.of_broker, layers) or key.default
        entries[key.name] = _of_topic(key.name, own, inherited, default, TYPES[key.type])
    for name, value in own.items():
        if name not in entries:
            entries[name] = _of_topic(name, own, [], value, TYPES[type_of(name)])
    return tuple(entries.values())


def describe_group(release: str, own: Mapping[str, str], layers: Layers) -> list[ConfigEntry]:
    """Describe a group's configuration; ``own`` are the group's values.

    Up to 4.2 a broker's value is told as the default of the group's, and only if there is no own
    one; from 4.3 on by its own name and source (``ConfigHelper.createGroupConfigEntry``).
    """
    profile = profile_of(release)
    numbers = profile.numbers
    entries, keys = [], broker_configs(numbers)
    for key in group_configs(numbers).values():
        if not key.is_described:
            continue
        inherited = _of_broker(key.of_broker, keys, layers)
        if not profile.has("group_configs_inherit"):
            value = inherited[0][1] if inherited else key.default
            inherited = [] if key.name in own else [(key.name, value, DEFAULT)]
        elif not inherited:
            inherited = [(key.name, key.default, DEFAULT)]
        synonyms = [(key.name, own[key.name], GROUP), *inherited] if key.name in own else inherited
        value, source = _effective(synonyms)
        entries.append(
            ConfigEntry(
                key.name, value, source, is_read_only=False, type=TYPES[key.type], synonyms=synonyms
            )
        )
    return entries


def describe_subscription(release: str, own: Mapping[str, str]) -> list[ConfigEntry]:
    """Describe a subscription to clients' metrics; ``own`` are its values.

    Up to 3.9 they have no types, and there are no defaults (``ConfigHelper``).
    """
    if not profile_of(release).has("metrics_subscriptions_are_configurations"):
        return [
            ConfigEntry(name, value, METRICS, is_read_only=False, type=0, synonyms=[])
            for name, value in own.items()
        ]
    return [
        ConfigEntry(
            name,
            own.get(name, default),
            METRICS if name in own else DEFAULT,
            is_read_only=False,
            type=client_metrics.TYPES[name],
            synonyms=[(name, own[name], METRICS)] if name in own else [],
        )
        for name, default in client_metrics.DEFAULTS.items()
    ]


_MS_PER_UNIT: Final = {"ms": 1, "minutes": 60_000, "hours": 3_600_000}


def _in_another_unit(name: str, layers: Layers) -> str | None:
    """A broker's value that is given in another unit: in milliseconds, and under no synonym."""
    for _, values in layers:
        for synonym in _SYNONYMS.get(name, ()):
            unit = synonym.rpartition(".")[2]
            if (text := values.get(synonym)) and unit in _MS_PER_UNIT:
                try:
                    return str(max(-1, int(text) * _MS_PER_UNIT[unit]))
                except ValueError:
                    return None
    return None


def _of_broker(name: str, keys: Mapping[str, BrokerConfigKey], layers: Layers) -> list[Synonym]:
    """The values of a broker's configuration, the effective one first.

    A value that is given in another unit alone is none (``dropWhile`` in ``ConfigHelper``).
    """
    names = _SYNONYMS.get(name, (name,))
    synonyms: list[Synonym] = [
        (synonym, values[synonym], source)
        for source, values in layers
        for synonym in names
        if values.get(synonym)
    ]
    for synonym in names:
        key = keys.get(synonym)
        if key is not None and key.default is not None:
            synonyms.append((synonym, key.default, DEFAULT))
    while synonyms and synonyms[0][0] != name:
        del synonyms[0]
    return synonyms


def _of_topic(
    name: str, own: Mapping[str, str], inherited: list[Synonym], default: str, kind: int
) -> ConfigEntry:
    synonyms = [(name, own[name], TOPIC), *inherited] if name in own else inherited
    value, source = _effective(synonyms)
    return ConfigEntry(
        name,
        default if value is None else value,
        source,
        is_read_only=False,
        type=kind,
        synonyms=synonyms,
    )


def _effective(synonyms: list[Synonym]) -> tuple[str | None, int]:
    return (synonyms[0][1], synonyms[0][2]) if synonyms else (None, DEFAULT)
