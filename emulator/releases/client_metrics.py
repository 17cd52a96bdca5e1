"""Subscriptions to metrics of clients: their configurations and valid values (KIP-714).

Source: ``ClientMetricsConfigs``, ``ControllerConfigurationValidator`` 3.7 to 4.4.
"""

import re
import warnings
from collections.abc import Mapping
from typing import Final

from emulator.common.java_numbers import java_integer
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
        interval = java_integer(values[INTERVAL])
        if interval is None:
            reason = f"Invalid value {values[INTERVAL]} for configuration {INTERVAL}"
            raise (ConfigError if are_parsed else NumberError)(
                f"{reason}: Not a number of type INT"
            )
        if not SHORTEST_MS <= interval <= LONGEST_MS:
            reason = f"interval must be between {SHORTEST_MS} and {LONGEST_MS} (1 hour)"
            raise RequestError(f"Invalid value {interval} for {INTERVAL}, {reason}")
    patterns = values.get(PATTERNS, "")
    checks_patterns = bool(patterns) if are_parsed else PATTERNS in values
    for pattern in patterns.split(",") if checks_patterns else ():
        if not _is_pattern(pattern):
            raise ConfigError(f"Illegal client matching pattern: {pattern}")


def _is_pattern(text: str) -> bool:
    field, is_about, expression = text.partition("=")
    if not is_about or not expression or "=" in expression or field.strip() not in FIELDS:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what Java does not mind
        try:
            re.compile(expression.strip())
        except re.error:
            return False
    return True
