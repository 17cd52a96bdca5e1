"""Transactions (KIP-98): their coordinator's records, and the markers in the logs."""

from emulator.events import fields
from emulator.events.base import TRAFFIC, Event


class TransactionRecordWritten(Event, frozen=True, label="TXN", level=TRAFFIC):
    """A coordinator writes the state of a transaction to its __transaction_state log.

    This event defines the record, id ``first_record``.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    transactional_id: fields.TransactionalId
    first_record: fields.FirstRecord
    keys: fields.Keys
    values: fields.Values


class TransactionStateChanged(Event, frozen=True, label="TXN"):
    """A transaction's new state was replicated.

    ``state`` is ``Empty``, ``Ongoing``, ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``,
    ``CompleteAbort`` or ``Dead`` (the transactional id was removed). ``partitions`` are those that
    it has written to, including those of __consumer_offsets.
    """

    transactional_id: fields.TransactionalId
    broker: fields.BrokerId
    state: fields.State
    producer_id: fields.ProducerId
    producer_epoch: fields.ProducerEpoch
    partitions: fields.Partitions


class TransactionsLoaded(Event, frozen=True, label="TXN"):
    """A broker that became leader of a __transaction_state partition finished loading it.

    It is now the coordinator of ``transactional_ids``.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    transactional_ids: fields.TransactionalIds


class TransactionMarkerWritten(Event, frozen=True, label="TXN", level=TRAFFIC):
    """A leader writes the control batch that ends a producer's transaction to its log.

    This event defines the record, id ``first_record``; its value says how the transaction ended.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    producer_id: fields.ProducerId
    producer_epoch: fields.ProducerEpoch
    first_record: fields.FirstRecord
    keys: fields.Keys
    values: fields.Values


class LastStableOffsetChanged(Event, frozen=True, label="LSO", level=TRAFFIC):
    """A replica's last stable offset changed: all transactions below it have ended.

    Consumers with isolation level read_committed read up to this offset. -1: it equals the HW and
    moves with it.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    last_stable_offset: fields.LastStableOffset
