"""Tables: show. What is printed comes from the read model; the cluster is not involved."""

from typing import Annotated

import click
from msgspec import Struct

from commands.language.declaration import RAW, argument, statement
from commands.language.statements.parameters import ReplicaName, TopicPartition
from sessions.grammar.event_patterns import described, pattern
from sessions.grammar.words import BadWord

app = click.Group("show", help="Print a table (with --json: plain data in outputs).")


class Show(Struct, frozen=True):
    """The table to show, and the partition, replica or topic that it is about.

    ``pattern`` holds the words of an event pattern, ``since`` the bookmark after which to search.
    """

    what: str
    target: str = ""
    pattern: tuple[str, ...] = ()
    since: str = ""


def _plain(name: str, text: str) -> None:
    def show() -> Show:
        return Show(what=name)

    show.__doc__ = text
    statement(app, name)(show)


_plain("cluster", "Brokers, controller and counts in a few lines.")
_plain("partitions", "Every partition: state, leader, epoch, ISR, HW, LEO.")
_plain("brokers", "Every broker: state, session, leaders, replicas.")
_plain("producers", "Every producer: acknowledged, failed, retries.")
_plain("clients", "Every connection of a client: library, last request, errors, lag.")
_plain("faults", "Every fault of inject: its effect, how often it came and is still to come.")
_plain(
    "groups",
    "Every group of consumers: offsets, lag, members, who waits for whom, records in flight.",
)
_plain("quorum", "Every controller and broker: role, end of its metadata log, lag (KRaft).")
_plain("audit", "Records that were acknowledged, lost, duplicated or diverged.")


@statement(app, "replicas")
def replicas(
    partition: Annotated[str, argument("TP", str, "a partition or a topic; all by default")] = "",
) -> Show:
    """Print the replicas: role, log start, HW, LEO, leader epochs, and each one's remote LEO.

    The remote LEO is what the partition's leader remembers of a follower's LEO.
    """
    return Show(what="replicas", target=partition)


@statement(app, "epochs")
def epochs(partition: TopicPartition) -> Show:
    """Print the leader epoch caches of a partition's replicas."""
    return Show(what="epochs", target=partition)


@statement(app, "log")
def log(replica: ReplicaName) -> Show:
    """Print the records of one replica."""
    return Show(what="log", target=f"{replica.tp}@{replica.broker}")


@statement(app, "files")
def files(broker: Annotated[int, argument("B", text="a broker id")]) -> Show:
    """Print the checkpoint files on a broker's disk, as Kafka writes them.

    They are replication-offset-checkpoint (the HWs), recovery-point-offset-checkpoint (the offsets
    up to which logs are flushed), and each partition's leader-epoch-checkpoint (0.11+).
    """
    return Show(what="files", target=str(broker))


@statement(app, "truths")
def truths(partition: TopicPartition) -> Show:
    """Print what the metadata, the controller, each broker and clients know about a partition.

    The metadata are ZooKeeper's znodes, or in KRaft mode the committed metadata log.
    """
    return Show(what="truths", target=partition)


@statement(app, "metadata")
def metadata(
    path: Annotated[str, argument("NODE", text="a node of the image: /topics/orders")] = "/",
) -> Show:
    """Print a node of the metadata image and those directly below it (KRaft).

    The image is what the committed records of the metadata log add up to, with the paths of
    kafka-metadata-shell; topics are found by name.
    """
    return Show(what="metadata", target=path)


def _event_types() -> tuple[str, list[tuple[str, str]]]:
    return "Events", [(" ".join((name, *fields)), text) for name, fields, text in described()]


@statement(app, "events", RAW, _event_types)
def events(
    written: Annotated[
        list[str] | None,
        argument("[EVENT] [CONDITION] [since MARK]", text="the events to print; all by default"),
    ] = None,
) -> Show:
    """Print past events, such as 'show events LogTruncated broker=2 since failover'.

    A condition compares an event's fields ('broker=2 and tp=orders-0', 'name~Fetch'); type, time,
    seq and cause are fields of every event. 'or' and 'not' join events as they join comparisons:
    'LogTruncated or LeaderElected leader=2', 'type in [LogTruncated,LeaderElected]'.
    """
    words, mark = since_mark(list(written or []))
    if words:
        pattern(words)
    return Show(what="events", pattern=tuple(words), since=mark)


def since_mark(words: list[str]) -> tuple[list[str], str]:
    """Return the words without a final 'since MARK', and the mark's name."""
    if words and words[-1].lower() == "since":
        raise BadWord("'since' needs the name of a mark", words[-1])
    if len(words) > 1 and words[-2].lower() == "since":
        return words[:-2], words[-1]
    return words, ""
