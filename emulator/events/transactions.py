"""Transactions (KIP-98): the records of their coordinator, and their ends in the logs."""

from emulator.events.base import Event


class TransactionRecordWritten(Event, frozen=True, gc=False):
    """A coordinator writes the state of a transaction to its log of __transaction_state.

    This event is the place where the record, id ``first_record``, is named.
    """

    tp: str
    broker: int
    transactional_id: str
    first_record: int
    keys: list[str | None]
    values: list[str]


class TransactionStateChanged(Event, frozen=True, gc=False):
    """A transaction's new state is replicated.

    ``state`` is ``Empty``, ``Ongoing``, ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``,
    ``CompleteAbort`` or ``Dead`` (the transactional id is forgotten). ``partitions`` are those that
    it has written to, __consumer_offsets among them.
    """

    transactional_id: str
    broker: int
    state: str
    producer_id: int
    producer_epoch: int
    partitions: list[str]


class TransactionsLoaded(Event, frozen=True, gc=False):
    """A broker that became leader of a partition of __transaction_state has read it.

    It is now the coordinator of these transactional ids.
    """

    tp: str
    broker: int
    transactional_ids: list[str]


class TransactionMarkerWritten(Event, frozen=True, gc=False):
    """A leader writes the control batch that ends a producer's transaction in its log.

    This event is the place where the record, id ``first_record``, is named; its value says how the
    transaction ended.
    """

    tp: str
    broker: int
    producer_id: int
    producer_epoch: int
    first_record: int
    keys: list[str | None]
    values: list[str]


class LastStableOffsetChanged(Event, frozen=True, gc=False):
    """The offset below which every transaction in a replica's log has ended.

    Consumers that read committed get records up to there. -1: it is the HW, and goes along with it.
    """

    tp: str
    broker: int
    last_stable_offset: int
