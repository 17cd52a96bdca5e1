"""Records as one request carried them."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

PLAIN: Final = 0
TRANSACTIONAL: Final = 1
ABORT: Final = 2
COMMIT: Final = 3
"""What a batch has to do with transactions: nothing, it is part of one, or it ends one so."""


class RecordBatch(Struct, frozen=True, array_like=True, gc=False):
    """Consecutive records as one request carried them.

    Ids ``first_record ..`` stand for keys and values. ``leader_epoch`` is -1 before message format
    2; ``producer_id`` -1 means not idempotent. ``size_bytes`` is what the batch takes on the wire
    and in the log, nothing being compressed; what is left of a batch that was cut keeps the whole
    one's size. ``kind`` is ``PLAIN``, ``TRANSACTIONAL``, or that of a control batch.
    """

    base_offset: int
    count: int
    leader_epoch: int
    first_record: int
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    size_bytes: int = 0
    kind: int = PLAIN

    @property
    def is_control(self) -> bool:
        """Whether it is a marker that ends a transaction, which consumers are not told."""
        return self.kind >= ABORT

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + self.count


def up_to(
    batches: Iterable[RecordBatch], limit_bytes: int, *, at_least_one: bool = True
) -> list[RecordBatch]:
    """Return the first batches that take no more than ``limit_bytes`` together.

    A first batch that is larger is given all the same, so that whoever fetches gets on (KIP-74,
    0.10.1), unless ``at_least_one`` is false. No more of ``batches`` is taken than is given, and
    one to see that it is too much.
    """
    given: list[RecordBatch] = []
    left_bytes = limit_bytes
    for batch in batches:
        left_bytes -= batch.size_bytes
        if left_bytes < 0 and (given or not at_least_one):
            break
        given.append(batch)
    return given
