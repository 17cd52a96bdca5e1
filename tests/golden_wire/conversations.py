"""The conversations that were held with real brokers (``recordings/MODE-RELEASE/NAME.json``)."""

from collections.abc import Callable
from typing import Any, Final

from emulator.wire.records import memory_records
from tests.golden_wire import (
    access_control,
    consumer_groups,
    coordinator_writes,
    group_migration,
    share_groups,
)
from tests.golden_wire.access_control import ACCESS_CONTROL
from tests.golden_wire.administration import ADMINISTRATION
from tests.golden_wire.consumer_groups import CONSUMER_GROUPS
from tests.golden_wire.conversation import NOW_MS, Conversation, error
from tests.golden_wire.coordinator_writes import COORDINATOR_WRITES
from tests.golden_wire.group_configs import group_configs
from tests.golden_wire.group_migration import GROUP_MIGRATION
from tests.golden_wire.groups import ALL_IN_SYNC, statics
from tests.golden_wire.logs import disks, replicas, retained, trimmed
from tests.golden_wire.odd_requests import ODD_REQUESTS
from tests.golden_wire.refusals import REFUSALS
from tests.golden_wire.share_groups import SHARE_GROUPS

COMMON: Final = {
    "replica.lag.time.max.ms": "10000",
    "replica.high.watermark.checkpoint.interval.ms": "100",
    "auto.leader.rebalance.enable": "false",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "1",
}
KRAFT: Final = {"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500"}
EARLY_ACCESS: Final = {
    "unstable.api.versions.enable": "true",
    "group.share.enable": "true",
    "group.coordinator.rebalance.protocols": "classic,consumer,share",
}
OF_MODE: Final = {
    "zk": {"zookeeper.session.timeout.ms": "4000"},
    "kraft": KRAFT,
    "preview": KRAFT
    | {
        "group.coordinator.rebalance.protocols": "classic,consumer",
        "group.consumer.migration.policy": "bidirectional",
    },
    "early": KRAFT | EARLY_ACCESS,
}
"""What a cluster is configured with in a mode.

``preview`` is KRaft with the preview of KIP-848, ``early`` with the early access of KIP-932.
"""
CLEANUP: Final = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
COMPACTED: Final = "--config cleanup.policy=compact"
STRANGER: Final = 4_000_000
"""What is added to a producer id for one that no coordinator gave."""


