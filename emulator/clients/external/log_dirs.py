"""Requests of external clients about log directories (KIP-113)."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from emulator import protocol
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import by_topic, tp_of
from emulator.common.errors import ERRORS, NONE
from emulator.common.names import LOG_DIR
from emulator.protocol import AnyMessage
from emulator.releases.profiles import Profile
from emulator.wire.messages import log_dirs as wire
from emulator.wire.types import Message

UNBOUNDED: Final = (1 << 63) - 1
"""The bytes in total and free on a disk that is larger than the response can tell (KIP-827)."""


class DescribeLogDirs(Struct, eq=False):
    """DescribeLogDirs: every broker has one log directory, on a disk without limit."""

    profile: Profile

    def ask(self, call: Call[wire.DescribeLogDirsRequest]) -> list[AnyMessage]:
        """Request the named logs, or all of them."""
        named = None if self.profile.has("all_topics_of_log_dirs") else _named_in(call.message)
        return [protocol.DescribeLogDirsRequest(named)]

    def respond(self, call: AnyCall, response: protocol.DescribeLogDirsResponse) -> Message:
        if response.error != NONE:
            return wire.DescribeLogDirsResponse(error_code=ERRORS[response.error].code)
        topics = by_topic(
            response.logs, lambda number, log: wire.DescribeLogDirsPartition(number, *log)
        )
        names = _named_in(call.message)
        named = None if names is None else frozenset(names)
        rows = [
            wire.DescribeLogDirsTopic(
                topic,
                [
                    log
                    for log in logs
                    if named is None or tp_of(topic, log.partition_index) in named
                ],
            )
            for topic, logs in topics.items()
        ]
        result = wire.DescribeLogDirsResult(ERRORS[NONE].code, LOG_DIR, rows, UNBOUNDED, UNBOUNDED)
        return wire.DescribeLogDirsResponse(results=[result])


def _named_in(request: wire.DescribeLogDirsRequest) -> list[str] | None:
    """The partitions that a request names; None if it is about all."""
    if request.topics is None:
        return None
    return [tp_of(topic.topic, number) for topic in request.topics for number in topic.partitions]


class AlterReplicaLogDirs:
    """AlterReplicaLogDirs: to the directory in which the logs are, since there is no other."""

    def ask(self, call: Call[wire.AlterReplicaLogDirsRequest]) -> list[AnyMessage]:
        """Move the replicas of each directory; one that is named twice moves to the last."""
        paths = {
            tp: directory.path for directory in call.message.dirs for tp in _named(directory.topics)
        }
        moved: dict[str, list[str]] = {}
        for tp, path in paths.items():
            moved.setdefault(path, []).append(tp)
        return [protocol.AlterReplicaLogDirsRequest(tps, path) for path, tps in moved.items()]

    def respond(self, call: AnyCall, *responses: protocol.AlterReplicaLogDirsResponse) -> Message:
        topics: dict[str, list[wire.AlterReplicaLogDirPartitionResult]] = {}
        for response in responses:
            for topic, rows in by_topic(response.errors, _moved).items():
                topics.setdefault(topic, []).extend(rows)
        results = [wire.AlterReplicaLogDirTopicResult(*topic) for topic in topics.items()]
        return wire.AlterReplicaLogDirsResponse(results=results)


def _moved(number: int, error: str) -> wire.AlterReplicaLogDirPartitionResult:
    return wire.AlterReplicaLogDirPartitionResult(number, ERRORS[error].code)


def _named(topics: Iterable[wire.AlterReplicaLogDirTopic]) -> list[str]:
    return [tp_of(topic.name, number) for topic in topics for number in topic.partitions]
