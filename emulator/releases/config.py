"""Configuration by Kafka's names: validation, and the effective values of a broker in a release.

Durations are in the unit of Kafka's name, and in microseconds in :class:`BrokerConfig`.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from msgspec import Struct, convert, field

from emulator.common.java_numbers import LONG_BITS, java_integer
from emulator.common.names import nearest_hint
from emulator.common.scram import Credential
from emulator.releases.broker_configs import (
    BROKER_CONFIGS,
    TOPIC_CONFIGS,
    BrokerConfigKey,
    ConfigType,
    broker_configs,
    topic_configs,
)
from emulator.releases.config_names import (
    BOOLEAN,
    FIRST_DESCRIBED,
    INT_MAX,
    INTERNAL_TOPIC_CONFIGS,
    LISTS,
    LONG_MAX,
    PREVIEWS,
    PRODUCERS,
    SETTINGS,
    TOPIC_DEFAULTS,
    TOPICS,
    WITHOUT_EFFECT,
    BrokerConfig,
    Kind,
    Parsed,
    Setting,
)
from emulator.releases.profiles import PROFILES, Profile
from emulator.releases.variants import CONSUMER_GROUP_PREVIEWS, SHARE_GROUP_EARLY_ACCESS
from emulator.releases.versions import (
    Numbers,
    has_no_zookeeper,
    is_in_line,
    is_since,
    is_until,
    nearest,
    numbers_of,
)

MISSPELT: Final = {"replica.log.time.max.ms": "replica.lag.time.max.ms"}
"""Misspelt settings in the documents and Kafka's spelling: accepted, with a note."""
MS_PER_MINUTE: Final = 60_000
COARSER: Final = {
    "log.retention.minutes": ("log.retention.ms", MS_PER_MINUTE),
    "log.retention.hours": ("log.retention.ms", 60 * MS_PER_MINUTE),
    "log.roll.hours": ("log.roll.ms", 60 * MS_PER_MINUTE),
}
"""Names of the same value in coarser units, finest first: a finer one takes precedence."""
AUTHORIZER: Final = frozenset({"super.users", "allow.everyone.if.no.acl.found"})
"""Names that an authorizer takes, and that brokers do not describe."""
_DECIMAL: Final = re.compile(
    r"[+-]?([0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})([eE][+-]?[0-9]{1,9})?"
)
LOGINS: Final = ("sasl.kerberos.", "sasl.login.")
"""What the names of settings begin with that are of how brokers log in: none of them does here."""
REBALANCE_PROTOCOLS: Final = "group.coordinator.rebalance.protocols"
SHARE_ENABLE: Final = "group.share.enable"
UNSTABLE_APIS: Final = "unstable.api.versions.enable"
AUTHORIZER_CLASS: Final = "authorizer.class.name"
STANDARD_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
ACL_AUTHORIZER: Final = "kafka.security.authorizer.AclAuthorizer"
SIMPLE_ACL_AUTHORIZER: Final = "kafka.security.auth.SimpleAclAuthorizer"
SECURITY: Final = frozenset({"sasl.enabled.mechanisms", AUTHORIZER_CLASS, *AUTHORIZER})
"""Names that have an effect on clients that authenticate."""
_BY_NAME: Final = {setting.name: setting for setting in SETTINGS}
_BY_TOPIC_NAME: Final = {setting.topic_name: setting for setting in SETTINGS if setting.topic_name}
_TYPES: Final = {key.name: key.type for key in (*TOPIC_CONFIGS, *BROKER_CONFIGS)}
_MICROSECONDS: Final[dict[Kind, int]] = {
    "milliseconds": 1_000,
    "seconds": 1_000_000,
    "minutes": 60_000_000,
}


Address = tuple[str, int]
"""Host and port."""


class ConfigError(ValueError):
    """An unknown configuration name or version, or an invalid value; says so in one sentence."""


class Quota(Struct, array_like=True):
    """The quotas of an entity, which is made of pairs of a type and a name (None: the default)."""

    entity: list[tuple[str, str | None]]
    values: dict[str, float] = field(default_factory=dict)


