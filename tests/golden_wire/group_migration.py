"""The conversations about groups that move between the classic and the consumer protocol (KIP-848).

Brokers make the ids of classic members, and who of several gets a partition depends on them: ids
are numbered by first appearance, and partitions are counted.
"""

from collections.abc import Callable, Sequence
from struct import pack, unpack_from
from typing import Final

from tests.golden_wire import consumer_groups
from tests.golden_wire.consumer_groups import Members
from tests.golden_wire.conversation import Conversation, error
from tests.golden_wire.group_members import Plain

SETTINGS: Final = consumer_groups.SETTINGS | {
    "group.initial.rebalance.delay.ms": "0",
}
LONG_SESSIONS: Final = {"group.consumer.session.timeout.ms": "60000"}
POLICY: Final = "group.consumer.migration.policy"
SESSION_MS, REBALANCE_MS = 12_000, 5_000


class MixedMembers(Members):
    """Members of both protocols in one group."""

    def __init__(self, conversation: Conversation, group: str = "g") -> None:
        """Talk about ``group``, wherever it is coordinated."""
        super().__init__(conversation, group)
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.records_seen = 0
        self.session_ms = SESSION_MS

    def id(self, member: str) -> str:
        """The id of a member, empty if it has none."""
        return self.ids.get(member, "")

    def shown(self, member_id: str) -> str:
        """A member by its name in this conversation."""
        return next((name for name, known in self.ids.items() if known == member_id), member_id)

    # ---- the classic protocol

    def send_join(self, member: str, topics: Sequence[str] = ("t",), instance: str | None = None,
                  kind: str = "consumer", protocols: Sequence[str] = ("range",),
                  timeout_ms: int = REBALANCE_MS) -> int:  # fmt: skip
        """Send a JoinGroup on a connection of its own."""
        metadata = subscription(topics, self.owned.get(member, ()))
        body = {
            "group_id": self.group,
            "session_timeout_ms": self.session_ms,
            "rebalance_timeout_ms": timeout_ms,
            "member_id": self.id(member),
            "group_instance_id": instance,
            "protocol_type": kind,
            "protocols": [{"name": name, "metadata": metadata} for name in protocols],
        }
        return self.c.send(self.broker, "JoinGroup", body)

    def joined(self, member: str, connection: int) -> Plain:
        """What a JoinGroup came to."""
        found = self.c.response(connection, 20)
        if isinstance(found, str):
            return found
        if found["member_id"]:
            self.ids[member] = found["member_id"]
        if error(found) == "NONE":
            self.generations[member] = found["generation_id"]
        leads = bool(found["leader"]) and found["leader"] == found["member_id"]
        who = sorted(self.shown(row["member_id"]) for row in found["members"])
        return [error(found), found["generation_id"], found["protocol_name"], leads, who]

    def classic_join(self, member: str, **more: Plain) -> Plain:
        """Let a member join with the classic protocol, first getting an id if it needs one."""
        said = self.joined(member, self.send_join(member, **more))
        if said[0] == "MEMBER_ID_REQUIRED":
            said = self.joined(member, self.send_join(member, **more))
        return said

    def join_together(self, first: str, *others: str) -> None:
        """Let classic members join while one that is there joins again; it leads."""
        sent = []
        for member in others:
            if not self.id(member):
                self.joined(member, self.send_join(member))
            sent.append((member, self.send_join(member)))
        self.c.wait(0.5)
        sent.insert(0, (first, self.send_join(first)))
        for member, connection in sent:
            self.c.say(f"{member} joins", self.joined(member, connection))

    def sync(self, member: str, assignments: Plain = (), instance: str | None = None,
             generation: int | None = None) -> Plain:  # fmt: skip
        """Let a classic member ask for its assignment, or assign."""
        at = self.generations.get(member, 0) if generation is None else generation
        body = {
            "group_id": self.group,
            "generation_id": at,
            "member_id": self.id(member),
            "group_instance_id": instance,
            "assignments": [
                {"member_id": self.id(to), "assignment": assignment(partitions)}
                for to, partitions in dict(assignments).items()
            ],
        }
        found = self.c.ask(self.broker, "SyncGroup", body, 12)
        if isinstance(found, str):
            return found
        if error(found) == "NONE":
            self.owned[member] = partitions_of(found["assignment"])
        return [error(found), len(self.owned.get(member, ()))]

    def classic_beat(
        self, member: str, instance: str | None = None, generation: int | None = None
    ) -> Plain:
        """Let a classic member send a heartbeat."""
        at = self.generations.get(member, 0) if generation is None else generation
        body = {"group_id": self.group, "generation_id": at, "member_id": self.id(member),
                "group_instance_id": instance}  # fmt: skip
        found = self.c.ask(self.broker, "Heartbeat", body)
        return found if isinstance(found, str) else error(found)

    def classic_leave(self, *members: str) -> Plain:
        """Let classic members leave in one request."""
        rows = [{"member_id": self.id(name), "group_instance_id": None} for name in members]
        found = self.c.ask(self.broker, "LeaveGroup", {"group_id": self.group, "members": rows})
        if isinstance(found, str):
            return found
        return [error(found), [error(row) for row in found["members"]]]

    def classic_commit(self, member: str, offset: int) -> Plain:
        """Let a classic member commit an offset."""
        return self.commit(self.id(member), self.generations[member], offset, version=7)

    def follow(self, member: str) -> None:
        """Do what a classic member does: send a heartbeat, and join again if it is told to."""
        told = self.classic_beat(member)
        self.c.say(f"{member} beats", told)
        if told == "REBALANCE_IN_PROGRESS":
            self.c.say(f"{member} joins again", self.classic_join(member))
            self.c.say(f"{member} syncs", self.sync(member))

    # ---- what is told

    def counted(self, step: str, *members: str) -> None:
        """Let members of the consumer protocol send heartbeats."""
        for member in members:
            told = self.beat(member)
            count = None if isinstance(told, str) or told[2] is None else len(told[2])
            self.c.say(f"{step}: {member}", told if isinstance(told, str) else [*told[:2], count])

    def consumer_join(self, member: str, **more: Plain) -> Plain:
        """Let a member join with the consumer protocol."""
        told = self.join(member, **more)
        return told if isinstance(told, str) else [*told[:2], told[2] and len(told[2])]

    def state(self) -> Plain:
        """Describe the group and its members, with their types."""
        body = {"group_ids": [self.group], "include_authorized_operations": False}
        found = self.c.ask(self.broker, "ConsumerGroupDescribe", body, version=1)
        if isinstance(found, str):
            return found
        (row,) = found["groups"]
        if row["error_code"]:
            return [error(row), row["error_message"]]
        members = [
            [
                *(self.shown(member["member_id"]), member["instance_id"], member["member_epoch"]),
                *(member["member_type"], member["subscribed_topic_names"]),
                len(self.named(member["assignment"]["topic_partitions"])),
                len(self.named(member["target_assignment"]["topic_partitions"])),
            ]
            for member in row["members"]
        ]
        state = [row["group_state"], row["group_epoch"], row["assignment_epoch"]]
        return [*state, row["assignor_name"], sorted(members)]

    def say_state(self) -> None:
        """Describe the group as one of both protocols, and tell what was written."""
        self.c.say("described", self.state())
        self.c.say("as classic", self.described_as_classic())
        self.c.say("listed", self.listed())
        rows = self.c.group_records(self.broker)
        told: list[Plain] = []
        for key, name, value in rows[self.records_seen :]:
            told.append([key, self.shown(name), self._counted(value)])
        self.records_seen = len(rows)
        self.c.say("records", _in_order(told))

    def _counted(self, value: Plain) -> Plain:
        """A record's value with counts in place of partitions by topic id."""
        if isinstance(value, list):
            return [self._counted(part) for part in value]
        if isinstance(value, dict):
            if all(_are_numbers(part) for part in value.values()):
                return sum(len(numbers) for numbers in value.values())
            return dict(
                sorted((self.shown(name), self._counted(part)) for name, part in value.items())
            )
        if isinstance(value, bytes):
            return len(partitions_of(value))
        return value


