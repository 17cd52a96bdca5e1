"""Requests of administrators about transactions and producers (KIP-664)."""

from typing import Final

from msgspec import Struct

from emulator import protocol
from emulator.clients.external.call import AnyCall, Call
from emulator.clients.external.ids import split_tp, tp_of
from emulator.common.errors import ERRORS, NONE
from emulator.common.names import is_topic_name
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


class DescribeTransactions(Struct, eq=False):
    """DescribeTransactions."""

    kernel: Kernel

    def ask(self, call: Call[wire.DescribeTransactionsRequest]) -> list[AnyMessage]:
        return [protocol.DescribeTransactionsRequest(call.message.transactional_ids)]

    def respond(
        self,
        call: Call[wire.DescribeTransactionsRequest],
        response: protocol.DescribeTransactionsResponse,
    ) -> Message:
        return wire.DescribeTransactionsResponse(
            transaction_states=[
                _described(name, response.transactions[name], self.kernel.state)
                for name in call.message.transactional_ids
            ]
        )


def _described(
    name: str, description: protocol.TransactionDescription, clock: KernelState
) -> wire.DescribedTransaction:
    code = ERRORS[description.error].code
    if description.error != NONE:
        return wire.DescribedTransaction(code, name)
    topics: dict[str, list[int]] = {}
    for topic, number in map(split_tp, description.partitions):
        topics.setdefault(topic, []).append(number)
    return wire.DescribedTransaction(
        code,
        name,
        description.state,
        description.timeout_us // US_PER_MS,
        _started_ms(description, clock),
        description.producer_id,
        description.producer_epoch,
        [wire.TopicData(*item) for item in topics.items()],
    )


def _started_ms(description: protocol.TransactionDescription, clock: KernelState) -> int:
    return NEVER_MS if description.start_us < 0 else clock.wall_clock_ms(description.start_us)


class ListTransactions(Struct, eq=False):
    """ListTransactions: the transactional ids that the broker coordinates."""

    kernel: Kernel

    def ask(self, _call: AnyCall) -> list[AnyMessage]:
        return [protocol.DescribeTransactionsRequest(None)]

    def respond(
        self,
        call: Call[wire.ListTransactionsRequest],
        response: protocol.DescribeTransactionsResponse,
    ) -> Message:
        """Return the transactions that all filters let through.

        Source: ``TransactionStateManager.listTransactionStates``.
        """
        request = call.message
        if response.error != NONE:
            return wire.ListTransactionsResponse(error_code=ERRORS[response.error].code)
        rows = [
            wire.ListedTransaction(name, description.producer_id, description.state)
            for name, description in response.transactions.items()
            if self._matches(description, request)
        ]
        unknown = [name for name in request.state_filters if name not in STATES]
        return wire.ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=rows)

    def _matches(
        self, description: protocol.TransactionDescription, request: wire.ListTransactionsRequest
    ) -> bool:
        ids, states = request.producer_id_filters, request.state_filters
        if (ids and description.producer_id not in ids) or (
            states and description.state not in states
        ):
            return False
        clock = self.kernel.state
        now_ms = clock.wall_clock_ms(self.kernel.now)
        longer_than_ms = request.duration_filter
        return longer_than_ms < 0 or now_ms - _started_ms(description, clock) > longer_than_ms


class DescribeProducers(Struct, eq=False):
    """DescribeProducers."""

    refuses_names: bool

    def ask(self, call: Call[wire.DescribeProducersRequest]) -> list[AnyMessage]:
        """Request the producers of all partitions at once."""
        named = [
            tp_of(topic.name, n) for topic in call.message.topics for n in topic.partition_indexes
        ]
        return [protocol.DescribeProducersRequest(named)]

    def respond(
        self,
        call: Call[wire.DescribeProducersRequest],
        response: protocol.DescribeProducersResponse,
    ) -> Message:
        unknown = frozenset(response.unknown_topics)
        topics = []
        for topic in call.message.topics:
            rows = []
            for number in topic.partition_indexes:
                error, producers = response.partitions[tp_of(topic.name, number)]
                states = [
                    wire.ProducerState(
                        producer.producer_id,
                        producer.producer_epoch,
                        producer.last_sequence,
                        producer.last_timestamp_ms,
                        producer.coordinator_epoch,
                        producer.transaction_start,
                    )
                    for producer in producers
                ]
                if self.refuses_names and not is_topic_name(topic.name):
                    error = "INVALID_TOPIC_EXCEPTION"
                code = ERRORS[error].code
                reason = NOT_HOSTED if topic.name in unknown else None
                rows.append(wire.DescribeProducersPartition(number, code, reason, states))
            topics.append(wire.DescribeProducersTopicResponse(topic.name, rows))
        return wire.DescribeProducersResponse(topics=topics)
