"""What is wrong with administrators' requests, in which order it is looked for, and who is told."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from tests.golden_wire.conversation import Conversation, Plain, error

TOPIC, BROKER, UNKNOWN = 2, 4, 99
SET, DELETE, APPEND, NONE_OF_THEM = 0, 1, 2, 9


def wrong_topics(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """Topics that exist, have bad names, values or replicas, and several of these at once."""
    controller = c.controller()

    def create(
        step: str,
        topic: str,
        count: int = 1,
        factor: int = 1,
        *,
        lists: Sequence[Sequence[int]] = (),
        **values: str,
    ) -> None:
        row = {
            "name": topic,
            "num_partitions": count,
            "replication_factor": factor,
            "assignments": [
                {"partition_index": number, "broker_ids": brokers}
                for number, brokers in enumerate(lists)
            ],
            "configs": [
                {"name": name.replace("_", "."), "value": value} for name, value in values.items()
            ],
        }
        found = c.ask(controller, "CreateTopics", {"topics": [row], "timeout_ms": 3_000}, version=4)
        c.say(f"create {step}", [error(topic) for topic in found["topics"]])
        c.wait(1)

    create("t", "t", 2, 2)
    create("t again, with a wrong value", "t", retention_ms="x")
    create("t again, without replicas", "t", 1, 0)
    create("a wrong value, without replicas", "u", 1, 0, preallocate="x")
    create("an unknown value, without replicas", "u", 1, 0, no_such_config="1")
    create("a bad name, without replicas", "a b", 1, 0)
    create("a bad name, with a wrong value", "a b", retention_ms="x")
    create("a ratio above 1", "u", min_cleanable_dirty_ratio="1.5")
    create("throttled replicas that are none", "u", leader_replication_throttled_replicas="x")
    create("throttled replicas", "throttled", leader_replication_throttled_replicas="0:1,1:2")
    create("defaults", "defaults", -1, -1)
    create("a broker that does not exist", "nowhere", -1, -1, lists=[[7]])
    create("that again", "nowhere")
    create("the metadata log", "__cluster_metadata")

    def delete(step: str, *topics: str) -> None:
        body = {"topic_names": topics, "timeout_ms": 3_000}
        found = c.ask(controller, "DeleteTopics", body, version=3)
        c.say(f"delete {step}", sorted([row["name"], error(row)] for row in found["responses"]))
        c.wait(1)

    delete("what does not exist, twice", "nope", "nope")
    delete("throttled, twice", "throttled", "throttled")

    def grow(step: str, *topics: tuple[str, int]) -> None:
        rows = [{"name": name, "count": count, "assignments": None} for name, count in topics]
        body = {"topics": rows, "timeout_ms": 3_000}
        found = c.ask(controller, "CreatePartitions", body, version=1)
        c.say(f"grow {step}", sorted([row["name"], error(row)] for row in found["results"]))
        c.wait(1)

    grow("t to as many", ("t", 2))
    grow("what does not exist", ("nope", 2))
    grow("t twice", ("t", 3), ("t", 4), ("nope", 2))

    def move(step: str, topic: str, replicas: Sequence[int] | None) -> None:
        row = {"name": topic, "partitions": [{"partition_index": 0, "replicas": replicas}]}
        body = {"topics": [row], "timeout_ms": 3_000}
        found = c.ask(controller, "AlterPartitionReassignments", body, version=0)
        rows = [error(row) for topic in found["responses"] for row in topic["partitions"]]
        c.say(f"move {step}", [error(found), rows])
        c.wait(1)

    move("t to nobody", "t", [])
    move("what does not exist to nobody", "nope", [])
    move("what does not exist", "nope", [0])
    move("t to a broker twice", "t", [0, 0])
    move("t to a broker that does not exist", "t", [0, 7])
    move("what does not move", "t", None)
    move("what does not exist, no more", "nope", None)

    body: Plain = {"election_type": 5, "timeout_ms": 3_000}
    body["topic_partitions"] = [{"topic": "t", "partitions": [0]}]
    found = c.ask(controller, "ElectLeaders", body, version=1)
    c.say("elect in another way", error(found))


def wrong_configurations(c: Conversation) -> None:
    """Resources of unknown types, unknown topics, and values that are no lists."""
    controller = c.controller()
    body: Plain = {"topics": [{"name": "t", "num_partitions": 1, "replication_factor": 1}]}
    c.say("create", error(c.ask(controller, "CreateTopics", body, version=4)["topics"][0]))
    c.wait(1)

    def replace(step: str, *resources: tuple[int, str, dict[str, str]]) -> None:
        rows = [
            {
                "resource_type": kind,
                "resource_name": name,
                "configs": [{"name": key, "value": value} for key, value in values.items()],
            }
            for kind, name, values in resources
        ]
        found = c.ask(0, "AlterConfigs", {"resources": rows}, version=1)
        c.say(f"replace {step}", sorted(error(row) for row in found["responses"]))
        c.wait(0.5)

    replace("of t", (TOPIC, "t", {"retention.ms": "1000"}))
    replace("a wrong value", (TOPIC, "t", {"retention.ms": "x"}))
    replace("of what does not exist", (TOPIC, "nope", {"retention.ms": "1"}))
    replace("a wrong value of what does not exist", (TOPIC, "nope", {"retention.ms": "x"}))
    replace("of a bad name", (TOPIC, "a b", {"retention.ms": "1"}))
    replace("of an unknown type", (UNKNOWN, "t", {}), (TOPIC, "t", {"retention.ms": "1000"}))

    def alter(step: str, *resources: tuple[int, str, int, str, str]) -> None:
        rows = [
            {
                "resource_type": kind,
                "resource_name": name,
                "configs": [{"name": key, "config_operation": operation, "value": value}],
            }
            for kind, name, operation, key, value in resources
        ]
        found = c.ask(0, "IncrementalAlterConfigs", {"resources": rows}, version=0)
        c.say(f"alter {step}", sorted(error(row) for row in found["responses"]))
        c.wait(0.5)

    alter("t", (TOPIC, "t", SET, "retention.ms", "2000"))
    alter("t, less than nothing", (TOPIC, "t", SET, "retention.bytes", "-5"))
    alter("no list", (TOPIC, "t", APPEND, "retention.ms", "1"))
    alter("no list of what does not exist", (TOPIC, "nope", APPEND, "retention.ms", "1"))
    alter("what does not exist", (TOPIC, "nope", SET, "retention.ms", "1"))
    alter("a wrong value of what does not exist", (TOPIC, "nope", SET, "retention.ms", "x"))
    alter("the folder above", (TOPIC, "..", SET, "retention.ms", "1"))
    alter("in an unknown way", (TOPIC, "t", NONE_OF_THEM, "retention.ms", "1"))
    alter("no list of a broker", (BROKER, "0", APPEND, "log.retention.ms", "1"))
    alter("another broker", (BROKER, "1", SET, "log.retention.ms", "1"))
    alter("an unknown type", (UNKNOWN, "t", DELETE, "x", ""), (TOPIC, "t", DELETE, "x", ""))

    def describe(step: str, *resources: tuple[int, str, Sequence[str] | None]) -> None:
        rows = [
            {"resource_type": kind, "resource_name": name, "configuration_keys": keys}
            for kind, name, keys in resources
        ]
        found = c.ask(0, "DescribeConfigs", {"resources": rows}, version=1)
        c.say(
            f"describe {step}",
            [
                [
                    error(row),
                    [[entry["name"], entry["value"]] for entry in row["configs"]]
                    if len(row["configs"]) < 3
                    else "all",
                ]
                for row in found["results"]
            ],
        )

    describe("t", (TOPIC, "t", ["retention.ms"]))
    describe("all of t", (TOPIC, "t", None))
    describe("nothing of t", (TOPIC, "t", []))
    describe("what does not exist", (TOPIC, "nope", None))
    describe("another broker", (BROKER, "1", ["log.retention.ms"]))
    describe("no broker", (BROKER, "x", ["log.retention.ms"]))
    describe("an unknown type", (UNKNOWN, "t", None), (TOPIC, "t", ["retention.ms"]))


def pages(c: Conversation) -> None:
    """Topics page by page (DescribeTopicPartitions), with cursors that are right and wrong."""
    for topic, count in (("a", 3), ("b", 2)):
        c.do(f"topic create {topic} --partitions {count} --replication-factor 1")
        c.wait(1)

    def page(step: str, topics: Sequence[str], limit: int, cursor: Plain = None) -> None:
        body = {
            "topics": [{"name": topic} for topic in topics],
            "response_partition_limit": limit,
            "cursor": cursor,
        }
        found = c.ask(0, "DescribeTopicPartitions", body, version=0)
        rows = [
            [topic["name"], error(topic), len(topic["partitions"])] for topic in found["topics"]
        ]
        c.say(step, [rows, found["next_cursor"]])

    def at(topic: str, partition: int) -> Plain:
        return {"topic_name": topic, "partition_index": partition}

    page("all", ["a", "b"], 2_000)
    page("two", ["a", "b"], 2)
    page("from there", ["a", "b"], 2, at("a", 2))
    page("none", ["a", "b"], 0)
    page("unknown", ["nope", "a"], 9)
    page("from a topic that is not named", ["b"], 9, at("a", 0))
    page("from before the first", ["a"], 9, at("a", -1))
    page("from behind the last", ["a"], 9, at("a", 7))


ADMINISTRATION: Final[tuple[Callable[[Conversation], Any], ...]] = (
    wrong_topics,
    wrong_configurations,
    pages,
)
