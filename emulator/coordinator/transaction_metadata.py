"""What a coordinator remembers of transactions, and the table of a transaction's states.

A transactional id begins ``Empty`` with a producer id. Its first partition makes it ``Ongoing``.
How it is to end is written first (``PrepareCommit``, ``PrepareAbort``), so that whoever coordinates
it next ends it so; once all leaders have written their markers it is ``CompleteCommit`` or
``CompleteAbort``, from where the next transaction begins. Source: ``TransactionMetadata`` 0.11 to
4.1.
"""

from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.protocol import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnResponse,
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

PREVIOUS: Final[dict[str, tuple[str, ...]]] = {
    EMPTY: (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT),
    ONGOING: (EMPTY, ONGOING, COMPLETE_COMMIT, COMPLETE_ABORT),
    PREPARE_COMMIT: (ONGOING,),
    PREPARE_ABORT: (ONGOING, EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT),
    COMPLETE_COMMIT: (PREPARE_COMMIT,),
    COMPLETE_ABORT: (PREPARE_ABORT,),
}
"""The states that each may follow (``TransactionState.validPreviousStates``)."""

PREPARED: Final = (PREPARE_COMMIT, PREPARE_ABORT)
"""It is decided how the transaction ends, but not done."""
ENDED: Final = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
"""No transaction is under way."""
EPOCH_MAX: Final = 32_766
"""The last epoch of a producer id that a producer is given (``isProducerEpochExhausted``)."""
NONE_YET: Final = -1


class Transaction(Struct, array_like=True):
    """The transactions of one transactional id; the one under way, if there is one.

    ``last_epoch`` is the epoch before the present one, if its producer asked for that one itself
    (KIP-360); ``last_producer_id`` that id, if the epochs of it were used up. ``partitions`` are
    those written to, of which those without a marker are left once it is decided how it ends.
    ``start_us`` and ``updated_us`` are virtual time. ``pending`` is a state that is being written
    (empty: none): nothing else is begun until it is.
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

    @property
    def is_changing(self) -> bool:
        """Whether nothing else can be begun now: a state is being written, or markers are."""
        return bool(self.pending) or self.state in PREPARED

    def to(self, state: str, **changes: object) -> "Transaction":
        """What it will be in another state; nothing is changed until that is written."""
        assert self.state in PREVIOUS[state], f"{self.state} -> {state}"
        return replace(self, state=state, pending="", **changes)


Reply = (
    InitProducerIdResponse | AddPartitionsToTxnResponse | AddOffsetsToTxnResponse | EndTxnResponse
)
"""What a producer is answered once a new state is written."""


class TransactionStore(Struct, array_like=True):
    """A transaction on its way into the log, as it will be, and the answer to who waits for that.

    ``reply`` None: nobody waits.
    """

    transaction: Transaction
    client: int = 0
    reply: Reply | None = None


class Markers(Struct, array_like=True):
    """Markers on their way to one leader; ``partitions`` are those of one transaction."""

    transactional_id: str
    broker: int
    partitions: list[str]


class TransactionCoordinatorState(Struct, array_like=True):
    """All that a broker remembers as coordinator of transactions; it ends with the process.

    ``partitions`` of __transaction_state that it leads map to when they will be loaded (0: they
    are); ``partition_count`` is how many there are in all (0: not asked yet). ``stores`` and
    ``unidentified`` (who waits for a producer id, with the request) are by the numbers of the
    broker's own requests; ``sent`` by those of messages, or less than 0 where the broker itself is
    to write the markers.
    """

    transactions: dict[str, Transaction] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)
    partition_count: int = 0
    stores: dict[int, TransactionStore] = field(default_factory=dict)
    unidentified: dict[int, tuple[int, int, InitProducerIdRequest]] = field(default_factory=dict)
    sent: dict[int, Markers] = field(default_factory=dict)
    next_look_us: int = 0
