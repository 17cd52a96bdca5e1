"""What a member of a share group reads and acknowledges, from one leader after another (KIP-932).

A fetch waits at the leader for a while; what it acquires is acknowledged at once, as the statement
says. The member's share session with a leader ends with its connection. Source:
``ShareConsumeRequestManager`` 4.1.
"""

from collections.abc import Callable
from typing import Final

from emulator import events
from emulator.clients.context import ClientContext
from emulator.clients.group_member import GroupMembers
from emulator.clients.group_state import READING, Membership
from emulator.clients.state import Consumer, Reading
from emulator.common.errors import NONE
from emulator.common.names import split
from emulator.protocol import (
    Acknowledgement,
    ConnectionClosed,
    MetadataRequest,
    MetadataResponse,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    SharedPartition,
    ShareFetchRequest,
    ShareFetchResponse,
)

WAIT_US: Final = 500_000
"""How long a fetch waits for records (fetch.max.wait.ms)."""
LIMIT_US: Final = 30_000_000
"""The timeout of a request (request.timeout.ms)."""
BYTES_MAX: Final = 52_428_800
"""fetch.max.bytes."""
RECORDS_MAX: Final = 500
"""max.poll.records: how many records a fetch acquires, but for the rest of a batch."""
TYPES: Final = {"accept": 1, "release": 2, "reject": 3}
SESSION_ERRORS: Final = ("SHARE_SESSION_NOT_FOUND", "INVALID_SHARE_SESSION_EPOCH")