class Endpoint(Struct, array_like=True, frozen=True):
    """A listener as a broker registers it."""

    name: str
    host: str
    port: int
    protocol: str


class Settings(Struct, array_like=True):
    """The configuration of a cluster, as plain data. Overrides are by Kafka's names.

    ``brokers`` has each broker's own values: those of its file and, from 1.1 on, those that it has
    read from its znode. ``hosts`` are the host names that brokers register (default ``broker-N``).
    ``broker_defaults`` has what each broker has read of the values for all brokers (1.1+).
    ``assigned_by_kafka`` are the topics whose partitions were assigned by Kafka's own algorithm,
    which is also used for partitions added later.
    ``listeners`` has, by broker and listener name, where the broker listens, and the address that
    clients are told (host and port each), ``protocols`` the security protocol of each listener.
    ``users`` are the users of the brokers' files with their passwords, ``scram`` the credentials
    that were altered since or are an image's, by user and mechanism. ``quotas`` are those of
    clients. ``endpoints`` are the listeners that an image's brokers register; the others have one,
    PLAINTEXT, at port 9092 and their id.
    """

    version: str
    stepwise: bool = False
    defaults: dict[str, str] = field(default_factory=dict)
    brokers: dict[int, dict[str, str]] = field(default_factory=dict)
    racks: dict[int, str] = field(default_factory=dict)
    hosts: dict[int, str] = field(default_factory=dict)
    assigned_by_kafka: dict[str, None] = field(default_factory=dict)
    broker_defaults: dict[int, dict[str, str]] = field(default_factory=dict)
    listeners: dict[int, dict[str, tuple[Address, Address]]] = field(default_factory=dict)
    protocols: dict[str, str] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    scram: dict[str, dict[str, Credential]] = field(default_factory=dict)
    quotas: list[Quota] = field(default_factory=list)
    endpoints: dict[int, list[Endpoint]] = field(default_factory=dict)

    def of_broker(self, broker: int) -> dict[str, str]:
        """The values of a broker that override its release's; names without effect are left out."""
        dynamic = {**self.broker_defaults.get(broker, {}), **self.brokers.get(broker, {})}
        return self.defaults | with_effect(dynamic, self.version)


class Configuration:
    """A cluster's settings and its release; ``version`` is incremented on every effective change.

    Code that caches values derived from the settings compares ``version`` to detect changes.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        profile = PROFILES[settings.version]
        self.profile = preview_of(settings.defaults, profile) or profile
        self.version = 0

    def changed(self) -> None:
        """Note that a broker's effective values have changed."""
        self.version += 1


class TopicValues(Struct, frozen=True):
    """The effective values of a topic's partitions on one broker; -1 means unlimited.

    ``deletes``: the start of a log may be deleted (cleanup.policy). ``log_append_time``: leaders
    set the records' times (message.timestamp.type). ``compacts``: its latest records of each key
    are kept, so each needs a key.
    """

    min_insync_replicas: int
    unclean_leader_election_enable: bool
    max_message_bytes: int
    retention_us: int = -1
    retention_bytes: int = -1
    segment_bytes: int = INT_MAX
    segment_us: int = LONG_MAX
    deletes: bool = True
    log_append_time: bool = False
    compacts: bool = False


class ProducerDefaults(Struct, frozen=True):
    """The default configuration of a release's producer; ``acks`` -1 is ``all``."""

    acks: int
    retries: int
    enable_idempotence: bool
    retry_backoff_us: int = 100_000
    request_timeout_us: int = 30_000_000
    delivery_timeout_us: int | None = 120_000_000
    metadata_max_age_us: int = 300_000_000
    batch_size_bytes: int = 16_384


class ConsumerDefaults(Struct, frozen=True):
    """The default configuration of a release's consumer.

    ``rebalance_timeout_us`` is max.poll.interval.ms, before KIP-62 the session timeout.
    ``fetch_max_bytes`` is in effect since 0.10.1 (KIP-74).
    """

    session_timeout_us: int
    rebalance_timeout_us: int
    heartbeat_interval_us: int = 3_000_000
    request_timeout_us: int = 30_000_000
    retry_backoff_us: int = 100_000
    fetch_min_bytes: int = 1
    fetch_max_wait_us: int = 500_000
    fetch_max_bytes: int = 52_428_800
    max_partition_fetch_bytes: int = 1_048_576


