"""A client program that gets the same responses from real brokers and from emulated ones.

``python -m tests.wire.same_responses SERVERS > responses/RELEASE.json`` asks a cluster of three
brokers at ``SERVERS`` by way of librdkafka (confluent-kafka). What differs from run to run (member
ids, times, which broker leads) is left out.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

SECONDS = 20


def ignore(_error: object) -> None:
    """Errors that the client only reports are not of interest."""


QUIET: dict[str, Any] = {"log_level": 0, "error_cb": ignore}


def each(futures: dict[Any, Any], told: Callable[[Any], Any] = lambda _: "NONE") -> dict[str, Any]:
    """The outcome of each future by its key."""
    found = {}
    for key, made in futures.items():
        try:
            found[str(key)] = told(made.result(SECONDS))
        except KafkaException as error:
            found[str(key)] = error.args[0].name()
    return found


class Asking:
    """One run of the program."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.admin = AdminClient({"bootstrap.servers": servers, **QUIET})
        self.responses: dict[str, Any] = {}

    def run(self) -> dict[str, Any]:
        """Ask everything; the responses by what was asked."""
        for ask in (self.topics, self.produce, self.offsets, self.configs, self.groups, self.end):
            ask()
        return self.responses

    def note(self, name: str, response: Any) -> None:  # noqa: ANN401 - any JSON
        self.responses[name] = response

    def topics(self) -> None:
        made = [
            NewTopic("orders", 4, 3, config={"min.insync.replicas": "2"}),
            NewTopic("too-many-replicas", 1, 9),
            NewTopic("no-partitions", 0, 3),
            NewTopic("not a name", 1, 3),
            NewTopic("unknown-setting", 1, 3, config={"no.such": "1"}),
            NewTopic("wrong-value", 1, 3, config={"retention.ms": "soon"}),
            NewTopic("strict", 1, 3, config={"min.insync.replicas": "4"}),
            NewTopic("small", 1, 3, config={"max.message.bytes": "1000"}),
        ]
        self.note("create", each(self.admin.create_topics(made, request_timeout=SECONDS)))
        again = self.admin.create_topics([NewTopic("orders", 1, 3)], request_timeout=SECONDS)
        self.note("create again", each(again))
        grown = [NewPartitions("orders", 2), NewPartitions("nothing", 2), NewPartitions("small", 2)]
        self.note("grow", each(self.admin.create_partitions(grown, request_timeout=SECONDS)))

    def sent(self, topic: str, value: bytes, **settings: Any) -> list[Any]:
        """Where a record was written, or the error."""
        found: list[Any] = []

        def told(error: Any, message: Message) -> None:  # noqa: ANN401 - a KafkaError
            place = [message.partition(), message.offset()]
            found.extend([error.name()] if error is not None else place)

        partition = settings.pop("partition", 0)
        fixed = {"bootstrap.servers": self.servers, "message.max.bytes": 5_000_000, **QUIET}
        producer = Producer({**fixed, "delivery.timeout.ms": 4000, "linger.ms": 0, **settings})
        producer.produce(topic, value, key=b"k", partition=partition, on_delivery=told)
        producer.flush(SECONDS)
        return found

    def produce(self) -> None:
        self.note("first", self.sent("orders", b"a"))
        self.note("second", self.sent("orders", b"b"))
        self.note("other partition", self.sent("orders", b"c", partition=3))
        self.note("acks=1", self.sent("orders", b"d", acks=1))
        self.note("idempotent", self.sent("orders", b"e", **{"enable.idempotence": True}))
        for name in ("gzip", "snappy", "lz4", "zstd"):
            self.note(f"{name}", self.sent("orders", b"f" * 500, **{"compression.type": name}))
        self.note("too few in sync", self.sent("strict", b"a", retries=0))
        self.note("too few in sync, acks=1", self.sent("strict", b"a", acks=1))
        self.note("too large for the topic", self.sent("small", b"x" * 2_000))
        self.note("too large for the broker", self.sent("orders", b"x" * 2_000_000))

    def offsets(self) -> None:
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "none", **QUIET})
        for tp in (("orders", 0), ("orders", 1), ("orders", 3)):
            marks = consumer.get_watermark_offsets(TopicPartition(*tp), timeout=SECONDS)
            self.note(f"watermarks {tp[0]}-{tp[1]}", list(marks))
        for name, spec in (("earliest", OffsetSpec.earliest()), ("latest", OffsetSpec.latest())):
            asked = {TopicPartition("orders", 0): spec}
            told = self.admin.list_offsets(asked, request_timeout=SECONDS)
            offsets = each(told, lambda found: found.offset)
            self.note(f"list offsets {name}", list(offsets.values()))
        for time in (0, 4_000_000_000_000):
            found = consumer.offsets_for_times([TopicPartition("orders", 0, time)], SECONDS)
            self.note(f"offset at {time}", [each.offset for each in found])
        consumer.assign([TopicPartition("orders", 0, 0)])
        read: list[list[Any]] = []
        while len(read) < 3:
            message = consumer.poll(SECONDS)
            assert message is not None
            read.append([message.offset(), (message.value() or b"").decode()])
        self.note("read", read)
        beyond = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": "none",
                "auto.offset.reset": "error",
                **QUIET,
            }
        )
        beyond.assign([TopicPartition("orders", 0, 1_000)])
        message = beyond.poll(SECONDS)
        error = None if message is None else message.error()
        self.note("read beyond the end", None if error is None else error.name())
        beyond.close()
        consumer.close()

    def configs(self) -> None:
        asked = ConfigResource(ResourceType.TOPIC, "orders")
        wanted = ("min.insync.replicas", "retention.ms", "cleanup.policy", "max.message.bytes")

        def shown(entries: dict[str, Any]) -> list[list[Any]]:
            return [[name, entries[name].value, entries[name].is_default] for name in wanted]

        self.note("describe configs", each(self.admin.describe_configs([asked]), shown))
        missing = ConfigResource(ResourceType.TOPIC, "nothing")
        self.note("configs of nothing", list(each(self.admin.describe_configs([missing])).values()))
        for name, value in (("retention.ms", "60000"), ("retention.ms", "soon"), ("no.such", "1")):
            entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            change = ConfigResource(ResourceType.TOPIC, "orders", incremental_configs=[entry])
            told = self.admin.incremental_alter_configs([change])
            self.note(f"set {name}={value}", list(each(told).values()))

    def groups(self) -> None:
        name = "billing"
        settings = {
            "bootstrap.servers": self.servers,
            "group.id": name,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "partition.assignment.strategy": "range",
            **QUIET,
        }
        members = [Consumer({**settings, "client.id": f"member-{n}"}) for n in range(2)]
        shares: list[list[int]] = [[], []]
        for member in members:
            member.subscribe(["orders"])
        for _ in range(200):
            for member in members:
                member.poll(0.1)
            shares = [sorted(tp.partition for tp in each.assignment()) for each in members]
            if all(shares):
                break
        self.note("shares", sorted(shares))
        committed = [TopicPartition("orders", 0, 2), TopicPartition("orders", 3, 1)]
        holder = next(m for m, share in zip(members, shares, strict=True) if 0 in share)
        self.note(
            "commit",
            [
                [tp.partition, tp.offset]
                for tp in holder.commit(offsets=committed[:1], asynchronous=False)
            ],
        )
        asked = [TopicPartition("orders", n) for n in range(4)]
        self.note("committed", [tp.offset for tp in holder.committed(asked, SECONDS)])
        told = self.admin.describe_consumer_groups([name, "nobody"], request_timeout=SECONDS)
        self.note(
            "describe group",
            each(told, lambda g: [g.state.name, g.partition_assignor, len(g.members)]),
        )
        self.note(
            "delete a group that lives",
            each(self.admin.delete_consumer_groups([name], request_timeout=SECONDS)),
        )
        for member in members:
            member.close()
        told = self.admin.describe_consumer_groups([name], request_timeout=SECONDS)
        self.note("describe an empty group", each(told, lambda g: [g.state.name, len(g.members)]))
        wanted = [ConsumerGroupTopicPartitions(name)]
        told = self.admin.list_consumer_group_offsets(wanted, request_timeout=SECONDS)
        self.note(
            "offsets of the group",
            each(told, lambda g: sorted([tp.partition, tp.offset] for tp in g.topic_partitions)),
        )
        self.note(
            "delete groups",
            each(self.admin.delete_consumer_groups([name, "nobody"], request_timeout=SECONDS)),
        )

    def end(self) -> None:
        upto = [TopicPartition("orders", 0, 2), TopicPartition("orders", 1, 5)]
        told = self.admin.delete_records(upto, request_timeout=SECONDS)
        found = {f"{tp.topic}-{tp.partition}": future for tp, future in told.items()}
        self.note("delete records", each(found, lambda each: each.low_watermark))
        gone = self.admin.delete_topics(["small", "nothing"], request_timeout=SECONDS)
        self.note("delete topics", each(gone))


def main() -> None:
    """Print the responses of the cluster at the servers that are named."""
    sys.stdout.write(json.dumps(Asking(sys.argv[1]).run(), indent=1) + "\n")


if __name__ == "__main__":
    main()
