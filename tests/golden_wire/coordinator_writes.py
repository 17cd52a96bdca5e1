"""What becomes of coordinators' own records while replicas are down, slow, or records too large."""

from collections.abc import Callable
from typing import Final

from tests.golden_wire.consumer_groups import Members
from tests.golden_wire.conversation import Conversation, error
from tests.golden_wire.group_members import OFFSETS, Plain

TRANSACTIONS: Final = (
    "__transaction_state --replica-assignment 1:2:0 --config cleanup.policy=compact"
)
LOG: Final = "__consumer_offsets-0"
TXN, METADATA_MAX = "tx", 4_096


class Committer(Members):
    """Who commits offsets without being a member, also in transactions."""

    def begin_with(self, config: str = "") -> None:
        """Have both internal topics at broker 1, and a topic t."""
        self.c.do(f"topic create {OFFSETS} {config}")
        self.c.do(f"topic create {TRANSACTIONS}")
        self.c.do("topic create t --replica-assignment 1:2:0,1:2:0")
        self.c.do("wait until t-0.leader == 1")
        self.c.wait(3)
        self.find()
        self.learn("t")

    def put(self, offset: int, tp: str = "t-0", note: str = "") -> Plain:
        """Commit an offset with metadata."""
        topic, _, number = tp.rpartition("-")
        row = {"partition_index": int(number), "committed_offset": offset,
               "committed_metadata": note}  # fmt: skip
        body = {"group_id": self.group, "generation_id_or_member_epoch": -1, "member_id": "",
                "topics": [{"name": topic, "partitions": [row]}]}  # fmt: skip
        found = self.c.ask(self.broker, "OffsetCommit", body, version=8)
        if isinstance(found, str):
            return found
        return [error(row) for topic in found["topics"] for row in topic["partitions"]]

    def got(self, tp: str = "t-0", *, is_stable: bool = False) -> Plain:
        """Ask for a committed offset."""
        topic, _, number = tp.rpartition("-")
        group = {"group_id": self.group, "topics": [{"name": topic,
                 "partition_indexes": [int(number)]}]}  # fmt: skip
        body = {"groups": [group], "require_stable": is_stable}
        found = self.c.ask(self.broker, "OffsetFetch", body, version=8)
        if isinstance(found, str):
            return found
        (row,) = found["groups"]
        rows = [each for topic in row["topics"] for each in topic["partitions"]]
        return [error(row), [[each["committed_offset"], error(each)] for each in rows]]

    def end(self) -> Plain:
        """The end of the log of __consumer_offsets, as far as it is replicated."""
        body = {"replica_id": -1, "isolation_level": 0, "topics": [{"name": "__consumer_offsets",
                "partitions": [{"partition_index": 0, "timestamp": -1}]}]}  # fmt: skip
        found = self.c.ask(self.broker, "ListOffsets", body)
        return found if isinstance(found, str) else found["topics"][0]["partitions"][0]["offset"]

    def put_in_transaction(self, producer_id: int, epoch: int, offset: int, tp: str) -> Plain:
        """Commit an offset in a transaction."""
        topic, _, number = tp.rpartition("-")
        body: dict[str, Plain] = {"transactional_id": TXN, "producer_id": producer_id,
                "producer_epoch": epoch, "group_id": self.group}  # fmt: skip
        found = self.c.ask(self.broker, "AddOffsetsToTxn", body)
        if isinstance(found, str) or error(found) != "NONE":
            return found
        row = {"partition_index": int(number), "committed_offset": offset,
               "committed_leader_epoch": -1, "committed_metadata": ""}  # fmt: skip
        body |= {"generation_id": -1, "member_id": "",
                 "topics": [{"name": topic, "partitions": [row]}]}  # fmt: skip
        found = self.c.ask(self.broker, "TxnOffsetCommit", body)
        if isinstance(found, str):
            return found
        return [error(row) for topic in found["topics"] for row in topic["partitions"]]

    def forget(self, tp: str) -> Plain:
        """Delete a committed offset."""
        topic, _, number = tp.rpartition("-")
        body = {"group_id": self.group, "topics": [{"name": topic,
                "partitions": [{"partition_index": int(number)}]}]}  # fmt: skip
        found = self.c.ask(self.broker, "OffsetDelete", body, version=0)
        if isinstance(found, str):
            return found
        return [error(found), [error(row) for t in found["topics"] for row in t["partitions"]]]


def late_commits(c: Conversation) -> None:
    """Commits that time out while the replicas in sync are frozen, and are replicated then."""
    m = Committer(c)
    m.begin_with()
    say = c.say
    say("commit", m.put(1))
    say("end", m.end())
    c.wait(1)
    for broker in (0, 2):
        c.do(f"broker freeze {broker}")
    c.wait(1)
    say("late commit", m.put(2))
    say("committed", m.got())
    say("committed, stable", m.got(is_stable=True))
    say("another one", m.put(3, "t-1"))
    for broker in (0, 2):
        c.do(f"broker thaw {broker}")
    c.wait(3)
    say("end", m.end())
    say("committed after all", m.got())
    say("the other one", m.got("t-1"))
    say("commit", m.put(4))
    say("committed", m.got())