def profile_of(version: str) -> Profile:
    """Return the profile of a release by any of its names.

    Raises:
        ConfigError: no such release; the message names the nearest.
    """
    profile = PROFILES.get(version)
    if profile is None:
        raise ConfigError(f"There is no version {version!r}; the nearest is {nearest(version)!r}.")
    return profile


def is_kraft(version: str, mode: str) -> bool:
    """Whether a cluster of a release runs without ZooKeeper; ``mode`` is kraft, zk, or empty.

    Raises:
        ConfigError: the release does not support that mode.
    """
    profile = profile_of(version)
    if mode == "zk" and has_no_zookeeper(profile.numbers):
        raise ConfigError(f"{version} has no ZooKeeper mode: 3.9 was the last version that had it.")
    if mode == "kraft" and not profile.has("kraft"):
        since = profile.first_with("kraft")
        raise ConfigError(f"KRaft mode exists since {since}, not in {version}.")
    return mode == "kraft" or has_no_zookeeper(profile.numbers)


def validate(name: str, value: str, version: str) -> Parsed:
    """Return a broker's configuration value as a number (in the name's own unit) or boolean."""
    return _parse(_find(name, profile_of(version)), value)


def check_dynamic(values: Mapping[str, str | None], version: str, entity: str, broker: int) -> None:
    """Check values that a running ``broker`` is asked to take over; None removes one.

    ``entity`` is the broker whose values they are, or '' for those of all brokers. Names that Kafka
    does not know are accepted. Source: ``ConfigAdminManager.preprocess``,
    ``ZkAdminManager.alterBrokerConfigs``, ``DynamicBrokerConfig.validateConfigs``.

    Raises:
        ConfigError: another broker's values, an invalid value, a name whose value only a restart
            changes, or one of listeners or security, which are set when a cluster starts.
    """
    if entity not in ("", str(broker)):
        raise ConfigError(f"Broker {broker} changes its own configuration, not that of {entity!r}.")
    keys, settings = broker_configs(profile_of(version).numbers), known_settings(version)
    for name, value in values.items():
        key = keys.get(name)
        if value is None or key is None:
            continue
        if key.mode == "read-only":
            raise ConfigError(f"{name} cannot be changed while a broker runs.")
        if name in settings:
            validate(name, value, version)
        elif key.mode == "per-broker" and not name.startswith(LOGINS):
            raise ConfigError(
                f"{name} is of listeners or security, which are set when the cluster starts."
            )
        else:
            _check_type(key, value)


def is_dynamic(name: str, version: str) -> bool:
    """Whether a running broker of a release takes a configuration over."""
    key = broker_configs(profile_of(version).numbers).get(name)
    return key is not None and key.mode != "read-only"


def _check_type(key: BrokerConfigKey, text: str) -> None:
    """Reject what ``ConfigDef.parseType`` would, of a configuration without effect."""
    word = text.strip()
    try:
        if key.type in ("INT", "SHORT", "LONG"):
            int(word)
        elif key.type == "DOUBLE":
            float(word)
    except ValueError:
        raise ConfigError(f"{key.name} must be a number, not {text!r}.") from None
    if key.type == "BOOLEAN" and word.lower() not in BOOLEAN:
        raise ConfigError(f"{key.name} must be true or false, not {text!r}.")


@cache
def known_settings(version: str) -> frozenset[str]:
    """Return the names that brokers of a release accept and that have an effect here."""
    numbers = profile_of(version).numbers
    return frozenset(
        setting.name
        for setting in SETTINGS
        if is_since(numbers, setting.since)
        and (setting.until is None or is_until(numbers, setting.until))
    )


def with_effect(values: Mapping[str, str], version: str) -> dict[str, str]:
    """Return the values that have an effect here in a release; clients may set others too."""
    settings = known_settings(version)
    return {name: value for name, value in values.items() if name in settings}


