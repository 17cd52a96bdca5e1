"""Ids for idempotent producers outside."""

from collections.abc import Sequence

from emulator import protocol
from emulator.clients.external.call import Call
from emulator.protocol import AnyMessage
from emulator.protocol.errors import ERRORS
from emulator.wire.messages import produce as wire
from emulator.wire.types import Message


class InitProducerId:
    """InitProducerId: always a new id, as for every producer without a transactional id."""

    def ask(self, call: Call) -> list[AnyMessage]:
        """Ask for an id; there is no coordinator of transactions to ask for a transactional one."""
        request = call.message
        assert isinstance(request, wire.InitProducerIdRequest)
        if request.transactional_id is not None:
            return [protocol.InitProducerIdResponse(0, "COORDINATOR_NOT_AVAILABLE", -1, -1)]
        return [protocol.InitProducerIdRequest()]

    def answer(self, _call: Call, answers: Sequence[AnyMessage]) -> Message:
        """Tell it."""
        (found,) = answers
        assert isinstance(found, protocol.InitProducerIdResponse)
        return wire.InitProducerIdResponse(
            error_code=ERRORS[found.error].code,
            producer_id=found.producer_id,
            producer_epoch=found.producer_epoch,
        )
