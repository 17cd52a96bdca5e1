"""Records as one request carried them."""

from msgspec import Struct


class RecordBatch(Struct, frozen=True, array_like=True, gc=False):
    """Consecutive records as one request carried them.

    Ids ``first_record ..`` stand for keys and values. ``leader_epoch`` is -1 before message format
    2; ``producer_id`` -1 means not idempotent.
    """

    base_offset: int
    count: int
    leader_epoch: int
    first_record: int
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + self.count