def in_milliseconds(values: Mapping[str, str]) -> dict[str, str]:
    """Return values with those of minutes and hours under the name that has milliseconds.

    Raises:
        ConfigError: such a value is no integer.
    """
    converted = {name: text for name, text in values.items() if name not in COARSER}
    for coarse, (name, factor) in COARSER.items():
        if text := values.get(coarse, ""):
            try:
                number = int(text)
            except ValueError:
                raise ConfigError(f"{coarse} must be an integer, not {text!r}.") from None
            converted.setdefault(name, str(number * factor if number > 0 else number))
    return converted


def without_effect(names: Iterable[str], version: str) -> dict[str, str]:
    """Return those of a broker's names that change nothing here, and why, as far as it is known."""
    profile = profile_of(version)
    return {
        name: WITHOUT_EFFECT.get(name, "")
        for name in names
        if name not in COARSER and name not in SECURITY and _other(name, profile) is not None
    }


def authorizers(version: str, *, in_kraft_mode: bool) -> list[str]:
    """Return the classes of authorizers that a release has in a mode."""
    if in_kraft_mode:
        return [STANDARD_AUTHORIZER]
    profile = profile_of(version)
    by_feature = {"acl_authorizer": ACL_AUTHORIZER, "simple_acl_authorizer": SIMPLE_ACL_AUTHORIZER}
    return [authorizer for feature, authorizer in by_feature.items() if profile.has(feature)]


def check_authorizer(config: Mapping[str, str], version: str, *, in_kraft_mode: bool) -> None:
    """Check that a cluster's brokers have the authorizer that they are configured with.

    Raises:
        ConfigError: there is no such class in the release, or not in this mode.
    """
    name = config.get(AUTHORIZER_CLASS, "").strip()
    names = authorizers(version, in_kraft_mode=in_kraft_mode)
    if name and name not in names:
        mode = "without ZooKeeper" if in_kraft_mode else "with ZooKeeper"
        choice = " or ".join(names) or "unknown"
        raise ConfigError(f"{AUTHORIZER_CLASS} of {version} {mode} is {choice}, not {name!r}.")


def preview_of(config: Mapping[str, str], profile: Profile) -> Profile | None:
    """A release with the preview that its brokers are configured with, if they are.

    Share groups of 4.0 have to be turned on, and so have requests that it has not finished.
    """
    protocols = config.get(REBALANCE_PROTOCOLS, "").split(",")
    has_share_groups = "share" in protocols or _is_true(config, SHARE_ENABLE)
    if has_share_groups and _is_true(config, UNSTABLE_APIS):
        return profile.with_preview(SHARE_GROUP_EARLY_ACCESS)
    return profile.with_preview(CONSUMER_GROUP_PREVIEWS) if "consumer" in protocols else None


def _is_true(config: Mapping[str, str], name: str) -> bool:
    return config.get(name, "").strip().lower() == "true"


def check_rebalance_protocols(
    config: Mapping[str, str], version: str, *, in_kraft_mode: bool
) -> None:
    """Check that brokers can serve the protocols of groups that they are configured with.

    Raises:
        ConfigError: they are a preview, which is not there with ZooKeeper.
    """
    profile, text = profile_of(version), config.get(REBALANCE_PROTOCOLS, "")
    if preview_of(config, profile) is not None and not in_kraft_mode:
        raise ConfigError(
            f"{REBALANCE_PROTOCOLS} can be {text!r} without ZooKeeper only: give --mode kraft."
        )


def _other(name: str, profile: Profile) -> BrokerConfigKey | None:
    """A configuration of the release that is none of :data:`SETTINGS`; None if it is one of them.

    The releases before 0.11 did not describe theirs, so they take those of 0.11.
    """
    if MISSPELT.get(name, name) in _BY_NAME:
        return None
    return broker_configs(max(profile.numbers, numbers_of(FIRST_DESCRIBED))).get(name)


