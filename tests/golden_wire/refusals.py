"""Conversations about requests that brokers refuse, and what they then remember of them."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from emulator.common.errors import ERROR_NAMES
from emulator.wire.records import record_batch
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import Producer
from tests.golden_wire.conversation import NOW_MS, Conversation, Plain, error

STRANGER: Final = 4_000_000
"""A producer id that no coordinator gave."""
IDS_SINCE: Final = 13
"""The first Fetch version that names topics by id."""
GROUP: Final = "g"


def _errors(found: Plain, topics: str, partitions: str, of: str = "error_code") -> Plain:
    """The errors of a response by topic and partition, sorted by name and number."""
    if isinstance(found, str):
        return found
    return sorted(
        [topic.get("name", ""), row.get("partition_index", -1), ERROR_NAMES[row[of]]]
        for topic in found[topics]
        for row in topic[partitions]
    )


def _create(c: Conversation, topic: str) -> bytes:
    """Create a topic by the newest request; return its id, if topics have one."""
    row = {"name": topic, "num_partitions": 1, "replication_factor": 3}
    body = {"topics": [row], "timeout_ms": 10_000}
    found = c.ask(c.controller(), "CreateTopics", body, version=c.newest("CreateTopics"))
    c.wait(1)
    topic_id = found["topics"][0]["topic_id"]
    assert isinstance(topic_id, bytes)
    return topic_id


def _delete(c: Conversation, topic: str) -> None:
    body = {"topic_names": [topic], "topics": [{"name": topic}], "timeout_ms": 10_000}
    c.ask(c.controller(), "DeleteTopics", body, version=c.newest("DeleteTopics"))
    c.wait(2)


def refused_lists(c: Conversation) -> None:
    """Timestamps that a version of ListOffsets does not have, and partitions asked for twice."""
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    c.say("put", [c.produce(0, "t-0", ["a", "b"]), c.produce(0, "t-0", ["c"])])
    for version in range(1, c.newest("ListOffsets") + 1):
        rows = [c.listed(0, timestamp, version=version) for timestamp in (-3, -4, -5, -6, -9)]
        shown = [[error(row), row["offset"], row["leader_epoch"]] for row in rows]
        c.say(f"special times in {version}", shown)
    twice = [{"partition_index": 0, "timestamp": timestamp} for timestamp in (-1, -2)]
    body = {"replica_id": -1, "topics": [{"name": "t", "partitions": twice}]}
    found = c.ask(0, "ListOffsets", body)
    c.say("twice", sorted({error(row) for row in found["topics"][0]["partitions"]}))
    for current_epoch in (-3, -2, -1, 0, 1):
        c.say(f"epoch {current_epoch}", c.epoch_end(0, 0, current_epoch)[0])
    c.group_is_known(0, GROUP)
    rows = [{"partition_index": 0, "offset": 0}]
    body = {"topics": [{"name": "__consumer_offsets", "partitions": rows}], "timeout_ms": 3_000}
    leader = c.coordinator(GROUP, 0, 0)
    c.say("delete internal records", _errors(c.ask(leader, "DeleteRecords", body), "topics",
                                             "partitions"))  # fmt: skip


def refused_records(c: Conversation) -> None:
    """Records with several faults: which of them a broker tells, and where its log starts."""
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("topic create k --replica-assignment 0:1:2 --config cleanup.policy=compact")
    c.do("wait until k-0.leader == 0")
    c.wait(2)
    pid, epoch = c.first_id(0)
    good = record_batch.build([Record(b"k", b"v", NOW_MS)])
    damaged = good[:-1] + b"?"
    numbered = record_batch.build([Record(b"k", b"v", NOW_MS)], producer=Producer(pid, epoch, 0))
    of_transaction = record_batch.build(
        [Record(None, b"v", NOW_MS)], producer=Producer(pid, epoch, 1), is_transactional=True
    )
    fields = ("error_code", "base_offset", "log_append_time_ms", "log_start_offset")
    for step, tp, records, acks in (
        ("good", ("t", 0), good, -1),
        ("twice", ("t", 0), good + good, -1),
        ("twice, acks", ("t", 0), good + good, 2),
        ("twice, nowhere", ("t", 7), good + good, 2),
        ("damaged", ("t", 0), damaged, -1),
        ("damaged, acks", ("t", 0), damaged, 2),
        ("damaged, nowhere", ("t", 7), damaged, -1),
        ("acks", ("t", 0), good, -2),
        ("acks, nowhere", ("nope", 0), good, 2),
        ("numbered", ("t", 0), numbered, -1),
        ("numbered again", ("t", 0), numbered, -1),
        ("of a transaction", ("t", 0), of_transaction, -1),
        ("of a transaction, no key", ("k", 0), of_transaction, -1),
        ("of a transaction, nowhere", ("nope", 0), of_transaction, -1),
    ):
        topic, number = tp
        data = [{"name": topic, "partition_data": [{"index": number, "records": records}]}]
        body = {"transactional_id": None, "acks": acks, "timeout_ms": 3_000, "topic_data": data}
        row = c.ask(0, "Produce", body, version=8)["responses"][0]["partition_responses"][0]
        c.say(step, [error(row), *(row[name] for name in fields[1:])])
    c.say("got", c.fetch(0, "t-0")["values"])


def refused_producers(c: Conversation) -> None:
    """Transactional requests with wrong ids, epochs, timeouts and partitions."""
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    x = c.coordinator("tx", 1, 0)
    _, pid, epoch = c.init_until(x, "tx")
    c.say("init", [c.producer(pid), epoch])

    def init(step: str, producer: int, at: int, timeout_ms: int = 60_000) -> None:
        found = c.init(x, "tx", timeout_ms, producer, at)
        c.say(step, [found[0], c.producer(found[1]), found[2]])
        c.wait(1)

    init("an id without epoch", pid, -1)
    init("an id without epoch, no timeout", pid, -1, 0)
    init("an epoch without id", -1, 3)
    init("no timeout", -1, -1, 0)
    init("a long timeout", -1, -1, 10_000_000)
    init("of a stranger", STRANGER, 0)
    init("of a later epoch", pid, epoch + 1)
    c.say("in no transaction", c.add(x, "tx", STRANGER, 0, ["t-0", "nope-0"]))
    c.say("in no transaction", c.add(x, "tx", pid, epoch, ["t-0", "t-9"]))
    c.say("begin", c.add(x, "tx", pid, epoch, ["t-0"]))
    init("in a transaction, of a stranger", STRANGER, 0)
    init("in a transaction, of a later epoch", pid, epoch + 5)
    init("after it", pid, epoch + 5)
    c.say("described", _described(c, x))
    init("anew", -1, -1)
    c.say("described", _described(c, x))


def _described(c: Conversation, broker: int) -> Plain:
    """The transaction's state, epoch, and whether it is said to have started."""
    found = c.ask(broker, "DescribeTransactions", {"transactional_ids": ["tx"]})
    (row,) = found["transaction_states"]
    epoch, started_ms = row["producer_epoch"], row["transaction_start_time_ms"]
    return [error(row), row["transaction_state"], epoch, started_ms > 0]


