"""The conversations about consumer groups of the new protocol (KIP-848)."""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Sequence
from typing import Final

from tests.golden_wire.conversation import Conversation, error
from tests.golden_wire.group_members import UNSET, GroupMembers, Plain

SETTINGS: Final = {
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "8000",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "1000",
}

LONG_SESSIONS: Final = {"group.consumer.session.timeout.ms": "20000"}
"""For conversations in which a coordinator dies: sessions last until the next one has loaded."""


class Members(GroupMembers):
    """The members of a consumer group, as they talk to its coordinator."""

    def __init__(self, conversation: Conversation, group: str = "g") -> None:
        """Talk about ``group``, wherever it is coordinated."""
        super().__init__(conversation, group)
        self.owned: dict[str, list[str]] = {}

    # ---- topics

    def by_id(self, partitions: Sequence[str]) -> list[Plain]:
        """Partitions as a request has them."""
        ids = {name: bytes.fromhex(topic_id) for topic_id, name in self.names.items()}
        topics: dict[str, list[int]] = {}
        for tp in partitions:
            topic, _, number = tp.rpartition("-")
            topics.setdefault(topic, []).append(int(number))
        return [{"topic_id": ids[topic], "partitions": rows} for topic, rows in topics.items()]

    def named(self, rows: Sequence[Plain]) -> list[str]:
        """Partitions of a response by name."""
        return sorted(
            f"{self.names.get(row['topic_id'].hex(), '?')}-{number}"
            for row in rows
            for number in row["partitions"]
        )

    # ---- heartbeats

    def beat(
        self, member: str, epoch: Plain = UNSET, owned: Plain = UNSET, **more: Plain
    ) -> Plain:  # fmt: skip
        """Let a member send a heartbeat: error, epoch and, if it is told, its assignment.

        What it is told it remembers: its epoch and partitions are sent next time.
        """
        body = {
            "group_id": self.group,
            "member_id": member,
            "member_epoch": self.epochs.get(member, 0) if epoch is UNSET else epoch,
            "topic_partitions": self.by_id(self.owned.get(member, []) if owned is UNSET else owned)
            if owned is not None
            else None,
            **more,
        }
        version = 0 if self.c.is_preview else 1  # from 1 on members make their ids (KIP-1082)
        found = self.c.ask(self.broker, "ConsumerGroupHeartbeat", body, version=version)
        if isinstance(found, str):
            return found
        assignment = found["assignment"]
        told = None if assignment is None else self.named(assignment["topic_partitions"])
        if error(found) == "NONE":
            self.epochs[member] = found["member_epoch"]
            if told is not None:
                self.owned[member] = told
        return [error(found), found["member_epoch"], told]

    def join(self, member: str, topics: Plain = ("t",), **more: Plain) -> Plain:
        """Let a member join."""
        self.owned[member] = []
        names = None if topics is None else list(topics)
        settings: dict[str, Plain] = {
            "rebalance_timeout_ms": 10_000,
            "subscribed_topic_names": names,
        } | more
        return self.beat(member, 0, [], **settings)

    def say_beats(self, step: str, *members: str) -> None:
        """Let members send heartbeats one after another."""
        for member in members:
            self.c.say(f"{step}: {member}", self.beat(member))

    def leave(self, member: str, epoch: int = -1, **more: Plain) -> Plain:
        """Let a member leave, a static one for a while with epoch -2."""
        said = self.beat(member, epoch, None, **more)
        self.epochs.pop(member, None)
        return said

    def settle(self, *members: str, rounds: int = 6) -> None:
        """Let members send heartbeats until nothing changes any more."""
        for _ in range(rounds):
            before = dict(self.epochs), {m: list(p) for m, p in self.owned.items()}
            for member in members:
                self.beat(member)
            if before == (self.epochs, self.owned):
                return

    # ---- descriptions

    def described(self, group: str = "") -> Plain:
        """Describe the group."""
        body = {"group_ids": [group or self.group], "include_authorized_operations": False}
        found = self.c.ask(self.broker, "ConsumerGroupDescribe", body, version=0)
        if isinstance(found, str):
            return found
        (row,) = found["groups"]
        if row["error_code"]:
            return error(row)
        members = [
            [
                *(each["member_id"], each["instance_id"], each["member_epoch"]),
                *(sorted(each["subscribed_topic_names"]), each["subscribed_topic_regex"] or None),
                self.named(each["assignment"]["topic_partitions"]),
                self.named(each["target_assignment"]["topic_partitions"]),
            ]
            for each in row["members"]
        ]
        state = [row["group_state"], row["group_epoch"], row["assignment_epoch"]]
        return [*state, row["assignor_name"], sorted(members)]

    def described_as_classic(self, version: int = 6) -> Plain:
        """Describe the group as one of the classic protocol."""
        found = self.c.ask(self.broker, "DescribeGroups", {"groups": [self.group]}, version=version)
        if isinstance(found, str):
            return found
        (row,) = found["groups"]
        return [error(row), row["group_state"], row["protocol_type"], len(row["members"])]

    # ---- offsets

    def commit(self, member: str, epoch: int, offset: int, *, tp: str = "t-0", version: int = 9,
               instance: str | None = None) -> Plain:  # fmt: skip
        """Commit an offset."""
        topic, _, number = tp.rpartition("-")
        row = {"partition_index": int(number), "committed_offset": offset, "committed_metadata": ""}
        body = {"group_id": self.group, "generation_id_or_member_epoch": epoch,
                "member_id": member, "group_instance_id": instance,
                "topics": [{"name": topic, "partitions": [row]}]}  # fmt: skip
        found = self.c.ask(self.broker, "OffsetCommit", body, version=version)
        if isinstance(found, str):
            return found
        return [error(row) for topic in found["topics"] for row in topic["partitions"]]

    def committed(self, member: str | None = None, epoch: int = -1, tp: str = "t-0") -> Plain:
        """Ask for a committed offset."""
        topic, _, number = tp.rpartition("-")
        group = {"group_id": self.group, "member_id": member, "member_epoch": epoch,
                 "topics": [{"name": topic, "partition_indexes": [int(number)]}]}  # fmt: skip
        body = {"groups": [group], "require_stable": False}
        found = self.c.ask(self.broker, "OffsetFetch", body, version=9)
        if isinstance(found, str):
            return found
        (row,) = found["groups"]
        rows = [each for topic in row["topics"] for each in topic["partitions"]]
        return [error(row), [[each["committed_offset"], error(each)] for each in rows]]

    # ---- where it is coordinated

    def begin(self, partitions: str = "0:1:2,1:2:0,2:0:1,0:1:2,1:2:0,2:0:1") -> None:
        """Have __consumer_offsets at broker 1, and a topic t."""
        super().begin(partitions)


