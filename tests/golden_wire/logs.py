"""Conversations about what brokers have on their disks.

They are about odd replicas, log starts, retention and new disks. The records are old, so that
topics keep them for ever, unless they are about retention.
"""

from collections.abc import Sequence
from typing import Any, Final

from emulator.wire.records import memory_records
from emulator.wire.records.record import Record
from tests.golden_wire.conversation import NOW_MS, Conversation, error

Plain = Any
"""A response as plain values."""
Partition = tuple[str, int]
KEPT: Final = "--config retention.ms=-1"
IN_SYNC: Final = "wait until t-0.isr == [0,1,2] within 30s"


class Logs:
    """Questions about logs, to any broker and about any partition."""

    def __init__(self, conversation: Conversation) -> None:
        """Ask in a conversation."""
        self.c = conversation

    def write(self, broker: int, tp: Partition, values: str, acks: int = -1) -> Plain:
        """Write records, one batch each; return the errors and offsets."""
        said = []
        for value in values.split():
            records = memory_records.build([Record(None, value.encode(), NOW_MS)], 2)
            rows = [{"index": tp[1], "records": records}]
            body = {"transactional_id": None, "acks": acks, "timeout_ms": 2_000,
                    "topic_data": [{"name": tp[0], "partition_data": rows}]}  # fmt: skip
            found = self.c.ask(broker, "Produce", body)
            if isinstance(found, str):
                return found
            row = found["responses"][0]["partition_responses"][0]
            said.append([error(row), row["base_offset"]])
        return said

    def read(self, broker: int, tp: Partition, offset: int, replica: int = -1) -> Plain:
        """Fetch 11; return the error, HW, log start and values."""
        row = {"partition": tp[1], "current_leader_epoch": -1, "fetch_offset": offset,
               "log_start_offset": -1, "partition_max_bytes": 1 << 20}  # fmt: skip
        body = {"replica_id": replica, "max_wait_ms": 100, "min_bytes": 0, "max_bytes": 1 << 20,
                "session_epoch": -1, "topics": [{"topic": tp[0], "partitions": [row]}]}  # fmt: skip
        found = self.c.ask(broker, "Fetch", body, version=11)
        if isinstance(found, str):
            return found
        row = found["responses"][0]["partitions"][0]
        values = [
            (each.value or b"").decode() for each in memory_records.decode(row["records"] or b"")
        ]
        return [error(row), row["high_watermark"], row["log_start_offset"], values]

    def find(self, broker: int, tp: Partition, timestamp: int, replica: int = -1) -> Plain:
        """ListOffsets 5; return the error, offset and leader epoch."""
        row = {"partition_index": tp[1], "current_leader_epoch": -1, "timestamp": timestamp}
        body = {"replica_id": replica, "isolation_level": 0,
                "topics": [{"name": tp[0], "partitions": [row]}]}  # fmt: skip
        found = self.c.ask(broker, "ListOffsets", body)
        if isinstance(found, str):
            return found
        row = found["topics"][0]["partitions"][0]
        return [error(row), row["offset"], row["leader_epoch"]]

    def ends(self, broker: int, tp: Partition, replica: int = -1) -> Plain:
        """The earliest and the latest offset."""
        return [self.find(broker, tp, timestamp, replica) for timestamp in (-2, -1)]

    def epoch_end(self, broker: int, tp: Partition, epoch: int, replica: int = -1) -> Plain:
        """OffsetForLeaderEpoch 3; return the error, epoch and end offset."""
        row = {"partition": tp[1], "current_leader_epoch": -1, "leader_epoch": epoch}
        body = {"replica_id": replica, "topics": [{"topic": tp[0], "partitions": [row]}]}
        found = self.c.ask(broker, "OffsetForLeaderEpoch", body)
        if isinstance(found, str):
            return found
        row = found["topics"][0]["partitions"][0]
        return [error(row), row["leader_epoch"], row["end_offset"]]

    def delete(
        self, broker: int, offsets: Sequence[tuple[Partition, int]], timeout_ms: int = 3_000
    ) -> Plain:
        """DeleteRecords 1 of several partitions; return log starts and errors in that order."""
        topics: dict[str, list[Plain]] = {}
        for (topic, number), offset in offsets:
            topics.setdefault(topic, []).append({"partition_index": number, "offset": offset})
        rows = [{"name": topic, "partitions": them} for topic, them in topics.items()]
        body = {"topics": rows, "timeout_ms": timeout_ms}
        found = self.c.ask(broker, "DeleteRecords", body, 12)
        if isinstance(found, str):
            return found
        said = {
            (topic["name"], row["partition_index"]): [row["low_watermark"], error(row)]
            for topic in found["topics"]
            for row in topic["partitions"]
        }
        return [said[tp] for tp, _ in offsets]

    def producers(self, broker: int, tp: Partition) -> Plain:
        """DescribeProducers 0; return the error."""
        body = {"topics": [{"name": tp[0], "partition_indexes": [tp[1]]}]}
        found = self.c.ask(broker, "DescribeProducers", body)
        return found if isinstance(found, str) else error(found["topics"][0]["partitions"][0])


