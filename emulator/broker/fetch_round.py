"""Single fetch rounds of one partition, beside the fetcher: what a `fetch` statement asks for."""

from typing import TYPE_CHECKING

from emulator.broker.fetcher import FETCHING, TRUNCATING
from emulator.broker.replica import FOLLOWER, Replica
from emulator.protocol import (
    FetchRequest,
    FetchResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

NONE = "NONE"


class SingleRounds:
    """Makes complete rounds: the epoch question where the release asks it, then one fetch."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.follower = broker.follower

    def start(self, replica: Replica) -> int:
        """One complete fetch round of one partition, beside the fetcher.

        Returns the request's number.
        """
        asking = (
            self.follower.epochs_on
            and not self.follower.on_fetch
            and self._phase(replica) == TRUNCATING
        )
        if asking:
            question: OffsetsForLeaderEpochRequest | FetchRequest = OffsetsForLeaderEpochRequest(
                self.broker.id, {replica.tp: self.follower.epoch_question(replica)}, one_shot=True
            )
        else:
            question = FetchRequest(
                self.broker.id,
                self.broker.config.replica_fetch_wait_max_us,
                {replica.tp: self.follower.fetch_partition(replica)},
                one_shot=True,
            )
        request = self.world.network.send(self.broker.id, replica.leader, question)
        self.broker.state.single_rounds[request] = replica.tp
        return request

    def forget(self, tp: str) -> None:
        """The replica is deleted: whatever comes for it is nobody's."""
        state = self.broker.state
        state.single_rounds = {r: each for r, each in state.single_rounds.items() if each != tp}

    def connection_lost(self, peer: int) -> None:
        """The connection to a leader broke: the rounds that wait for its answer are over."""
        state = self.broker.state
        for request, tp in list(state.single_rounds.items()):
            if state.replicas[tp].leader == peer:
                del state.single_rounds[request]

    def _phase(self, replica: Replica) -> str:
        fetcher = self.broker.state.fetchers.get(replica.leader)
        fetch_state = None if fetcher is None else fetcher.partitions.get(replica.tp)
        return FETCHING if fetch_state is None else fetch_state.phase

    def epochs_answered(self, message: OffsetsForLeaderEpochResponse) -> None:
        tp = self.broker.state.single_rounds.pop(message.request)
        replica = self.broker.state.replicas[tp]
        error, epoch, end = message.partitions[tp]
        if error != NONE or replica.role != FOLLOWER:
            return
        if self.follower.truncate_by_answer(replica, (epoch, end)):
            fetcher = self.broker.state.fetchers.get(replica.leader)
            if fetcher is not None and tp in fetcher.partitions:
                fetcher.partitions[tp].phase = FETCHING
                fetcher.truncating.pop(tp, None)
        self.start(replica)

    def fetched(self, message: FetchResponse) -> None:
        tp = self.broker.state.single_rounds.pop(message.request)
        replica = self.broker.state.replicas[tp]
        row = message.partitions.get(tp)
        if row is None or replica.role != FOLLOWER or replica.paused:
            return
        if row.error == NONE and row.diverging is None:
            self.follower.append(replica, row)
        elif row.diverging is not None:
            self.follower.truncate_by_answer(replica, row.diverging)
        elif row.error == "OFFSET_OUT_OF_RANGE":
            question = self.broker.out_of_range.question(tp)
            request = self.world.network.send(self.broker.id, replica.leader, question)
            self.broker.state.single_rounds[request] = tp