def _refusals(m: Members, say: Callable[[str, Plain], None]) -> None:
    """Heartbeats that are wrong in themselves."""
    join: dict[str, Plain] = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": ["t"]}
    say("no group", Members(m.c, "").beat("m1", 0, [], **join))
    if not m.c.is_preview:  # there the coordinator makes ids
        say("no member id", m.beat("", 0, [], **join))
    say("negative epoch", m.beat("m1", -3, [], **join))
    say("no rebalance timeout", m.beat("m1", 0, [], subscribed_topic_names=["t"]))
    say("no owned partitions", m.beat("m1", 0, None, **join))
    say("owned partitions", m.beat("m1", 0, ["t-0"], **join))
    say("no subscription", m.beat("m1", 0, [], rebalance_timeout_ms=10_000))
    say("unknown assignor", m.beat("m1", 0, [], server_assignor="sticky", **join))
    say("empty instance", m.beat("m1", 0, [], instance_id="", **join))
    say("empty rack", m.beat("m1", 0, [], rack_id="", **join))
    say("unknown group", m.beat("m1", 1, []))
    say("leaves an unknown group", m.leave("m1"))
    say("static leaves without instance", m.leave("m1", -2))
    say("described", m.described())
    say("deleted", m.deleted())
    say("listed", m.listed())


