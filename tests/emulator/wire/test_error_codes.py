"""Errors in responses, wherever in them they stand."""

import pytest

from emulator.wire.error_codes import error_codes
from emulator.wire.messages.cluster import ApiVersionsResponse
from emulator.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from emulator.wire.messages.membership import HeartbeatResponse
from emulator.wire.types import Message


def fetched(*codes: int) -> FetchableTopicResponse:
    return FetchableTopicResponse("t", partitions=[PartitionData(0, code, -1) for code in codes])


@pytest.mark.parametrize(
    ("message", "codes"),
    [
        (HeartbeatResponse(error_code=27), [27]),
        (HeartbeatResponse(), []),
        (ApiVersionsResponse(), []),
        (FetchResponse(responses=[fetched(0, 6), fetched(), fetched(6, 1)]), [6, 6, 1]),
        (FetchResponse(error_code=70, responses=[fetched(3)]), [70, 3]),
        (FetchRequest(), []),
    ],
)
def test_every_error_in_a_message_is_found(message: Message, codes: list[int]) -> None:
    assert list(error_codes(message)) == codes