def late_groups(c: Conversation) -> None:
    """What is told of groups that begin, change and end while the replicas in sync are frozen."""
    m = Committer(c)
    m.begin_with()
    say = c.say
    consumers, newcomers = Members(c, "k"), Members(c, "e")
    for members in (consumers, newcomers):
        members.broker, members.names = m.broker, m.names

    def tell() -> None:
        say("g", [m.described_as_classic(), m.got(), m.got("t-1")])
        for name in ("j", "s"):
            other = Committer(c, name)
            other.broker = m.broker
            say(name, [other.described_as_classic(), other.got()])
        say("k", [consumers.described(), consumers.committed("m1", 1)])
        say("e", newcomers.described())
        say("listed", m.listed())
        say("listed by type", m.listed(types=["consumer"]))

    say("commit", m.put(1))
    say("m1 joins", consumers.join("m1"))
    tell()
    c.wait(1)
    for broker in (0, 2):
        c.do(f"broker freeze {broker}")
    c.wait(1)
    say("delete g", m.deleted())
    say("m2 joins", consumers.join("m2"))
    tell()
    say("m3 joins another group", newcomers.join("m3"))
    body = {"group_id": "j", "session_timeout_ms": 30_000, "rebalance_timeout_ms": 4_000,
            "member_id": "", "group_instance_id": None, "protocol_type": "connect",
            "protocols": [{"name": "range", "metadata": b"m"}]}  # fmt: skip
    found = c.ask(m.broker, "JoinGroup", body)
    say("a classic member joins", found if isinstance(found, str) else error(found))
    stranger = Committer(c, "s")
    stranger.broker = m.broker
    say("a commit in a new group", stranger.put(5))
    tell()
    say("g again", m.put(7, "t-1"))
    tell()
    for broker in (0, 2):
        c.do(f"broker thaw {broker}")
    c.wait(3)
    tell()


def small_isr(c: Conversation) -> None:
    """Commits, markers and tombstones with fewer replicas in sync than min.insync.replicas."""
    m = Committer(c)
    m.begin_with("--config min.insync.replicas=2")
    say = c.say
    say("commit", m.put(1))
    say("commit of the other", m.put(1, "t-1"))
    code, pid, epoch = c.init_until(1, TXN)
    say("init", [code, c.producer(pid), epoch])
    say("in a transaction", m.put_in_transaction(pid, epoch, 5, "t-0"))
    say("end", m.end())
    c.wait(1)
    for broker in (0, 2):
        c.do(f"broker crash {broker}")
    c.do("wait until t-0.isr == [1]")
    c.wait(2)
    say("commit alone", m.put(2))
    say("committed", m.got())
    say("end the transaction", c.end(1, TXN, pid, epoch, commit=True))
    c.wait(1)
    say("producers", c.producers(1, LOG))
    say("committed, stable", m.got(is_stable=True))
    say("delete the other", m.forget("t-1"))
    say("the other", m.got("t-1"))
    say("end", m.end())
    for broker in (0, 2):
        c.do(f"broker start {broker}")
    c.do("wait until t-0.isr == [0,1,2] within 30s")
    c.wait(3)
    say("transaction", c.transaction(1, TXN))
    say("producers", c.producers(1, LOG))
    say("committed, stable", m.got(is_stable=True))
    say("the other", m.got("t-1"))
    say("end", m.end())


def late_tombstones(c: Conversation) -> None:
    """Offsets that expire with fewer replicas in sync than min.insync.replicas."""
    m = Committer(c)
    m.begin_with("--config min.insync.replicas=2")
    say = c.say
    say("commit", m.put(1))
    c.wait(30)
    say("a younger commit", m.put(1, "t-1"))
    say("end", m.end())
    for broker in (0, 2):
        c.do(f"broker crash {broker}")
    c.do("wait until t-0.isr == [1]")
    c.wait(35)
    say("expired", m.got())
    say("end", m.end())
    for broker in (0, 2):
        c.do(f"broker start {broker}")
    c.do("wait until t-0.isr == [0,1,2] within 30s")
    c.wait(3)
    say("end", m.end())
    say("expired", m.got())


def large_records(c: Conversation) -> None:
    """Commits and members larger than a batch, or than metadata, may be."""
    m = Committer(c)
    m.begin_with("--config max.message.bytes=1000")
    say = c.say
    say("commit", m.put(1, note="n" * 100))
    say("large metadata", m.put(2, note="n" * 3_000))
    say("too large metadata", m.put(3, note="n" * (METADATA_MAX + 1)))
    say("committed", m.got())
    body = {"group_id": "j", "session_timeout_ms": 10_000, "rebalance_timeout_ms": 4_000,
            "member_id": "", "group_instance_id": "i", "protocol_type": "connect",
            "protocols": [{"name": "range", "metadata": b"m" * 2_000}]}  # fmt: skip
    found = c.ask(m.broker, "JoinGroup", body, 20)
    say("large member", found if isinstance(found, str) else [error(found), found["generation_id"]])
    if isinstance(found, str) or error(found) != "NONE":
        return
    sync = {"group_id": "j", "generation_id": found["generation_id"],
            "member_id": found["member_id"], "group_instance_id": "i",
            "assignments": [{"member_id": found["member_id"], "assignment": b"a"}]}  # fmt: skip
    found = c.ask(m.broker, "SyncGroup", sync)
    say("large generation", found if isinstance(found, str) else error(found))


COORDINATOR_WRITES: Final[tuple[Callable[[Conversation], None], ...]] = (
    *(late_commits, late_groups, small_isr, late_tombstones, large_records),
)
"""The conversations."""
SLOW: Final = {"broker.session.timeout.ms": "60000", "replica.lag.time.max.ms": "60000"}
MORE: Final = {
    "late_commits": SLOW | {"offsets.commit.timeout.ms": "2000"},
    "late_groups": SLOW | {"offsets.commit.timeout.ms": "2000"},
    "small_isr": {"offsets.commit.timeout.ms": "2000"},
    "late_tombstones": {
        "offsets.retention.minutes": "1",
        "offsets.retention.check.interval.ms": "1000",
    },
    "large_records": {"group.initial.rebalance.delay.ms": "0"},
}
"""What a conversation's cluster is configured with besides."""
