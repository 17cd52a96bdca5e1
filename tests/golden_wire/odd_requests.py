"""Conversations about requests that name something twice, or that have words nobody knows."""

from collections.abc import Callable
from typing import Any, Final

from emulator.common.errors import ERROR_NAMES
from tests.golden_wire.access_control import Guard
from tests.golden_wire.conversation import Conversation, Plain

STRANGER: Final = 4_000_000
"""A producer id that no coordinator gave."""
UNKNOWN_TYPE: Final = 99
IDS_SINCE: Final = 10
"""The first OffsetFetch version that names topics by id."""
TOPIC, LOGGER, METRICS = 2, 8, 16
SET, DELETE, APPEND = 0, 1, 2


def _lists(*partitions: int, topic: str = "t") -> Plain:
    rows = [{"partition_index": partition, "timestamp": -1} for partition in partitions]
    return {"name": topic, "partitions": rows}


def _ends(*partitions: tuple[int, int], topic: str = "t") -> Plain:
    rows = [
        {"partition": partition, "current_leader_epoch": current, "leader_epoch": 0}
        for partition, current in partitions
    ]
    return {"topic": topic, "partitions": rows}


def named_twice(c: Conversation) -> None:
    """Partitions and resources that a request names twice, and lists without anything."""
    c.do("topic create t --replica-assignment 0:1:2,0:1:2")
    c.do("topic create u --replica-assignment 0:1:2")
    c.do("wait until u-0.leader == 0")
    c.wait(2)
    guard = Guard(c)
    body: Plain = {"replica_id": -1, "topics": [_lists(0, 0, 1)]}
    guard.say("list twice", "ListOffsets", body, 5)
    body["topics"] = [_lists(0), _lists(1), _lists(7, 7)]
    guard.say("list a topic twice", "ListOffsets", body, 5)
    body["topics"] = [_lists(0, 0, topic="nope")]
    guard.say("list an unknown topic twice", "ListOffsets", body, 5)
    body = {"replica_id": -1, "topics": [_ends((0, -1), (0, 7))]}
    guard.say("epochs twice", "OffsetForLeaderEpoch", body, 3)
    body["topics"] = [_ends((0, 7)), _ends((0, -1), (1, -3))]
    guard.say("epochs of a topic twice", "OffsetForLeaderEpoch", body, 3)
    for step, kinds in (("t", [TOPIC, TOPIC]), ("an unknown type", [UNKNOWN_TYPE, 98, TOPIC])):
        named = [
            {"resource_type": kind, "resource_name": "t", "configuration_keys": ["retention.ms"]}
            for kind in kinds
        ]
        guard.say(f"describe {step} twice", "DescribeConfigs", {"resources": named}, 1)
        change = {"name": "retention.ms", "config_operation": 0, "value": "1000"}
        rows = [
            {"resource_type": kind, "resource_name": "t", "configs": [change]} for kind in kinds
        ]
        guard.say(f"alter {step} twice", "IncrementalAlterConfigs", {"resources": rows}, 0)
    rows = [{"resource_type": TOPIC, "resource_name": "t", "configs": []} for _ in range(2)]
    guard.say("replace t twice", "AlterConfigs", {"resources": rows}, 1)
    moved = [{"name": "t", "partitions": [0]}]
    dirs = [{"path": path, "topics": moved} for path in ("/nowhere", "/elsewhere")]
    guard.say("move twice", "AlterReplicaLogDirs", {"dirs": dirs}, 1)
    logs = [{"topic": "t", "partitions": [0, 0, 7]}, {"topic": "nope", "partitions": [0]}]
    guard.say("logs twice", "DescribeLogDirs", {"topics": logs}, 1)
    guard.broker = c.controller()
    for count, lists in ((1, []), (2, []), (2, None), (3, [])):
        grown = [{"name": "u", "count": count, "assignments": lists}]
        body = {"topics": grown, "timeout_ms": 3_000}
        guard.say(f"grow to {count} by {lists}", "CreatePartitions", body, 1)
        c.wait(1)


