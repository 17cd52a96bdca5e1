"""Allocation of producer id blocks to brokers. Source: ``ProducerIdControlManager``, KIP-730."""

from typing import Final, NamedTuple

from emulator.metadata_log.records import ProducerIdsRecord
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.result import Result

PRODUCER_ID_BLOCK_SIZE: Final = 1_000
"""The number of ids in a block."""


class ProducerIdsBlock(NamedTuple):
    """A block of ``size`` producer ids starting at ``first``, allocated to a single broker."""

    first: int
    size: int = PRODUCER_ID_BLOCK_SIZE


def allocate_producer_ids(
    context: Context, broker: int, broker_epoch: int
) -> Result[ProducerIdsBlock]:
    """Allocate the next block to a broker.

    Raises:
        ApiException: STALE_BROKER_EPOCH if the broker's registered epoch differs.
    """
    context.check_broker_epoch(broker, broker_epoch)
    first = context.image.next_producer_id
    record = ProducerIdsRecord(broker, broker_epoch, first + PRODUCER_ID_BLOCK_SIZE)
    return Result([record], ProducerIdsBlock(first))
