"""A coordinator on the bench: requests by hand, answers as they come."""

from collections.abc import Sequence
from typing import Any

from emulator.coordinator.groups import Group
from emulator.events import CLIENTS, GroupStateChanged
from emulator.inputs.statements import CreateTopic
from emulator.protocol import (
    AnyMessage,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Subscription,
    SyncGroupRequest,
)
from tests.support.lab import Lab

SESSION_MS = 10_000
REBALANCE_MS = 60_000


class Inbox:
    """In the clients' place: keeps each response by the request that it answers."""

    def __init__(self) -> None:
        self.responses: dict[int, Any] = {}

    def handle(self, source: int, message: AnyMessage) -> None:
        if hasattr(message, "request"):
            self.responses[message.request] = message


class Bench:
    """A cluster whose ``__consumer_offsets-0`` broker 0 leads, and nobody at the clients' end."""

    def __init__(
        self,
        version: str = "2.1",
        brokers: int = 1,
        delay_ms: int = 0,
        topics: Sequence[CreateTopic] = (),
        **config: str,
    ) -> None:
        config = {name.replace("_", "."): value for name, value in config.items()}
        config["offsets.topic.num.partitions"] = "1"
        if delay_ms:
            config["group.initial.rebalance.delay.ms"] = str(delay_ms)
        elif version not in ("0.9", "0.10.0", "0.10.2"):
            config["group.initial.rebalance.delay.ms"] = "0"
        self.lab = Lab(version, brokers=brokers, config=config)
        self.lab.do(CreateTopic(topic="__consumer_offsets", assignment=[list(range(brokers))]))
        self.lab.do(CreateTopic(topic="t", assignment=[[0]] * 3))
        for topic in topics:
            self.lab.do(topic)
        self.lab.wait(100)
        self.inbox = Inbox()
        self.lab.cluster.kernel.actors[CLIENTS] = self.inbox

    def send(self, message: AnyMessage, broker: int = 0) -> int:
        """Send a request and let it arrive; returns its number."""
        number = self.lab.cluster.network.send(CLIENTS, broker, message)
        self.lab.wait(15)
        return number

    def response_to(self, number: int) -> Any:  # noqa: ANN401 - of whatever type
        """The response to a request; None: there is none yet."""
        return self.inbox.responses.get(number)

    def ask(self, message: AnyMessage, broker: int = 0) -> Any:  # noqa: ANN401 - as above
        """The response that comes at once."""
        return self.response_to(self.send(message, broker))

    # ---- requests

    def join(self, consumer: str, member_id: str = "", **changes: Any) -> int:
        given: dict[str, Any] = {
            "group": "g",
            "member_id": member_id,
            "consumer": consumer,
            "assignor": "range",
            "subscription": Subscription(["t"]),
            "session_timeout_us": SESSION_MS * 1000,
            "rebalance_timeout_us": REBALANCE_MS * 1000,
        }
        return self.send(JoinGroupRequest(**{**given, **changes}))

    def sync(self, joined: JoinGroupResponse, **assignment: list[str]) -> int:
        """SyncGroup; the assignment is by the consumers' names."""
        given = {
            name: assignment[name.partition("-")[0]]
            for name in joined.members
            if name.partition("-")[0] in assignment
        }
        return self.send(SyncGroupRequest("g", joined.generation, joined.member_id, given))

    def beat(self, joined: JoinGroupResponse) -> str:
        """How a heartbeat of that member and generation ends."""
        found = self.ask(HeartbeatRequest("g", joined.generation, joined.member_id))
        return str(found.error)

    def leave(self, joined: JoinGroupResponse) -> str:
        return str(self.ask(LeaveGroupRequest("g", joined.member_id)).error)

    def commit(self, offset: int, joined: JoinGroupResponse | None = None) -> int:
        generation, name = (-1, "") if joined is None else (joined.generation, joined.member_id)
        return self.send(OffsetCommitRequest("g", generation, name, {"t-0": offset}))

    def committed(self, broker: int = 0) -> OffsetFetchResponse:
        response = self.ask(OffsetFetchRequest("g", ["t-0", "t-1"]), broker)
        assert isinstance(response, OffsetFetchResponse)
        return response

    # ---- what comes of them

    def stable(self, *consumers: str) -> list[JoinGroupResponse]:
        """A stable group of these consumers, the first of which leads and has ``t-0``."""
        given = {consumers[0]: ["t-0"]}
        first = self.response_to(self.join(consumers[0]))
        self.sync(first, **given)
        joins = [self.join(consumer) for consumer in consumers[1:]]
        if joins:
            joins.insert(0, self.join(consumers[0], first.member_id))
        responses = [self.response_to(number) for number in joins] or [first]
        for each in responses if joins else ():
            self.sync(each, **given)
        return responses

    def group(self, broker: int = 0) -> Group:
        found = self.lab.cluster.brokers[broker].core.coordinator.group("g")
        assert found is not None
        return found

    def states(self) -> list[str]:
        """The states that the group has gone through."""
        return [event.state for event in self.lab.seen.of(GroupStateChanged, group="g")]

    def alive(self, *members: JoinGroupResponse, milliseconds: int) -> None:
        """Let time pass in which these members send heartbeats."""
        for _ in range(milliseconds // 1000):
            self.lab.wait(1000)
            for member in members:
                self.beat(member)
