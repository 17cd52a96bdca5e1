"""A quorum member on the emulated network: its messages, its timer and its settings."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Final

from emulator import events
from emulator.metadata_log.sizes import batch_size
from emulator.protocol import ConnectionLost
from emulator.protocol.message import Message
from emulator.protocol.raft import MetadataSnapshot
from emulator.raft.log import SegmentLimits
from emulator.raft.quorum import NEVER_US, QuorumMember, QuorumRules, Surroundings
from emulator.raft.snapshots import SnapshotRules, clean, reason_for_snapshot, take_snapshot
from emulator.raft.state import QuorumState
from emulator.releases.config import Configuration
from emulator.releases.config_names import BrokerConfig
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.simulation.timers import Timers

TASK: Final = "quorum"
"""The name of its timer."""
FETCHED: Final = "fetched"
"""The reason of a snapshot that the member did not write itself."""


class RaftClient:
    """Connects a member to the network."""

    def __init__(  # noqa: PLR0913 - a member depends on all of its host
        self,
        me: int,
        voters: Sequence[int],
        state: QuorumState,
        *,
        kernel: Kernel,
        network: Network,
        timers: Timers,
        configuration: Configuration,
        config: Callable[[], BrokerConfig],
        on_leader: Callable[[], None],
        on_commit: Callable[[], None],
        on_progress: Callable[[int], None] = lambda _replica: None,
        metadata_version: Callable[[], int] = lambda: 0,
    ) -> None:
        """Create member ``me`` of the quorum of ``voters``; ``config`` is this host's.

        ``on_leader`` is called after a change of the quorum's leader, ``on_commit`` to read newly
        committed records, and ``on_progress`` with a replica that has fetched.
        """
        self.me = me
        self.state = state
        self.kernel = kernel
        self.network = network
        self.timers = timers
        self.configuration = configuration
        self.profile = configuration.profile
        self.config = config
        self._version = -1
        around = Surroundings(
            partial(attrgetter("state.now_us"), kernel),
            kernel.random_below,
            self._send,
            self._hang_up,
            lambda records: batch_size(records, metadata_version()),
            self._committed,
            self._role_changed,
            on_progress,
        )
        self.member = QuorumMember(me, voters, state, self._rules, around)
        self.on_leader = on_leader
        self.on_commit = on_commit

    def _rules(self) -> QuorumRules:
        if self._version != self.configuration.version:
            self._version = self.configuration.version
            config, has = self.config(), self.profile.has
            self._cached_rules = QuorumRules(
                config.quorum_election_timeout_us,
                config.quorum_election_backoff_max_us,
                config.quorum_fetch_timeout_us,
                config.quorum_request_timeout_us,
                pre_vote=has("pre_vote"),
                checks_quorum=has("leader_checks_quorum"),
                tells_high_watermark=has("metadata_fetch_tells_high_watermark"),
                segments=SegmentLimits(
                    config.metadata_log_segment_bytes, config.metadata_log_segment_us
                ),
            )
            self._snapshots = SnapshotRules(
                config.metadata_snapshot_bytes,
                config.metadata_snapshot_interval_us,
                config.metadata_max_retention_bytes,
                config.metadata_max_retention_us,
            )
        return self._cached_rules

    # ---- the process

    def start(self) -> None:
        self.member.start()
        self._look_ahead()

    def resume(self, leader: int, epoch: int) -> None:
        """Continue a process that knows the quorum's ``leader`` of ``epoch``."""
        self.member.resume(leader, epoch)
        self._look_ahead()

    def end_process(self) -> None:
        self.state.end_process()

    def thaw(self) -> None:
        """Give up the requests that timed out during a freeze, before their responses are read.

        Continuing a stopped process interrupts its wait for the network, so its clients see the
        timeouts first: they disconnect, and the responses that have arrived are lost
        (``NetworkClient.poll``; recorded with 4.1.2).
        """
        self.member.give_up_requests()
        self._look_ahead()

    # ---- incoming

    def handle(self, source: int, message: Message) -> None:
        self.member.handle(source, self.kernel.cause, message)
        self._look_ahead()

    def connection_lost(self, message: ConnectionLost) -> None:
        """Handle a broken connection; a refusal only affects a request in flight."""
        in_flight = self.state.asked.get(message.peer)
        if not message.request or (in_flight is not None and in_flight.request == message.request):
            self.member.connection_lost(message.peer)
            self._look_ahead()

    def tick(self) -> None:
        self.member.poll()
        self._look_ahead()

    def _look_ahead(self) -> None:
        due_us = self.member.next_due_us()
        if due_us < NEVER_US:
            self.timers.arm(TASK, due_us)

    # ---- the log

    def _committed(self) -> None:
        """Handle newly committed records: notify the reader, then check if a snapshot is due."""
        state, log, now_us = self.state, self.state.log, self.kernel.now
        fetched = log.snapshots[-1] if log.snapshots and not log.batches else None
        if fetched is not None and fetched.end_offset > state.since_snapshot.offset:
            self._state_snapshot(fetched, FETCHED)
            self._state_start()
        self.on_commit()
        self._rules()
        reason = reason_for_snapshot(state, self._snapshots, now_us)
        if reason and (snapshot := take_snapshot(state, now_us)) is not None:
            self._state_snapshot(snapshot, reason)
        if clean(state, self._snapshots, now_us):
            self._state_start()

    def _state_snapshot(self, snapshot: MetadataSnapshot, reason: str) -> None:
        described = (snapshot.end_offset, snapshot.epoch, snapshot.size_bytes)
        self.kernel.emit(events.MetadataSnapshotTaken, self.me, *described, reason)

    def _state_start(self) -> None:
        self.kernel.emit(events.MetadataLogStartChanged, self.me, self.state.log.start_offset)

    # ---- outgoing

    def _send(self, peer: int, message: Message, request: int) -> int:
        return self.network.send(self.me, peer, message, request)

    def _hang_up(self, peer: int) -> None:
        self.network.give_up(self.me, peer)

    def _role_changed(self) -> None:
        state = self.state
        now = (state.role, state.epoch, state.leader)
        if self.member.is_voter:
            self.kernel.emit(events.QuorumRoleChanged, self.me, *now)
        self.on_leader()
