"""Requests and responses of every version, against codecs that others wrote."""

import struct
from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.wire.apis import APIS
from emulator.wire.codec import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from emulator.wire.exceptions import UnwritableMessage
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import ApiVersionsRequest, MetadataRequest
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.fetch import FetchRequest, FetchTopic
from emulator.wire.messages.membership import HeartbeatRequest
from emulator.wire.messages.produce import ProduceResponse, TopicProduceResponse
from emulator.wire.types import (
    Api,
    Message,
)
from tests.emulator.wire.peers import by_another_codec
from tests.emulator.wire.random_messages import messages
from tests.support.releases import THOROUGH

CORRELATION_ID = struct.pack(">i", 77)
FEW = settings(max_examples=8 if THOROUGH else 3)
TOO_NEW = {("ApiVersions", 5), ("TxnOffsetCommit", 6), ("DeleteGroups", 3)}
"""What only 4.4 takes: kafka-python does not know it, but a real broker was asked in it.

See ``tests/wire/same_requests.py``.
"""


UNKNOWN = {
    *(f"{what}DelegationToken" for what in ("Create", "Renew", "Expire", "Describe")),
    *("ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "UnregisterBroker"),
    *("ShareGroupHeartbeat", "ShareGroupDescribe", "ShareFetch", "ShareAcknowledge"),
    *("DescribeShareGroupOffsets", "AlterShareGroupOffsets", "DeleteShareGroupOffsets"),
}
"""What kafka-python does not know in any version.

Real brokers were asked about the new consumer groups (``tests/golden_wire``), and librdkafka and
Kafka's own consumers use them (``tests/wire/test_consumer_groups.py``).
"""


def of_all_versions() -> Iterator[tuple[Api, type[Message], int]]:
    for api in APIS.values():
        for version in api.versions:
            yield api, api.request, version
            yield api, api.response, version


def name_of(case: object) -> str:
    return case.__name__ if isinstance(case, type) else str(getattr(case, "key", case))


every_version = pytest.mark.parametrize(
    ("api", "message", "version"), list(of_all_versions()), ids=name_of
)


def encoded(api: Api, message: Message, version: int) -> bytes:
    if isinstance(message, api.request):
        return encode_request(RequestHeader(api.key, version, 77, "me"), message)
    return encode_response(api.key, version, 77, message)


def header_of(api: Api, message: type[Message], version: int) -> bytes:
    tags = b"\0" if api.is_flexible(version) else b""
    if message is api.request:
        return struct.pack(">hh", api.key, version) + CORRELATION_ID + b"\0\2me" + tags
    return CORRELATION_ID + (b"" if api.name == "ApiVersions" else tags)


@every_version
@FEW
@given(data=st.data())
def test_bytes_are_those_of_another_codec_and_are_read(
    api: Api, message: type[Message], version: int, data: st.DataObject
) -> None:
    value = data.draw(messages(message, version))
    frame = encoded(api, value, version)
    if (api.name, version) not in TOO_NEW and api.name not in UNKNOWN:
        written_header = header_of(api, message, version)
        assert frame.startswith(written_header)
        assert frame[len(written_header) :] == by_another_codec(api, value, version)
    if message is api.request:
        header, body = decode_request(frame)
        assert header == RequestHeader(api.key, version, 77, "me")
    else:
        correlation_id, body = decode_response(api.key, version, frame)
        assert correlation_id == 77
    assert body == value


@every_version
def test_defaults_are_what_a_version_without_the_field_gives(
    api: Api, message: type[Message], version: int
) -> None:
    frame = encoded(api, message(), version)
    decode = (
        decode_request if message is api.request else partial(decode_response, api.key, version)
    )
    assert decode(frame)[1] == message()


def test_a_field_that_the_version_lacks_is_left_out() -> None:
    request = FetchRequest(rack_id="a", topics=[FetchTopic("orders")])
    frame = encode_request(RequestHeader(1, 10, 0), request)
    assert decode_request(frame)[1] == FetchRequest(topics=[FetchTopic("orders")])


def test_tagged_fields_that_are_not_known_are_skipped() -> None:
    header = struct.pack(">hhih", 18, 3, 7, -1) + bytes([2, 0, 1, 9, 99, 2, 8, 8])
    _, request = decode_request(header + b"\3me\1" + bytes([1, 5, 3]) + b"new")
    assert request == ApiVersionsRequest("me", "")


def test_a_request_header_may_name_no_client() -> None:
    frame = encode_request(RequestHeader(12, 0, 5), HeartbeatRequest("g", 1, "m"))
    header, request = decode_request(frame)
    assert (header.client_id, request) == (None, HeartbeatRequest("g", 1, "m"))


def test_text_that_is_no_utf_8_is_replaced_as_kafka_does() -> None:
    frame = struct.pack(">hhih", 10, 0, 7, -1) + b"\0\2a\xff"
    assert decode_request(frame)[1] == FindCoordinatorRequest("a\N{REPLACEMENT CHARACTER}")


def test_a_message_with_a_value_that_the_version_cannot_carry_is_refused() -> None:
    response = ProduceResponse([TopicProduceResponse("orders")], throttle_time_ms=2**40)
    with pytest.raises(UnwritableMessage, match="ProduceResponse 3 cannot carry its values"):
        encode_response(0, 3, 1, response)
    with pytest.raises(UnwritableMessage, match="MetadataRequest 0"):
        encode_request(RequestHeader(3, 0, 1), MetadataRequest(topics=None))
