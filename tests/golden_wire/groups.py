"""The conversation about static members of a consumer group (KIP-345)."""

from collections.abc import Sequence
from typing import Any, Final

from tests.golden_wire.conversation import NOT_YET, Conversation, error

ALL_IN_SYNC: Final = "wait until t-0.isr == [0,1,2] within 30s"
OFFSETS: Final = "__consumer_offsets --replica-assignment 1:2:0 --config cleanup.policy=compact"
Plain = Any
"""A response as plain values."""
Member = tuple[str, str | None]
"""A member id, and a group instance id."""


class Group:
    """A consumer group as seen by its members, on whichever broker coordinates it."""

    def __init__(self, conversation: Conversation, name: str) -> None:
        """Talk about the group ``name``."""
        self.c = conversation
        self.name = name

    def joins(self, broker: int, members: Sequence[Member]) -> list[Plain]:
        """Let members join one after another, while the former ones wait."""
        connections = []
        for member, instance in members:
            connections.append(self.c.send(broker, "JoinGroup", self._joining(member, instance)))
            self.c.wait(0.15)
        return [_joined(self.c.response(connection, 30)) for connection in connections]

    def join(self, broker: int, member: str, instance: str | None) -> Plain:
        """Let one member join."""
        return self.joins(broker, [(member, instance)])[0]

    def _joining(self, member: str, instance: str | None) -> Plain:
        return {"group_id": self.name, "session_timeout_ms": 10_000, "rebalance_timeout_ms": 4_000,
                "member_id": member, "group_instance_id": instance, "protocol_type": "consumer",
                "protocols": [{"name": "range", "metadata": b"x"}]}  # fmt: skip

    def syncs(self, broker: int, generation: int, members: Sequence[Member],
              assignments: Sequence[tuple[str, str]] = (), leader: str = "") -> Plain:  # fmt: skip
        """Let members ask for their assignments at once; the leader brings them."""
        connections = {}
        for member, instance in members:
            rows = [{"member_id": m, "assignment": text.encode()} for m, text in assignments]
            body = {"group_id": self.name, "generation_id": generation, "member_id": member,
                    "group_instance_id": instance,
                    "assignments": rows if member == leader else []}  # fmt: skip
            connections[instance] = self.c.send(broker, "SyncGroup", body)
        said = {}
        for instance, connection in connections.items():
            found = self.c.response(connection, 15)
            is_text = isinstance(found, str)
            said[instance] = found if is_text else [error(found), found["assignment"].decode()]
        return said

    def beat(self, broker: int, generation: int, member: str, instance: str) -> str:
        """Let a member send a heartbeat."""
        body = {"group_id": self.name, "generation_id": generation, "member_id": member,
                "group_instance_id": instance}  # fmt: skip
        found = self.c.ask(broker, "Heartbeat", body)
        return found if isinstance(found, str) else error(found)

    def beat_until(self, *args: Plain) -> str | None:
        """Let a member send heartbeats until its coordinator knows the group."""

        def attempt() -> str | None:
            said = self.beat(*args)
            return None if said in NOT_YET else said

        return self.c.until(attempt)

    def leave(self, broker: int, members: Sequence[Member]) -> Plain:
        """Let members leave."""
        rows = [{"member_id": m, "group_instance_id": instance} for m, instance in members]
        found = self.c.ask(broker, "LeaveGroup", {"group_id": self.name, "members": rows})
        if isinstance(found, str):
            return found
        return [error(found), [[row["group_instance_id"], error(row)] for row in found["members"]]]

    def commit(self, broker: int, generation: int, member: Member, offset: int) -> Plain:
        """Let a member commit an offset of t-0."""
        rows = [{"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}]
        body = {"group_id": self.name, "generation_id_or_member_epoch": generation,
                "member_id": member[0], "group_instance_id": member[1],
                "topics": [{"name": "t", "partitions": rows}]}  # fmt: skip
        found = self.c.ask(broker, "OffsetCommit", body)
        if isinstance(found, str):
            return found
        return [error(row) for topic in found["topics"] for row in topic["partitions"]]

    def committed(self, broker: int) -> Plain:
        """Ask for the committed offset of t-0."""
        body = {"group_id": self.name, "topics": [{"name": "t", "partition_indexes": [0]}]}
        found = self.c.ask(broker, "OffsetFetch", body)
        if isinstance(found, str):
            return found
        rows = [row for topic in found["topics"] for row in topic["partitions"]]
        return [error(found), [[row["committed_offset"], error(row)] for row in rows]]


def statics(c: Conversation) -> None:  # noqa: PLR0915 - one step after another
    """Two static members whose coordinator dies twice, and one that comes back under a new id."""
    c.do(f"topic create {OFFSETS}")
    c.do("topic create t --replica-assignment 0:1:2")
    c.do("wait until t-0.leader == 0")
    c.wait(2)
    c.do("reassign __consumer_offsets-0 1,2,0")
    c.wait(3)
    c.do("election preferred __consumer_offsets-0")
    c.wait(2)
    for number in range(4):
        c.produce(0, "t-0", [f"v{number}"])
    g = Group(c, "g")
    first = c.coordinator("g", 0, 0)
    c.say("coordinator", first)
    c.group_is_known(first, "g")
    c.say("unknown group", c.group(first, "g"))
    joined = g.joins(first, [("", "ia"), ("", "ib")])
    for name, answer in zip("AB", joined, strict=True):
        c.say(f"{name} joins", _shown(answer))
    a, b = ((answer["member"], f"i{name}") for name, answer in zip("ab", joined, strict=True))
    generation = joined[0]["generation"]
    assignments = [(a[0], "for ia"), (b[0], "for ib")]
    c.say("sync", g.syncs(first, generation, [a, b], assignments, joined[0]["leader"]))
    c.say("group", c.group(first, "g"))
    c.say("commit", g.commit(first, generation, a, 2))
    c.say("commit of another instance", g.commit(first, generation, (a[0], "ib"), 3))
    c.say("commit of an old generation", g.commit(first, generation - 1, a, 3))
    c.say("committed", g.committed(first))
    c.wait(1)
    c.do(f"broker crash {first}")
    second = c.coordinator("g", 0, 0, first)
    c.say("next coordinator", second)
    for name, member in (("A", a), ("B", b)):
        c.say(f"{name} beats", g.beat_until(second, generation, *member))
    c.say("group", c.until(lambda: _known(c.group(second, "g"))))
    c.say("committed", g.committed(second))
    again = g.join(second, "", "ia")
    c.say("A again without an id", _shown(again))
    c.say("same generation", again["generation"] == generation)
    c.say("new id", again["member"] != a[0])
    newer = (again["member"], "ia")
    c.say("old id beats", g.beat(second, generation, *a))
    c.say("old id commits", g.commit(second, generation, a, 1))
    c.say("new id beats", g.beat(second, generation, *newer))
    c.say("new id syncs", g.syncs(second, again["generation"], [newer])["ia"])
    c.say("group", c.group(second, "g"))
    c.say("old id leaves", g.leave(second, [a]))
    c.say("old id joins", _shown(g.join(second, *a)))
    c.do(f"broker start {first}")
    c.do(ALL_IN_SYNC)
    c.wait(2)
    c.say("coordinator still", c.coordinator("g", 0, 0))
    c.say("asked at the old one", g.beat(first, generation, *newer))
    c.say("A leaves by its instance", g.leave(second, [("", "ia")]))
    c.say("B beats", g.beat(second, generation, *b))
    c.say("group", c.group(second, "g")[:4])
    alone = g.join(second, *b)
    c.say("B joins", _shown(alone))
    last = alone["generation"]
    c.say("B syncs", g.syncs(second, last, [b], [(b[0], "all")], b[0])["ib"])
    c.say("group", c.group(second, "g"))
    c.say("commit", g.commit(second, last, b, 4))
    c.do(f"broker crash {second}")
    left = next(broker for broker in (0, 1, 2) if broker != second)
    third = c.coordinator("g", 0, left, second)
    c.say("third coordinator", third)
    c.say("group", c.until(lambda: _known(c.group(third, "g"))))
    c.wait(13)
    c.say("group after the session", c.group(third, "g"))
    c.say("committed", g.committed(third))
    dynamic = g.join(third, "", None)
    c.say("dynamic without id", [dynamic["error"], bool(dynamic["member"])])
    c.say("unknown id", _shown(g.join(third, "nobody", None)))
    c.say("unknown id of an instance", _shown(g.join(third, "nobody", "ib")))
    deleted = c.ask(third, "DeleteGroups", {"groups_names": ["g"]})
    c.say("delete", [error(row) for row in deleted["results"]])
    c.say("committed", g.committed(third))
    c.say("group", c.group(third, "g"))


def _joined(found: Plain) -> Plain:
    if isinstance(found, str):
        return found
    return {"error": error(found), "generation": found["generation_id"],
            "protocol": found["protocol_name"], "leader": found["leader"],
            "member": found["member_id"],
            "members": [row["group_instance_id"] for row in found["members"]]}  # fmt: skip


def _shown(joined: Plain) -> Plain:
    """How a member joined, without its id."""
    if isinstance(joined, str):
        return joined
    return {"error": joined["error"], "generation": joined["generation"],
            "protocol": joined["protocol"],
            "leads": bool(joined["member"]) and joined["leader"] == joined["member"],
            "given id": bool(joined["member"]),
            "members": sorted(str(instance) for instance in joined["members"])}  # fmt: skip


def _known(described: Plain) -> Plain:
    return described if described[0] == "NONE" else None