def members(c: Conversation) -> None:
    """Members that join, own, are fenced and leave, one after another."""
    m = Members(c)
    m.begin()
    say = c.say
    _refusals(m, say)
    say("m1 joins", m.join("m1"))
    say("described", m.described())
    m.say_beats("again", "m1")
    say("m1 joins again", m.join("m1"))
    say("nothing owned", m.beat("m1", owned=None))
    say("unknown member", m.beat("m9", 1, []))
    say("epoch too new", m.beat("m1", 9, []))
    say("m2 joins", m.join("m2"))
    say("described", m.described())
    say("m1 of the former epoch", m.beat("m1", 1))
    say("described", m.described())
    say("m2 waits", m.beat("m2"))
    say("m1 keeps all", m.beat("m1", 1, [f"t-{number}" for number in range(6)]))
    say("m1 revokes", m.beat("m1", 1))
    say("m1 of the former epoch", m.beat("m1", 1, owned=["t-5"]))
    say("m1 of the former epoch, with its own", m.beat("m1", 1, m.owned["m1"][:1]))
    say("described", m.described())
    m.say_beats("settling", "m2", "m1", "m2")
    say("described", m.described())
    say("listed", m.listed())
    say("m3 joins", m.join("m3"))
    m.say_beats("settling", "m1", "m2", "m3", "m1", "m2", "m3", "m1", "m2", "m3")
    say("described", m.described())
    say("m2 leaves", m.leave("m2"))
    say("described", m.described())
    m.say_beats("after it", "m1", "m3", "m1", "m3")
    say("described", m.described())
    say("m1 leaves", m.leave("m1"))
    say("m3 leaves", m.leave("m3"))
    say("described", m.described())
    say("listed", m.listed())
    say("unknown in the empty group", m.beat("m1", 1, []))
    say("m1 joins", m.join("m1"))
    say("m1 leaves", m.leave("m1"))
    say("deleted", m.deleted())
    say("described", m.described())


def subscriptions(c: Conversation) -> None:
    """Subscriptions, partitions and assignors that change."""
    m = Members(c)
    m.begin("0:1:2,1:2:0,2:0:1")
    say = c.say
    say("m1 joins", m.join("m1", server_assignor="range"))
    say("m2 joins", m.join("m2", ["t", "u"]))
    m.settle("m1", "m2")
    say("described", m.described())
    c.do("topic create u --replica-assignment 0:1:2,1:2:0")
    c.wait(2)
    m.learn("u")
    m.say_beats("u is there", "m1", "m2")
    m.settle("m1", "m2")
    say("described", m.described())
    say("m1 wants u", m.beat("m1", subscribed_topic_names=["t", "u"]))
    m.settle("m1", "m2")
    say("described", m.described())
    c.do("topic alter t --partitions 7")
    c.wait(2)
    m.say_beats("t grows", "m1", "m2")
    m.settle("m1", "m2")
    say("described", m.described())
    say("m1 wants uniform", m.beat("m1", server_assignor="uniform"))
    say("m3 joins", m.join("m3", ["u"]))
    m.settle("m1", "m2", "m3")
    say("described", m.described())
    say("m2 wants nothing", m.beat("m2", subscribed_topic_names=[]))
    m.settle("m1", "m2", "m3")
    say("described", m.described())
    say("m4 wants what is not there", m.join("m4", ["v"]))
    m.settle("m1", "m2", "m3", "m4")
    say("described", m.described())
    c.do("topic delete u")
    c.wait(2)
    m.say_beats("u is gone", "m1", "m2", "m3", "m4")
    m.settle("m1", "m2", "m3", "m4")
    say("described", m.described())


def instances(c: Conversation) -> None:
    """Static members that leave for a while, come back, and are fenced."""
    m = Members(c)
    m.begin()
    say = c.say
    say("a joins", m.join("a1", instance_id="ia"))
    say("b joins", m.join("b1", instance_id="ib"))
    m.settle("a1", "b1")
    say("described", m.described())
    say("a joins with another id", m.join("a2", instance_id="ia"))
    say("a without its instance", m.beat("a1"))
    say("a with its instance", m.beat("a1", instance_id="ia"))
    say("a stranger with its instance", m.beat("a2", 2, [], instance_id="ia"))
    say("unknown instance", m.beat("a1", instance_id="ix"))
    epoch = m.epochs["a1"]
    say("a leaves for a while", m.leave("a1", -2, instance_id="ia"))
    say("described", m.described())
    say("a beats though it left", m.beat("a1", epoch, [], instance_id="ia"))
    say("b", m.beat("b1", instance_id="ib"))
    say("a is back", m.join("a2", instance_id="ia"))
    say("described", m.described())
    say("a's old id", m.beat("a1", epoch, [], instance_id="ia"))
    say("a's old id leaves", m.leave("a1", -1, instance_id="ia"))
    say("b", m.beat("b1", instance_id="ib"))
    say("a leaves for a while again", m.leave("a2", -2, instance_id="ia"))
    say("a is back with less", m.join("a3", ["u"], instance_id="ia"))
    say("described", m.described())
    m.settle("b1")
    say("described", m.described())
    epoch = m.epochs.get("a3", epoch)  # in 3.7 it could not come back
    say("commit", m.commit("a3", epoch, 3, instance="ia"))
    say("commit of the old id", m.commit("a2", epoch, 4, instance="ia"))
    say("a leaves for good", m.leave("a3", -1, instance_id="ia"))
    say("described", m.described())
    say("b leaves for a while", m.leave("b1", -2, instance_id="ib"))
    c.wait(12)
    say("its session has ended", m.described())


