"""A follower whose fetch offset its leader's log does not reach: it asks for its ends and cuts.

Source: AbstractFetcherThread.fetchOffsetAndTruncate; ReplicaFetcherThread.handleOffsetOutOfRange.
"""

from typing import TYPE_CHECKING

from emulator.broker.fetcher import ASKING, FETCHING, NONE, Fetcher
from emulator.broker.replica import FOLLOWER, Replica
from emulator.protocol import ListOffsetsRequest, ListOffsetsResponse
from emulator.protocol.names import split
from emulator.replication.truncation import UNDEFINED

if TYPE_CHECKING:
    from emulator.broker.broker import Broker


class OutOfRange:
    """Puts a follower right that is out of its leader's range."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.follower = broker.follower
        self.wipes = broker.world.profile.has("out_of_range_wipes")

    def found(self, fetcher: Fetcher, tp: str) -> None:
        """A fetch was refused: nothing more is fetched until the leader has been asked."""
        fetcher.partitions[tp].phase = ASKING
        fetcher.out_of_range[tp] = None

    def question(self, tp: str) -> ListOffsetsRequest:
        """Ask where the leader's log begins and ends."""
        replica = self.broker.state.replicas[tp]
        epoch = replica.leader_epoch if self.follower.fencing else UNDEFINED
        return ListOffsetsRequest(self.broker.id, tp, epoch)

    def answered(self, source: int, message: ListOffsetsResponse) -> None:
        """The leader's log start and end, after a fetch out of range.

        Cut to its LEO; if it has grown past the follower's since, go on there, or begin anew at its
        start if that is later (up to 0.8 in any case).
        """
        state = self.broker.state
        if message.request in state.single_rounds:
            self._adjust(state.replicas[state.single_rounds.pop(message.request)], message)
            return
        fetcher = state.fetchers.get(source)
        if fetcher is None or fetcher.request != message.request:
            return
        fetcher.request = 0
        fetcher.out_of_range.pop(message.tp, None)
        fetch_state = fetcher.partitions.get(message.tp)
        if fetch_state is None or fetch_state.phase != ASKING:
            self.follower.pump(fetcher)
            return
        fetch_state.phase = FETCHING
        if message.error != NONE:
            self.follower.delay(fetcher, message.tp)
        elif not self._adjust(state.replicas[message.tp], message):
            return
        fetcher.changed[message.tp] = None
        self.follower.pump(fetcher)

    def _adjust(self, replica: Replica, message: ListOffsetsResponse) -> bool:
        """Cut to the leader's LEO, or begin anew where its log begins.

        False if the process ended instead: up to 1.1 it does not cut without unclean election.
        """
        if message.error != NONE or replica.role != FOLLOWER:
            return True
        if message.log_end_offset < replica.log.end:
            if self._is_fatal(replica.tp):
                self.broker.end_process("crashed")
                return False
            self.follower.truncate(
                replica, message.log_end_offset, "out of range: to the leader's LEO"
            )
        elif self.wipes or message.log_start > replica.log.end:
            self.broker.restart_log(replica, message.log_start)
        return True

    def _is_fatal(self, tp: str) -> bool:
        topic, _ = split(tp)
        fatal = self.world.profile.has("out_of_range_is_fatal")
        return fatal and not self.broker.context.unclean_election(topic)
