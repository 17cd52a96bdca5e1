"""The conversations about share groups (KIP-932)."""

from collections.abc import Mapping, Sequence
from typing import Final

from emulator.wire.records import memory_records
from tests.golden_wire.conversation import Conversation, error, values_of
from tests.golden_wire.group_configs import SET, Administrator
from tests.golden_wire.group_members import OFFSETS, UNSET, GroupMembers, Plain

Acknowledged = Mapping[str, Sequence[tuple[int, int, Sequence[int]]]]
"""First and last offset and types of acknowledgements, by partition."""

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
STATE: Final = "__share_group_state --replica-assignment 2:1:0 --config cleanup.policy=delete"
SETTINGS: Final = {
    "group.share.min.session.timeout.ms": "1000",
    "group.share.session.timeout.ms": "8000",
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.heartbeat.interval.ms": "1000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "8000",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "1",
    "log.retention.ms": "-1",
}
LONG_SESSIONS: Final = {"group.share.session.timeout.ms": "40000"}
"""For conversations in which brokers die: sessions last until the next coordinator has loaded."""
ID_LENGTH: Final = 22
"""The length of an id in base64; brokers of 4.1 take no other ids of members."""
QUEUE: Final = "errors.deadletterqueue.topic.name"
LONG_LOCKS: Final = {"group.share.record.lock.duration.ms": "30000"}


