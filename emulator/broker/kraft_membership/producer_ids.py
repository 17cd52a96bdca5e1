"""Producer ids in KRaft mode: the broker asks the controller for a block (KIP-730).

Source: ``RPCProducerIdManager`` 3.3 to 4.1.
"""

from typing import Any, Final

from emulator.broker.kraft_membership.controller_channel import ControllerChannel
from emulator.broker.kraft_membership.state import KRaftMembershipState, Pending
from emulator.broker.membership import FIRST_EPOCH
from emulator.broker_context import BrokerContext
from emulator.common.errors import LOADING
from emulator.protocol import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)

PATIENCE_US: Final = 60_000_000
TRY_US: Final = 30_000_000


class KRaftProducerIds:
    """Allocates a broker's producer ids.

    Without ids, requests wait for a block; from 3.6 on they are refused meanwhile (KAFKA-14694).
    """

    def __init__(self, context: BrokerContext, state: KRaftMembershipState) -> None:
        """Allocate ids in ``context``, from the block in ``state``."""
        self.context = context
        self.state = state
        self.block = state.block
        self.without_waiting = context.profile.has("producer_ids_without_waiting")
        self.channel = ControllerChannel(
            context, state.producer_ids, "producer-ids", lambda: TRY_US, self._on_response
        )

    def give_out(self, source: int, request: int, _message: InitProducerIdRequest) -> None:
        if not self.without_waiting:
            self.state.waits_for_ids.append((source, request))
            self._serve()
            return
        producer_id = self.block.claim()
        if producer_id < 0 or self.block.is_low(producer_id):
            self._ask()
        self._respond(source, request, "NONE" if producer_id >= 0 else LOADING, producer_id)

    def _serve(self) -> None:
        waiting, producer_id = self.state.waits_for_ids, 0
        while waiting and producer_id >= 0:
            producer_id = self.block.claim()
            if producer_id >= 0:
                self._respond(*waiting.pop(0), "NONE", producer_id)
        if waiting:
            self._ask()

    def _ask(self) -> None:
        if not self.state.producer_ids.queue:
            epoch = self.context.process.broker_epoch
            self.channel.ask(AllocateProducerIdsRequest(self.context.id, epoch), PATIENCE_US)

    def _on_response(self, _pending: Pending, response: Any) -> None:  # noqa: ANN401 - None or one kind
        """Store the block, or fail all waiting requests if there is none."""
        if isinstance(response, AllocateProducerIdsResponse) and response.error == "NONE":
            self.block.add(response.start)
            self._serve()
            return
        waiting, self.state.waits_for_ids = self.state.waits_for_ids, []
        for source, request in waiting:
            self._respond(source, request, LOADING, -1)

    def _respond(self, source: int, request: int, error: str, producer_id: int) -> None:
        epoch = FIRST_EPOCH if error == "NONE" else -1
        response = InitProducerIdResponse(request, error, producer_id, epoch)
        self.context.respond(source, request, response)
