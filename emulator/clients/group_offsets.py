"""A group's `consume`: from being a member to the committed positions, the read, and the commit."""

from typing import TYPE_CHECKING, Final

from emulator.clients.group_state import (
    COMMITTING,
    GONE,
    JOINING,
    LEAVING,
    MEMBER,
    POSITIONS,
    READING,
    Membership,
)
from emulator.clients.state import Consumer, Reading
from emulator.protocol import (
    GroupResponse,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from emulator.protocol.names import split

if TYPE_CHECKING:
    from emulator.clients.group_member import Groups

NONE: Final = "NONE"
LIMIT_US: Final = 60_000_000
"""How long a statement waits to be a member, and for its commit (default.api.timeout.ms)."""
RETRIED: Final = frozenset(
    (
        "NOT_COORDINATOR",
        "COORDINATOR_NOT_AVAILABLE",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "REQUEST_TIMED_OUT",
    )
)
"""Errors of a commit after which it is sent again."""


class Positions:
    """Takes a group's statement through its stages."""

    def __init__(self, groups: "Groups") -> None:
        """Act for ``groups``."""
        self.groups = groups
        self.clients = groups.clients
        self.world = groups.world

    def begin(self, consumer: Consumer, reading: Reading) -> None:
        """A statement with a group begins: be a member of it, for its topic."""
        wanted = reading.input
        subscribes = wanted.partition is None
        mine = consumer.membership
        if mine is not None and (mine.group != wanted.group or mine.subscribes != subscribes):
            self.groups.drop(consumer)
            mine = None
        if mine is None:
            assert wanted.group is not None
            mine = Membership(wanted.group, wanted.topic, wanted.assignor, subscribes)
            consumer.membership = mine
        elif (mine.topic, mine.assignor) != (wanted.topic, wanted.assignor):
            mine.topic, mine.assignor, mine.rejoin = wanted.topic, wanted.assignor, True
        mine.error = NONE
        self._enter(consumer, reading, JOINING)

    def _enter(self, consumer: Consumer, reading: Reading, stage: str) -> None:
        """Begin a stage that has to end in time."""
        reading.stage = stage
        reading.token = self.clients.new_id()
        self.clients.later("group-limit", consumer.name, reading.token, LIMIT_US)
        mine = consumer.membership
        assert mine is not None
        mine.paused = False
        self.groups.pump(consumer)

    def go_on(self, consumer: Consumer, mine: Membership) -> None:
        """The member is steady: do what its statement wants next."""
        reading = consumer.reading
        if reading is None:
            return
        if reading.stage in (JOINING, POSITIONS):
            self._fetch(consumer, mine, reading)
        elif reading.stage == COMMITTING:
            self._commit(consumer, mine, reading)
        elif reading.stage == LEAVING:
            message = LeaveGroupRequest(mine.group, mine.member_id)
            self.groups.ask_coordinator(consumer, message)

    # ---- where to begin

    def _fetch(self, consumer: Consumer, mine: Membership, reading: Reading) -> None:
        reading.stage = POSITIONS
        wanted = reading.input
        if wanted.partition is not None:
            partitions = [f"{wanted.topic}-{wanted.partition}"]
        else:
            partitions = [tp for tp in mine.partitions if split(tp)[0] == wanted.topic]
        if not partitions and self.world.zookeeper.find(f"/brokers/topics/{wanted.topic}") is None:
            self.end(consumer, "UNKNOWN_TOPIC_OR_PARTITION")
        elif wanted.offset is not None:
            self._read(consumer, reading, dict.fromkeys(partitions, wanted.offset))
        else:
            message = OffsetFetchRequest(mine.group, partitions)
            self.groups.ask_coordinator(consumer, message)

    def _read(self, consumer: Consumer, reading: Reading, offsets: dict[str, int]) -> None:
        reading.stage = READING
        reading.positions = {split(tp)[1]: max(0, offset) for tp, offset in offsets.items()}
        self.clients.consumers.read_positions(consumer)

    # ---- where it ended

    def finished(self, consumer: Consumer, error: str) -> None:
        """The read is over: commit how far it came, then end the statement."""
        reading = consumer.reading
        assert reading is not None
        reading.error = error
        if reading.positions:
            self._enter(consumer, reading, COMMITTING)
        else:
            self.end(consumer, error)

    def _commit(self, consumer: Consumer, mine: Membership, reading: Reading) -> None:
        if mine.subscribes and mine.phase != MEMBER:
            self.end(consumer, mine.error if mine.error in GONE else "UNKNOWN_MEMBER_ID")
            return
        topic = reading.input.topic
        offsets = {f"{topic}-{number}": at for number, at in sorted(reading.positions.items())}
        message = OffsetCommitRequest(mine.group, mine.generation, mine.member_id, offsets)
        self.groups.ask_coordinator(consumer, message)

    def answered(self, consumer: Consumer, mine: Membership, message: GroupResponse) -> None:
        """The coordinator answered a fetch of positions, a commit or a leave."""
        reading = consumer.reading
        if reading is None:
            return
        if reading.stage == LEAVING:
            self._close(consumer, reading)
        elif isinstance(message, OffsetFetchResponse):
            if mine.subscribes and mine.phase != MEMBER:
                self.groups.pump(consumer)
            elif message.error == NONE:
                self._read(consumer, reading, message.offsets)
            else:
                self.groups.failed(consumer, message.error)
        elif isinstance(message, OffsetCommitResponse):
            if message.error == NONE:
                self.end(consumer, reading.error)
            elif message.error in RETRIED:
                self.groups.failed(consumer, message.error)
            else:
                mine.refused(message.error)
                self.end(consumer, message.error)

    def end(self, consumer: Consumer, error: str) -> None:
        """The statement is over but for what becomes of the member (``--then``)."""
        reading, mine = consumer.reading, consumer.membership
        if reading is None or not reading.stage:
            return
        if reading.error == NONE:
            reading.error = error
        then = reading.input.then
        if then == "leave" and mine is not None and mine.member_id and mine.coordinator >= 0:
            self._enter(consumer, reading, LEAVING)
        else:
            self._close(consumer, reading)

    def _close(self, consumer: Consumer, reading: Reading) -> None:
        if reading.input.then != "stay":
            consumer.membership = None
        reading.stage = ""
        self.clients.consumers.close(consumer, reading.error)
        self.groups.pump(consumer)

    def out_of_time(self, name: str, token: int) -> None:
        """A stage has not come to its end in time."""
        consumer = self.clients.state.consumers[name]
        reading, mine = consumer.reading, consumer.membership
        if reading is None or reading.token != token or mine is None:
            return
        if reading.stage in (JOINING, POSITIONS, COMMITTING):
            self.groups.lost(consumer, mine)
            self.end(consumer, mine.error if mine.error != NONE else "REQUEST_TIMED_OUT")
        elif reading.stage == LEAVING:
            self._close(consumer, reading)
