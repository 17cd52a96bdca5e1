"""What each release changed, and which behave alike: protocol rules and defaults."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from emulator.metadata_log.metadata_version import METADATA_VERSION, name_of
from emulator.quorum_controller.feature_control import default_features
from emulator.releases.config import (
    ConsumerDefaults,
    ProducerDefaults,
    consumer_defaults,
    producer_defaults,
)
from emulator.releases.config_names import SETTINGS, Parsed, Setting
from emulator.releases.features import FEATURES, Feature
from emulator.releases.profiles import PROFILES, VERSIONS
from emulator.releases.versions import (
    DOCUMENTS,
    NAMES,
    RELEASE_OF,
    RELEASES,
    has_no_zookeeper,
    is_since,
    is_until,
)

Defaults = ProducerDefaults | ConsumerDefaults

CLIENTS: Final = {
    "acks": "acks",
    "batch_size_bytes": "batch.size",
    "retries": "retries",
    "enable_idempotence": "enable.idempotence",
    "retry_backoff_us": "retry.backoff.ms",
    "request_timeout_us": "request.timeout.ms",
    "delivery_timeout_us": "delivery.timeout.ms",
    "metadata_max_age_us": "metadata.max.age.ms",
    "session_timeout_us": "session.timeout.ms",
    "rebalance_timeout_us": "max.poll.interval.ms",
    "heartbeat_interval_us": "heartbeat.interval.ms",
    "fetch_min_bytes": "fetch.min.bytes",
    "fetch_max_wait_us": "fetch.max.wait.ms",
    "fetch_max_bytes": "fetch.max.bytes",
    "max_partition_fetch_bytes": "max.partition.fetch.bytes",
}
"""Kafka's name for each client default."""

LABELS: Final = {
    "replica.lag.time.max.ms": "KIP-537",
    "zookeeper.session.timeout.ms": "KIP-537",
    "replica.lag.max.messages": "KIP-16",
    "unclean.leader.election.enable": "KIP-106",
    "auto.leader.rebalance.enable": "KafkaConfig",
    "controlled.shutdown.enable": "KafkaConfig",
    "delete.topic.enable": "KIP-162",
    "message.max.bytes": "KAFKA-4203",
    "group.initial.rebalance.delay.ms": "KIP-134",
    "group.min.session.timeout.ms": "KafkaConfig",
    "group.max.session.timeout.ms": "KafkaConfig",
    "group.coordinator.rebalance.protocols": "KIP-848",
    "group.consumer.session.timeout.ms": "KIP-848",
    "group.consumer.min.session.timeout.ms": "KIP-848",
    "group.consumer.max.session.timeout.ms": "KIP-848",
    "group.consumer.heartbeat.interval.ms": "KIP-848",
    "group.consumer.min.heartbeat.interval.ms": "KIP-848",
    "group.consumer.max.heartbeat.interval.ms": "KIP-848",
    "group.consumer.max.size": "KIP-848",
    "group.consumer.migration.policy": "KIP-848",
    "group.consumer.assignors": "KIP-848",
    "group.consumer.assignment.interval.ms": "KIP-1263",
    "replica.selector.class": "KIP-392",
    "log.message.timestamp.type": "KIP-32",
    "replica.fetch.response.max.bytes": "KIP-74",
    "fetch.max.bytes": "KIP-541",
    "offsets.retention.minutes": "KIP-186",
    "offsets.topic.num.partitions": "KAFKA-1012",
    "offsets.topic.replication.factor": "KAFKA-1012",
    "offsets.commit.timeout.ms": "KAFKA-1012",
    "offsets.retention.check.interval.ms": "KAFKA-1012",
    "transaction.state.log.num.partitions": "KIP-98",
    "transaction.state.log.replication.factor": "KIP-98",
    "transaction.state.log.min.isr": "KIP-98",
    "transaction.max.timeout.ms": "KIP-98",
    "connections.max.idle.ms": "KAFKA-1282",
    "transactional.id.expiration.ms": "KIP-98",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "KIP-98",
    "transaction.partition.verification.enable": "KIP-890",
    "max.incremental.fetch.session.cache.slots": "KIP-227",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "KafkaConfig",
    "acks": "KIP-679",
    "enable.idempotence": "KIP-679",
    "retries": "KIP-91",
    "delivery.timeout.ms": "KIP-91",
    "broker.session.timeout.ms": "KIP-631",
    "broker.heartbeat.interval.ms": "KIP-631",
    "controller.quorum.election.timeout.ms": "KIP-595",
    "controller.quorum.election.backoff.max.ms": "KIP-595",
    "controller.quorum.fetch.timeout.ms": "KIP-595",
    "controller.quorum.request.timeout.ms": "KIP-595",
    "controller.quorum.append.linger.ms": "KIP-595",
    "metadata.max.idle.interval.ms": "KIP-835",
    "metadata.log.max.record.bytes.between.snapshots": "KIP-630",
    "metadata.log.max.snapshot.interval.ms": "KIP-876",
    "metadata.max.retention.bytes": "KIP-876",
    "metadata.max.retention.ms": "KIP-630",
    "metadata.log.segment.bytes": "KIP-630",
    "metadata.log.segment.ms": "KIP-630",
    "unclean.leader.election.interval.ms": "KAFKA-12670",
    "group.share.assignment.interval.ms": "KIP-1263",
    "errors.deadletterqueue.auto.create.topics.enable": "KIP-1191",
    "unstable.api.versions.enable": "KIP-932",
}
"""The feature that changed a default or introduced a configuration name, if it was only one."""
SHARE_GROUPS: Final = ("group.share.", "share.coordinator.")
"""How the names of settings begin that KIP-932 introduced."""
CONSUMER_LABELS: Final = {"rebalance_timeout": "KIP-62", "session_timeout_45s": "KIP-735"}
"""The same for a consumer's defaults, which changed more than once, by feature."""