def unknown_words(c: Conversation) -> None:
    """Types of coordinators and resources that a broker does not know, without an authorizer."""
    c.wait(1)
    guard = Guard(c)
    for kind in (2, 7, -1):
        guard.say(f"find {kind}", "FindCoordinator", {"key": "g", "key_type": kind}, 2)
        guard.say(f"find {kind} in 1", "FindCoordinator", {"key": "g", "key_type": kind}, 1)
    for word in (0, 1, UNKNOWN_TYPE):
        entry = {"resource_type": word, "resource_name": "t", "principal": "User:x", "host": "*",
                 "operation": 3, "permission_type": 3}  # fmt: skip
        guard.say(f"create {word}", "CreateAcls", {"creations": [entry]}, 1)
        wanted = {"resource_type_filter": word, "operation": 1, "permission_type": 1}
        guard.say(f"describe {word}", "DescribeAcls", wanted, 1)
        guard.say(f"delete {word}", "DeleteAcls", {"filters": [wanted]}, 1)


def unverified_offsets(c: Conversation) -> None:
    """Internal topics in transactions, and offsets whose producer or member is wrong, or both."""
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    x = c.coordinator("tx", 1, 0)
    _, pid, epoch = c.init_until(x, "tx")
    g = c.coordinator("g", 0, 0)
    c.group_is_known(g, "g")
    c.say("add an internal topic", c.add(x, "tx", pid, epoch, ["t-0", "__consumer_offsets-0"]))
    guard = Guard(c, g)
    named = [{"name": topic, "partition_indexes": [0]} for topic in ("a b", "nope")]
    guard.say("producers of a bad name", "DescribeProducers", {"topics": named}, 0)

    def commit(step: str, producer: int, member: str, generation: int, note: str = "") -> None:
        row = {"partition_index": 0, "committed_offset": 1, "committed_metadata": note}
        body = {
            "transactional_id": "tx",
            "group_id": "g",
            "producer_id": producer,
            "producer_epoch": epoch,
            "generation_id": generation,
            "member_id": member,
            "topics": [{"name": "t", "partitions": [row]}],
        }
        guard.say(step, "TxnOffsetCommit", body, 3)

    for whose, producer in (("a stranger's", STRANGER), ("not added", pid)):
        commit(f"{whose}, of no member", producer, "m", 1)
        commit(f"{whose}, of a generation", producer, "", 3)
        commit(f"{whose}, with a long note", producer, "", -1, "x" * 5_000)
        commit(whose, producer, "", -1)
    body = {"transactional_id": "tx", "producer_id": pid, "producer_epoch": epoch, "group_id": "g"}
    c.say("add offsets", c.ask(x, "AddOffsetsToTxn", body)["error_code"])
    commit("of no member", pid, "m", 1)
    commit("of a generation", pid, "", 3)
    commit("with a long note", pid, "", -1, "x" * 5_000)
    commit("good", pid, "", -1)
    c.say("end", c.end(x, "tx", pid, epoch, commit=True))