def _are_numbers(value: Plain) -> bool:
    return isinstance(value, list) and all(isinstance(number, int) for number in value)


def _in_order(rows: list[Plain]) -> list[Plain]:
    """Records in their order; of the same kind, which depends on ids, by member."""
    told: list[Plain] = []
    run: list[Plain] = []
    for row in rows:
        if run and run[0][0] != row[0]:
            told += sorted(run, key=repr)
            run = []
        run.append(row)
    return [*told, *sorted(run, key=repr)]


def _text(text: str) -> bytes:
    return pack(">h", len(text)) + text.encode()


def _partitions(partitions: Sequence[str]) -> bytes:
    topics: dict[str, list[int]] = {}
    for tp in partitions:
        topic, _, number = tp.rpartition("-")
        topics.setdefault(topic, []).append(int(number))
    rows = [
        _text(topic) + pack(f">i{len(numbers)}i", len(numbers), *numbers)
        for topic, numbers in topics.items()
    ]
    return pack(">i", len(rows)) + b"".join(rows)


def subscription(topics: Sequence[str], owned: Sequence[str]) -> bytes:
    """The metadata of a consumer in the classic protocol, version 1."""
    names = pack(">hi", 1, len(topics)) + b"".join(map(_text, topics))
    return names + pack(">i", -1) + _partitions(owned)