class Behaviour(Struct, frozen=True):
    """Releases with identical behaviour in all that is emulated: same features, same defaults.

    ``version`` is the recommended version among them, or else the shortest name of one of them.
    """

    version: str
    releases: tuple[str, ...]

    def __str__(self) -> str:
        """Return ``3.5.0 to 3.5.2``, or the only release."""
        first, last = self.releases[0], self.releases[-1]
        return first if first == last else f"{first} to {last}"


class Change(Struct, frozen=True):
    """One thing that a release changed.

    ``what`` is ``since``, ``last``, ``only`` (a feature, or a configuration name) or ``default``.
    ``name`` is the feature's, or Kafka's configuration name; ``label`` the KIP or JIRA issue, or
    else what shows it. ``releases`` are all that behave like ``version``; ``alike`` describes them,
    and comes before everything else, even if the release differs only in what it removed.
    """

    version: str
    what: str
    name: str
    label: str
    meaning: str
    releases: tuple[str, ...] = ()


@cache
def behaviours() -> tuple[Behaviour, ...]:
    """Return all releases grouped by behaviour, oldest first; ``seed`` forms a group of its own."""
    alike: dict[tuple[object, ...], list[str]] = {}
    for release in (DOCUMENTS, *RELEASES):
        alike.setdefault(_behaviour(release), []).append(release)
    recommended = {RELEASE_OF[version]: version for version in VERSIONS}
    groups = []
    for releases in alike.values():
        recommendations = [recommended[release] for release in releases if release in recommended]
        names = recommendations or [name for name in NAMES if RELEASE_OF[name] in releases]
        groups.append(Behaviour(min(names, key=len), tuple(releases)))
    return tuple(groups)


def _behaviour(release: str) -> tuple[object, ...]:
    numbers = PROFILES[release].numbers
    return (
        *PROFILES[release].features.values(),
        *(setting.default(numbers) for setting in SETTINGS),
        *(_exists(setting, release) for setting in SETTINGS),
        producer_defaults(release),
        consumer_defaults(release),
        *_levels(release).items(),
    )


def _levels(release: str) -> dict[str, str]:
    """Return the feature levels of a new cluster (KIP-584), in releases without ZooKeeper only."""
    if not has_no_zookeeper(PROFILES[release].numbers):
        return {}
    levels = default_features(release)
    level_texts = {name: str(level) for name, level in levels.items()}
    return level_texts | {METADATA_VERSION: name_of(levels[METADATA_VERSION])}


