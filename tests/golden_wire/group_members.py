"""The members of a group whose coordinator assigns partitions, as they talk to brokers."""

from collections.abc import Sequence
from typing import Any, Final

from tests.golden_wire.conversation import Conversation, error

Plain = Any
"""A response as plain values."""

OFFSETS: Final = "__consumer_offsets --replica-assignment 1:2:0 --config cleanup.policy=compact"
UNSET: Final = object()


class GroupMembers:
    """What members of consumer groups and of share groups say alike."""

    internal_topics: tuple[str, ...] = (OFFSETS,)

    def __init__(self, conversation: Conversation, group: str = "g") -> None:
        """Talk about ``group``, wherever it is coordinated."""
        self.c = conversation
        self.group = group
        self.broker = 0
        self.names: dict[str, str] = {}
        self.epochs: dict[str, int] = {}

    # ---- topics

    def learn(self, *topics: str) -> None:
        """Learn the ids of topics."""
        asked = [{"name": topic, "topic_id": bytes(16)} for topic in topics]
        body = {"topics": asked, "allow_auto_topic_creation": False}

        def attempt() -> bool:
            found = self.c.ask(self.broker, "Metadata", body, version=12)
            if isinstance(found, str) or any(row["error_code"] for row in found["topics"]):
                return False
            self.names.update((row["topic_id"].hex(), row["name"]) for row in found["topics"])
            return True

        assert self.c.until(attempt)

    # ---- administration

    def listed(self, types: Sequence[str] = (), states: Sequence[str] = ()) -> Plain:
        """List the groups of some types and states."""
        body = {"types_filter": list(types), "states_filter": list(states)}
        found = self.c.ask(self.broker, "ListGroups", body, version=5)
        if isinstance(found, str):
            return found
        rows = [
            [row["group_id"], row["protocol_type"], row["group_state"], row["group_type"]]
            for row in found["groups"]
        ]
        return [error(found), sorted(rows)]

    def deleted(self, group: str = "") -> Plain:
        """Delete the group."""
        body = {"groups_names": [group or self.group]}
        found = self.c.ask(self.broker, "DeleteGroups", body, version=2)
        return found if isinstance(found, str) else [error(row) for row in found["results"]]

    # ---- where it is coordinated

    def find(self, asked: int = 0, former: int | None = None) -> None:
        """Find the coordinator, and wait until it has loaded the group's partition."""
        self.broker = self.c.coordinator(self.group, 0, asked, former)
        self.c.say("coordinator", self.broker)
        body = {"groups": [self.group]}

        def is_loaded() -> bool:
            found = self.c.ask(self.broker, "DescribeGroups", body)
            loading = ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR")
            return not isinstance(found, str) and error(found["groups"][0]) not in loading

        self.c.until(is_loaded)

    def begin(self, partitions: str) -> None:
        """Have __consumer_offsets at broker 1, and a topic t."""
        for topic in self.internal_topics:
            self.c.do(f"topic create {topic}")
        self.c.do(f"topic create t --replica-assignment {partitions}")
        self.c.do("wait until t-0.leader == 0")
        self.c.wait(3)
        self.find()
        self.learn("t")