class ShareMembers(GroupMembers):
    """The members of a share group: they talk to its coordinator and to leaders of partitions."""

    internal_topics = (OFFSETS, STATE)

    def __init__(self, conversation: Conversation, group: str = "g") -> None:
        """Talk about ``group``, wherever it is coordinated."""
        super().__init__(conversation, group)
        self.sessions: dict[tuple[str, int], int] = {}

    def _version(self, version: int) -> int:
        """The version of a request; the early access (4.0) has version 0 alone."""
        return 0 if self.c.is_early_access else version

    # ---- topics

    def id_of(self, topic: str) -> bytes:
        """The id of a topic; one that no topic has if the name is unknown."""
        ids = {name: topic_id for topic_id, name in self.names.items()}
        return bytes.fromhex(ids[topic]) if topic in ids else bytes([7] * 16)

    def by_id(self, partitions: Sequence[str]) -> dict[bytes, list[int]]:
        """Partition numbers by topic id."""
        found: dict[bytes, list[int]] = {}
        for tp in partitions:
            topic, _, number = tp.rpartition("-")
            found.setdefault(self.id_of(topic), []).append(int(number))
        return found

    def counted(self, rows: Sequence[Plain]) -> dict[str, int]:
        """How many partitions of each topic a response has; which ones depends on topics' ids."""
        found = {self.names.get(row["topic_id"].hex(), "?"): len(row["partitions"]) for row in rows}
        return {topic: count for topic, count in sorted(found.items()) if count}

    # ---- heartbeats

    def beat(self, member: str, epoch: Plain = UNSET, topics: Sequence[str] | None = None) -> Plain:
        """Let a member send a heartbeat: error, epoch and, if it is told, its assignment."""
        body = {
            "group_id": self.group,
            "member_id": id_of(member),
            "member_epoch": self.epochs.get(member, 0) if epoch is UNSET else epoch,
            "subscribed_topic_names": None if topics is None else list(topics),
        }
        found = self.c.ask(self.broker, "ShareGroupHeartbeat", body, version=self._version(1))
        if isinstance(found, str):
            return found
        if error(found) != "NONE":
            return [error(found), found["error_message"]]
        self.epochs[member] = found["member_epoch"]
        assignment = found["assignment"]
        told = None if assignment is None else self.counted(assignment["topic_partitions"])
        return [error(found), found["member_epoch"], told]

    def join(self, member: str, topics: Sequence[str] = ("t",)) -> Plain:
        """Let a member join."""
        return self.beat(member, 0, topics)

    def leave(self, member: str) -> Plain:
        """Let a member leave."""
        said = self.beat(member, -1)
        self.epochs.pop(member, None)
        return said

    def settle(self, *members: str, rounds: int = 8) -> None:
        """Let members send heartbeats until nothing changes any more."""
        for _ in range(rounds):
            before = dict(self.epochs)
            self.c.wait(0.5)
            for member in members:
                self.beat(member)
            if before == self.epochs:
                return

    def described(self, group: str = "") -> Plain:
        """Describe the group."""
        body = {"group_ids": [group or self.group], "include_authorized_operations": False}
        found = self.c.ask(self.broker, "ShareGroupDescribe", body, version=self._version(1))
        if isinstance(found, str):
            return found
        (row,) = found["groups"]
        if row["error_code"]:
            return [error(row), row["error_message"]]
        members = [
            [
                *(each["member_id"].rstrip("A"), each["member_epoch"]),
                sorted(each["subscribed_topic_names"]),
                self.counted(each["assignment"]["topic_partitions"]),
            ]
            for each in row["members"]
        ]
        state = [row["group_state"], row["group_epoch"], row["assignment_epoch"]]
        return [*state, row["assignor_name"], sorted(members)]

    # ---- records

    def fetch(  # noqa: PLR0913 - as the protocol has them
        self,
        member: str,
        broker: int,
        partitions: Sequence[str] = (),
        *,
        epoch: Plain = UNSET,
        acknowledged: Acknowledged | None = None,
        forgotten: Sequence[str] = (),
        wait_ms: int = 500,
        records: int = 500,
        batch: int = 500,
        mode: int = 0,
        renews: bool = False,
        version: int = 1,
    ) -> Plain:
        """Acquire records: each partition's error, values, and what was acquired.

        Partitions are named that join the session, and those with acknowledgements.
        """
        key = member, broker
        given = acknowledged or {}
        topics = self.by_id([*partitions, *(tp for tp in given if tp not in partitions)])
        known = {(self.id_of(t), int(n)): rows for tp, rows in given.items()
                 for t, _, n in (tp.rpartition("-"),)}  # fmt: skip
        sizes = {(self.id_of(t), int(n)): 1 << 20
                 for tp in partitions for t, _, n in (tp.rpartition("-"),)}  # fmt: skip
        body = {
            "group_id": self.group,
            "member_id": id_of(member),
            "share_session_epoch": self.sessions.get(key, 0) if epoch is UNSET else epoch,
            "max_wait_ms": wait_ms,
            "min_bytes": 0 if renews else 1,
            "max_bytes": 0 if renews else 1 << 20,
            "max_records": records,
            "batch_size": batch,
            "share_acquire_mode": mode,
            "is_renew_ack": renews,
            "topics": [
                {
                    "topic_id": topic_id,
                    "partitions": [
                        {
                            "partition_index": number,
                            "partition_max_bytes": sizes.get((topic_id, number), 0),
                            "acknowledgement_batches": _batches(known.get((topic_id, number), ())),
                        }
                        for number in numbers
                    ],
                }
                for topic_id, numbers in topics.items()
            ],
            "forgotten_topics_data": [
                {"topic_id": topic_id, "partitions": numbers}
                for topic_id, numbers in self.by_id(forgotten).items()
            ],
        }
        found = self.c.ask_again(
            f"{member} {broker}", broker, "ShareFetch", body, self._version(version)
        )
        if isinstance(found, str):
            return found
        if error(found) != "NONE":
            return [error(found), found["error_message"]]
        self._next(key)
        told = {
            f"{self.names.get(topic['topic_id'].hex(), '?')}-{row['partition_index']}": [
                error(row),
                _acknowledge_error(row),
                values_of(row["records"] or b"", 0),
                [
                    [each["first_offset"], each["last_offset"], each["delivery_count"]]
                    for each in row["acquired_records"]
                ],
                *_leader(row),
            ]
            for topic in found["responses"]
            for row in topic["partitions"]
        }
        return [found["acquisition_lock_timeout_ms"], dict(sorted(told.items()))]

    def acknowledge(
        self,
        member: str,
        broker: int,
        acknowledged: Acknowledged,
        *,
        epoch: Plain = UNSET,
        renews: bool = False,
        version: int = 1,
    ) -> Plain:
        """Acknowledge records: each partition's error."""
        key = member, broker
        topics: dict[bytes, list[Plain]] = {}
        for tp, rows in acknowledged.items():
            topic, _, number = tp.rpartition("-")
            row = {"partition_index": int(number), "acknowledgement_batches": _batches(rows)}
            topics.setdefault(self.id_of(topic), []).append(row)
        body = {
            "group_id": self.group,
            "member_id": id_of(member),
            "share_session_epoch": self.sessions.get(key, 0) if epoch is UNSET else epoch,
            "is_renew_ack": renews,
            "topics": [{"topic_id": key, "partitions": rows} for key, rows in topics.items()],
        }
        found = self.c.ask_again(
            f"{member} {broker}", broker, "ShareAcknowledge", body, self._version(version)
        )
        if isinstance(found, str):
            return found
        if error(found) != "NONE":
            return [error(found), found["error_message"]]
        self._next(key)
        told = {
            f"{self.names.get(topic['topic_id'].hex(), '?')}-{row['partition_index']}": [
                error(row),
                row["error_message"],
                *_leader(row),
            ]
            for topic in found["responses"]
            for row in topic["partitions"]
        }
        return dict(sorted(told.items()))

    def _next(self, key: tuple[str, int]) -> None:
        self.sessions[key] = self.sessions.get(key, 0) + 1

    # ---- offsets

    def offsets(self, *partitions: str, group: str = "") -> Plain:
        """Describe the start offsets of partitions; of all that have state if none is named."""
        topics: dict[str, list[int]] = {}
        for tp in partitions:
            topic, _, number = tp.rpartition("-")
            topics.setdefault(topic, []).append(int(number))
        rows = [{"topic_name": topic, "partitions": n} for topic, n in topics.items()]
        body = {"groups": [{"group_id": group or self.group, "topics": rows or None}]}
        found = self.c.ask(self.broker, "DescribeShareGroupOffsets", body, version=0)
        if isinstance(found, str):
            return found
        (row,) = found["groups"]
        told = {
            f"{topic['topic_name']}-{each['partition_index']}": [
                *(error(each), each["start_offset"], each["leader_epoch"]),
            ]
            for topic in row["topics"]
            for each in topic["partitions"]
        }
        return [error(row), dict(sorted(told.items()))]

    def alter_offsets(self, offsets: Mapping[str, int]) -> Plain:
        """Set start offsets."""
        topics: dict[str, list[Plain]] = {}
        for tp, offset in offsets.items():
            topic, _, number = tp.rpartition("-")
            row = {"partition_index": int(number), "start_offset": offset}
            topics.setdefault(topic, []).append(row)
        rows = [{"topic_name": topic, "partitions": each} for topic, each in topics.items()]
        body = {"group_id": self.group, "topics": rows}
        found = self.c.ask(self.broker, "AlterShareGroupOffsets", body, version=0)
        if isinstance(found, str):
            return found
        told = {
            f"{topic['topic_name']}-{each['partition_index']}": error(each)
            for topic in found["responses"]
            for each in topic["partitions"]
        }
        return [error(found), dict(sorted(told.items()))]

    def delete_offsets(self, *topics: str) -> Plain:
        """Delete the state of topics."""
        body = {"group_id": self.group, "topics": [{"topic_name": topic} for topic in topics]}
        found = self.c.ask(self.broker, "DeleteShareGroupOffsets", body, version=0)
        if isinstance(found, str):
            return found
        told = {row["topic_name"]: error(row) for row in found["responses"]}
        return [error(found), dict(sorted(told.items()))]

    # ---- where it is coordinated

    def begin(self, partitions: str = "0:1:2") -> None:
        """Have __consumer_offsets at broker 1, __share_group_state at broker 2, and a topic t."""
        super().begin(partitions)

    def ready(self, member: str, broker: int = 0, *partitions: str) -> None:
        """Let a member join, get its assignment, and begin to fetch at the end of partitions."""
        self.join(member)
        self.settle(member)
        self.fetch(member, broker, partitions or ("t-0",), wait_ms=300)
        self.c.wait(0.5)
        self.fetch(member, broker, wait_ms=300)


