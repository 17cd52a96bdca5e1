"""The configuration that a process prints when it starts: a line with a time, then one per setting.

In Kafka's own layout the logger stands after the last setting; in others, in the first line.
"""

import re
from typing import Final

from sessions.postmortem.text_logs.facts import Configured
from sessions.postmortem.text_logs.times import is_timed

KEPT_SETTINGS: Final = frozenset(
    (
        *("auto.leader.rebalance.enable", "broker.heartbeat.interval.ms"),
        *("broker.session.timeout.ms", "controlled.shutdown.enable"),
        *("controller.quorum.election.timeout.ms", "controller.quorum.fetch.timeout.ms"),
        *("default.replication.factor", "leader.imbalance.check.interval.seconds"),
        *("min.insync.replicas", "num.partitions", "replica.fetch.max.bytes"),
        *("replica.fetch.wait.max.ms", "replica.lag.time.max.ms"),
        *("unclean.leader.election.enable", "zookeeper.session.timeout.ms"),
    )
)
"""What decides how a cluster behaves in an incident."""
_HEADER: Final = b"KafkaConfig values:"
_SETTING: Final = re.compile(rb"\s{1,8}([a-z][a-z0-9.]{1,100}) = (.{0,200})\Z")
_LINES_MAX: Final = 2_000


def configured(lines: list[bytes], line_index: int) -> tuple[int, Configured] | None:
    """Return where a configuration begins that has a line, and what it says; None if not here.

    It is not here if it began in the block before.
    """
    begin = line_index
    while _HEADER not in lines[begin]:
        begin -= 1
        if begin < max(0, line_index - _LINES_MAX) or is_timed(lines[begin + 1]):
            return None
    settings = {}
    for line in lines[begin + 1 : begin + _LINES_MAX]:
        if is_timed(line):
            break
        match = _SETTING.match(line)
        if match is not None and (name := match[1].decode()) in KEPT_SETTINGS:
            settings[name] = match[2].decode("utf-8", "replace").strip()
    return (begin, Configured(settings=tuple(sorted(settings.items())))) if settings else None
