"""Blocks of producer ids for brokers to hand out. Source: ``ProducerIdControlManager``, KIP-730."""

from typing import Final, NamedTuple

from emulator.metadata_log.records import ProducerIdsRecord
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.result import Result

PRODUCER_ID_BLOCK_SIZE: Final = 1_000
"""How many ids a block has."""


class ProducerIdsBlock(NamedTuple):
    """Producer ids from ``first`` on, ``size`` of them, for one broker alone."""

    first: int
    size: int = PRODUCER_ID_BLOCK_SIZE


def allocate_producer_ids(
    context: Context, broker: int, broker_epoch: int
) -> Result[ProducerIdsBlock]:
    """Give a broker the next block.

    Raises:
        ApiException: STALE_BROKER_EPOCH if the broker is registered otherwise.
    """
    context.check_broker_epoch(broker, broker_epoch)
    first = context.image.next_producer_id
    record = ProducerIdsRecord(broker, broker_epoch, first + PRODUCER_ID_BLOCK_SIZE)
    return Result([record], ProducerIdsBlock(first))
