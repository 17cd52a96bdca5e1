"""Transactions (KIP-98): their coordinator's records, and the markers in the logs."""

from emulator.events.base import Event


class TransactionRecordWritten(Event, frozen=True, gc=False):
    """A coordinator writes the state of a transaction to its __transaction_state log.

    This event defines the record, id ``first_record``.
    """

    tp: str
    broker: int
    transactional_id: str
    first_record: int
    keys: list[str | None]
    values: list[str]


class TransactionStateChanged(Event, frozen=True, gc=False):
    """A transaction's new state was replicated.

    ``state`` is ``Empty``, ``Ongoing``, ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``,
    ``CompleteAbort`` or ``Dead`` (the transactional id was removed). ``partitions`` are those that
    it has written to, including those of __consumer_offsets.
    """

    transactional_id: str
    broker: int
    state: str
    producer_id: int
    producer_epoch: int
    partitions: list[str]


class TransactionsLoaded(Event, frozen=True, gc=False):
    """A broker that became leader of a __transaction_state partition finished loading it.

    It is now the coordinator of ``transactional_ids``.
    """

    tp: str
    broker: int
    transactional_ids: list[str]


class TransactionMarkerWritten(Event, frozen=True, gc=False):
    """A leader writes the control batch that ends a producer's transaction to its log.

    This event defines the record, id ``first_record``; its value says how the transaction ended.
    """

    tp: str
    broker: int
    producer_id: int
    producer_epoch: int
    first_record: int
    keys: list[str | None]
    values: list[str]


class LastStableOffsetChanged(Event, frozen=True, gc=False):
    """A replica's last stable offset changed: all transactions below it have ended.

    Consumers with isolation level read_committed read up to this offset. -1: it equals the HW and
    moves with it.
    """

    tp: str
    broker: int
    last_stable_offset: int