def replicas(c: Conversation) -> None:
    """Questions to a leader, a follower and a broker without a replica, in odd replicas' names."""
    logs, t = Logs(c), ("t", 0)
    c.do(f"topic create t --replica-assignment 0:1 {KEPT}")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    c.say("write", logs.write(0, t, "a b c"))
    c.wait(1)

    def all_of(what: str, brokers: Sequence[int]) -> None:
        for broker in brokers:
            where = f"{what}, {broker}"
            c.say(f"{where}: read", [logs.read(broker, t, offset) for offset in (0, 3, 4, -1)])
            c.say(f"{where}: debugging", logs.read(broker, t, 0, -2))
            c.say(f"{where}: ends", logs.ends(broker, t))
            c.say(f"{where}: ends, debugging", logs.ends(broker, t, -2))
            c.say(f"{where}: epoch", [logs.epoch_end(broker, t, 0, of) for of in (-1, -2)])
            c.say(f"{where}: delete", logs.delete(broker, [(t, 0)], 500))
            c.say(f"{where}: unknown", _unknown(logs, broker))

    all_of("first", (0, 1, 2))
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(1.5)
    all_of("second", (1, 2))
    c.do("broker crash 1")
    c.do("wait until t-0.leader == -1")
    c.wait(1.5)
    all_of("none", (2,))
    c.do("broker start 0")
    c.wait(6)
    all_of("out of sync", (0,))
    c.say("write", logs.write(0, t, "d", 1))


def _unknown(logs: Logs, broker: int) -> list[Plain]:
    return [
        [
            logs.read(broker, tp, 0)[0],
            logs.find(broker, tp, -1)[0],
            logs.epoch_end(broker, tp, 0)[0],
            logs.delete(broker, [(tp, 0)], 500)[0][1],
            logs.write(broker, tp, "x", 1)[0][0],
        ]
        for tp in (("t", 7), ("none", 0))
    ]