@cache
def _defaults(numbers: Numbers) -> dict[str, Parsed]:
    """The defaults of a release by attribute: every broker of every cluster begins with them."""
    return {
        setting.attribute: _in_microseconds(setting, setting.default(numbers))
        for setting in SETTINGS
    }


def resolve(version: str, overrides: Mapping[str, str]) -> BrokerConfig:
    """Resolve a broker's configuration; an empty override is ignored.

    Names that the release has, but that have no effect here, are checked and left out.

    Raises:
        ConfigError: an unknown version or name, or an invalid value.
    """
    profile = profile_of(version)
    values = dict(_defaults(profile.numbers))
    for name, text in in_milliseconds(overrides).items():
        if text and (key := _other(name, profile)) is not None:
            _check_type(key, text)
        elif text and name not in AUTHORIZER:
            setting = _find(name, profile)
            values[setting.attribute] = _in_microseconds(setting, _parse(setting, text))
    config = convert(values, BrokerConfig)
    _check_together(config)
    return config


def check_topic_config(overrides: Mapping[str, str], version: str | None = None) -> dict[str, str]:
    """Return a topic's configuration in Kafka's spelling; empty values, which remove, stay empty.

    Names that have no effect here are kept if a broker would take their values. Without a
    ``version``, it may have what any release with KRaft has.

    Raises:
        ConfigError: a name that topics of the release do not have, or an invalid value.
    """
    checked = {}
    for name, text in overrides.items():
        if name in TOPICS:
            if text:
                check_without_effect(name, text)
            checked[name] = text
            continue
        setting = _find_for_topic(name)
        if version is not None:
            _check_release(name, setting, profile_of(version))
        checked[name] = _spelled(setting, _parse(setting, text)) if text else ""
    return checked


def resolve_topic(config: BrokerConfig, overrides: Mapping[str, str]) -> TopicValues:
    """Resolve a topic's configuration on a broker; names without effect here are ignored.

    Raises:
        ConfigError: an invalid value (``LogConfig.fromProps`` throws a ConfigException).
    """
    values: dict[str, Parsed] = {
        "min.insync.replicas": config.min_insync_replicas,
        "unclean.leader.election.enable": config.unclean_leader_election_enable,
        "max.message.bytes": config.message_max_bytes,
        "retention.bytes": config.log_retention_bytes,
        "segment.bytes": config.log_segment_bytes,
        "message.timestamp.type": config.log_append_time,
    }
    in_us = {"retention.ms": config.log_retention_us, "segment.ms": config.log_roll_us}
    for name in values:
        if text := overrides.get(name):
            values[name] = _parse(_find_for_topic(name), text)
    for name in in_us:
        if text := overrides.get(name):
            in_us[name] = int(_parse(_find_for_topic(name), text)) * 1_000
    min_isr, unclean, largest, retention_bytes, segment_bytes, log_append_time = values.values()
    policy = overrides.get("cleanup.policy") or TOPIC_DEFAULTS["cleanup.policy"]
    return TopicValues(
        int(min_isr),
        bool(unclean),
        int(largest),
        in_us["retention.ms"],
        int(retention_bytes),
        int(segment_bytes),
        in_us["segment.ms"],
        "delete" in policy,
        bool(log_append_time),
        "compact" in policy,
    )


@cache
def topic_config_names(release: Numbers | None = None) -> frozenset[str]:
    """Return the valid names in a topic's configuration, including those without effect here.

    Before 0.11, which describes none, topics have what they have in 0.11; without a ``release``,
    what any has.
    """
    names = frozenset(TOPICS) | frozenset(_BY_TOPIC_NAME)
    if release is None:
        return names
    described = topic_configs(max(release, numbers_of(FIRST_DESCRIBED))).keys()
    internal = {name for name, since in INTERNAL_TOPIC_CONFIGS.items() if is_since(release, since)}
    return names & (described | internal)


