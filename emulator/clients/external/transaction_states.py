"""Requests of administrators about transactions and producers (KIP-664)."""

from collections.abc import Sequence
from typing import Final

from emulator import protocol
from emulator.clients.external.call import Call
from emulator.clients.external.ids import split_tp, tp_of
from emulator.common.errors import ERRORS, NONE
from emulator.protocol import AnyMessage
from emulator.simulation.kernel import Kernel, KernelState
from emulator.wire.messages import transaction_states as wire
from emulator.wire.types import Message

US_PER_MS: Final = 1_000
NEVER_MS: Final = -1
NOT_HOSTED: Final = "This server does not host this topic-partition."
STATES: Final = (
    *("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort"),
    *("PrepareEpochFence", "Dead"),
)
"""The names of all states (``TransactionState``); no transaction stays in the last two."""


class DescribeTransactions:
    """DescribeTransactions."""

    def __init__(self, kernel: Kernel) -> None:
        """Tell times by the clock of ``kernel``."""
        self.kernel = kernel

    def ask(self, call: Call) -> list[AnyMessage]:
        """Request the named transactions."""
        request = call.message
        assert isinstance(request, wire.DescribeTransactionsRequest)
        return [protocol.DescribeTransactionsRequest(request.transactional_ids)]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return each transaction with its partitions."""
        request = call.message
        assert isinstance(request, wire.DescribeTransactionsRequest)
        (found,) = responses
        assert isinstance(found, protocol.DescribeTransactionsResponse)
        return wire.DescribeTransactionsResponse(
            transaction_states=[
                _described(name, found.transactions[name], self.kernel.state)
                for name in request.transactional_ids
            ]
        )


def _described(
    name: str, found: protocol.TransactionDescription, clock: KernelState
) -> wire.DescribedTransaction:
    code = ERRORS[found.error].code
    if found.error != NONE:
        return wire.DescribedTransaction(code, name)
    topics: dict[str, list[int]] = {}
    for topic, number in map(split_tp, found.partitions):
        topics.setdefault(topic, []).append(number)
    return wire.DescribedTransaction(
        code,
        name,
        found.state,
        found.timeout_us // US_PER_MS,
        _started_ms(found, clock),
        found.producer_id,
        found.producer_epoch,
        [wire.TopicData(*each) for each in topics.items()],
    )


def _started_ms(found: protocol.TransactionDescription, clock: KernelState) -> int:
    return NEVER_MS if found.start_us < 0 else clock.wall_clock_ms(found.start_us)


class ListTransactions:
    """ListTransactions: the transactional ids that the broker coordinates."""

    def __init__(self, kernel: Kernel) -> None:
        """Compute durations by the clock of ``kernel``."""
        self.kernel = kernel

    def ask(self, _call: Call) -> list[AnyMessage]:
        """Request all transactions."""
        return [protocol.DescribeTransactionsRequest(None)]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the transactions that all filters let through.

        Source: ``TransactionStateManager.listTransactionStates``.
        """
        request = call.message
        assert isinstance(request, wire.ListTransactionsRequest)
        (found,) = responses
        assert isinstance(found, protocol.DescribeTransactionsResponse)
        if found.error != NONE:
            return wire.ListTransactionsResponse(error_code=ERRORS[found.error].code)
        rows = [
            wire.ListedTransaction(name, each.producer_id, each.state)
            for name, each in found.transactions.items()
            if self._is_wanted(each, request)
        ]
        unknown = [name for name in request.state_filters if name not in STATES]
        return wire.ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=rows)

    def _is_wanted(
        self, found: protocol.TransactionDescription, request: wire.ListTransactionsRequest
    ) -> bool:
        ids, states = request.producer_id_filters, request.state_filters
        if (ids and found.producer_id not in ids) or (states and found.state not in states):
            return False
        clock = self.kernel.state
        now_ms = clock.wall_clock_ms(self.kernel.now)
        wanted_ms = request.duration_filter
        return wanted_ms < 0 or now_ms - _started_ms(found, clock) > wanted_ms


class DescribeProducers:
    """DescribeProducers."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Request the producers of all partitions at once."""
        request = call.message
        assert isinstance(request, wire.DescribeProducersRequest)
        named = [tp_of(each.name, n) for each in request.topics for n in each.partition_indexes]
        return [protocol.DescribeProducersRequest(named)]

    def respond(self, call: Call, responses: Sequence[AnyMessage]) -> Message:
        """Return the producers of each partition."""
        request = call.message
        assert isinstance(request, wire.DescribeProducersRequest)
        (found,) = responses
        assert isinstance(found, protocol.DescribeProducersResponse)
        unknown = frozenset(found.unknown_topics)
        topics = []
        for topic in request.topics:
            rows = []
            for number in topic.partition_indexes:
                error, producers = found.partitions[tp_of(topic.name, number)]
                states = [
                    wire.ProducerState(
                        each.producer_id,
                        each.producer_epoch,
                        each.last_sequence,
                        each.last_timestamp_ms,
                        each.coordinator_epoch,
                        each.transaction_start,
                    )
                    for each in producers
                ]
                code = ERRORS[error].code
                reason = NOT_HOSTED if topic.name in unknown else None
                rows.append(wire.DescribeProducersPartition(number, code, reason, states))
            topics.append(wire.DescribeProducersTopicResponse(topic.name, rows))
        return wire.DescribeProducersResponse(topics=topics)