def assignment(partitions: Sequence[str]) -> bytes:
    """The assignment of a consumer in the classic protocol, version 1."""
    return pack(">h", 1) + _partitions(partitions) + pack(">i", -1)


def partitions_of(data: bytes) -> list[str]:
    """The partitions of an assignment in the classic protocol."""
    if not data:
        return []
    at, named = 6, []
    for _ in range(unpack_from(">i", data, 2)[0]):
        (size,) = unpack_from(">h", data, at)
        topic, at = data[at + 2 : at + 2 + size].decode(), at + 2 + size
        (count,) = unpack_from(">i", data, at)
        named += [f"{topic}-{n}" for n in unpack_from(f">{count}i", data, at + 4)]
        at += 4 + 4 * count
    return named


ALL: Final = [f"t-{number}" for number in range(6)]


def _classic_pair(m: MixedMembers) -> None:
    """Have a stable classic group of two members with three partitions each."""
    m.begin()
    m.c.say("c1 joins", m.classic_join("c1"))
    m.c.say("c1 assigns", m.sync("c1", {"c1": ALL}))
    m.join_together("c1", "c2")
    m.c.say("c1 assigns", m.sync("c1", {"c1": ALL[:3], "c2": ALL[3:]}))
    m.c.say("c2 syncs", m.sync("c2"))
    m.c.say("c1 commits", m.classic_commit("c1", 5))


def _classic_one(m: MixedMembers) -> None:
    """Have a stable classic group of one member."""
    m.begin()
    m.c.say("c1 joins", m.classic_join("c1"))
    m.c.say("c1 assigns", m.sync("c1", {"c1": ALL}))
    m.say_state()


def upgrade(c: Conversation) -> None:
    """A classic group becomes a consumer group when a member of the new protocol joins."""
    m = MixedMembers(c)
    _classic_one(m)
    c.say("c1 commits", m.classic_commit("c1", 5))
    c.say("m1 joins", m.consumer_join("m1"))
    m.say_state()
    c.say("c1 syncs", m.sync("c1"))
    c.say("c1 of another generation", m.classic_beat("c1", generation=9))
    c.say("c1 with an instance", m.classic_beat("c1", "i"))
    c.say("m1 sends a classic heartbeat", _beat_of(m, "m1"))
    c.say("c1 beats", m.classic_beat("c1"))
    c.say("c1 commits", m.classic_commit("c1", 6))
    c.say("c1 joins again", m.classic_join("c1"))
    c.say("c1 commits in between", m.classic_commit("c1", 6))
    c.say("c1 beats", m.classic_beat("c1"))
    m.say_state()
    c.say("c1 syncs", m.sync("c1"))
    m.counted("waits", "m1")
    c.say("c1 beats", m.classic_beat("c1"))
    c.say("c1 joins without the others", m.classic_join("c1"))
    m.say_state()
    c.say("c1 syncs", m.sync("c1"))
    m.counted("gets", "m1", "m1")
    c.say("c1 beats", m.classic_beat("c1"))
    c.say("c1 commits", m.classic_commit("c1", 7))
    c.say("committed", m.committed())
    m.say_state()
    c.say("another type", m.classic_join("x1", kind="connect"))
    c.say("another assignor", m.classic_join("x2", protocols=["roundrobin"]))
    c.say("c2 joins", m.classic_join("c2"))
    c.say("c2 syncs", m.sync("c2"))
    c.wait(1.2)  # from 4.3 on, the next assignment may follow then
    for _ in range(3):
        m.follow("c1")
        m.counted("on", "m1")
        m.follow("c2")
    m.say_state()
    c.say("c1 wants t and u", m.classic_join("c1", topics=["t", "u"]))
    c.say("c1 leaves, and a stranger", m.classic_leave("c1", "x9"))
    c.wait(1.2)
    for _ in range(2):
        m.counted("on", "m1")
        m.follow("c2")
    m.say_state()
    c.say("c2 leaves", m.classic_leave("c2"))
    m.say_state()