def positions(c: Conversation) -> None:
    """What members commit and read, with right and wrong epochs."""
    m = Members(c)
    m.begin()
    say = c.say
    say("commit without a group", m.commit("", -1, 1))
    say("commit of a stranger", m.commit("m1", 1, 1))
    say("listed", m.listed())
    say("described", m.described())
    say("as classic", m.described_as_classic())
    say("m1 joins", m.join("m1"))
    say("m2 joins", m.join("m2"))
    m.settle("m1", "m2")
    epoch = m.epochs["m1"]
    say("listed", m.listed())
    say("listed consumers", m.listed(["consumer"]))
    say("listed classic", m.listed(["classic"]))
    say("listed stable", m.listed([], ["Stable"]))
    say("listed empty", m.listed(["Consumer"], ["Empty"]))
    say("listed unknown type", m.listed(["nothing"]))
    say("as classic", m.described_as_classic())
    say("as classic 5", m.described_as_classic(5))
    say("commit", m.commit("m1", epoch, 5))
    say("commit of an old epoch", m.commit("m1", epoch - 1, 6))
    say("commit of a new epoch", m.commit("m1", epoch + 1, 6))
    say("commit of a stranger", m.commit("m9", epoch, 6))
    say("commit of nobody", m.commit("", -1, 6))
    say("commit in version 8", m.commit("m1", epoch, 6, version=8))
    say("committed", m.committed())
    say("committed for m1", m.committed("m1", epoch))
    say("committed for an old epoch", m.committed("m1", epoch - 1))
    say("committed for a new epoch", m.committed("m1", epoch + 1))
    say("committed for a stranger", m.committed("m9", epoch))
    say("committed without an epoch", m.committed("m1", -1))
    body = {"group_id": "g", "topics": [{"name": "t", "partitions": [{"partition_index": 0}]}]}
    found = c.ask(m.broker, "OffsetDelete", body, version=0)
    say("delete a position", [error(found), [[error(row) for row in topic["partitions"]]
        for topic in found["topics"]]])  # fmt: skip
    say("delete the group", m.deleted())
    say("classic join", _classic(m, "JoinGroup", {"session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 4_000, "member_id": "", "group_instance_id": None,
        "protocol_type": "connect", "protocols": [{"name": "x", "metadata": b"x"}]}))  # fmt: skip
    say("classic heartbeat", _classic(m, "Heartbeat", {"generation_id": epoch, "member_id": "m1",
        "group_instance_id": None}))  # fmt: skip
    say("classic sync", _classic(m, "SyncGroup", {"generation_id": epoch, "member_id": "m1",
        "group_instance_id": None, "assignments": []}))  # fmt: skip
    say("classic leave", _classic(m, "LeaveGroup", {"members": [{"member_id": "m9",
        "group_instance_id": None}]}))  # fmt: skip
    say("m1 leaves", m.leave("m1"))
    say("m2 leaves", m.leave("m2"))
    say("commit of nobody", m.commit("", -1, 8))
    say("committed", m.committed())
    say("delete the group", m.deleted())
    say("committed", m.committed())
    say("listed", m.listed())


def _classic(m: Members, api: str, body: Plain) -> Plain:
    found = m.c.ask(m.broker, api, {"group_id": m.group} | body)
    return found if isinstance(found, str) else error(found)


