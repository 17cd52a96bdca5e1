"""What each release changed: the features of its rules, and the defaults of its configuration."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from emulator.releases.config import consumer_defaults, producer_defaults
from emulator.releases.config_names import SETTINGS, Parsed, Setting
from emulator.releases.features import FEATURES
from emulator.releases.profiles import VERSIONS

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
}
"""Kafka's name of each default that clients have."""

LABELS: Final = {
    "replica.lag.time.max.ms": "KIP-537",
    "zookeeper.session.timeout.ms": "KIP-537",
    "replica.lag.max.messages": "KIP-16",
    "unclean.leader.election.enable": "KIP-106",
    "group.initial.rebalance.delay.ms": "KIP-134",
    "replica.selector.class": "KIP-392",
    "offsets.retention.minutes": "KIP-186",
    "acks": "KIP-679",
    "enable.idempotence": "KIP-679",
    "retries": "KIP-91",
    "delivery.timeout.ms": "KIP-91",
}
"""Which KIP changed a default, where one did."""
CONSUMER_LABELS: Final = {"0.10.2": "KIP-62", "3.5": "KIP-735"}
"""The same for a consumer's, which changed more than once."""


class Change(Struct, frozen=True):
    """One thing that a release changed.

    ``what`` is ``since``, ``last``, ``only`` (a feature, or a configuration name) or ``default``.
    ``name`` is the feature's, or Kafka's configuration name; ``label`` the KIP or JIRA.
    """

    version: str
    what: str
    name: str
    label: str
    meaning: str


def changes(version: str) -> Iterator[Change]:
    """Everything that began, ended or got another default in a release."""
    for feature in FEATURES:
        what = _bound(version, feature.since, feature.until)
        label = feature.ended_by if what == "last" else feature.label
        if what:
            yield Change(version, what, feature.name, label, feature.meaning)
    for setting in SETTINGS:
        yield from _of_setting(version, setting)
    yield from _of_clients(version)


def _bound(version: str, since: str, until: str | None) -> str | None:
    if since == until == version:
        return "only"
    return {since: "since", until: "last"}.get(version)


def _of_setting(version: str, setting: Setting) -> Iterator[Change]:
    label = LABELS.get(setting.name, "")
    bound = _bound(version, setting.since, setting.until)
    if bound and (bound == "last" or version != VERSIONS[0]):
        yield Change(version, bound, setting.name, label, setting.meaning)
    for (_, before), (since, after) in zip(setting.defaults, setting.defaults[1:], strict=False):
        if since == version and since != setting.since:
            yield _default(version, setting.name, label, before, after)


def _of_clients(version: str) -> Iterator[Change]:
    place = VERSIONS.index(version)
    if place == 0:
        return
    previous = VERSIONS[place - 1]
    for defaults, labels in ((producer_defaults, {}), (consumer_defaults, CONSUMER_LABELS)):
        before, after = asdict(defaults(previous)), asdict(defaults(version))
        for field, value in after.items():
            if value != before[field]:
                name = CLIENTS[field]
                label = labels.get(version) or LABELS.get(name, "")
                yield _default(version, name, label, before[field], value, field.endswith("_us"))


def _default(
    version: str,
    name: str,
    label: str,
    before: Parsed | None,
    after: Parsed | None,
    microseconds: bool = False,
) -> Change:
    old, new = (_shown(name, value, microseconds) for value in (before, after))
    return Change(version, "default", name, label, f"{new}, was {old}")


def _shown(name: str, value: Parsed | None, microseconds: bool) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if name == "acks":
        return "all" if value < 0 else str(value)
    return str(value // 1000 if microseconds else value)
