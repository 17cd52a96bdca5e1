"""The script of a cluster for external clients, and its settings."""

from collections.abc import Mapping
from pathlib import Path
from time import time_ns
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from commands.language.cluster_options import ClusterOptions
from commands.language.parser import NO_PLACE, Script, parse_line, parse_script, read_text
from emulator.releases.config import profile_of

LATENCY: Final = "0.00002s"
"""Message delay in a served cluster: external clients have a real network of their own."""
REPLICAS: Final = 3
MIN_ISR: Final = 2
FETCH_WAIT_MS: Final = "30"
"""Maximum time until a follower waiting for other partitions' records sees a new one."""
FOR_TESTS: Final = {
    "broker.heartbeat.interval.ms": "250",
    "broker.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "5",
    "replica.lag.time.max.ms": "2000",
    "zookeeper.session.timeout.ms": "1000",
}
"""Settings of a test's cluster: it starts immediately and detects broker failures quickly."""


def served_script(
    options: ClusterOptions, defaults: Mapping[str, str] = MappingProxyType({})
) -> Script:
    """Return the script of a cluster for clients: fast links, replicated topics.

    ``defaults`` replace the release's defaults, unless the options set a value.

    Raises:
        ScriptError: an option is wrong.
    """
    spec = parse_script("cluster", NO_PLACE, {}, options.words()).spec
    replicas, min_isr = str(min(REPLICAS, spec.brokers)), str(min(MIN_ISR, spec.brokers))
    settings = {
        "default.replication.factor": replicas,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": min_isr,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": min_isr,
        "group.initial.rebalance.delay.ms": "0",
        "replica.fetch.wait.max.ms": FETCH_WAIT_MS,
    }
    words = ["cluster", "--latency", LATENCY]
    known_names = _settings_of(spec.version)
    for name, value in (settings | dict(defaults)).items():
        if name not in spec.config and name in known_names:
            words += ["--config", f"{name}={value}"]
    return parse_script(" ".join(words), NO_PLACE, {}, options.words())


def script_to_serve(
    file: str,
    variables: dict[str, str],
    options: ClusterOptions,
    statements: str | None = None,
) -> Script:
    """Return the script in a file, or by default one of a cluster for clients; apply the options.

    ``statements`` follow the script's.

    Raises:
        CommandError: the file cannot be read, or it or an option is wrong.
    """
    if file:
        script = parse_script(read_text(Path(file)), file, variables, options.words())
    else:
        script = served_script(options)
    script = begins_now(script)
    return script if statements is None else script.followed_by(parse_line(statements, variables))


def begins_now(script: Script) -> Script:
    """Return the script of a cluster that begins at the current time, unless it says when.

    Clients have the time of the wall clock, and ask for records by it; a recording keeps it.
    """
    if script.spec.started_ms:
        return script
    spec = replace(script.spec, started_ms=time_ns() // 1_000_000)
    return replace(script, cluster=replace(script.cluster, input=spec))


def _settings_of(version: str) -> set[str]:
    """Return the configuration names that a release has."""
    from emulator.releases.config_names import SETTINGS
    from emulator.releases.versions import is_since

    numbers = profile_of(version).numbers
    return {setting.name for setting in SETTINGS if is_since(numbers, setting.since)}