def _beat_of(m: MixedMembers, member: str) -> Plain:
    body = {"group_id": m.group, "generation_id": m.epochs[member], "member_id": member,
            "group_instance_id": None}  # fmt: skip
    found = m.c.ask(m.broker, "Heartbeat", body)
    return found if isinstance(found, str) else error(found)


def downgrade(c: Conversation) -> None:
    """A consumer group becomes a classic one when its last member of the new protocol leaves."""
    m = MixedMembers(c)
    _classic_one(m)
    c.say("c1 commits", m.classic_commit("c1", 5))
    c.say("m1 joins", m.consumer_join("m1"))
    c.wait(1.2)
    for _ in range(3):
        m.follow("c1")
        m.counted("on", "m1")
    m.say_state()
    c.say("m2 joins", m.consumer_join("m2"))
    c.say("m2 leaves", m.leave("m2"))
    m.say_state()
    c.say("m1 leaves", m.leave("m1"))
    m.say_state()
    c.say("m1 beats", m.beat("m1", 1, []))
    c.say("c1 syncs", m.sync("c1"))
    c.say("c1 beats", m.classic_beat("c1"))
    c.say("c1 joins", m.classic_join("c1"))
    c.say("c1 assigns", m.sync("c1", {"c1": ALL}))
    c.say("c1 beats", m.classic_beat("c1"))
    c.say("committed", m.committed())
    m.say_state()
    c.say("m3 joins", m.consumer_join("m3"))
    m.say_state()
    c.say("m3 is silent, c1 is not", None)
    for _ in range(6):
        c.wait(2)
        m.classic_beat("c1")
    m.say_state()


def migration_disabled(c: Conversation) -> None:
    """Nothing is converted while the policy forbids it."""
    _with_policy(c)


def migration_upgrades(c: Conversation) -> None:
    """Only upgrades are allowed."""
    _with_policy(c)


def migration_downgrades(c: Conversation) -> None:
    """Only downgrades are allowed."""
    _with_policy(c)


def _with_policy(c: Conversation) -> None:
    m = MixedMembers(c)
    _classic_one(m)
    c.say("m1 joins", m.consumer_join("m1"))
    m.say_state()
    c.say("c1 beats", m.classic_beat("c1"))
    c.say("c1 leaves", m.classic_leave("c1"))
    m.say_state()
    c.say("m1 joins", m.consumer_join("m1"))
    m.say_state()
    del m.ids["c1"]
    m.owned.pop("c1")
    c.say("c1 joins", m.classic_join("c1"))
    c.say("c1 syncs", m.sync("c1"))
    m.say_state()
    c.say("m1 leaves", m.leave("m1"))
    m.say_state()
    m.follow("c1")
    m.follow("c1")
    m.say_state()
    c.say("c1 leaves", m.classic_leave("c1"))
    m.say_state()
    c.say("another type", m.classic_join("x1", kind="connect"))
    c.wait(0.5)
    m.say_state()
    c.say("m1 joins", m.consumer_join("m1"))
    m.say_state()


