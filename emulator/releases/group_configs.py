"""Configurations of groups: what a release has, and which values a controller accepts (KIP-848).

They are those of GROUP resources, for consumer groups, share groups and streams groups. A broker's
``group.consumer.session.timeout.ms`` is the default of ``consumer.session.timeout.ms``, and its
``group.consumer.min.session.timeout.ms`` the lowest value, likewise for the others. Source:
``GroupConfig``, ``ControllerConfigurationValidator`` and ``ConfigDef``, 4.0 to 4.4.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, cast

from msgspec import Struct

from emulator.common.java_numbers import LONG_BITS, java_integer
from emulator.releases.broker_configs import ConfigType, broker_configs
from emulator.releases.config import ConfigError
from emulator.releases.group_configs_table import TABLE
from emulator.releases.profiles import Profile
from emulator.releases.versions import Numbers, is_since, is_until

_NONE: Final = "-"
_UNDESCRIBED: Final = "!"
_ISOLATION_LEVELS: Final = ("read_committed", "read_uncommitted")
_LARGEST: Final = {"INT": 2**31 - 1, "LONG": 2**63 - 1}
_DURATION: Final = re.compile(
    r"by_duration:\+?P(?=.)(?:\+?\d+D)?(?:T(?=.)(?:\+?\d+H)?(?:\+?\d+M)?(?:\+?\d+(?:[.,]\d{0,9})?S)?)?",
    re.IGNORECASE | re.ASCII,
)
_KINDS: Final = ("consumer", "share", "streams")
_ORDER: Final = ("heartbeat.interval.ms", "session.timeout.ms")
"""The values whose limits Kafka checks first, of each kind of group."""


class GroupConfigKey(Struct, frozen=True):
    """A configuration of groups; ``lowest`` is None where any value will do."""

    name: str
    type: ConfigType
    lowest: int | None
    default: str
    is_described: bool

    @property
    def of_broker(self) -> str:
        """The broker's configuration with the default, if it has one."""
        return "group.streams.assignors" if self.name == "streams.assignor.name" else self._limit()

    def _limit(self, which: str = "") -> str:
        kind, _, rest = self.name.partition(".")
        return f"group.{kind}.{which}{rest.removeprefix('num.') if which else rest}"

    @property
    def minimum_of_broker(self) -> str:
        """The broker's configuration with the lowest value, if it has one."""
        return self._limit("min.")

    @property
    def maximum_of_broker(self) -> str:
        """The broker's configuration with the highest value, if it has one."""
        return self._limit("max.")


@cache
def group_configs(numbers: Numbers) -> dict[str, GroupConfigKey]:
    """Return a release's configurations of groups by name; none before 4.0."""
    keys = {}
    for line in TABLE.splitlines():
        since, until, kind, lowest, name, default = line.split(" ", 5)
        if is_since(numbers, since) and (until == _NONE or is_until(numbers, until)):
            key = GroupConfigKey(
                name.removesuffix(_UNDESCRIBED),
                cast("ConfigType", kind),
                None if lowest == _NONE else int(lowest),
                default.removeprefix("="),
                not name.endswith(_UNDESCRIBED),
            )
            keys[key.name] = key
    return keys


