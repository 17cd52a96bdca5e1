"""Single fetch rounds of one partition, independent of the fetcher, for the `fetch` statement."""

from emulator.broker.replication.fetcher import FetcherManager, Question, SingleRound
from emulator.broker.replication.replica import FOLLOWER, Replica
from emulator.common.errors import NONE
from emulator.protocol import (
    FetchRequest,
    FetchResponse,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.replication.fetching import ADJUSTED, COMPARING, SETTLED, TRUNCATING


class SingleRounds:
    """Runs complete rounds: an OffsetsForLeaderEpoch request where it applies, then a fetch."""

    def __init__(self, fetchers: FetcherManager) -> None:
        self.fetchers = fetchers
        self.context = fetchers.context
        self.state = fetchers.state
        self.replicas = fetchers.replicas

    def start(self, replica: Replica) -> int:
        """Start one complete fetch round of one partition; return the request's number."""
        rules, fetchers = self.fetchers.rules, self.fetchers
        phase = fetchers.phase_of(replica)
        if phase == COMPARING:
            return self._ask(replica, fetchers.ends_question(replica.tp))
        if rules.truncates_by_epoch and not rules.diverging_fetch and phase == TRUNCATING:
            questions = {replica.tp: fetchers.epoch_question(replica)}
            return self._ask(
                replica, OffsetsForLeaderEpochRequest(self.context.id, questions, one_shot=True)
            )
        return self._ask(
            replica,
            FetchRequest(
                self.context.id,
                self.context.config.replica_fetch_wait_max_us,
                {
                    replica.tp: fetchers.fetch_partition(
                        replica, self.context.config.replica_fetch_max_bytes
                    )
                },
                one_shot=True,
                replica_epoch=fetchers.replica_epoch(),
            ),
        )

    def _ask(self, replica: Replica, question: Question) -> int:
        request = self.context.network.send(self.context.id, replica.leader, question)
        self.state.single_rounds[request] = SingleRound(replica.tp, replica.leader)
        return request

    def is_round(self, request: int) -> bool:
        """Whether a response answers a request of a round."""
        return request in self.state.single_rounds

    def connection_lost(self, peer: int) -> None:
        """End the rounds waiting for a response from a broker whose connection broke.

        What counts is the broker that was asked: it may no longer be the leader.
        """
        for request, single in list(self.state.single_rounds.items()):
            if single.source == peer:
                del self.state.single_rounds[request]

    def _round_of(self, request: int) -> Replica | None:
        """The replica that a response is for; None if it no longer follows the sender.

        A different leader has a different fetcher, which ignores responses to the old one's
        requests (AbstractFetcherThread.processFetchRequest).
        """
        single = self.state.single_rounds.pop(request)
        replica = self.replicas.by_name[single.tp]
        follows = replica.role == FOLLOWER and replica.leader == single.source
        return replica if follows else None

    def on_epoch_response(self, message: OffsetsForLeaderEpochResponse) -> None:
        """Truncate according to the response, and fetch (or ask again)."""
        replica = self._round_of(message.request)
        if replica is None:
            return
        error, epoch, end = message.partitions[replica.tp]
        if error != NONE:
            return
        if self.fetchers.truncate(replica, epoch, end):
            fetcher = self.state.by_source.get(replica.leader)
            fetch_state = None if fetcher is None else fetcher.partitions.get(replica.tp)
            if fetcher is not None and fetch_state is not None:
                if fetch_state.phase == TRUNCATING:
                    fetch_state.advance(SETTLED)
                fetcher.truncating.pop(replica.tp, None)
        self.start(replica)

    def fetched(self, message: FetchResponse) -> None:
        """Append the fetched records, truncate, or ask where the leader's log ends."""
        replica = self._round_of(message.request)
        if replica is None or replica.paused:
            return
        row = message.partitions.get(replica.tp)
        if row is None:
            return
        if row.error == NONE or row.diverging is not None:
            self.fetchers.take_records(replica, row)
        elif row.error == "OFFSET_OUT_OF_RANGE":
            self._ask(replica, self.fetchers.ends_question(replica.tp))

    def on_ends_response(self, message: ListOffsetsResponse) -> None:
        """Adjust to the start and end of the leader's log."""
        replica = self._round_of(message.request)
        if replica is None or message.error != NONE:
            return
        self.fetchers.adjust(replica, message)
        fetcher = self.state.by_source.get(replica.leader)
        fetch_state = None if fetcher is None else fetcher.partitions.get(replica.tp)
        if fetcher is not None and fetch_state is not None and fetch_state.phase == COMPARING:
            fetch_state.advance(ADJUSTED)
            fetcher.out_of_range.pop(replica.tp, None)
            self.start(replica)
