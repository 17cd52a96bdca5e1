"""A member of the quorum on the emulated network: its messages, its timer, its settings."""

from collections.abc import Callable, Sequence
from typing import Final

from emulator import events
from emulator.protocol import ConnectionLost
from emulator.protocol.message import Message
from emulator.raft.quorum import NEVER_US, QuorumMember, QuorumRules, Surroundings
from emulator.raft.state import QuorumState
from emulator.releases.config import BrokerConfig
from emulator.releases.profiles import Profile
from emulator.simulation.kernel import Kernel
from emulator.simulation.network import Network
from emulator.simulation.timers import Timers

TASK: Final = "quorum"
"""The name of its timer."""


class RaftClient:
    """Gives a member's messages to the network, and what comes to the member."""

    def __init__(
        self,
        me: int,
        voters: Sequence[int],
        state: QuorumState,
        *,
        kernel: Kernel,
        network: Network,
        timers: Timers,
        profile: Profile,
        config: Callable[[], BrokerConfig],
    ) -> None:
        """Be ``me`` of the quorum of ``voters``; ``config`` is what is in force on this host."""
        self.me = me
        self.state = state
        self.kernel = kernel
        self.network = network
        self.timers = timers
        self.profile = profile
        self.config = config
        self._config: BrokerConfig | None = None
        around = Surroundings(
            lambda: kernel.state.now_us, kernel.random_below, self._send, self._hang_up
        )
        self.member = QuorumMember(me, voters, state, self._rules, around)
        self.on_leader: Callable[[], None] = _nothing
        self.member.on_role = self._role_changed

    def _rules(self) -> QuorumRules:
        config = self.config()
        if config is not self._config:
            self._config = config
            has = self.profile.has
            self._made = QuorumRules(
                config.quorum_election_timeout_us,
                config.quorum_election_backoff_max_us,
                config.quorum_fetch_timeout_us,
                config.quorum_request_timeout_us,
                pre_vote=has("pre_vote"),
                checks_quorum=has("leader_checks_quorum"),
                tells_high_watermark=has("metadata_fetch_tells_high_watermark"),
            )
        return self._made

    # ---- the process

    def start(self) -> None:
        """The process has started."""
        self.member.start()
        self._look_ahead()

    def end_process(self) -> None:
        """The process is gone."""
        self.state.end_process()

    # ---- what comes in

    def handle(self, source: int, message: Message) -> None:
        """Take a message of the quorum."""
        self.member.handle(source, self.kernel.cause, message)
        self._look_ahead()

    def connection_lost(self, message: ConnectionLost) -> None:
        """A connection broke; only a request that is under way is concerned by a refusal."""
        asked = self.state.asked.get(message.peer)
        if not message.request or (asked is not None and asked.request == message.request):
            self.member.connection_lost(message.peer)
            self._look_ahead()

    def tick(self) -> None:
        """The timer fired."""
        self.member.poll()
        self._look_ahead()

    def _look_ahead(self) -> None:
        due_us = self.member.next_due_us()
        if due_us < NEVER_US:
            self.timers.arm(TASK, due_us)

    # ---- what goes out

    def _send(self, peer: int, message: Message, request: int) -> int:
        return self.network.send(self.me, peer, message, request)  # type: ignore[arg-type]

    def _hang_up(self, peer: int) -> None:
        self.network.give_up(self.me, peer)

    def _role_changed(self) -> None:
        state = self.state
        said = (state.role, state.epoch, state.leader)
        if self.member.is_voter:
            self.kernel.emit(events.QuorumRoleChanged, self.me, *said)
        self.on_leader()


def _nothing() -> None:
    """Nobody wants to know who leads."""