def _exists(setting: Setting, release: str) -> bool:
    numbers = PROFILES[release].numbers
    ended = setting.until is not None and not is_until(numbers, setting.until)
    return is_since(numbers, setting.since) and not ended


def changes(index: int) -> Iterator[Change]:
    """Yield what was added, removed or got a new default in one of :func:`behaviours`."""
    before, here, after = _at(index - 1), behaviours()[index], _at(index + 1)
    yield _change(here, "alike", "", "", str(here))
    for feature in FEATURES:
        holds = [
            behaviour is not None and _has(feature, behaviour)
            for behaviour in (before, here, after)
        ]
        if kind := _bound(*holds, is_newest=after is None):
            label = feature.ended_by if kind == "last" else feature.label
            yield _change(here, kind, feature.name, label, feature.meaning)
    for setting in SETTINGS:
        holds = [
            behaviour is not None and _exists(setting, behaviour.releases[0])
            for behaviour in (before, here, after)
        ]
        kind = _bound(*holds, is_newest=after is None)
        if kind and (kind == "last" or before is not None):
            label = _label(setting.name)
            yield _change(here, kind, setting.name, label, setting.meaning)
    if before is not None:
        yield from _defaults(before, here)


def _at(index: int) -> Behaviour | None:
    ordered = behaviours()
    return ordered[index] if 0 <= index < len(ordered) else None


def _has(feature: Feature, behaviour: Behaviour) -> bool:
    return PROFILES[behaviour.version].has(feature.name)


def _bound(before: bool, here: bool, after: bool, *, is_newest: bool) -> str | None:
    begins, ends = here and not before, here and not (after or is_newest)
    if begins and ends:
        return "only"
    return "since" if begins else "last" if ends else None


def _defaults(before: Behaviour, here: Behaviour) -> Iterator[Change]:
    old, new = (PROFILES[behaviour.version] for behaviour in (before, here))
    for setting in SETTINGS:
        values = setting.default(old.numbers), setting.default(new.numbers)
        # A name that did not exist had no default; it is reported as new.
        existed = _exists(setting, before.releases[0]) and _exists(setting, here.releases[0])
        if values[0] != values[1] and existed:
            label = _label(setting.name)
            yield _default(here, setting.name, label, *values)
    old_levels, new_levels = (_levels(behaviour.releases[0]) for behaviour in (before, here))
    for name, level in new_levels.items() if old_levels else ():
        if level != old_levels.get(name, "0"):
            meaning = f"{level}, was {old_levels.get(name, '0')}"
            yield _change(here, "default", name, "KIP-584", meaning)
    began = {name for name in CONSUMER_LABELS if new.has(name) and not old.has(name)}
    by_feature = next((CONSUMER_LABELS[name] for name in began), "")
    yield from _of_clients(here, producer_defaults(old.version), producer_defaults(new.version))
    yield from _of_clients(
        here, consumer_defaults(old.version), consumer_defaults(new.version), by_feature
    )


def _of_clients(
    here: Behaviour, before: Defaults, after: Defaults, label: str = ""
) -> Iterator[Change]:
    old, new = asdict(before), asdict(after)
    for field, value in new.items():
        if value != old[field]:
            name, is_duration = CLIENTS[field], field.endswith("_us")
            by = label or _label(name)
            yield _default(here, name, by, old[field], value, microseconds=is_duration)


def _default(
    here: Behaviour,
    name: str,
    label: str,
    before: Parsed | None,
    after: Parsed | None,
    *,
    microseconds: bool = False,
) -> Change:
    old, new = (_shown(name, value, microseconds) for value in (before, after))
    return _change(here, "default", name, label, f"{new}, was {old}")


def _label(name: str) -> str:
    """Return what introduced a configuration name or changed its default; empty: unknown."""
    return LABELS.get(name, "KIP-932" if name.startswith(SHARE_GROUPS) else "")


def _change(here: Behaviour, kind: str, name: str, label: str, meaning: str) -> Change:
    return Change(here.version, kind, name, label, meaning, here.releases)


def _shown(name: str, value: Parsed | None, microseconds: bool) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if name == "acks":
        return "all" if value < 0 else str(value)
    return str(value // 1000 if microseconds else value)
