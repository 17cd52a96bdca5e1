"""A follower whose fetch offset its leader's log does not reach: it asks for its ends and cuts.

Source: AbstractFetcherThread.fetchOffsetAndTruncate; ReplicaFetcherThread.handleOffsetOutOfRange.
"""

from typing import TYPE_CHECKING

from emulator.follower import ASKING, FETCHING, NONE, Fetcher
from emulator.messages import ListOffsetsRequest, ListOffsetsResponse
from emulator.replication import UNDEFINED

if TYPE_CHECKING:
    from emulator.broker import Broker


class OutOfRange:
    """Puts a follower right that is out of its leader's range."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.follower = broker.follower

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

        Cut to its LEO, or begin anew at its start.
        """
        fetcher = self.broker.state.fetchers.get(source)
        if fetcher is None or fetcher.request != message.request:
            return
        fetcher.request = 0
        fetcher.out_of_range.pop(message.tp, None)
        fetch_state = fetcher.partitions.get(message.tp)
        if fetch_state is None or fetch_state.phase != ASKING:
            self.follower.pump(fetcher)
            return
        replica = self.broker.state.replicas[message.tp]
        fetch_state.phase = FETCHING
        if message.error != NONE:
            self.follower.delay(fetcher, message.tp)
        elif message.log_end_offset < replica.log.end:
            self.follower.truncate(
                replica, message.log_end_offset, "out of range: to the leader's LEO"
            )
        elif message.log_start > replica.log.end:
            self.broker.restart_log(replica, message.log_start)
        fetcher.changed[message.tp] = None
        self.follower.pump(fetcher)