def idempotent(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """Sequence numbers that are repeated, left out or of an old epoch, through four restarts."""
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    pid, epoch = c.first_id(0)
    c.say("init", ["NONE", c.producer(pid), epoch])

    def write(step: str, broker: int, value: str, sequence: int, newer: int = 0) -> None:
        c.say(step, c.produce(broker, "t-0", value.split(), pid, epoch + newer, sequence))

    def strange(step: str, broker: int, sequence: int) -> None:
        value = [f"z{sequence}"]
        c.say(step, c.produce(broker, "t-0", value, pid + STRANGER, 0, sequence))

    for number in range(7):
        write(f"seq {number}", 0, f"a{number}", number)
    for number in (6, 2, 1):
        write(f"again {number}", 0, f"a{number}", number)
    write("gap 9", 0, "a9", 9)
    write("at follower", 1, "a7", 7)
    c.wait(1)
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(1.5)
    for number in (6, 3, 1):
        write(f"again {number} at 1", 1, f"a{number}", number)
    write("gap 8 at 1", 1, "a8", 8)
    write("seq 7 at 1", 1, "a7", 7)
    for broker in (1, 2):
        c.say(f"producers at {broker}", c.producers(broker, "t-0"))
    write("epoch 1 seq 3", 1, "b3", 3, 1)
    write("epoch 1 seq 0", 1, "b0", 0, 1)
    write("epoch 0 seq 8", 1, "a8", 8)
    write("epoch 0 again 7", 1, "a7", 7)
    strange("stranger seq 5", 1, 5)
    strange("stranger seq 6", 1, 6)
    strange("stranger gap 8", 1, 8)
    c.wait(1)
    c.do("broker start 0")
    c.do(ALL_IN_SYNC)
    c.wait(1)
    c.do("broker crash 1")
    c.do("wait until t-0.leader == 0")
    c.wait(1.5)
    c.say("producers at 0", c.producers(0, "t-0"))
    write("epoch 1 again 0 at 0", 0, "b0", 0, 1)
    strange("stranger again 6 at 0", 0, 6)
    write("two in a batch", 0, "b1 b2", 1, 1)
    write("half of it again", 0, "b2", 2, 1)
    write("it again", 0, "b1 b2", 1, 1)
    found = c.init(0, None, 60_000, pid, epoch + 1)
    c.say("bump", [found[0], c.producer(found[1]), found[2]])
    c.do("broker stop 2")
    c.do("wait until t-0.isr == [0]")
    c.wait(1)
    write("alone", 0, "b3", 3, 1)
    c.do("broker stop 0")
    c.wait(1)
    c.do("broker start 0")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    write("again 3 after a clean restart", 0, "b3", 3, 1)
    write("next", 0, "b4", 4, 1)
    c.do("broker crash 0")
    c.do("wait until t-0.leader == -1")
    c.do("broker start 0")
    c.do("wait until t-0.leader == 0 within 30s")
    c.wait(2)
    write("again 4 after a crash", 0, "b4", 4, 1)
    c.say("producers in the end", c.producers(0, "t-0"))
    c.say("log", c.fetch(0, "t-0", 0, 0))


def lists(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """What ListOffsets, OffsetForLeaderEpoch and Fetch say through two changes of the leader."""

    def put(broker: int, value: str, after_ms: int) -> Any:  # noqa: ANN401 - a response
        return c.produce(broker, "t-0", [value], at_ms=NOW_MS + after_ms)

    def at(broker: int, timestamp: int, **more: int) -> Any:  # noqa: ANN401 - a response
        row = c.listed(broker, timestamp, version=7, **more)
        if isinstance(row, str):
            return row
        found = row["timestamp"]
        return [
            error(row),
            row["offset"],
            row["leader_epoch"],
            found - NOW_MS if found > 0 else found,
        ]

    def fetch(broker: int, offset: int, epoch: int = -1, last: int | None = None) -> Any:  # noqa: ANN401
        row = {"partition": 0, "current_leader_epoch": epoch, "fetch_offset": offset,
               "last_fetched_epoch": -1 if last is None else last, "log_start_offset": -1,
               "partition_max_bytes": 1 << 20}  # fmt: skip
        body = {"replica_id": -1, "max_wait_ms": 100, "min_bytes": 0, "max_bytes": 1 << 20,
                "session_epoch": -1, "topics": [{"topic": "t", "partitions": [row]}]}  # fmt: skip
        found = c.ask(broker, "Fetch", body, version=11 if last is None else 12)
        if isinstance(found, str):
            return found
        row = found["responses"][0]["partitions"][0]
        records = memory_records.decode(row["records"] or b"")
        end = row["diverging_epoch"] if last is not None else {"epoch": None, "end_offset": None}
        if last is not None and end["epoch"] == -1:
            end = {"epoch": None, "end_offset": None}
        start = row["log_start_offset"]
        ends = [end["epoch"], end["end_offset"]]
        return [error(row), row["high_watermark"], start, len(records), ends]

    def all_of(broker: int, what: str) -> None:
        c.say(f"{what}: latest, earliest, newest", [at(broker, each) for each in (-1, -2, -3)])
        times = (-5, 0, 1_500, 2_000, 3_000, 5_000, 90_000)
        c.say(f"{what}: by time", [at(broker, NOW_MS + each) for each in times])
        committed = [at(broker, each, isolation=1) for each in (-1, NOW_MS + 2_000)]
        c.say(f"{what}: read committed", committed)
        epochs = range(7)
        c.say(f"{what}: current epochs", [at(broker, -1, current_epoch=e)[0] for e in epochs])
        c.say(f"{what}: ends", [c.epoch_end(broker, each) for each in epochs])
        c.say(f"{what}: ends fenced", [c.epoch_end(broker, 0, each)[0] for each in epochs])
        c.say(f"{what}: fetch", [fetch(broker, 0, each)[0] for each in epochs])
        asked = ((0, 0), (2, 0), (3, 0), (3, 1), (4, 0), (4, 2), (5, 9))
        c.say(f"{what}: diverging", [fetch(broker, offset, -1, last) for offset, last in asked])

    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    c.say("empty", [at(0, each) for each in (-1, -2, -3, NOW_MS)])
    c.say("put", [put(0, "a", 1_000), put(0, "b", 3_000), put(0, "c", 2_000)])
    c.wait(1.5)
    all_of(0, "first leader")
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(1.5)
    at_follower = [at(2, -1)[0], at(2, -2)[0], c.epoch_end(2, 0)[0], fetch(2, 0)[0]]
    c.say("at a follower", at_follower)
    all_of(1, "second leader, nothing written")
    c.say("put", [put(1, "d", 2_500), put(1, "e", 9_000)])
    c.wait(1.5)
    all_of(1, "second leader")
    c.do("broker start 0")
    c.do(ALL_IN_SYNC)
    c.wait(1)
    c.do("broker stop 1")
    c.do("wait until t-0.leader == 0")
    c.wait(1.5)
    all_of(0, "third leader")
    c.say("put", [put(0, "f", 100)])
    c.wait(1.5)
    all_of(0, "third leader, written")


def ids(c: Conversation) -> None:
    """The first answers of each broker that is asked for a producer id after its start."""

    def one(step: str, broker: int) -> None:
        found = c.init(broker)
        c.say(step, found if isinstance(found, str) else [found[0], found[1] >= 0, found[2]])

    c.wait(3)
    for broker in (0, 1, 2):
        one(f"first of {broker}", broker)
        c.wait(1.5)
        one(f"second of {broker}", broker)
        one(f"third of {broker}", broker)
    c.do("broker stop 1")
    c.wait(1)
    c.do("broker start 1")
    c.wait(3)
    one("first of 1 again", 1)
    c.wait(1.5)
    one("second of 1 again", 1)


def deletes(c: Conversation) -> None:  # noqa: C901, PLR0915 - one step after another
    """DeleteRecords with followers dead, frozen and behind, and what leaders know afterwards."""

    def delete(broker: int, offset: int, timeout_ms: int = 3_000) -> Any:  # noqa: ANN401 - a response
        rows = [{"partition_index": 0, "offset": offset}]
        body = {"topics": [{"name": "t", "partitions": rows}], "timeout_ms": timeout_ms}
        found = c.ask(broker, "DeleteRecords", body, 12)
        if isinstance(found, str):
            return found
        rows = [row for topic in found["topics"] for row in topic["partitions"]]
        return [[row["low_watermark"], error(row)] for row in rows]

    def at(broker: int, timestamp: int) -> Any:  # noqa: ANN401 - a response
        row = c.listed(broker, timestamp)
        return row if isinstance(row, str) else [error(row), row["offset"], row["leader_epoch"]]

    def both(broker: int) -> list[Any]:
        return [at(broker, -2), at(broker, -1)]

    def ends(broker: int, epochs: int = 3) -> list[Any]:
        return [c.epoch_end(broker, each, of=-2) for each in range(epochs)]

    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    producers = {"p": c.first_id(0), "q": c.first_id(0)}
    for pid, _ in producers.values():
        c.producer(pid)

    def write(who: str, number: int, broker: int, more: str = "") -> None:
        pid, epoch = producers[who]
        found = c.produce(broker, "t-0", [f"{who}{number}"], pid, epoch, number)
        c.say(f"{who} {number}{more}", found)

    for who in ("p", "q"):
        for number in range(3):
            write(who, number, 0)
    c.wait(1.5)
    c.say("delete 4", delete(0, 4))
    c.say("fetch 0", c.fetch(0, "t-0", 0, 0))
    c.say("fetch 4", c.fetch(0, "t-0", 4, 0))
    for offset in (2, 7, -1, -2):
        c.say(f"delete {offset}", delete(0, offset))
    c.say("at follower", delete(1, 5))
    c.say("producers", c.producers(0, "t-0"))
    write("p", 3, 0)
    write("p", 3, 0, " again")
    write("q", 2, 0, " again")
    write("q", 4, 0, ", a gap")
    write("q", 3, 0)
    for timestamp in (-1, -2):
        c.say(f"list {timestamp}", at(0, timestamp))
    c.do("broker crash 2")
    c.do("wait until t-0.isr == [0,1]")
    c.wait(1)
    for number in range(4, 7):
        write("p", number, 0)
    c.wait(1)
    c.say("delete 9 with 2 dead", delete(0, 9))
    c.say("list", at(0, -2))
    c.say("epochs", ends(0))
    c.do("broker freeze 1")
    c.wait(1)
    c.say("delete 10 with 1 frozen", delete(0, 10, 1_500))
    c.say("list", at(0, -2))
    c.do("broker thaw 1")
    c.wait(2)
    c.do("broker start 2")
    c.do(ALL_IN_SYNC)
    c.wait(1.5)
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(1.5)
    c.say("list at 1", both(1))
    c.say("epochs at 1", ends(1))
    c.say("fetch 9 at 1", c.fetch(1, "t-0", 9, 0))
    c.say("fetch 10 at 1", c.fetch(1, "t-0", 10, 0))
    c.say("producers at 1", c.producers(1, "t-0"))
    write("p", 6, 1, " again")
    write("p", 7, 1)
    write("q", 4, 1)
    c.say("delete all", delete(1, -1))
    c.say("list", both(1))
    c.say("fetch at the end", c.fetch(1, "t-0", 13, 0))
    c.say("epochs of nothing", ends(1))
    c.do("broker start 0")
    c.do(ALL_IN_SYNC)
    c.wait(1.5)
    c.do("broker crash 1")
    c.do("wait until t-0.leader == 0")
    c.wait(1.5)
    c.say("list at 0", both(0))
    c.say("epochs at 0", ends(0, 4))
    c.say("producers at 0", c.producers(0, "t-0"))
    write("p", 8, 0)
    write("q", 5, 0)
    write("p", 8, 0, " again")
    c.do("broker stop 2")
    c.wait(1)
    c.do("broker stop 0")
    c.wait(1)
    c.do("broker start 0")
    c.do("wait until t-0.leader == 0 within 30s")
    c.wait(2)
    c.say("list after a restart", both(0))
    c.say("producers after a restart", c.producers(0, "t-0"))
    c.say("fetch 13", c.fetch(0, "t-0", 13, 0))
    write("p", 8, 0, " again")


def offsets(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """Offsets committed in transactions while the group's and transaction's coordinators die."""
    for topic, brokers in (("__consumer_offsets", "1:2:0"), ("__transaction_state", "2:0:1")):
        c.do(f"topic create {topic} --replica-assignment {brokers} {COMPACTED}")
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    c.do("reassign __consumer_offsets-0 1,2,0")
    c.wait(3)
    c.do("election preferred __consumer_offsets-0")
    c.wait(2)

    def put(
        broker: int, offset: int, older: int = 0, generation: int = -1, member: str = ""
    ) -> Any:  # noqa: ANN401
        rows = [{"partition_index": 0, "committed_offset": offset, "committed_leader_epoch": -1,
                 "committed_metadata": ""}]  # fmt: skip
        body = {"transactional_id": "tx", "group_id": "g", "producer_id": pid,
                "producer_epoch": epoch - older, "generation_id": generation, "member_id": member,
                "topics": [{"name": "t", "partitions": rows}]}  # fmt: skip
        found = c.ask(broker, "TxnOffsetCommit", body)
        if isinstance(found, str):
            return found
        return [error(row) for topic in found["topics"] for row in topic["partitions"]]

    def add(broker: int) -> Any:  # noqa: ANN401 - a response
        body = {"transactional_id": "tx", "producer_id": pid, "producer_epoch": epoch,
                "group_id": "g"}  # fmt: skip
        found = c.ask(broker, "AddOffsetsToTxn", body)
        return found if isinstance(found, str) else error(found)

    def got(broker: int) -> list[Any]:
        return [fetched(broker, is_stable=False), fetched(broker, is_stable=True)]

    def fetched(broker: int, *, is_stable: bool) -> Any:  # noqa: ANN401 - a response
        topics = [{"name": "t", "partition_indexes": [0]}]
        body = {"group_id": "g", "topics": topics, "require_stable": is_stable}
        found = c.ask(broker, "OffsetFetch", body, version=7)
        if isinstance(found, str):
            return found
        rows = [row for topic in found["topics"] for row in topic["partitions"]]
        return [error(found), [[row["committed_offset"], error(row)] for row in rows]]

    def commit(broker: int, offset: int) -> Any:  # noqa: ANN401 - a response
        rows = [{"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}]
        body = {"group_id": "g", "topics": [{"name": "t", "partitions": rows}]}
        found = c.ask(broker, "OffsetCommit", body)
        if isinstance(found, str):
            return found
        return [error(row) for topic in found["topics"] for row in topic["partitions"]]

    of_group, of_txn = c.coordinator("g", 0, 0), c.coordinator("tx", 1, 0)
    c.say("coordinators", [of_group, of_txn])
    c.group_is_known(of_group, "g")
    code, pid, epoch = c.init_until(of_txn, "tx")
    c.say("init", [code, c.producer(pid), epoch])
    c.say("commit outside a transaction", put(of_group, 1))
    c.say("plain commit", commit(of_group, 5))
    c.say("got", got(of_group))
    c.say("add", add(of_txn))
    c.say("put 7", put(of_group, 7))
    c.say("got", got(of_group))
    c.say("put with a generation", put(of_group, 8, 0, 3, "m"))
    c.say("put by an old epoch", put(of_group, 8, 1))
    c.say("described", c.transaction(of_txn, "tx"))
    c.wait(1)
    c.do(f"broker crash {of_group}")
    second = c.coordinator("g", 0, 0, of_group)
    c.say("next group coordinator", second)
    c.group_is_known(second, "g")
    c.say("got", got(second))
    c.say("group", c.group(second, "g"))
    of_txn = c.coordinator("tx", 1, 0)
    c.say("commit", c.end_until(of_txn, "tx", pid, epoch, commit=True))
    c.wait(2)
    c.say("got", got(second))
    c.say("described", c.transaction(of_txn, "tx"))
    c.say("add", add(of_txn))
    c.say("put 9", put(second, 9))
    c.do(f"broker start {of_group}")
    c.do(ALL_IN_SYNC)
    c.wait(1.5)
    c.do(f"broker crash {second}")
    left = next(broker for broker in (0, 1, 2) if broker != second)
    third, of_txn = c.coordinator("g", 0, left, second), c.coordinator("tx", 1, left, second)
    c.say("both are gone", [third, of_txn])
    c.group_is_known(third, "g")
    c.say("got", got(third))
    c.say("abort", c.end_until(of_txn, "tx", pid, epoch, commit=False))
    c.wait(2)
    c.say("got", got(third))
    c.say("group", c.group(third, "g"))
    c.say("late put", put(third, 11))
    c.say("got", got(third))
    code, last, last_epoch = c.init_until(of_txn, "tx")
    c.say("init", [code, c.producer(last), last_epoch])
    c.wait(1)
    c.say("got", got(third))
    c.say("zombie put", put(third, 12))
    deleted = c.ask(third, "DeleteGroups", {"groups_names": ["g"]})
    results = deleted if isinstance(deleted, str) else [error(row) for row in deleted["results"]]
    c.say("delete the group", results)
    c.say("got", got(third))


def transactions(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """A transaction whose coordinator and leader die, a fenced producer, and one that times out."""
    c.do(f"topic create __transaction_state --replica-assignment 1:2:0 {COMPACTED}")
    c.do("topic create t --replica-assignment 0:1:2,2:1:0")
    c.do("wait until t-0.leader == 0 and t-1.leader == 2")
    c.wait(3)
    first = c.coordinator("tx", 1, 0)
    c.say("coordinator", first)
    code, pid, epoch = c.init_until(first, "tx")
    c.say("init", [code, c.producer(pid), epoch])
    c.say("described", c.transaction(first, "tx"))

    def write(step: str, broker: int, tp: str, values: str, sequence: int) -> None:
        c.say(step, c.produce(broker, tp, values.split(), pid, epoch, sequence, "tx"))

    write("write before add", 0, "t-0", "x0", 0)
    c.say("add", c.add(first, "tx", pid, epoch, ["t-0", "t-1"]))
    write("write", 0, "t-0", "a0", 0)
    write("write 2", 2, "t-1", "a1 a2", 0)
    c.say("plain", c.produce(0, "t-0", ["p0"]))
    c.say("described", c.transaction(first, "tx"))
    c.say("producers", c.producers(0, "t-0"))
    c.say("committed", c.fetch(0, "t-0", 0, 1))
    c.say("uncommitted", c.fetch(0, "t-0", 0, 0))
    c.wait(1)
    c.do("broker crash 1")
    second = c.coordinator("tx", 1, 0, first)
    c.say("next coordinator", second)
    c.wait(1)
    c.say("commit", c.end_until(second, "tx", pid, epoch, commit=True))
    c.wait(1.5)
    c.say("described", c.transaction(second, "tx"))
    c.say("committed", c.fetch(0, "t-0", 0, 1))
    c.say("committed t-1", c.fetch(2, "t-1", 0, 1))
    c.say("commit again", c.end(second, "tx", pid, epoch, commit=True))
    c.say("abort then", c.end(second, "tx", pid, epoch, commit=False))
    c.say("producers", c.producers(0, "t-0"))
    c.say("second add", c.add(second, "tx", pid, epoch, ["t-0"]))
    write("write", 0, "t-0", "b0", 1)
    c.do("broker start 1")
    c.do(ALL_IN_SYNC)
    c.wait(1)
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(1.5)
    third = c.coordinator("tx", 1, 1, 0)
    c.say("coordinator", third)
    write("write at the next leader", 1, "t-0", "b1", 2)
    c.say("committed", c.fetch(1, "t-0", 0, 1))
    c.say("producers", c.producers(1, "t-0"))
    code, newer, newer_epoch = c.init_until(third, "tx")
    c.say("fencing init", [code, c.producer(newer), newer_epoch])
    c.wait(1.5)
    c.say("described", c.transaction(third, "tx"))
    c.say("committed", c.fetch(1, "t-0", 0, 1))
    write("zombie writes", 1, "t-0", "b2", 3)
    c.say("zombie adds", c.add(third, "tx", pid, epoch, ["t-1"]))
    c.say("zombie ends", c.end(third, "tx", pid, epoch, commit=True))
    c.do("broker start 0")
    c.do("wait until t-0.isr == [0,1,2] and t-1.isr == [0,1,2] within 30s")
    c.wait(1)
    code, short, short_epoch = c.init_until(third, "short", 3_000)
    c.say("short init", [code, c.producer(short), short_epoch])
    c.say("short add", c.add(third, "short", short, short_epoch, ["t-0"]))
    c.say("short write", c.produce(1, "t-0", ["s0"], short, short_epoch, 0, "short"))
    others = [broker for broker in (0, 1, 2) if broker != third]
    c.do(f"broker crash {third}")
    fourth = c.coordinator("short", 1, others[0], third)
    c.say("coordinator", fourth)
    c.wait(8)
    c.say("short described", c.transaction(fourth, "short"))
    of_t_1 = c.until(lambda: [b for b in others if c.produce(b, "t-1", ["q"])[0] == "NONE"][:1])
    of_t_0 = c.until(lambda: [b for b in others if c.fetch(b, "t-0")["error"] == "NONE"][:1])
    assert of_t_0 is not None
    assert of_t_1 is not None
    (leader,) = of_t_0
    c.say("leader of t-0", leader)
    c.say("committed", c.fetch(leader, "t-0", 0, 1))
    c.say("short commits", c.end(fourth, "short", short, short_epoch, commit=True))
    late = c.produce(leader, "t-0", ["s1"], short, short_epoch, 1, "short")
    c.say("short writes", late)
    code, again, again_epoch = c.init_until(fourth, "short", 3_000)
    c.say("short again", [code, c.producer(again), again_epoch])
    c.say("producers", c.producers(leader, "t-0"))
    body: dict[str, list[str]] = {"state_filters": [], "producer_id_filters": []}
    listed = c.ask(fourth, "ListTransactions", body)["transaction_states"]
    rows = sorted([row["transactional_id"], row["transaction_state"]] for row in listed)
    c.say("listed", rows)
    c.say("all of t-1", c.fetch(of_t_1[0], "t-1", 0, 1))


CONVERSATIONS: Final[dict[str, Callable[[Conversation], None]]] = {
    each.__name__: each
    for each in (
        *(idempotent, lists, ids, deletes, offsets, transactions, statics),
        *(replicas, trimmed, retained, disks),
        *CONSUMER_GROUPS,
        *ACCESS_CONTROL,
        *SHARE_GROUPS,
        *GROUP_MIGRATION,
        *COORDINATOR_WRITES,
        *REFUSALS,
        *ADMINISTRATION,
        *ODD_REQUESTS,
        group_configs,
    )
}
MORE: Final = {
    "transactions": {CLEANUP: "1000"},
    "statics": {"group.initial.rebalance.delay.ms": "1000"},
    "retained": {"log.retention.check.interval.ms": "1000"},
    **{each.__name__: consumer_groups.SETTINGS for each in CONSUMER_GROUPS},
    **{each.__name__: access_control.SETTINGS for each in ACCESS_CONTROL},
    **group_migration.MORE,
    **coordinator_writes.MORE,
    "coordinators": consumer_groups.SETTINGS | consumer_groups.LONG_SESSIONS,
    "regexes": consumer_groups.SETTINGS | consumer_groups.LONG_SESSIONS,
    **{each.__name__: share_groups.SETTINGS for each in SHARE_GROUPS},
    "share_dead_topics": share_groups.SETTINGS
    | {"errors.deadletterqueue.auto.create.topics.enable": "true"},
    "share_late_groups": (
        share_groups.SETTINGS
        | share_groups.LONG_SESSIONS
        | coordinator_writes.SLOW
        | {"offsets.commit.timeout.ms": "2000"}
    ),
    "share_offsets": share_groups.SETTINGS | share_groups.LONG_SESSIONS,
    **dict.fromkeys(
        ("share_leaders", "share_dead_leaders"),
        share_groups.SETTINGS | share_groups.LONG_SESSIONS | share_groups.LONG_LOCKS,
    ),
}
"""What a conversation's cluster is configured with besides."""
FEATURES: Final = {
    **{each.__name__: {"share.version": 1} for each in SHARE_GROUPS},
    **{
        each: {"share.version": 2}
        for each in ("share_dead_letters", "share_dead_topics", "share_dead_leaders")
    },
}
"""The levels of features with which a conversation's cluster is formatted."""


def held(name: str, mode: str, version: str) -> list[list[Any]]:
    """Hold a conversation with an emulated cluster; return what it said."""
    config = COMMON | OF_MODE[mode] | MORE.get(name, {})
    if version.startswith("3.7"):
        config.pop("group.consumer.migration.policy", None)  # not there yet
    if CONVERSATIONS[name] in ACCESS_CONTROL:
        config["authorizer.class.name"] = access_control.AUTHORIZERS[mode]
    features = {} if mode == "early" else FEATURES.get(name, {})
    mode = "kraft" if mode in ("preview", "early") else mode
    conversation = Conversation(config, version, mode, features)
    CONVERSATIONS[name](conversation)
    return conversation.said
