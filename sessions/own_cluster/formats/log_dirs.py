"""What ``kafka-log-dirs --describe`` prints: a JSON object after lines of text (KIP-113)."""

from typing import Final

from msgspec import Struct

from emulator.cluster_image.image import Broker, ClusterImage, Partition, ReplicaLog, Topic
from sessions.own_cluster.content import Content, json_of
from sessions.own_cluster.reading import Authority, FormatError, Reading
from sessions.text import clean

NAME: Final = "kafka-log-dirs --describe"


class _Partition(Struct, rename="camel"):
    partition: str
    size: int
    offset_lag: int = 0
    is_future: bool = False


class _LogDir(Struct, rename="camel"):
    log_dir: str
    error: str | None = None
    partitions: list[_Partition] = []


class _Broker(Struct, rename="camel"):
    broker: int
    log_dirs: list[_LogDir] = []


class _LogDirs(Struct):
    brokers: list[_Broker]


def recognizes(head: str) -> bool:
    """Whether a text has the object that this tool prints."""
    return '"logDirs"' in head and '"brokers"' in head


def read(content: Content) -> Reading:
    """Return the sizes and lags of logs; a broker that answers is up.

    Raises:
        FormatError: there is no complete object in it.
    """
    text = content.whole()
    start = 0 if text.startswith(b"{") else text.find(b"\n{") + 1
    log_dirs = json_of(text[start:].strip(), _LogDirs)
    logs: dict[str, dict[int, list[ReplicaLog]]] = {}
    brokers, notes = [], []
    for broker in log_dirs.brokers:
        brokers.append(
            Broker(
                broker.broker,
                up=True,
                log_dirs=tuple(directory.log_dir for directory in broker.log_dirs),
            )
        )
        for directory in broker.log_dirs:
            if directory.error:
                notes.append(
                    f"broker {broker.broker}: {directory.log_dir}: {clean(directory.error)}"
                )
            for partition in directory.partitions:
                topic, number = _split(partition.partition)
                log = ReplicaLog(
                    broker.broker,
                    size=partition.size,
                    lag=partition.offset_lag,
                    log_dir=directory.log_dir,
                    future=partition.is_future,
                )
                logs.setdefault(topic, {}).setdefault(number, []).append(log)
    topics = tuple(
        Topic(
            topic,
            partitions=tuple(
                Partition(number, logs=tuple(sorted(replica_logs, key=lambda log: log.broker)))
                for number, replica_logs in sorted(numbered.items())
            ),
        )
        for topic, numbered in logs.items()
    )
    image = ClusterImage(brokers=tuple(brokers), topics=topics)
    return Reading(content.name, NAME, Authority.TOOL, image, tuple(notes))


def _split(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    if not topic or not number.isdecimal():
        raise FormatError(f"names the partition {clean(name)!r}, which is no topic and number")
    return topic, int(number)