def nameless_groups(c: Conversation) -> None:
    """The empty group id, and what is left of a group whose last offset is deleted."""
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    g, leader = _coordinator(c, GROUP), _coordinator(c, "")
    asked = [{"name": "t", "partitions": [{"partition_index": 0}]}]

    def commit(step: str, group: str, broker: int, member: str = "", generation: int = -1) -> None:
        rows = [{"partition_index": 0, "committed_offset": 5, "committed_metadata": ""}]
        body = {"group_id": group, "generation_id_or_member_epoch": generation,
                "member_id": member,
                "topics": [{"name": "t", "partitions": rows}]}  # fmt: skip
        c.say(step, _errors(c.ask(broker, "OffsetCommit", body), "topics", "partitions"))

    def delete(step: str, group: str, broker: int) -> None:
        body = {"group_id": group, "topics": asked}
        found = c.ask(broker, "OffsetDelete", body, version=0)
        rows = [row for topic in found["topics"] for row in topic["partitions"]]
        c.say(step, [error(found), sorted({error(row) for row in rows})])

    commit("commit without name", "", leader)
    c.say("describe without name", c.group(leader, ""))
    delete("delete offsets without name", "", leader)
    body = {"group_id": "", "generation_id": 0, "member_id": "m"}
    c.say("heartbeat without name", error(c.ask(leader, "Heartbeat", body)))
    rows = [{"partition_index": 0, "committed_offset": 5, "committed_metadata": ""}]
    body = {"transactional_id": "tx", "group_id": "", "producer_id": STRANGER, "producer_epoch": 0,
            "topics": [{"name": "t", "partitions": rows}]}  # fmt: skip
    c.say("commit in a transaction without name",
          _errors(c.ask(leader, "TxnOffsetCommit", body), "topics", "partitions"))  # fmt: skip
    commit("commit", GROUP, g)
    commit("commit of a member", GROUP, g, "m", 0)
    delete("delete the offset", GROUP, g)
    commit("commit of a member", GROUP, g, "m", 0)