def coordinators(c: Conversation) -> None:
    """A group whose coordinator dies, and members whose sessions and revocations time out."""
    m = Members(c)
    m.begin()
    say = c.say
    for member in ("m1", "m2", "m3"):
        say(f"{member} joins", m.join(member))
    m.settle("m1", "m2", "m3")
    say("described", m.described())
    say("commit", m.commit("m1", m.epochs["m1"], 5))
    first = m.broker
    c.wait(1)
    c.do(f"broker crash {first}")
    m.find(0, first)
    say("described", m.described())
    m.say_beats("at the next one", "m1", "m2", "m3")
    say("committed", m.committed("m1", m.epochs["m1"]))
    say("m4 joins", m.join("m4"))
    say("described", m.described())
    say("m1 has to revoke", m.beat("m1"))
    c.do(f"broker start {first}")
    c.do("wait until t-0.isr == [0,1,2] within 30s")
    c.wait(1)
    second = m.broker
    c.do(f"broker crash {second}")
    m.find(next(broker for broker in (0, 1, 2) if broker != second), second)
    say("described", m.described())
    m.say_beats("at the third", "m1", "m2", "m3", "m4", "m1", "m2", "m3", "m4")
    say("described", m.described())
    for _ in range(8):
        c.wait(3)
        for member in ("m1", "m2", "m4"):
            m.beat(member)
    say("m3's session has ended", m.described())
    say("m3", m.beat("m3"))
    m.settle("m1", "m2", "m4")
    say("described", m.described())


def revocations(c: Conversation) -> None:
    """Members that do not revoke in time, and one that comes back after it was fenced."""
    m = Members(c)
    m.begin()
    say = c.say
    say("m1 joins", m.join("m1", rebalance_timeout_ms=3_000))
    say("m2 joins", m.join("m2"))
    say("m1 has to revoke", m.beat("m1"))
    kept = [f"t-{number}" for number in range(6)]
    for _ in range(2):
        c.wait(1)
        say("m1 keeps all", m.beat("m1", owned=kept))
        say("m2 waits", m.beat("m2"))
    say("described", m.described())
    for _ in range(2):
        c.wait(1)
        m.beat("m1", owned=kept)
        m.beat("m2")
    say("m1 was too slow", m.beat("m1", owned=kept))
    m.settle("m2")
    say("described", m.described())
    say("m1 is back", m.join("m1", rebalance_timeout_ms=3_000))
    say("m3 joins", m.join("m3"))
    m.settle("m1", "m2", "m3")
    say("described", m.described())
    say("m4 joins", m.join("m4"))
    say("m1 in between", m.beat("m1"))
    say("m5 joins", m.join("m5"))
    m.say_beats("all at once", "m1", "m2", "m3", "m4", "m5", "m1", "m2", "m3", "m4", "m5")
    say("described", m.described())
    m.settle("m1", "m2", "m3", "m4", "m5")
    say("described", m.described())
    c.wait(10)
    say("nobody said anything", m.described())
    say("listed", m.listed())


def returns(c: Conversation) -> None:
    """Partitions that a member is to get again while it still has to revoke them."""
    m = Members(c)
    m.begin()
    say = c.say
    say("m1 joins", m.join("m1"))
    say("m2 joins", m.join("m2"))
    say("m1 has to revoke", m.beat("m1"))
    say("m2 leaves", m.leave("m2"))
    say("described", m.described())
    m.say_beats("it has revoked", "m1", "m1", "m1")
    say("described", m.described())
    say("m2 joins", m.join("m2"))
    say("m1 has to revoke", m.beat("m1"))
    say("m2 leaves", m.leave("m2"))
    kept = [f"t-{number}" for number in range(6)]
    for _ in range(2):
        say("m1 keeps all", m.beat("m1", owned=kept))
    say("described", m.described())
    m.say_beats("it has revoked", "m1", "m1")
    say("described", m.described())


def regexes(c: Conversation) -> None:
    """Subscriptions by regular expressions."""
    m = Members(c)
    m.begin("0:1:2,1:2:0")
    say = c.say
    say("malformed", m.join("m1", None, subscribed_topic_regex="t["))
    say("a lookahead", m.join("m1", None, subscribed_topic_regex="(?!x)t"))
    say("m1 joins", m.join("m1", None, subscribed_topic_regex="t.*"))
    c.wait(2)
    m.settle("m1")
    say("described", m.described())
    say("m2 joins", m.join("m2", None, subscribed_topic_regex="t.*"))
    c.wait(2)
    m.settle("m1", "m2")
    say("described", m.described())
    c.do("topic create t2 --replica-assignment 0:1:2,1:2:0")
    m.learn("t2")
    c.wait(3)
    m.settle("m1", "m2")
    for _ in range(5):
        c.wait(3)
        for member in ("m1", "m2"):
            m.beat(member)
    m.settle("m1", "m2")
    say("t2 is there", m.described())
    say("m2 wants t2 alone", m.beat("m2", subscribed_topic_regex="t2"))
    for _ in range(5):
        c.wait(3)
        for member in ("m1", "m2"):
            m.beat(member)
    m.settle("m1", "m2")
    say("described", m.described())
    say(
        "m1 wants none, but t",
        m.beat("m1", subscribed_topic_regex="", subscribed_topic_names=["t"]),
    )
    m.settle("m1", "m2")
    say("described", m.described())
    say("m2 breaks it", m.beat("m2", subscribed_topic_regex="(t2"))
    first = m.broker
    c.do(f"broker crash {first}")
    m.find(0, first)
    say("described", m.described())
    m.say_beats("at the next one", "m1", "m2")


