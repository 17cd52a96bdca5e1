"""Subscriptions to metrics of clients: their configurations and valid values (KIP-714).

Source: ``ClientMetricsConfigs``, ``ControllerConfigurationValidator`` 3.7 to 4.4.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from emulator.common.java_numbers import java_integer
from emulator.common.regular_expressions import is_valid
from emulator.releases.config import ConfigError

INTERVAL: Final = "interval.ms"
PATTERNS: Final = "match"
METRICS: Final = "metrics"
DEFAULTS: Final = {INTERVAL: "300000", PATTERNS: "", METRICS: ""}
TYPES: Final = {INTERVAL: 3, PATTERNS: 7, METRICS: 7}
"""The types of values (``DescribeConfigsResponse.ConfigType``)."""
SHORTEST_MS, LONGEST_MS = 100, 3_600_000
FIELDS: Final = (
    *("client_instance_id", "client_id", "client_software_name", "client_software_version"),
    *("client_source_address", "client_source_port"),
)
"""What a pattern may be about."""
SPACE: Final = "".join(map(chr, range(ord(" ") + 1)))
"""What ``String.trim`` takes away."""
MAX_MEMORY: Final = 1 << 16
"""How large a compiled expression may be, in bytes: compiling that takes a few milliseconds."""


class RequestError(ConfigError):
    """A value for which Kafka refuses the request, and not the configuration."""


class NumberError(ConfigError):
    """A value at which the controller fails."""


def check(values: Mapping[str, str], *, are_parsed: bool) -> None:
    """Check all values of a subscription together.

    Since 4.0 they ``are_parsed`` first, so that a list may be empty.

    Raises:
        RequestError: an unknown name, or an interval that is too short or too long.
        NumberError: up to 3.9, an interval that is no number.
        ConfigError: any other invalid value.
    """
    for name in values:
        if name not in DEFAULTS:
            raise RequestError(f"Unknown client metrics configuration: {name}")
    if INTERVAL in values:
        text = values[INTERVAL]
        interval = java_integer(text.strip(SPACE) if are_parsed else text)
        if interval is None:
            reason = f"Invalid value {text} for configuration {INTERVAL}"
            raise (ConfigError if are_parsed else NumberError)(
                f"{reason}: Not a number of type INT"
            )
        if not SHORTEST_MS <= interval <= LONGEST_MS:
            reason = f"interval must be between {SHORTEST_MS} and {LONGEST_MS} (1 hour)"
            raise RequestError(f"Invalid value {interval} for {INTERVAL}, {reason}")
    if PATTERNS not in values:
        return
    for pattern in (_parsed if are_parsed else _split)(values[PATTERNS]):
        if not _is_pattern(pattern):
            raise ConfigError(f"Illegal client matching pattern: {pattern}")


def _parsed(text: str) -> Sequence[str]:
    """The elements of a list (``ConfigDef.parseType``)."""
    trimmed = text.strip(SPACE)
    return re.split(r"\s*,\s*", trimmed, flags=re.ASCII) if trimmed else ()


def _split(text: str, separator: str = ",") -> Sequence[str]:
    """The parts of a text, without empty ones at its end (``String.split``)."""
    return text.rstrip(separator).split(separator) if text.strip(separator) or not text else ()


def _is_pattern(text: str) -> bool:
    """Whether a pattern is valid.

    Kafka takes expressions of ``java.util.regex``. Here RE2 compiles them, in bounded time: it
    knows no look-around, no back-references and no possessive quantifiers.
    """
    match [part.strip(SPACE) for part in _split(text, "=")]:
        case [field, expression]:
            return field in FIELDS and is_valid(expression, MAX_MEMORY)
    return False