def trimmed(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """DeleteRecords of several partitions at once, followers behind it, and what failovers keep."""
    logs = Logs(c)
    t, u, v, w = ("t", 0), ("t", 1), ("v", 0), ("w", 0)
    c.do(f"topic create t --replica-assignment 0:1:2,1:2:0 {KEPT}")
    c.do("topic create v --replica-assignment 0:2 --config cleanup.policy=compact")
    c.do(f"topic create w --replica-assignment 0:2 {KEPT} --config cleanup.policy=compact,delete")
    c.do("wait until t-0.leader == 0 and t-1.leader == 1 and v-0.leader == 0 and w-0.leader == 0")
    c.wait(2)
    c.say("write t-0", logs.write(0, t, "a b c d e f"))
    c.say("write t-1", logs.write(1, u, "a b c"))
    c.wait(1.5)
    several = [(t, 2), (u, 1), (v, 0), (w, 0), (("t", 9), 0), (("none", 0), 0)]
    c.say("delete several", logs.delete(0, several))
    c.say("delete several at once", logs.delete(0, [(t, 3), (u, 1)], 0))
    c.wait(1.5)
    c.say("ends", [logs.ends(0, t), logs.ends(1, u)])
    c.say("beyond the end", logs.delete(0, [(t, 99)]))
    c.say("all", logs.delete(1, [(u, -1)]))
    c.say("again", logs.delete(1, [(u, -1)]))
    c.say("read", [logs.read(0, t, offset) for offset in (0, 2, 3, 6)])
    c.say("read at a follower", [logs.read(1, t, offset) for offset in (0, 2, 3, 6)])
    c.say("read of an empty log", [logs.read(1, u, offset) for offset in (0, 2, 3)])
    c.do("broker stop 2")
    c.do("wait until t-0.isr == [0,1]")
    c.wait(1)
    c.say("write", logs.write(0, t, "g h"))
    c.wait(1)
    c.say("delete without a follower", logs.delete(0, [(t, 7)]))
    c.do("broker start 2 --clean")
    c.do(IN_SYNC)
    c.wait(1.5)
    c.say("read at the new disk", [logs.read(2, t, offset) for offset in (0, 6, 7, 8)])
    c.say("found there", logs.ends(2, t, -2))
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(1.5)
    c.say("next leader", [logs.ends(1, t), logs.epoch_end(1, t, 0), logs.epoch_end(1, t, 1)])
    c.say("write", logs.write(1, t, "i"))
    c.wait(1)
    c.do("broker stop 1")
    c.do("wait until t-0.leader == 2")
    c.wait(1.5)
    c.say("last leader", [logs.ends(2, t), logs.epoch_end(2, t, 0), logs.epoch_end(2, t, 1)])
    c.say("write", logs.write(2, t, "j", 1))
    c.wait(1)
    c.say("delete all", logs.delete(2, [(t, -1)]))
    c.say("empty", [logs.ends(2, t), logs.epoch_end(2, t, 2), logs.read(2, t, 10)])
    c.do("broker start 0")
    c.do("broker start 1")
    c.do(IN_SYNC)
    c.wait(1.5)
    c.say("followers", [logs.read(broker, t, 10) for broker in (0, 1)])
    c.say("found there", [logs.ends(broker, t, -2) for broker in (0, 1)])


def retained(c: Conversation) -> None:
    """Retention by size: what is found, read and told about epochs below the log start."""
    logs, t = Logs(c), ("t", 0)
    c.do(f"topic create t --replica-assignment 0:1:2 {KEPT} --config segment.bytes=100")
    c.do("wait until t-0.leader == 0")
    c.wait(32)  # retention begins 30 s after a broker's start
    c.say("write", logs.write(0, t, "a b c"))
    c.wait(1)
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(1.5)
    c.say("write", logs.write(1, t, "d e f"))
    c.wait(1)
    c.do("broker crash 2")
    c.do("wait until t-0.isr == [1]")
    c.wait(1.5)
    c.say("write", logs.write(1, t, "g h"))
    c.do("topic config t retention.bytes=180")
    c.wait(8)
    c.say("ends", logs.ends(1, t))
    c.say("read", [logs.read(1, t, offset) for offset in (0, 2, 3, 5, 6, 8)])
    c.say("epochs", [logs.epoch_end(1, t, epoch) for epoch in range(4)])
    c.say("by time", [logs.find(1, t, timestamp) for timestamp in (0, NOW_MS, NOW_MS + 1)])
    c.say("delete below", logs.delete(1, [(t, 1)]))
    c.do("broker start 2")
    c.do("wait until t-0.isr == [1,2] within 30s")
    c.wait(1.5)
    c.say("read at the follower", [logs.read(2, t, offset) for offset in (0, 2, 5, 8)])
    c.do("broker start 0 --clean")
    c.do(IN_SYNC)
    c.wait(1.5)
    c.say("read at the new disk", [logs.read(0, t, offset) for offset in (0, 2, 5, 8)])
    c.do("broker crash 1")
    c.wait(6)
    leader = c.until(lambda: [b for b in (0, 2) if logs.find(b, t, -1)[0] == "NONE"])
    c.say("leader", leader)
    assert leader is not None
    c.say("ends there", logs.ends(leader[0], t))
    c.say("epochs there", [logs.epoch_end(leader[0], t, epoch) for epoch in range(5)])
    c.say("write", logs.write(leader[0], t, "i"))


def disks(c: Conversation) -> None:
    """Brokers come back with empty disks while an idempotent producer and a consumer go on."""
    logs, t = Logs(c), ("t", 0)
    c.do(f"topic create t --replica-assignment 0:1:2 {KEPT}")
    c.do(f"topic create u --replica-assignment 2 {KEPT}")
    c.do("wait until t-0.leader == 0 and u-0.leader == 2")
    c.wait(2)
    pid, epoch = c.first_id(0)

    def put(broker: int, number: int, more: str = "") -> None:
        said = c.produce(broker, "t-0", [f"p{number}"], pid, epoch, number)
        c.say(f"p {number}{more}", said)

    for number in range(3):
        put(0, number)
    c.say("write u", logs.write(2, ("u", 0), "a b"))
    c.wait(1.5)
    c.do("broker crash 2")
    c.do("wait until t-0.isr == [0,1]")
    c.wait(1)
    put(0, 3)
    c.say("read u", [logs.read(broker, ("u", 0), 0)[0] for broker in (0, 1)])
    c.do("broker start 2 --clean")
    c.do(IN_SYNC)
    c.wait(1.5)
    c.say("producers at the new disk", c.producers(2, "t-0"))
    c.say("read there", logs.read(2, t, 0))
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(1.5)
    put(1, 3, " again")
    put(1, 4)
    c.do("broker start 0 --clean")
    c.do(IN_SYNC)
    c.wait(1.5)
    c.say("epochs at the leader", [logs.epoch_end(1, t, each) for each in range(3)])
    c.do("broker stop 1")
    c.do("wait until t-0.leader == 0")
    c.wait(1.5)
    c.say("producers", c.producers(0, "t-0"))
    put(0, 4, " again")
    put(0, 3, " again")
    put(0, 6, ", a gap")
    put(0, 5)
    c.say("epochs there", [logs.epoch_end(0, t, each) for each in range(4)])
    c.say("read", logs.read(0, t, 0))
