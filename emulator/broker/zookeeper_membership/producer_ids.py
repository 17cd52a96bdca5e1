"""Producer ids: each broker allocates them from its block, taken from /latest_producer_id_block.

A block is allocated by a conditional write of the znode, so that ids are unique; the unused rest of
a block is lost when the broker restarts. Brokers allocate a block at startup, in 3.x at the first
request for an id (through the controller, KIP-730; the znode's content is the same). From 3.6 on
that request is refused with COORDINATOR_LOAD_IN_PROGRESS while the block is on its way; the one
after it is asked for when a tenth of the block is left.
Source: ``ProducerIdManager`` 0.11 to 3.9 (KIP-98).
"""

from contextlib import suppress
from typing import Final

from emulator.broker.membership import BLOCK_SIZE, FIRST_EPOCH, ProducerIdBlock
from emulator.broker_context import BrokerContext
from emulator.common.errors import LOADING
from emulator.protocol import InitProducerIdRequest, InitProducerIdResponse
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.client import ZkClient

ID_MAX: Final = znodes.LONG_MAX


class ProducerIds:
    """Allocates a broker's producer ids."""

    def __init__(self, context: BrokerContext, state: ProducerIdBlock, zk: ZkClient) -> None:
        """Allocate ids in ``context``, from the block in ``state``."""
        self.context = context
        self.state = state
        self.zk = zk
        self.on_demand = self.context.profile.has("producer_ids_on_demand")
        self.without_waiting = self.context.profile.has("producer_ids_without_waiting")

    def start(self) -> None:
        """Allocate a block at startup, up to 2.8."""
        if self.context.profile.has("idempotence") and not self.on_demand:
            with suppress(errors.ConnectionLoss):  # allocated when the first id is needed
                self._take_block()

    def give_out(self, source: int, request: int, _message: InitProducerIdRequest) -> None:
        """Return a unique id; send no response while none can be allocated."""
        state = self.state
        id_, error = state.claim(), "NONE"
        try:
            if self.without_waiting and (id_ < 0 or state.is_low(id_)):
                self._take_block()
                error = "NONE" if id_ >= 0 else LOADING
            elif id_ < 0:
                error = "NONE" if self._take_block() else "UNKNOWN_SERVER_ERROR"
                id_ = state.claim()
        except errors.ConnectionLoss:
            if not self.without_waiting:
                return  # the thread waits for ZooKeeper, longer than the client's request timeout
            error = "NONE" if id_ >= 0 else LOADING
        epoch = FIRST_EPOCH if error == "NONE" else -1
        self.context.respond(source, request, InitProducerIdResponse(request, error, id_, epoch))

    def _take_block(self) -> bool:
        """Allocate the block after the last allocated one; False if that is not possible.

        If the response to the write is lost, the block may or may not have been allocated. The next
        attempt allocates another: ids may be skipped, but are never given out twice.

        Raises:
            ConnectionLoss: ZooKeeper does not respond.
        """
        zk = self.zk
        try:
            node = zk.get(znodes.PRODUCER_IDS)
            start = _following(node.data)
            end = start + BLOCK_SIZE - 1
            text = znodes.producer_ids_json(self.context.id, start, end)
            zk.set_data(znodes.PRODUCER_IDS, text, node.version)
        except errors.ConnectionLoss:
            raise
        except (errors.ZooKeeperError, ValueError):
            return False
        self.state.add(start)
        return True


def _following(data: str | None) -> int:
    """The first id after the block in the znode; 0 if the znode holds none.

    Raises:
        ValueError: the znode's content is invalid, or there are no ids left.
    """
    if data is None:
        return 0
    block = znodes.producer_ids_in(data)
    if block is None:
        raise ValueError(f"{znodes.PRODUCER_IDS} names no block.")
    _, _, last = block
    if not 0 <= last <= ID_MAX - BLOCK_SIZE:
        raise ValueError("there are no producer ids left")
    return last + 1