def offsets_of_nothing(c: Conversation) -> None:
    """Committed offsets of no group, and of a topic that is there, and then is not."""
    row = {"name": "t", "num_partitions": 1, "replication_factor": 1}
    body: Plain = {"topics": [row], "timeout_ms": 10_000}
    found = c.ask(c.controller(), "CreateTopics", body, version=c.newest("CreateTopics"))
    topic_id = found["topics"][0]["topic_id"]
    c.wait(2)
    guard = Guard(c, c.coordinator("g", 0, 0))
    c.group_is_known(guard.broker, "g")
    rows = [{"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}]
    topics = [{"name": "t", "partitions": rows}]
    guard.say("commit", "OffsetCommit", {"group_id": "g", "member_id": "", "topics": topics,
                                         "generation_id_or_member_epoch": -1}, 7)  # fmt: skip
    version = c.newest("OffsetFetch")
    named = {"topic_id": topic_id} if version >= IDS_SINCE else {"name": "t"}
    groups = [{"group_id": "g", "topics": [{**named, "partition_indexes": [0, 7]}]}]
    guard.say("got", "OffsetFetch", {"groups": groups}, version)
    body = {"topic_names": [], "topics": [{"name": "t"}], "timeout_ms": 10_000}
    guard.broker, coordinator = c.controller(), guard.broker
    c.ask(guard.broker, "DeleteTopics", body, version=6)
    c.wait(3)
    guard.broker = coordinator
    guard.say("got when it is gone", "OffsetFetch", {"groups": groups}, version)
    guard.say("got of no group", "OffsetFetch", {"groups": []}, 8)


def subscriptions_to_metrics(c: Conversation) -> None:
    """Subscriptions to clients' metrics (KIP-714), and loggers: values, lists and wrong ones."""
    c.wait(1)
    guard = Guard(c)

    def alter(step: str, kind: int, name: str, *changes: tuple[str, int, str | None]) -> None:
        configs = [
            {"name": key, "config_operation": operation, "value": value}
            for key, operation, value in changes
        ]
        rows = [{"resource_type": kind, "resource_name": name, "configs": configs}]
        guard.say(step, "IncrementalAlterConfigs", {"resources": rows}, 0)
        c.wait(0.5)

    def replace(step: str, kind: int, name: str, **values: str) -> None:
        configs = [{"name": key.replace("_", "."), "value": text} for key, text in values.items()]
        rows = [{"resource_type": kind, "resource_name": name, "configs": configs}]
        guard.say(step, "AlterConfigs", {"resources": rows}, 1)
        c.wait(0.5)

    def describe(step: str, kind: int, name: str, *keys: str) -> None:
        rows = [{"resource_type": kind, "resource_name": name, "configuration_keys": keys or None}]
        body = {"resources": rows, "include_synonyms": True}
        found = c.ask(0, "DescribeConfigs", body, version=4)["results"][0]
        entries = [
            [entry["name"], entry["value"], entry["config_source"], entry["config_type"],
             entry["read_only"], [[row["name"], row["value"]] for row in entry["synonyms"]]]
            for entry in found["configs"]
        ]  # fmt: skip
        c.say(step, [ERROR_NAMES[found["error_code"]], sorted(entries)])

    describe("nothing", METRICS, "m")
    describe("no name", METRICS, "")
    alter("an interval", METRICS, "m", ("interval.ms", SET, "1000"))
    describe("the interval", METRICS, "m")
    describe("an unknown key", METRICS, "m", "nope")
    alter("a metric", METRICS, "m", ("metrics", SET, "a.b,c"))
    alter("a pattern", METRICS, "m", ("match", SET, "client_id=x.*,client_software_name=y"))
    describe("all", METRICS, "m")
    for step, name, key, operation, value in (
        ("no name", "", "interval.ms", SET, "1000"),
        ("an unknown key", "m", "nope", SET, "1"),
        ("a short interval", "m", "interval.ms", SET, "99"),
        ("a long interval", "m", "interval.ms", SET, "3600001"),
        ("no number", "m", "interval.ms", SET, "x"),
        ("no pattern", "m", "match", SET, "x"),
        ("an unknown field", "m", "match", SET, "x=y"),
        ("a wrong expression", "m", "match", SET, "client_id=["),
        ("an empty pattern", "m", "match", SET, ""),
        ("no metrics", "m", "metrics", SET, ""),
        ("one more", "m", "metrics", APPEND, "d"),
        ("no interval", "m", "interval.ms", DELETE, None),
        ("nothing of another", "n", "interval.ms", DELETE, None),
    ):
        alter(step, METRICS, name, (key, operation, value))
    describe("all again", METRICS, "m")
    describe("another", METRICS, "n")
    replace("all", METRICS, "m", interval_ms="2000")
    replace("a wrong one", METRICS, "m", interval_ms="x")
    replace("without a name", METRICS, "", interval_ms="2000")
    describe("the last", METRICS, "m")
    guard.say("list", "ListConfigResources", {}, 0)
    replace("none", METRICS, "m")
    describe("none", METRICS, "m")
    guard.say("list none", "ListConfigResources", {}, 0)
    for name in ("0", "1", "", "x"):
        alter(f"loggers of {name!r}", LOGGER, name)
    for step, key, operation, value in (
        ("an unknown logger", "nope", SET, "INFO"),
        ("an unknown logger no more", "nope", DELETE, None),
        ("an unknown level", "nope", SET, "x"),
        ("a logger's list", "nope", APPEND, "INFO"),
        ("no level", "nope", SET, None),
    ):
        alter(step, LOGGER, "0", (key, operation, value))
    replace("a logger", LOGGER, "0", root="INFO")


ODD_REQUESTS: Final[tuple[Callable[[Conversation], Any], ...]] = (
    named_twice,
    unknown_words,
    unverified_offsets,
    offsets_of_nothing,
    subscriptions_to_metrics,
)