def static_migration(c: Conversation) -> None:
    """Static members that change their protocol and keep their instance ids."""
    m = MixedMembers(c)
    m.begin()
    say = c.say
    say("c1 joins", m.classic_join("c1", instance="i"))
    say("c1 assigns", m.sync("c1", {"c1": ALL}, instance="i"))
    m.say_state()
    say("m1 takes its place", m.consumer_join("m1", instance_id="i"))
    m.say_state()
    say("c1 beats", m.classic_beat("c1", "i"))
    m.counted("on", "m1")
    say("c2 joins", m.classic_join("c2"))
    say("c2 syncs", m.sync("c2"))
    m.say_state()
    c.wait(1.2)
    for _ in range(3):
        told = m.beat("m1", instance_id="i")
        say("m1 beats", [*told[:2], told[2] and len(told[2])])
        m.follow("c2")
    m.say_state()
    say("c3 takes its place", m.classic_join("c3", instance="i"))
    m.say_state()
    say("m1 beats", m.beat("m1", instance_id="i"))
    say("c3 syncs", m.sync("c3", instance="i"))
    say("c2 beats", m.classic_beat("c2"))
    m.say_state()


def mixed_timeouts(c: Conversation) -> None:
    """Classic members in a consumer group that do not join, sync or send heartbeats in time."""
    m = MixedMembers(c)
    _classic_one(m)
    say = c.say
    say("m1 joins", m.consumer_join("m1"))
    m.records_seen = len(c.group_records(m.broker))
    say("c1 is told", m.classic_beat("c1"))
    for _ in range(7):
        c.wait(1)
        m.beat("m1")
        told = m.classic_beat("c1")
    say("c1 did not join", told)
    m.settle("m1")
    m.say_state()
    del m.ids["c1"]
    m.owned.pop("c1")
    say("c1 joins", m.classic_join("c1"))
    for _ in range(7):
        c.wait(1)
        m.beat("m1")
    say("c1 did not sync", m.sync("c1"))
    m.say_state()
    m.settle("m1")
    del m.ids["c1"]
    say("c1 joins", m.classic_join("c1"))
    say("c1 syncs", m.sync("c1"))
    c.wait(1.2)
    for _ in range(3):
        m.counted("on", "m1")
        m.follow("c1")
    m.say_state()
    for _ in range(14):
        c.wait(1)
        m.beat("m1")
    say("c1 was silent", m.classic_beat("c1"))
    m.say_state()


def migration_coordinators(c: Conversation) -> None:
    """Coordinators that die while a group has members of both protocols, and after it."""
    m = MixedMembers(c)
    m.session_ms = 60_000
    _classic_pair(m)
    say = c.say
    say("m1 joins", m.consumer_join("m1"))
    m.follow("c1")
    first = m.broker
    c.wait(1)
    c.do(f"broker crash {first}")
    m.find(0, first)
    say("described", m.state())
    say("as classic", m.described_as_classic())
    c.wait(1.2)
    for _ in range(3):
        m.follow("c2")
        m.counted("on", "m1")
        m.follow("c1")
    say("described", m.state())
    say("committed", m.committed())
    c.do(f"broker start {first}")
    c.do("wait until t-0.isr == [0,1,2] within 30s")
    say("m1 leaves", m.leave("m1"))
    say("described", m.state())
    c.wait(1)
    second = m.broker
    c.do(f"broker crash {second}")
    m.find(next(broker for broker in (0, 1, 2) if broker != second), second)
    say("described", m.state())
    say("as classic", m.described_as_classic())
    say("c1 beats", m.classic_beat("c1"))
    say("committed", m.committed())
    say("m2 joins", m.consumer_join("m2"))
    say("described", m.state())


GROUP_MIGRATION: Final[tuple[Callable[[Conversation], None], ...]] = (
    *(upgrade, downgrade, migration_disabled, migration_upgrades, migration_downgrades),
    *(static_migration, mixed_timeouts, migration_coordinators),
)
"""The conversations."""
MORE: Final = {
    **{each.__name__: SETTINGS for each in GROUP_MIGRATION},
    "migration_disabled": SETTINGS | {POLICY: "disabled"},
    "migration_upgrades": SETTINGS | {POLICY: "upgrade"},
    "migration_downgrades": SETTINGS | {POLICY: "downgrade"},
    "migration_coordinators": SETTINGS | LONG_SESSIONS,
}
"""What a conversation's cluster is configured with besides."""