def check_without_effect(name: str, text: str) -> None:
    """Validate the value of a topic setting that has no effect here.

    Raises:
        ConfigError: a broker would reject the value.
    """
    allowed = TOPICS.get(name)
    if isinstance(allowed, tuple):
        if text.replace(" ", "") not in allowed:
            raise ConfigError(f"{name} must be one of {', '.join(allowed)}, not {text!r}.")
        return
    if allowed is None:
        return
    if isinstance(allowed, re.Pattern):
        elements = [] if text.strip() == "*" else text.split(",")
        if not all(allowed.fullmatch(element.strip()) for element in elements):
            raise ConfigError(
                f"{name} must be the literal '*' or a list of replicas in the format PARTITION:"
                f"BROKER,.., not {text!r}."
            )
        return
    value = _ratio(text) if allowed is float else java_integer(text.strip(), LONG_BITS)
    if value is None:
        raise ConfigError(f"{name} must be a number, not {text!r}.")
    if isinstance(allowed, int) and value < allowed:
        raise ConfigError(f"{name} must be {allowed} or more, not {value}.")
    if allowed is float and not 0 <= value <= 1:
        raise ConfigError(f"{name} must be a number from 0 to 1, not {text}.")
    if isinstance(allowed, range | frozenset) and value not in allowed:
        valid = "" if 0 in allowed else " but 0"
        raise ConfigError(
            f"{name} must be a number from {min(allowed)} to {max(allowed)}{valid}, not {value}."
        )


def _ratio(text: str) -> float | None:
    """A number as ``Double.parseDouble`` reads it, in decimal digits; None for any other text."""
    return float(text) if _DECIMAL.fullmatch(text.strip()) else None


def type_of(name: str) -> ConfigType:
    """Return the type of a topic's or broker's configuration.

    STRING for a name that is not known here.
    """
    return _TYPES.get(name, "STRING")


def default_of(setting: Setting, version: str) -> str:
    """Return a setting's default in a release, as text."""
    return _spelled(setting, setting.default(profile_of(version).numbers))


def changed_lists(
    current: Mapping[str, str], appended: Mapping[str, str], subtracted: Mapping[str, str]
) -> dict[str, str]:
    """Return a topic's lists after elements were appended or removed (KIP-339).

    A list without a value of its own begins with the default. Source:
    ``ConfigurationControlManager.incrementalAlterConfigResource``.

    Raises:
        ConfigError: a name whose value is no list.
    """
    changed: dict[str, str] = {}
    for name in (*appended, *subtracted):
        if name not in LISTS:
            raise ConfigError(f"{name} is no list; lists are {', '.join(sorted(LISTS))}.")
        before = current.get(name, TOPIC_DEFAULTS.get(name, ""))
        elements = [element for element in before.split(",") if element]
        added = [element for element in appended.get(name, "").split(",") if element]
        less = subtracted.get(name, "").split(",")
        elements += [element for element in added if element not in elements]
        changed[name] = ",".join([element for element in elements if element not in less])
    return changed


def producer_defaults(version: str) -> ProducerDefaults:
    """Return the defaults of a release's producer (KIP-91 in 2.1, KIP-679 in 3.0).

    In 3.0.0 and 3.1.0 KIP-679 changed ``acks`` alone, by mistake (KAFKA-13598).
    """
    profile = profile_of(version)
    has_delivery_timeout = profile.has("delivery_timeout")
    return ProducerDefaults(
        acks=-1 if profile.has("acks_all_by_default") else 1,
        retries=INT_MAX if has_delivery_timeout else 0,
        enable_idempotence=profile.has("idempotence_by_default"),
        delivery_timeout_us=120_000_000 if has_delivery_timeout else None,
    )


def consumer_defaults(version: str) -> ConsumerDefaults:
    """Return the defaults of a release's group member (KIP-62 in 0.10.1, KIP-735 in 3.0)."""
    profile = profile_of(version)
    if profile.has("session_timeout_45s"):
        return ConsumerDefaults(45_000_000, 300_000_000)
    if profile.has("rebalance_timeout"):
        return ConsumerDefaults(10_000_000, 300_000_000)
    return ConsumerDefaults(30_000_000, 30_000_000)


def _find(name: str, profile: Profile) -> Setting:
    setting = _BY_NAME.get(MISSPELT.get(name, name))
    if setting is None:
        others = broker_configs(max(profile.numbers, numbers_of(FIRST_DESCRIBED)))
        raise _unknown(name, [*_BY_NAME, *others])
    _check_release(name, setting, profile)
    return setting