def records(c: Conversation) -> None:
    """What a coordinator writes to its log, request by request."""
    m = Members(c)
    m.begin("0:1:2,1:2:0")
    say = _with_records(m)
    say("m1 joins", m.join("m1"))
    say("m1 again", m.beat("m1"))
    say("m2 joins", m.join("m2", server_assignor="range"))
    for member in ("m1", "m1", "m2", "m1"):
        say(f"{member} beats", m.beat(member))
    say("s joins", m.join("s1", instance_id="is"))
    say("s leaves for a while", m.leave("s1", -2, instance_id="is"))
    say("s is back", m.join("s2", instance_id="is"))
    say("m1 leaves", m.leave("m1"))
    say("m2 beats", m.beat("m2"))
    say("m2 wants t and u", m.beat("m2", subscribed_topic_names=["u", "t"]))
    regex = {} if c.is_preview else {"subscribed_topic_regex": "t.*"}
    say("s wants a regex", m.beat("s2", subscribed_topic_names=[], **regex))
    say("s beats", m.beat("s2", instance_id="is"))
    say("s leaves", m.leave("s2", -1, instance_id="is"))
    say("m2 leaves", m.leave("m2"))
    say("deleted", m.deleted())


def replacements(c: Conversation) -> None:
    """Static members that come back with the same id or another, and ranges that change."""
    m = Members(c)
    m.begin("0:1:2,1:2:0,2:0:1,0:1:2,1:2:0,2:0:1,0:1:2")
    say = _with_records(m)
    say("b joins", m.join("b1", instance_id="ib", server_assignor="range"))
    say("a joins", m.join("a1", instance_id="ia", server_assignor="range"))
    m.settle("a1", "b1")
    say("a joins with the same id", m.join("a1", instance_id="ia"))
    say("described", m.described())
    say("c joins", m.join("c", server_assignor="range"))
    m.settle("a1", "b1", "c")
    say("settled", m.described())
    say("a leaves for a while", m.leave("a1", -2, instance_id="ia"))
    say("a is back with another id", m.join("a2", instance_id="ia"))
    m.settle("a2", "b1", "c")
    say("settled", m.described())
    say("c leaves", m.leave("c"))
    m.settle("a2", "b1")
    say("settled", m.described())
    say("a leaves for a while", m.leave("a2", -2, instance_id="ia"))
    say("a is back with the same id", m.join("a2", instance_id="ia"))
    m.settle("a2", "b1")
    say("settled", m.described())
    say("d joins", m.join("d"))
    m.settle("a2", "b1", "d")
    say("settled", m.described())


def _with_records(m: Members) -> Callable[[str, Plain], None]:
    """Say what a request is answered, and what its coordinator has written since the last one."""
    seen = 0

    def say(step: str, told: Plain) -> None:
        nonlocal seen
        m.c.say(step, told)
        m.c.wait(1.2)  # from 4.3 on, the next assignment may follow then
        rows = m.c.consumer_group_records(m.broker)
        names = [[key, name, _with_names(m, value)] for key, name, value in rows[seen:]]
        m.c.say(f"{step}: records", names)
        seen = len(rows)

    return say


def _with_names(m: Members, value: Plain) -> Plain:
    """A record's value with partitions by name."""
    if value is None:
        return None
    return [
        m.named([{"topic_id": topic_id(topic), "partitions": n} for topic, n in each.items()])
        if isinstance(each, dict) and all(isinstance(n, list) for n in each.values())
        else each
        for each in value
    ]


def topic_id(text: str) -> bytes:
    """A topic id as a record has it."""
    return urlsafe_b64decode(f"{text}==")


CONSUMER_GROUPS: Final = (
    *(members, subscriptions, instances, positions, coordinators, revocations, returns),
    *(regexes, records, replacements),
)
"""The conversations."""
