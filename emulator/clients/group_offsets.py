"""A group's `consume`: joining, fetching committed offsets, reading, and committing."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from emulator.clients.context import ClientContext
from emulator.clients.group_member import GroupMembers, leaving
from emulator.clients.group_state import (
    COMMITTING,
    CONSUMER,
    GONE,
    JOINING,
    LEAVING,
    MEMBER,
    POSITIONS,
    READING,
    SHARE,
    Membership,
)
from emulator.clients.network_client import UNKNOWN, NetworkClient
from emulator.clients.share_reads import ShareReads
from emulator.clients.state import Consumer, Reading
from emulator.common.errors import NONE
from emulator.common.names import split
from emulator.protocol import (
    GroupResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    ShareAcknowledgeResponse,
    ShareFetchResponse,
)

EPOCHS_SINCE: Final = 9
"""The first OffsetCommit version with the epochs of members (KIP-848)."""
LIMIT_US: Final = 60_000_000
"""The time limit for joining the group and for the commit (default.api.timeout.ms)."""
RETRIED: Final = frozenset(
    (
        "NOT_COORDINATOR",
        "COORDINATOR_NOT_AVAILABLE",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "REQUEST_TIMED_OUT",
        "STALE_MEMBER_EPOCH",
    )
)
"""Retriable errors of a commit; the next heartbeat tells the epoch that a stale one lacks."""


class GroupOffsets:
    """Takes a group's statement through its stages."""

    def __init__(
        self,
        context: ClientContext,
        connections: NetworkClient,
        *,
        read: Callable[[Consumer, dict[int, int], dict[int, int]], None],
        stop_waiting: Callable[[Consumer], None],
        close: Callable[[Consumer, str], None],
    ) -> None:
        """Use ``context``.

        ``read`` reads partitions from offsets, whose leader epochs may be known, and then calls
        :meth:`finished`; ``stop_waiting`` completes a read that only waits for more records.
        ``close`` ends the statement.
        """
        self.context = context
        self.members = GroupMembers(
            context,
            connections,
            steady=self._go_on,
            on_response=self._on_response,
            refused=self._end,
        )
        self.shares = ShareReads(context, self.members, self._end)
        self._read_partitions = read
        self._stop_waiting = stop_waiting
        self._close_statement = close

    def begin(self, consumer: Consumer, reading: Reading) -> None:
        """Start a statement with a group: join the group with its topic."""
        statement = reading.input
        subscribes = statement.partition is None
        membership = consumer.membership
        if membership is not None and (
            (membership.group, membership.protocol) != (statement.group, statement.protocol)
            or membership.subscribes != subscribes
        ):
            self.members.drop(consumer)
            membership = None
        if membership is None:
            assert statement.group is not None
            membership = Membership(
                statement.group, statement.topic, statement.assignor, subscribes
            )
            membership.protocol = statement.protocol
            consumer.membership = membership
        elif (membership.topic, membership.assignor) != (statement.topic, statement.assignor):
            membership.topic, membership.assignor, membership.rejoin = (
                statement.topic,
                statement.assignor,
                True,
            )
        membership.error = NONE
        self._enter(consumer, reading, JOINING)

    def _enter(self, consumer: Consumer, reading: Reading, stage: str) -> None:
        """Enter a stage that has a time limit."""
        reading.stage = stage
        reading.token = self.context.new_id()
        self.context.later("group-limit", consumer.name, reading.token, LIMIT_US)
        membership = consumer.membership
        assert membership is not None
        membership.paused = False
        self.members.pump(consumer)

    def _go_on(self, consumer: Consumer, membership: Membership) -> None:
        """Take the next step of the statement, as the member is stable."""
        reading = consumer.reading
        if reading is None:
            return
        if membership.protocol == SHARE and reading.stage != LEAVING:
            self.shares.step(consumer, membership, reading)
        elif reading.stage in (JOINING, POSITIONS):
            self._fetch(consumer, membership, reading)
        elif reading.stage == READING and membership.has_to_stop:
            # Offsets are committed before the member rejoins (onJoinPrepare).
            self._stop_waiting(consumer)
        elif reading.stage == COMMITTING:
            self._commit(consumer, membership, reading)
        elif reading.stage == LEAVING:
            self.members.ask_coordinator(consumer, leaving(membership))

    # ---- initial positions

    def _fetch(self, consumer: Consumer, membership: Membership, reading: Reading) -> None:
        reading.stage = POSITIONS
        statement = reading.input
        if statement.partition is not None:
            partitions = [f"{statement.topic}-{statement.partition}"]
        else:
            partitions = [tp for tp in membership.partitions if split(tp)[0] == statement.topic]
        if not partitions:
            self.members.ask_coordinator(consumer, MetadataRequest(statement.topic))
        elif statement.offset is not None or statement.from_timestamp_us is not None:
            self._read(consumer, reading, dict.fromkeys(partitions, statement.offset or 0), {})
        else:
            message = OffsetFetchRequest(membership.group, partitions)
            self.members.ask_coordinator(consumer, message)

    def _read(
        self,
        consumer: Consumer,
        reading: Reading,
        offsets: dict[str, int],
        epochs: dict[str, int],
    ) -> None:
        reading.stage = READING
        positions = {split(tp)[1]: max(0, offset) for tp, offset in offsets.items()}
        self._read_partitions(
            consumer, positions, {split(tp)[1]: epoch for tp, epoch in epochs.items()}
        )

    # ---- commits

    def finished(self, consumer: Consumer, error: str) -> None:
        """Commit the positions after the read, then end the statement."""
        reading = consumer.reading
        assert reading is not None
        reading.error = error
        if reading.positions:
            self._enter(consumer, reading, COMMITTING)
        else:
            self._end(consumer, error)

    def _commit(self, consumer: Consumer, membership: Membership, reading: Reading) -> None:
        if membership.subscribes and membership.phase != MEMBER:
            self._end(
                consumer, membership.error if membership.error in GONE else "UNKNOWN_MEMBER_ID"
            )
            return
        topic = reading.input.topic
        offsets = {f"{topic}-{number}": at for number, at in sorted(reading.positions.items())}
        epochs = {f"{topic}-{number}": epoch for number, epoch in sorted(reading.epochs.items())}
        message = OffsetCommitRequest(
            membership.group, membership.generation, membership.member_id, offsets, epochs
        )
        if membership.protocol == CONSUMER:
            message = replace(message, version=EPOCHS_SINCE)
        self.members.ask_coordinator(consumer, message)

    def _on_response(
        self, consumer: Consumer, membership: Membership, message: GroupResponse | MetadataResponse
    ) -> None:
        """Handle a response about offsets, a commit, a departure, or the topic."""
        reading = consumer.reading
        if reading is None:
            return
        if membership.protocol == SHARE and reading.stage == READING:
            self._shared(consumer, membership, message)
        elif isinstance(message, MetadataResponse):
            self._check_topic(consumer, reading, message)
        elif reading.stage == LEAVING:
            self._close(consumer, reading)
        else:
            self._about_offsets(consumer, membership, reading, message)

    def _about_offsets(
        self, consumer: Consumer, membership: Membership, reading: Reading, message: GroupResponse
    ) -> None:
        if isinstance(message, OffsetFetchResponse):
            if membership.subscribes and membership.phase != MEMBER:
                self.members.pump(consumer)
            elif message.error == NONE:
                self._read(consumer, reading, message.offsets, message.epochs)
            else:
                self.members.failed(consumer, message.error)
        elif isinstance(message, OffsetCommitResponse):
            if message.error == NONE:
                self._end(consumer, reading.error)
            elif message.error in RETRIED:
                self.members.failed(consumer, message.error)
            else:
                membership.refused(message.error)
                self._end(consumer, message.error)

    def _shared(
        self, consumer: Consumer, membership: Membership, message: GroupResponse | MetadataResponse
    ) -> None:
        """Handle a response to a member of a share group that reads."""
        match message:
            case MetadataResponse():
                self.shares.metadata_received(consumer, membership, message)
            case ShareFetchResponse():
                self.shares.fetched(consumer, membership, message)
            case ShareAcknowledgeResponse():
                self.shares.acknowledged(consumer, membership, message)

    def _check_topic(self, consumer: Consumer, reading: Reading, message: MetadataResponse) -> None:
        """With no partition assigned, check whether the topic exists."""
        if reading.stage != POSITIONS:
            self.members.pump(consumer)
        elif message.error == UNKNOWN:
            self._end(consumer, UNKNOWN)
        else:
            self._read(consumer, reading, {}, {})

    def _end(self, consumer: Consumer, error: str) -> None:
        """Complete the statement, except for the member's departure (``--then``)."""
        reading, membership = consumer.reading, consumer.membership
        if reading is None or not reading.stage:
            return
        if reading.error == NONE:
            reading.error = error
        then = reading.input.then
        if then != "stay" and membership is not None:
            self.shares.hang_up(consumer, membership)
        if (
            then == "leave"
            and membership is not None
            and membership.member_id
            and membership.coordinator >= 0
        ):
            self._enter(consumer, reading, LEAVING)
        else:
            self._close(consumer, reading)

    def _close(self, consumer: Consumer, reading: Reading) -> None:
        if reading.input.then != "stay":
            consumer.membership = None
        reading.stage = ""
        self._close_statement(consumer, reading.error)
        self.members.pump(consumer)

    def out_of_time(self, name: str, token: int) -> None:
        consumer = self.context.state.consumers[name]
        reading, membership = consumer.reading, consumer.membership
        if reading is None or reading.token != token or membership is None:
            return
        if reading.stage in (JOINING, POSITIONS, COMMITTING):
            self.members.lost(consumer, membership)
            self._end(
                consumer, membership.error if membership.error != NONE else "REQUEST_TIMED_OUT"
            )
        elif reading.stage == LEAVING:
            self._close(consumer, reading)