def _check_release(name: str, setting: Setting, profile: Profile) -> None:
    if name in PREVIEWS and not is_in_line(profile.numbers, f"{setting.since}.0"):
        raise _unknown(name, ())
    if setting.until is not None and not is_until(profile.numbers, setting.until):
        raise ConfigError(
            f"{name} does not exist in {profile.version}: {setting.until} was the last version that"
            " had it."
        )
    if not is_since(profile.numbers, setting.since):
        raise ConfigError(
            f"{name} does not exist in {profile.version}: {setting.since} was the first version"
            " that had it."
        )


def _find_for_topic(name: str) -> Setting:
    if name in _BY_TOPIC_NAME:
        return _BY_TOPIC_NAME[name]
    names = list(_BY_TOPIC_NAME)
    if name in _BY_NAME:
        raise ConfigError(
            f"{name} belongs to brokers, not to topics, which have {' and '.join(names)}."
        )
    raise _unknown(name, names)


def _unknown(name: str, names: Iterable[str]) -> ConfigError:
    if name in PRODUCERS:
        return ConfigError(f"{name} belongs to producers: give it to produce as an option.")
    if name in PREVIEWS:
        return ConfigError(f"{name} cannot be set: {PREVIEWS[name]}.")
    return ConfigError(f"There is no configuration {name!r}{nearest_hint(name, names)}.")


def _parse(setting: Setting, text: str) -> Parsed:
    if setting.kind == "boolean":
        word = text.strip().lower()
        if word not in ("true", "false"):
            raise ConfigError(f"{setting.name} must be true or false, not {text!r}.")
        return word == "true"
    if setting.kind == "word":
        return _word(setting, text)
    try:
        number = int(text)
    except ValueError:
        raise ConfigError(f"{setting.name} must be an integer, not {text!r}.") from None
    if number < setting.minimum:
        raise ConfigError(f"{setting.name} must be {setting.minimum} or more, not {number}.")
    if number > setting.maximum:
        raise ConfigError(f"{setting.name} must be {setting.maximum} or less, not {number}.")
    return number


def _word(setting: Setting, text: str) -> Parsed:
    """The number of a word; a class may be given with its package.

    A list of assignors is one word for each order.
    """
    elements = [element.strip().rpartition(".")[2] for element in text.split(",")]
    word = ",".join(setting.aliases.get(element, element) for element in elements)
    if word.lower() in setting.words:
        word = word.lower()
    if word not in setting.words and setting.aliases:
        names = list(setting.aliases.values())
        raise ConfigError(
            f"{setting.name} lists {' and '.join(names)}, the default first, not {text!r}"
            f"{nearest_hint(word, names)}."
        )
    if word not in setting.words:
        raise ConfigError(
            f"{setting.name} must be one of {' and '.join(setting.words)}, not {text!r}"
            f"{nearest_hint(word, setting.words)}."
        )
    number = setting.words.index(word)
    return bool(number) if setting.words[2:] == () else number


def _check_together(config: BrokerConfig) -> None:
    """Reject invalid combinations of values (``KafkaConfig.validateValues``)."""
    for attribute, name in (
        ("replica_socket_timeout_us", "replica.socket.timeout.ms"),
        ("replica_lag_time_max_us", "replica.lag.time.max.ms"),
    ):
        limit_us = getattr(config, attribute)
        if config.replica_fetch_wait_max_us > limit_us:
            raise ConfigError(
                f"replica.fetch.wait.max.ms ({config.replica_fetch_wait_max_us // 1000}) must not"
                f" be more than {name} ({limit_us // 1000})."
            )


def _in_microseconds(setting: Setting, value: Parsed) -> Parsed:
    return value * _MICROSECONDS[setting.kind] if setting.kind in _MICROSECONDS else value


def _spelled(setting: Setting, value: Parsed) -> str:
    if setting.words:
        return setting.words[value]
    return str(value).lower() if isinstance(value, bool) else str(value)