class ShareReads:
    """The reads of members of share groups."""

    def __init__(
        self,
        context: ClientContext,
        members: GroupMembers,
        end: Callable[[Consumer, str], None],
    ) -> None:
        """Ask as ``members`` do; ``end`` completes the statement."""
        self.context = context
        self.kernel = context.kernel
        self.members = members
        self._end = end

    def step(self, consumer: Consumer, membership: Membership, reading: Reading) -> None:
        """Ask for the leaders, acknowledge what was acquired, or fetch from the next leader."""
        if reading.stage != READING:
            reading.stage = READING
            reading.idle_us = self.kernel.now + (reading.input.timeout_us or 0)
            membership.turn, membership.leaders = [], {}
        if membership.acquired:
            self._acknowledge(consumer, membership, reading)
            return
        if self._is_over(membership, reading):
            self._end(consumer, NONE)
            return
        if not membership.leaders:
            self.members.ask_coordinator(consumer, MetadataRequest(membership.topic))
            return
        if not membership.turn:
            membership.turn = list(membership.leaders)
        self._fetch(consumer, membership, reading, membership.turn.pop(0))

    def _is_over(self, membership: Membership, reading: Reading) -> bool:
        """Whether the statement has its records, or has waited for more for long enough."""
        limit = reading.input.max_records
        if limit is not None and reading.given >= limit:
            return True
        has_asked = bool(membership.leaders) and not membership.turn and not membership.is_loading
        return has_asked and self.kernel.now >= reading.idle_us

    def metadata_received(
        self, consumer: Consumer, membership: Membership, response: MetadataResponse
    ) -> None:
        """Note the leaders of the member's partitions; without any it asks again later."""
        leaders: dict[int, list[str]] = {}
        for tp in membership.partitions:
            leader = response.leader_of(split(tp)[1])
            if leader >= 0:
                leaders.setdefault(leader, []).append(tp)
        membership.leaders, membership.turn = leaders, list(leaders)
        reading = consumer.reading
        if leaders or reading is None:
            self.members.pump(consumer)
        elif self.kernel.now >= reading.idle_us:
            self._end(consumer, NONE if response.error == NONE else response.error)
        else:
            self.members.pause(consumer)

    def _fetch(
        self, consumer: Consumer, membership: Membership, reading: Reading, broker: int
    ) -> None:
        epoch, led = membership.sessions.get(broker, 0), membership.leaders[broker]
        joined = membership.joined.get(broker, []) if epoch else []
        membership.joined[broker] = led
        added = [tp for tp in led if tp not in joined]
        limit = reading.input.max_records
        left = RECORDS_MAX if limit is None else limit - reading.given
        has_mode = self.context.profile.has("share_fetches_limited")
        message = ShareFetchRequest(
            membership.group,
            membership.member_id,
            epoch,
            WAIT_US,
            1,
            BYTES_MAX,
            min(RECORDS_MAX, left),
            RECORDS_MAX,
            added,
            [tp for tp in joined if tp not in led],
            strict=has_mode and limit is not None,
            client=consumer.name,
            version=2 if has_mode else 1,
            connection=connection_of(consumer),
        )
        membership.is_loading = bool(added)
        self.members.ask(consumer, broker, message, LIMIT_US)

    def fetched(
        self, consumer: Consumer, membership: Membership, response: ShareFetchResponse
    ) -> None:
        """Take what was acquired; after an error begin a new session, or look up the leaders."""
        broker, reading = membership.target, consumer.reading
        assert reading is not None
        if response.error in SESSION_ERRORS:
            membership.sessions.pop(broker, None)
            self.members.pump(consumer)
            return
        if response.error != NONE:
            self._end(consumer, response.error)
            return
        membership.sessions[broker] = membership.sessions.get(broker, 0) + 1
        for tp, row in response.partitions.items():
            if row.error != NONE:
                membership.sessions.pop(broker, None)
                membership.leaders = {}
            for acquired in row.acquired:
                self._consume(consumer, reading, tp, row, acquired.first, acquired.last)
                membership.acquired.setdefault(tp, []).append((acquired.first, acquired.last))
        if membership.acquired:
            reading.idle_us = self.kernel.now + (reading.input.timeout_us or 0)
        self.members.pump(consumer)

    def _consume(
        self,
        consumer: Consumer,
        reading: Reading,
        tp: str,
        row: SharedPartition,
        first: int,
        last: int,
    ) -> None:
        """Give the application the records that were acquired."""
        runs: list[tuple[int, int]] = []
        for batch in row.batches:
            low, high = max(first, batch.base_offset), min(last, batch.end_offset - 1)
            if low <= high and not batch.is_empty and not batch.is_control:
                runs.append((batch.first_record + low - batch.base_offset, high - low + 1))
        if runs:
            self.kernel.emit(events.RecordsConsumed, consumer.name, tp, first, runs, last + 1)
            consumer.runs += runs
            reading.given += sum(count for _, count in runs)

    def _acknowledge(self, consumer: Consumer, membership: Membership, reading: Reading) -> None:
        broker, kind = membership.target, reading.input.acknowledge
        if broker not in membership.sessions or kind == "none":
            membership.acquired = {}
            self.members.pump(consumer)
            return
        acknowledged = {
            tp: [Acknowledgement(first, last, [TYPES[kind]]) for first, last in ranges]
            for tp, ranges in membership.acquired.items()
        }
        message = ShareAcknowledgeRequest(
            membership.group,
            membership.member_id,
            membership.sessions[broker],
            acknowledged,
            client=consumer.name,
            connection=connection_of(consumer),
        )
        self.members.ask(consumer, broker, message, LIMIT_US)

    def acknowledged(
        self, consumer: Consumer, membership: Membership, response: ShareAcknowledgeResponse
    ) -> None:
        """Go on; records whose acknowledgement failed are delivered again."""
        membership.acquired = {}
        if response.error == NONE:
            membership.sessions[membership.target] += 1
        else:
            membership.sessions.pop(membership.target, None)
        self.members.pump(consumer)

    def hang_up(self, consumer: Consumer, membership: Membership) -> None:
        """Close the connections to leaders, where the member's sessions end."""
        for broker in membership.sessions:
            self.context.send(broker, ConnectionClosed(connection_of(consumer)))
        membership.sessions = {}


def connection_of(consumer: Consumer) -> str:
    """The name of a consumer's connections to leaders."""
    return f"consumer {consumer.name}"