def _coordinator(c: Conversation, group: str) -> int:
    broker = c.coordinator(group, 0, 0)
    c.group_is_known(broker, group)
    assert isinstance(broker, int)
    return broker


def deleted_topics(c: Conversation) -> None:
    """A topic that is deleted and created again: its offsets, and fetches by its ids."""
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    old = _create(c, "u")
    g = _coordinator(c, GROUP)

    def committed(step: str) -> None:
        named = [{"name": topic, "partition_indexes": [0]} for topic in ("t", "u")]
        found = c.ask(g, "OffsetFetch", {"group_id": GROUP, "topics": named})
        rows = [[each["name"], each["partitions"][0]["committed_offset"]] for each in
                found["topics"]]  # fmt: skip
        c.say(step, sorted(rows))

    rows = [{"partition_index": 0, "committed_offset": 7, "committed_metadata": ""}]
    body: Plain = {
        "group_id": GROUP,
        "topics": [{"name": topic, "partitions": rows} for topic in "tu"],
    }
    c.say("commit", _errors(c.ask(g, "OffsetCommit", body), "topics", "partitions"))
    committed("before")
    _delete(c, "u")
    committed("deleted")
    new = _create(c, "u")
    committed("created again")
    c.say("commit", _errors(c.ask(g, "OffsetCommit", body), "topics", "partitions"))
    if c.newest("Fetch") >= IDS_SINCE:
        _fetch_by_id(c, old, new)
    _delete(c, "u")
    _delete(c, "t")
    committed("all deleted")
    body = {"group_id": GROUP, "generation_id_or_member_epoch": 0, "member_id": "m",
            "topics": [{"name": "v", "partitions": rows}]}  # fmt: skip
    _create(c, "v")
    c.say("commit of a member", _errors(c.ask(g, "OffsetCommit", body), "topics", "partitions"))


def _fetch_by_id(c: Conversation, old: bytes, new: bytes) -> None:
    leader = c.leader("u-0")

    def fetch(step: str, ids: Sequence[bytes], session: tuple[int, int],
              forgotten: Sequence[bytes] = ()) -> int:  # fmt: skip
        row = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1_000}
        body = {"max_wait_ms": 100, "min_bytes": 0, "max_bytes": 10_000,
                "session_id": session[0], "session_epoch": session[1],
                "topics": [{"topic_id": each, "partitions": [row]} for each in ids],
                "forgotten_topics_data": [{"topic_id": each, "partitions": [0]}
                                          for each in forgotten]}  # fmt: skip
        found = c.ask(leader, "Fetch", body, version=IDS_SINCE)
        names = {old: "old", new: "new"}
        rows = [[names[topic["topic_id"]], *map(error, topic["partitions"])] for topic in
                found["responses"]]  # fmt: skip
        c.say(step, [error(found), found["session_id"] != 0, sorted(rows)])
        number = found["session_id"]
        assert isinstance(number, int)
        return number

    fetch("the old id", [old], (0, -1))
    fetch("the new id", [new], (0, -1))
    number = fetch("a session of both", [old, new], (0, 0))
    fetch("the new one asked for and forgotten", [new], (number, 1), [new])
    fetch("what is left", [], (number, 2))