class GroupConfigRules(Struct, frozen=True):
    """The values that a controller accepts, by its release and a broker's ``overrides``."""

    profile: Profile
    overrides: Mapping[str, str]

    def check(self, values: Mapping[str, str]) -> None:
        """Check all values of a group together.

        Raises:
            ConfigError: an unknown name or an invalid value, in Kafka's words.
        """
        keys = group_configs(self.profile.numbers)
        for name in values:
            if name not in keys:
                raise ConfigError(f"Unknown group config name: {name}")
        for name, key in keys.items():
            if name in values:
                self._check_value(key, values[name])
        of_brokers = self.profile.has("group_configs_inherit")
        complete = {
            name: (self._of_broker(key.of_broker) if of_brokers else None) or key.default
            for name, key in keys.items()
        } | dict(values)
        self._check_limits(complete)
        for kind in _KINDS:
            heartbeat, session = (f"{kind}.{rest}" for rest in _ORDER)
            if session in keys and int(complete[session]) <= int(complete[heartbeat]):
                raise ConfigError(f"{session} must be greater than {heartbeat}")

    def _of_broker(self, name: str) -> str | None:
        key = broker_configs(self.profile.numbers).get(name)
        return self.overrides.get(name, key.default) if key is not None else None

    def _check_limits(self, values: Mapping[str, str]) -> None:
        """Check numbers by the limits that brokers' settings give."""
        keys = group_configs(self.profile.numbers)
        first = [f"{kind}.{rest}" for kind in _KINDS for rest in _ORDER]
        names = [*first, *(name for name in keys if name not in first)]
        for kind in _KINDS:
            for name in names:
                key = keys.get(name)
                if key is not None and name.startswith(kind) and key.type == "INT":
                    self._check_limit(key, int(values[name]))

    def _check_limit(self, key: GroupConfigKey, value: int) -> None:
        low, high = (
            None if text is None else int(text)
            for text in map(self._of_broker, (key.minimum_of_broker, key.maximum_of_broker))
        )
        is_low, is_high = low is not None and value < low, high is not None and value > high
        if not (is_low or is_high):
            return
        if not self.profile.has("group_limits_in_numbers"):
            if is_low:
                reason = f"greater than or equal to {key.minimum_of_broker}"
            else:
                reason = f"less than or equal to {key.maximum_of_broker}"
        elif low is None:
            reason = f"less than or equal to {high}"
        else:
            reason = f"in the range {low} to {high} inclusive."
        raise ConfigError(f"{key.name} must be {reason}")

    def _check_value(self, key: GroupConfigKey, text: str) -> None:
        """Check a value by itself (``ConfigDef.parseType``, validators)."""
        if reason := self._invalid(key, text):
            raise ConfigError(f"Invalid value {text} for configuration {key.name}: {reason}")
        if key.name == "streams.assignor.name":
            allowed = (self._of_broker(key.of_broker) or "").split(",")
            if text not in allowed:
                raise ConfigError(
                    f"{key.name} '{text}' is not a registered task assignor. Registered assignors"
                    f" are: [{', '.join(allowed)}]."
                )
        if key.name == "streams.rack.aware.assignment.tags":
            tags = [tag.strip() for tag in text.split(",")]
            if len(set(tags)) < len(tags):
                raise ConfigError(f"{key.name} must not contain duplicate tag keys.")
        if key.name == "errors.deadletterqueue.topic.name" and text.startswith("__"):
            raise ConfigError(f"{key.name}: DLQ topic name must not start with '__'")

    def _invalid(self, key: GroupConfigKey, text: str) -> str:
        """Why a value is invalid by itself; empty if it is not."""
        text = text.strip()
        if key.type in _LARGEST:
            number = java_integer(text, LONG_BITS)
            if number is None or abs(number) > _LARGEST[key.type]:
                return f"Not a number of type {key.type}"
            if key.lowest is not None and number < key.lowest:
                return f"Value must be at least {key.lowest}"
        if key.type == "BOOLEAN" and text.lower() not in ("true", "false"):
            return "Expected value to be either true or false"
        if key.name == "share.isolation.level" and text.lower() not in _ISOLATION_LEVELS:
            return f"String must be one of: {', '.join(_ISOLATION_LEVELS)}"
        if key.name == "share.auto.offset.reset" and not _is_reset(text):
            has_dot = self.profile.has("durations_named_with_a_dot")
            form = "<PnDTnHnMn.nS.>" if has_dot else "<PnDTnHnMn.nS>"
            return (
                f"Invalid value `{text}` for configuration {key.name}. The value must be either"
                f" 'earliest', 'latest' or of the format 'by_duration:{form}'."
            )
        return ""


def _is_reset(text: str) -> bool:
    return text in ("earliest", "latest") or _DURATION.fullmatch(text) is not None


def duration_us(reset: str) -> int | None:
    """How far back ``by_duration:PT1H`` goes, in microseconds; None for another strategy."""
    if _DURATION.fullmatch(reset) is None:
        return None
    date, _, time = reset.partition(":")[2].upper().replace("+", "").partition("T")
    seconds = 0.0
    for number, unit in re.findall(r"([0-9.,]+)([DHMS])", f"{date} {time}"):
        seconds += float(number.replace(",", ".")) * _SECONDS[unit]
    return round(seconds * 1_000_000)


_SECONDS: Final = {"D": 86_400, "H": 3_600, "M": 60, "S": 1}
