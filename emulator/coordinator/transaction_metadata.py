"""A coordinator's state of transactions, and the state transitions of a transaction.

A transactional id starts as ``Empty`` with a producer id. Its first partition makes it ``Ongoing``.
The decision to commit or abort is written first (``PrepareCommit``, ``PrepareAbort``), so that the
next coordinator carries it out too; once all leaders have written their markers it is
``CompleteCommit`` or ``CompleteAbort``, from where the next transaction begins. An id that nobody
has used for long is ``Dead``, and forgotten. Source: ``TransactionMetadata`` 0.11 to 4.1.
"""

from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.protocol import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)

EMPTY: Final = "Empty"
ONGOING: Final = "Ongoing"
PREPARE_COMMIT: Final = "PrepareCommit"
PREPARE_ABORT: Final = "PrepareAbort"
COMPLETE_COMMIT: Final = "CompleteCommit"
COMPLETE_ABORT: Final = "CompleteAbort"
DEAD: Final = "Dead"

PREVIOUS: Final[dict[str, tuple[str, ...]]] = {
    EMPTY: (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT),
    ONGOING: (EMPTY, ONGOING, COMPLETE_COMMIT, COMPLETE_ABORT),
    PREPARE_COMMIT: (ONGOING,),
    PREPARE_ABORT: (ONGOING, EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT),
    COMPLETE_COMMIT: (PREPARE_COMMIT,),
    COMPLETE_ABORT: (PREPARE_ABORT,),
}
"""The valid previous states of each state (``TransactionState.validPreviousStates``)."""

PREPARED: Final = (PREPARE_COMMIT, PREPARE_ABORT)
"""States in which the outcome is decided, but not complete."""
ENDED: Final = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
"""States without an ongoing transaction."""
EPOCH_MAX: Final = 32_766
"""The last epoch of a producer id that is given out (``isProducerEpochExhausted``)."""
NONE_YET: Final = -1


class Transaction(Struct, array_like=True):
    """The state of one transactional id, with its ongoing transaction if there is one.

    ``last_epoch`` is the previous epoch, if the producer itself requested the bump (KIP-360);
    ``last_producer_id`` the previous id, if its epochs were exhausted, and ``next_producer_id`` the
    one with which the producer goes on when the transaction is complete. ``partitions`` are those
    written to; once the outcome is decided, only those still without a marker. ``start_us`` and
    ``updated_us`` are virtual time. ``pending`` is the state being written (empty: none): no other
    change starts until it is done.
    """

    id: str
    producer_id: int
    epoch: int = NONE_YET
    last_epoch: int = NONE_YET
    last_producer_id: int = NONE_YET
    timeout_us: int = 0
    state: str = EMPTY
    partitions: list[str] = field(default_factory=list)
    start_us: int = -1
    updated_us: int = 0
    pending: str = ""
    next_producer_id: int = NONE_YET

    @property
    def is_changing(self) -> bool:
        """Whether no other change can start now: a state or markers are being written."""
        return bool(self.pending) or self.state in PREPARED

    def to(self, state: str, **changes: object) -> "Transaction":
        """A copy in another state; the change takes effect only once it is written."""
        assert self.state in PREVIOUS[state], f"{self.state} -> {state}"
        return replace(self, state=state, pending="", **changes)


Reply = (
    InitProducerIdResponse | AddPartitionsToTxnResponse | AddOffsetsToTxnResponse | EndTxnResponse
)
"""The response to a producer once a new state is written."""


class TransactionStore(Struct, array_like=True):
    """A transaction's new state being written to the log, and the response to send afterwards.

    ``reply`` None: no client waits.
    """

    transaction: Transaction
    client: int = 0
    reply: Reply | None = None


class Markers(Struct, array_like=True):
    """Markers in flight to one leader; ``partitions`` all belong to one transaction."""

    transactional_id: str
    broker: int
    partitions: list[str]


class TransactionCoordinatorState(Struct, array_like=True):
    """A broker's entire state as transaction coordinator; lost when the process ends.

    ``partitions`` maps the led partitions of __transaction_state to when they will be loaded (0:
    already loaded); ``partition_count`` is the topic's partition count (0: not read yet).
    ``stores`` and ``unidentified`` (requests waiting for a producer id) are by the numbers of the
    broker's own requests; ``sent`` by message numbers, or negative numbers for markers that the
    broker writes itself.
    """

    transactions: dict[str, Transaction] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)
    partition_count: int = 0
    stores: dict[int, TransactionStore] = field(default_factory=dict)
    unidentified: dict[int, tuple[int, int, InitProducerIdRequest | EndTxnRequest]] = field(
        default_factory=dict
    )
    sent: dict[int, Markers] = field(default_factory=dict)
    next_look_us: int = 0
