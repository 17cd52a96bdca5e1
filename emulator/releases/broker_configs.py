"""What brokers' configurations are: their types, defaults and update modes, by release.

This is all that a broker of a release describes (since 0.11), including what has no effect here.
Source: ``KafkaConfig`` and ``DynamicBrokerConfig`` of each release, asked for their tables.
"""

from functools import cache
from typing import Final, Literal, cast

from msgspec import Struct

from emulator.releases.broker_configs_table import TABLE
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
    found = {}
    for line in TABLE.splitlines():
        since, until, kind, mode, name, *rest = line.split(" ", 5)
        if is_since(numbers, since) and (until == _OPEN or is_until(numbers, until)):
            default = rest[0].removeprefix("=") if rest else None
            key = BrokerConfigKey(name, cast("ConfigType", kind), cast("UpdateMode", mode), default)
            found[name] = key
    return found