def refused_administration(c: Conversation) -> None:
    """Clients without a name, topics that are given two sizes, and elections of nothing."""
    for names in (("x", "1"), ("a b", "1"), ("", "1"), ("-x", "1"), ("x.y-z", "1.0?")):
        body: Plain = dict(
            zip(("client_software_name", "client_software_version"), names, strict=True)
        )
        found = c.ask(0, "ApiVersions", body, version=3)
        c.say(f"versions for {names}", [error(found), bool(found["api_keys"])])
    controller = c.controller()

    def create(step: str, topic: str, count: int, factor: int,
               lists: Sequence[Sequence[int]] = ()) -> None:  # fmt: skip
        rows = [{"partition_index": n, "broker_ids": each} for n, each in enumerate(lists)]
        row = {"name": topic, "num_partitions": count, "replication_factor": factor,
               "assignments": rows}  # fmt: skip
        body = {"topics": [row], "timeout_ms": 10_000}
        found = c.ask(controller, "CreateTopics", body, version=5)
        c.say(step, error(found["topics"][0]))
        c.wait(1)

    create("lists", "t", -1, -1, [[0, 1], [1, 2]])
    create("lists and a count", "u", 2, -1, [[0, 1], [1, 2]])
    create("lists and a factor", "u", -1, 2, [[0, 1], [1, 2]])
    create("lists of two lengths", "u", -1, -1, [[0], [1, 2]])
    create("a broker twice", "u", -1, -1, [[1, 1]])
    create("lists of a topic that exists", "t", 2, 2, [[0], [1, 2]])
    create("no partitions", "u", 0, 1)
    create("no replicas", "u", 1, 0)
    named: Sequence[tuple[str, Plain]] = (
        ("nothing", []),
        ("one", [{"topic": "t", "partitions": [0]}]),
        ("an unknown one", [{"topic": "nope", "partitions": [0]}]),
    )
    for step, partitions in named:
        body = {"election_type": 0, "topic_partitions": partitions, "timeout_ms": 3_000}
        found = c.ask(controller, "ElectLeaders", body, version=2)
        rows = [
            [topic["topic"], row["partition_id"], error(row)]
            for topic in found["replica_election_results"]
            for row in topic["partition_result"]
        ]
        c.say(f"elect {step}", [error(found), rows])
    body = {"topics": [{"name": None, "topic_id": b"\5" * 16}], "timeout_ms": 3_000}
    found = c.ask(controller, "DeleteTopics", body, version=6)
    c.say("delete by an unknown id", [error(row) for row in found["responses"]])


SUBSCRIPTION: Final = b"\0\0" + b"\0\0\0\1" + b"\0\1t" + b"\0\0\0\0"
"""The metadata of a consumer that subscribes to topic t: version, topics, user data."""


def refused_members(c: Conversation) -> None:
    """Members of a classic group that name other protocols, or never ask for their assignment."""
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    c.group_is_known(0, GROUP)
    at = c.coordinator(GROUP, 0, 0)
    groups = {"groups": [GROUP]}
    c.until(lambda: error(c.ask(at, "DescribeGroups", groups)["groups"][0]) == "NONE")

    def join(member: str, kind: str, protocol: str, session_ms: int = 20_000) -> Plain:
        timeouts = {"session_timeout_ms": session_ms, "rebalance_timeout_ms": 3_000}
        protocols = [{"name": protocol, "metadata": SUBSCRIPTION}]
        body = {"group_id": GROUP, "member_id": member, "protocol_type": kind}
        found = c.ask(at, "JoinGroup", body | timeouts | {"protocols": protocols}, version=2)
        return found if isinstance(found, str) else [error(found), found["member_id"]]

    def sync(kind: str | None, protocol: str | None, generation: int = 1) -> Plain:
        body = {"group_id": GROUP, "generation_id": generation, "member_id": member}
        named: Plain = {"protocol_type": kind, "protocol_name": protocol, "assignments": []}
        return error(c.ask(at, "SyncGroup", body | named, version=5))

    def state() -> Plain:
        (group,) = c.ask(at, "DescribeGroups", groups)["groups"]
        return [group["group_state"], len(group["members"])]

    def deleted() -> Plain:
        rows = [{"partition_index": number} for number in (0, 9)]
        body = {"group_id": GROUP, "topics": [{"name": "t", "partitions": rows}]}
        return _errors(c.ask(at, "OffsetDelete", body, version=0), "topics", "partitions")

    joined, member = join("", "consumer", "range")
    c.say("join", joined)
    refused = (
        ("another type", join(member, "connect", "range")),
        ("another protocol", join("stranger", "consumer", "other")),
        ("a short session", join(member, "consumer", "range", 1)),
        ("a stranger", join("stranger", "consumer", "range")),
    )
    for step, (refusal, named) in refused:
        c.say(step, [refusal, named.replace(member, "member")])
    c.say("sync without a type", sync(None, "range"))
    c.say("sync without a protocol", sync("consumer", None, 9))
    c.say("sync with another type", sync("connect", "range"))
    c.say("sync with another protocol", sync("consumer", "other"))
    beat = {"group_id": GROUP, "generation_id": 1, "member_id": member}
    c.say("heartbeat", error(c.ask(at, "Heartbeat", beat)))
    c.say("not synchronized", state())
    c.wait(4)
    c.say("after the rebalance timeout", state())
    c.say("delete offsets", deleted())


REFUSALS: Final[tuple[Callable[[Conversation], Any], ...]] = (
    refused_lists,
    refused_records,
    refused_producers,
    nameless_groups,
    deleted_topics,
    refused_administration,
    refused_members,
)