def id_of(member: str) -> str:
    """The id of a member; one that is long or empty has none but its name."""
    return member.ljust(ID_LENGTH, "A") if member.startswith("m") else member


def _batches(rows: Sequence[tuple[int, int, Sequence[int]]]) -> list[Plain]:
    return [
        {"first_offset": first, "last_offset": last, "acknowledge_types": list(types)}
        for first, last, types in rows
    ]


def _acknowledge_error(row: Plain) -> str:
    return error({"error_code": row["acknowledge_error_code"]})


def _leader(row: Plain) -> list[int]:
    """The leader that a member is told, if it is."""
    leader = row["current_leader"]
    if error(row) in ("NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH"):
        return [leader["leader_id"], leader["leader_epoch"]]
    return []


def share_members(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """Members that join, are fenced, leave and time out, and their assignments."""
    m = ShareMembers(c)
    m.begin("0:1:2,1:2:0,2:0:1,0:1:2")
    say = c.say
    say("no group", ShareMembers(c, "").beat("m1", 0, ["t"]))
    say("no member id", m.beat("", 0, ["t"]))
    say("negative epoch", m.beat("m1", -3, ["t"]))
    say("no subscription", m.beat("m1", 0))
    say("nothing subscribed", m.beat("m1", 0, []))
    say("unknown group", m.beat("m1", 1))
    say("leaves an unknown group", m.beat("m1", -1))
    say("described", m.described())
    say("deleted", m.deleted())
    say("listed", m.listed())
    say("m1 joins", m.join("m1"))
    m.settle("m1")
    say("described", m.described())
    say("m1 again", m.beat("m1"))
    say("m1 tells its topics", m.beat("m1", topics=["t"]))
    say("unknown member", m.beat("m9", 1))
    say("epoch too new", m.beat("m1", 99))
    say("m1 joins again", m.join("m1"))
    for member in ("m2", "m3", "m4"):
        say(f"{member} joins", m.join(member))
        c.wait(1.2)  # from 4.3 on, the next assignment may follow then
    m.settle("m1", "m2", "m3", "m4")
    say("described", m.described())
    say("m1 of an old epoch", m.beat("m1", 1))
    say("offsets", m.offsets())
    c.do("topic create u --replica-assignment 1:2:0,2:0:1")
    c.wait(2)
    m.learn("u")
    say("m2 wants u too", m.beat("m2", topics=["t", "u"]))
    m.settle("m1", "m2", "m3", "m4")
    say("described", m.described())
    for member in ("m3", "m1"):
        say(f"{member} leaves", m.leave(member))
        c.wait(1.2)
    m.settle("m2", "m4")
    say("described", m.described())
    say("m3 is gone", m.beat("m3", 3))
    say("listed", m.listed())
    say("listed share", m.listed(["share"]))
    say("listed consumer", m.listed(["consumer"]))
    say("deleted", m.deleted())
    say("m2 leaves", m.leave("m2"))
    for _ in range(3):
        c.wait(3)
        m.beat("m4")
    m.settle("m4")
    say("described", m.described())
    c.wait(11)
    say("m4's session has ended", m.described())
    say("listed", m.listed())
    say("deleted", m.deleted())
    say("described", m.described())
    say("listed", m.listed())
    say("long member id", m.beat("m" * 37, 0, ["t"]))


def share_records(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """Records that are acquired, accepted, released, rejected and archived, one after another."""
    m = ShareMembers(c)
    m.begin()
    say = c.say
    say("m1 joins", m.join("m1"))
    m.settle("m1")
    say("described", m.described())
    say("session opens", m.fetch("m1", 0, ["t-0"], wait_ms=300))
    c.wait(0.5)
    say("nothing yet", m.fetch("m1", 0, wait_ms=300))
    c.produce(0, "t-0", ["a0", "a1", "a2"])
    c.produce(0, "t-0", ["b3", "b4"])
    say("acquired", m.fetch("m1", 0))
    say("nothing more", m.fetch("m1", 0))
    say("accepted", m.acknowledge("m1", 0, {"t-0": [(0, 2, [ACCEPT])]}))
    say("again", m.acknowledge("m1", 0, {"t-0": [(0, 2, [ACCEPT])]}))
    say("offsets", m.offsets("t-0"))
    say("released", m.acknowledge("m1", 0, {"t-0": [(3, 4, [RELEASE])]}))
    say("acquired again", m.fetch("m1", 0))
    say("each", m.acknowledge("m1", 0, {"t-0": [(3, 4, [RELEASE, ACCEPT])]}))
    say("acquired", m.fetch("m1", 0))
    say("rejected", m.acknowledge("m1", 0, {"t-0": [(3, 3, [REJECT])]}))
    say("offsets", m.offsets("t-0"))
    c.produce(0, "t-0", ["c5", "c6", "c7", "c8"])
    say("acquired", m.fetch("m1", 0))
    say("a gap", m.fetch("m1", 0, acknowledged={"t-0": [(5, 5, [0]), (6, 6, [ACCEPT])]}, wait_ms=0))
    say("not acquired", m.acknowledge("m1", 0, {"t-0": [(5, 6, [ACCEPT])]}))
    say("beyond", m.acknowledge("m1", 0, {"t-0": [(8, 12, [ACCEPT])]}))
    say("far beyond", m.acknowledge("m1", 0, {"t-0": [(20, 22, [ACCEPT])]}))
    say("backwards", m.acknowledge("m1", 0, {"t-0": [(8, 7, [ACCEPT])]}))
    say("unordered", m.acknowledge("m1", 0, {"t-0": [(8, 8, [ACCEPT]), (7, 7, [ACCEPT])]}))
    say("no type", m.acknowledge("m1", 0, {"t-0": [(7, 7, [])]}))
    say("too many types", m.acknowledge("m1", 0, {"t-0": [(7, 7, [ACCEPT, ACCEPT])]}))
    say("unknown type", m.acknowledge("m1", 0, {"t-0": [(7, 7, [9])]}))
    say("negative type", m.acknowledge("m1", 0, {"t-0": [(7, 7, [-1])]}))
    say("unknown partition", m.acknowledge("m1", 0, {"t-7": [(7, 7, [ACCEPT])]}))
    say("unknown topic", m.acknowledge("m1", 0, {"x-0": [(7, 7, [ACCEPT])]}))
    say("another member", m.fetch("m2", 0, ["t-0"], wait_ms=300))
    say("not its own", m.acknowledge("m2", 0, {"t-0": [(7, 8, [ACCEPT])]}))
    say("nothing", m.acknowledge("m1", 0, {"t-0": []}))
    say("released", m.acknowledge("m1", 0, {"t-0": [(7, 8, [RELEASE])]}))
    say("the other gets them", m.fetch("m2", 0))
    say("the other releases them", m.acknowledge("m2", 0, {"t-0": [(7, 8, [RELEASE])]}))
    for number in range(3, 6):
        say(f"delivery {number}", m.fetch("m1", 0))
        say(f"release {number}", m.acknowledge("m1", 0, {"t-0": [(7, 8, [RELEASE])]}))
        say(f"rest {number}", m.fetch("m1", 0, wait_ms=300))
        say(f"release {number}", m.acknowledge("m1", 0, {"t-0": [(8, 8, [RELEASE])]}))
    say("no more deliveries", m.fetch("m1", 0, wait_ms=300))
    say("offsets", m.offsets("t-0"))
    c.produce(0, "t-0", ["d9", "d10"])
    say("acquired", m.fetch("m1", 0))
    c.wait(3)
    say("still locked", m.fetch("m2", 0, wait_ms=300))
    c.wait(7)
    say("the lock has expired", m.fetch("m2", 0))
    say("too late", m.acknowledge("m1", 0, {"t-0": [(9, 10, [ACCEPT])]}))
    say("in time", m.acknowledge("m2", 0, {"t-0": [(9, 10, [ACCEPT])]}))
    say("offsets", m.offsets("t-0"))


def share_sessions(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """Share sessions: epochs, partitions that come and go, and what their end releases."""
    m = ShareMembers(c)
    m.begin("0:1:2,0:1:2,1:2:0")
    say = c.say
    body = {"group_id": "g", "share_session_epoch": 0, "max_wait_ms": 0}
    version = 0 if c.is_early_access else 1
    found = c.ask(0, "ShareFetch", {**body, "member_id": ""}, version=version)
    say("a plain member id", m.fetch("plain", 0, ["t-0"], wait_ms=0))
    say("no member id", found if isinstance(found, str) else [error(found), found["error_message"]])
    say("no session", m.fetch("m1", 0, ["t-0"], epoch=1, wait_ms=0))
    say("no session to close", m.fetch("m1", 0, ["t-0"], epoch=-1, wait_ms=0))
    say("acknowledges without one", m.acknowledge("m1", 0, {"t-0": [(0, 0, [1])]}, epoch=1))
    say("opens by acknowledging", m.acknowledge("m1", 0, {"t-0": [(0, 0, [1])]}, epoch=0))
    say("unknown to the group", m.fetch("m1", 0, ["t-0"], wait_ms=300))
    m.sessions.clear()
    m.join("m1")
    m.settle("m1")
    given = {"t-0": [(0, 0, [ACCEPT])]}
    say("opens and acknowledges", m.fetch("m1", 0, epoch=0, acknowledged=given, wait_ms=0))
    say("opens", m.fetch("m1", 0, ["t-0", "t-1"], epoch=0, wait_ms=300))
    m.sessions["m1", 0] = 1
    c.wait(0.5)
    say("nothing", m.fetch("m1", 0, wait_ms=300))
    say("old epoch", m.fetch("m1", 0, epoch=1, wait_ms=0))
    say("new epoch", m.fetch("m1", 0, epoch=9, wait_ms=0))
    say("acknowledges in an old epoch", m.acknowledge("m1", 0, given, epoch=1))
    for tp in ("t-0", "t-1"):
        for number in range(4):
            c.produce(0, tp, [f"{tp} {number}"])
    say("few", m.fetch("m1", 0, records=2))
    say("few more", m.fetch("m1", 0, records=2, batch=1))
    say("the rest", m.fetch("m1", 0, batch=1))
    say("follows another broker", m.fetch("m1", 1, ["t-0"], wait_ms=300))
    say("leads there", m.fetch("m1", 1, ["t-2"], wait_ms=300))
    say("forgets", m.fetch("m1", 0, forgotten=["t-1"], wait_ms=0))
    say("unknown topic", m.fetch("m1", 0, ["x-0"], wait_ms=0))
    say("again", m.fetch("m1", 0, wait_ms=0))
    say("unknown partition", m.fetch("m1", 0, ["t-9"], wait_ms=0))
    say("forgets them", m.fetch("m1", 0, forgotten=["t-9", "x-0"], wait_ms=0))
    say("m2 opens", m.fetch("m2", 0, ["t-0", "t-1"], wait_ms=300))
    say("m1 closes", m.fetch("m1", 0, epoch=-1, acknowledged={"t-0": [(0, 0, [ACCEPT])]}))
    c.wait(0.5)
    say("m2 gets what was m1's", m.fetch("m2", 0))
    say("m2 gets the rest", m.fetch("m2", 0, wait_ms=300))
    say("m1 is closed", m.fetch("m1", 0, epoch=-1, wait_ms=0))
    say("m2 acknowledges at its end", m.acknowledge("m2", 0, {"t-0": [(1, 1, [1])]}, epoch=-1))
    c.wait(0.5)
    m.sessions.pop(("m1", 0), None)
    say("m1 opens again", m.fetch("m1", 0, ["t-0", "t-1"]))
    say("m1 has nothing", m.fetch("m1", 0, wait_ms=300))
    c.hang_up("m1 0")
    c.wait(0.5)
    say("its connection is gone", m.fetch("m1", 0))
    m.sessions.pop(("m1", 0), None)
    say("m1 opens again", m.fetch("m1", 0, ["t-0", "t-1"]))
    say("offsets", m.offsets("t-0", "t-1", "t-2"))


def share_leaders(c: Conversation) -> None:
    """Leaders and coordinators that die with records in flight."""
    m = ShareMembers(c)
    m.begin()
    say = c.say
    m.ready("m1")
    for number in range(6):
        c.produce(0, "t-0", [f"a{number}", f"b{number}"])
    say("acquired", m.fetch("m1", 0))
    given = {"t-0": [(0, 1, [ACCEPT]), (4, 5, [RELEASE]), (7, 7, [REJECT]), (8, 8, [ACCEPT])]}
    say("acknowledged", m.acknowledge("m1", 0, given))
    say("offsets", m.offsets("t-0"))
    c.wait(1)
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 1")
    c.wait(2)
    m.broker = 1
    say("at the next leader", m.fetch("m1", 1, ["t-0"]))
    c.wait(1)
    say("acquired", m.fetch("m1", 1))
    say("acknowledged", m.acknowledge("m1", 1, {"t-0": [(2, 3, [ACCEPT])]}))
    say("offsets", m.offsets("t-0"))
    c.do("broker start 0")
    c.do("wait until t-0.isr == [0,1,2] within 30s")
    c.wait(2)
    c.do("broker crash 2")
    c.wait(8)
    given = {"t-0": [(4, 5, [ACCEPT])]}
    say("acknowledged without the share coordinator", m.acknowledge("m1", 1, given))
    say("offsets", m.offsets("t-0"))
    say("acquired", m.fetch("m1", 1, wait_ms=300))
    c.do("broker start 2")
    c.do("wait until t-0.isr == [0,1,2] within 30s")
    c.wait(20)  # locks and the member's session end
    c.do("broker crash 1")
    c.do("wait until t-0.leader == 0")
    m.find(0, 1)
    c.wait(3)
    say("described", m.described())
    say("m1 at its next coordinator", m.beat("m1"))
    say("at the next leader", m.fetch("m1", 0, ["t-0"], epoch=0))
    m.sessions["m1", 0] = 1
    c.wait(1)
    say("acquired", m.fetch("m1", 0, wait_ms=300))
    say("acknowledged", m.acknowledge("m1", 0, {"t-0": [(6, 6, [1]), (9, 11, [ACCEPT])]}))
    say("offsets", m.offsets("t-0"))


def share_offsets(c: Conversation) -> None:
    """Start offsets that are described, altered and deleted."""
    m = ShareMembers(c)
    m.begin("0:1:2,0:1:2")
    say = c.say
    say("of no group", m.offsets("t-0"))
    say("altered", m.alter_offsets({"t-0": 2}))
    say("deleted", m.delete_offsets("t"))
    m.join("m1")
    m.settle("m1")
    say("of all", m.offsets())
    say("of unknown ones", m.offsets("t-9", "x-0"))
    say("not begun", m.offsets("t-0", "t-1"))
    m.fetch("m1", 0, ["t-0", "t-1"], wait_ms=300)
    c.wait(0.5)
    for number in range(6):
        c.produce(0, "t-0", [f"a{number}"])
    say("acquired", m.fetch("m1", 0))
    m.acknowledge("m1", 0, {"t-0": [(0, 3, [ACCEPT])]})
    say("described", m.offsets("t-0", "t-1"))
    say("altered with members", m.alter_offsets({"t-0": 1}))
    say("deleted with members", m.delete_offsets("t"))
    say("the group deleted", m.deleted())
    say("m1 leaves", m.leave("m1"))
    c.wait(1)
    say("described", m.offsets("t-0", "t-1"))
    say("altered", m.alter_offsets({"t-0": 1}))
    say("altered", m.alter_offsets({"t-0": 2, "t-9": 1, "x-0": 1}))
    c.wait(1)
    say("described", m.offsets("t-0", "t-1"))
    m.join("m2")
    m.settle("m2")
    say("m2 opens", m.fetch("m2", 0, ["t-0", "t-1"]))
    c.wait(0.5)
    say("m2 acquires", m.fetch("m2", 0, wait_ms=300))
    say("m2 leaves", m.leave("m2"))
    c.wait(1)
    say("deleted", m.delete_offsets("t", "x"))
    c.wait(1)
    say("described", m.offsets("t-0", "t-1"))
    say("of all", m.offsets())
    say("deleted again", m.delete_offsets("t"))
    say("the group deleted", m.deleted())
    say("described", m.offsets("t-0"))
    say("listed", m.listed())


def share_renewals(c: Conversation) -> None:
    """Locks that are renewed, and fetches that are limited to single records (4.2)."""
    m = ShareMembers(c)
    m.begin()
    say = c.say
    m.ready("m1")
    c.produce(0, "t-0", ["a0", "a1", "a2", "a3", "a4"])
    c.produce(0, "t-0", ["b5", "b6"])
    say("two", m.fetch("m1", 0, records=2, mode=1, version=2))
    say("three more", m.fetch("m1", 0, records=3, mode=1, version=2))
    say("the rest", m.fetch("m1", 0, records=3, mode=1, version=2))
    four = {"t-0": [(0, 1, [RENEW])]}
    say("renewed without saying so", m.acknowledge("m1", 0, four, version=2))
    say("renewed in version 1", m.acknowledge("m1", 0, four, version=1))
    c.wait(5)
    say("renewed", m.acknowledge("m1", 0, four, renews=True, version=2))
    c.wait(5)
    say("m2 opens", m.fetch("m2", 0, ["t-0"], version=2))
    say("m2 acquires", m.fetch("m2", 0, version=2, wait_ms=300))
    renewal: dict[str, Plain] = {"acknowledged": four, "renews": True, "version": 2}
    say("renewed by fetching", m.fetch("m1", 0, wait_ms=0, records=0, **renewal))
    say("renewed wrongly", m.fetch("m1", 0, acknowledged=four, renews=True, version=2, wait_ms=5))
    c.wait(5)
    say("m1 accepts", m.acknowledge("m1", 0, {"t-0": [(0, 1, [ACCEPT])]}, version=2))
    say("offsets", m.offsets("t-0"))


def dead_letters(c: Conversation, broker: int, tp: str) -> Plain:
    """The records of a dead-letter queue: offset, key, value and headers."""
    topic, _, number = tp.rpartition("-")
    row = {"partition": int(number), "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    body = {"replica_id": -1, "max_wait_ms": 100, "min_bytes": 0, "max_bytes": 1 << 20,
            "topics": [{"topic": topic, "partitions": [row]}]}  # fmt: skip
    found = c.ask(broker, "Fetch", body)
    if isinstance(found, str):
        return found
    row = found["responses"][0]["partitions"][0]
    return [
        error(row),
        [
            [
                record.offset,
                *(None if text is None else text.decode() for text in (record.key, record.value)),
                [[header.key, (header.value or b"").decode()] for header in record.headers],
            ]
            for record in memory_records.decode(row["records"] or b"")
        ],
    ]


def share_dead_letters(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """Records that are rejected or delivered too often go to a dead-letter queue (4.4)."""
    m = ShareMembers(c)
    m.begin("0:1:2,0:1:2")
    say, admin = c.say, Administrator(c)
    enabled = "--config errors.deadletterqueue.group.enable=true"
    c.do(f"topic create dlq.t --replica-assignment 1:2:0,2:0:1 {enabled}")
    c.do("topic create dlq.off --replica-assignment 0:1:2")
    c.wait(1)

    def queued(step: str) -> None:
        c.wait(1.5)
        say(f"{step}: t-0", dead_letters(c, 1, "dlq.t-0"))
        say(f"{step}: t-1", dead_letters(c, 2, "dlq.t-1"))
        say(f"{step}: offsets", m.offsets("t-0", "t-1"))

    def reject(step: str, offset: int) -> None:
        c.produce(0, "t-0", [step])
        say(f"{step}: acquired", m.fetch("m1", 0))
        given = {"t-0": [(offset, offset, [REJECT])]}
        say(f"{step}: rejected", m.acknowledge("m1", 0, given))
        queued(step)

    say("configured", admin.alter("g", (SET, QUEUE, "dlq.t")))
    m.ready("m1", 0, "t-0", "t-1")
    c.produce(0, "t-0", ["a0", "a1", "a2"])
    c.produce(0, "t-1", ["b0"])
    say("acquired", m.fetch("m1", 0))
    say("rejected", m.acknowledge("m1", 0, {"t-0": [(1, 1, [REJECT])]}))
    queued("one")
    given = {"t-0": [(0, 0, [ACCEPT]), (2, 2, [REJECT])], "t-1": [(0, 0, [REJECT])]}
    say("more rejected", m.acknowledge("m1", 0, given))
    queued("more")
    say("delivered twice", admin.alter("g", (SET, "share.delivery.count.limit", "2")))
    c.produce(0, "t-0", ["c3", "c4"])
    for delivery in (1, 2):
        say(f"delivery {delivery}", m.fetch("m1", 0))
        say(f"release {delivery}", m.acknowledge("m1", 0, {"t-0": [(3, 4, [RELEASE])]}))
    queued("too often")
    c.produce(0, "t-0", ["d5"])
    for delivery in (1, 2):
        say(f"locked {delivery}", m.fetch("m1", 0))
        for _ in range(6):
            c.wait(1.5)
            m.beat("m1")
    queued("expired")
    say("copied", admin.alter("g", (SET, "errors.deadletterqueue.copy.record.enable", "true")))
    reject("copy", 6)
    say("not enabled", admin.alter("g", (SET, QUEUE, "dlq.off")))
    reject("off", 7)
    say("absent", admin.alter("g", (SET, QUEUE, "dlq.absent")))
    reject("absent", 8)
    say("prefix", admin.alter("g", (SET, QUEUE, "other")))
    reject("prefix", 9)
    say("back", admin.alter("g", (SET, QUEUE, "dlq.t")))
    c.produce(0, "t-0", ["e10", "e11"])
    c.produce(0, "t-0", ["f12"])
    say("many", m.fetch("m1", 0))
    say("each", m.acknowledge("m1", 0, {"t-0": [(10, 12, [REJECT, ACCEPT, REJECT])]}))
    queued("each")


def share_dead_topics(c: Conversation) -> None:
    """Dead-letter queues that brokers create, and what their topics take in a batch."""
    m = ShareMembers(c)
    m.begin("0:1:2")
    say, admin = c.say, Administrator(c)
    enabled = "--config errors.deadletterqueue.group.enable=true"
    c.do(f"topic create dlq.s --replica-assignment 1:2:0 {enabled} --config max.message.bytes=450")
    c.wait(1)
    say("configured", admin.alter("g", (SET, QUEUE, "dlq.new")))
    m.ready("m1")
    c.produce(0, "t-0", ["a0", "a1"])
    say("acquired", m.fetch("m1", 0))
    say("rejected", m.acknowledge("m1", 0, {"t-0": [(0, 1, [REJECT])]}))
    c.wait(6)
    asked = [{"name": "dlq.new", "topic_id": bytes(16)}]
    body = {"topics": asked, "allow_auto_topic_creation": False}
    found = c.ask(0, "Metadata", body, version=12)["topics"][0]
    partitions = found["partitions"]
    say("created", [error(found), [len(row["replica_nodes"]) for row in partitions]])
    for row in partitions:
        say("written", dead_letters(c, row["leader_id"], f"dlq.new-{row['partition_index']}"))
    say("small", admin.alter("g", (SET, QUEUE, "dlq.s")))
    c.produce(0, "t-0", [f"b{number}" for number in range(5)])
    say("five", m.fetch("m1", 0))
    say("all rejected", m.acknowledge("m1", 0, {"t-0": [(2, 6, [REJECT])]}))
    c.wait(3)
    say("in batches", dead_letters(c, 1, "dlq.s-0"))
    say("copied", admin.alter("g", (SET, "errors.deadletterqueue.copy.record.enable", "true")))
    c.produce(0, "t-0", ["c" * 600, "d"])
    say("a large one", m.fetch("m1", 0)[1]["t-0"][3])
    say("rejected", m.acknowledge("m1", 0, {"t-0": [(7, 8, [REJECT])]}))
    c.wait(3)
    say("too large", dead_letters(c, 1, "dlq.s-0"))
    c.produce(0, "t-0", ["e"])
    say("last", m.fetch("m1", 0))
    say("accepted", m.acknowledge("m1", 0, {"t-0": [(9, 9, [ACCEPT])]}))
    say("offsets", m.offsets("t-0"))


def share_dead_leaders(c: Conversation) -> None:
    """A dead-letter queue without a leader, and the next leader of records that wait for it."""
    m = ShareMembers(c)
    m.begin("0:2")
    say, admin = c.say, Administrator(c)
    enabled = "--config errors.deadletterqueue.group.enable=true"
    c.do(f"topic create dlq.t --replica-assignment 1:0 {enabled}")
    c.do(f"topic create dlq.u --replica-assignment 1 {enabled}")
    c.wait(1)
    say("configured", admin.alter("g", (SET, QUEUE, "dlq.t")))
    m.ready("m1")
    for value in ("a0", "b1", "c2"):
        c.produce(0, "t-0", [value])
    say("acquired", m.fetch("m1", 0))
    c.do("broker crash 1")
    say("its leader has died", m.acknowledge("m1", 0, {"t-0": [(0, 0, [REJECT])]}))
    c.do("wait until dlq.t-0.leader == 0")
    c.wait(12)
    say("at the next leader", dead_letters(c, 0, "dlq.t-0"))
    m.find(0, 1)
    say("offsets", m.offsets("t-0"))
    say("no leader", admin.alter("g", (SET, QUEUE, "dlq.u")))
    say("rejected", m.acknowledge("m1", 0, {"t-0": [(1, 1, [REJECT])]}))
    c.wait(2)
    c.do("broker crash 0")
    c.do("wait until t-0.leader == 2")
    c.wait(2)
    m.broker = 2
    say("at the next leader of t-0", m.fetch("m1", 2, ["t-0"]))
    c.wait(1)
    say("acquired again", m.fetch("m1", 2))
    c.do("broker start 1")
    c.do("wait until dlq.u-0.leader == 1")
    c.wait(20)
    say("written at last", dead_letters(c, 1, "dlq.u-0"))
    say("offsets", m.offsets("t-0"))


def share_late_groups(c: Conversation) -> None:
    """What is told of groups that begin and change while the replicas in sync are frozen."""
    m = ShareMembers(c)
    m.begin("1:2:0,1:2:0")
    newcomers, leavers = ShareMembers(c, "e"), ShareMembers(c, "d")
    for members in (newcomers, leavers):
        members.broker, members.names = m.broker, m.names
    say = c.say

    def tell() -> None:
        say("g", m.described())
        say("e", newcomers.described())
        say("d", leavers.described())
        say("listed", m.listed(["share"]))

    say("m1 joins", m.join("m1"))
    m.settle("m1")
    say("m4 joins without partitions", leavers.join("m4", ["nowhere"]))
    say("m4 leaves", leavers.leave("m4"))
    tell()
    c.wait(1)
    for broker in (0, 2):
        c.do(f"broker freeze {broker}")
    c.wait(1)
    say("m2 joins", m.join("m2"))
    tell()
    say("m3 joins another group", newcomers.join("m3"))
    say("delete d", leavers.deleted())
    tell()
    for broker in (0, 2):
        c.do(f"broker thaw {broker}")
    c.wait(3)
    tell()


SHARE_GROUPS: Final = (
    *(share_members, share_records, share_sessions, share_leaders, share_offsets, share_renewals),
    *(share_dead_letters, share_dead_topics, share_dead_leaders, share_late_groups),
)
"""The conversations."""
