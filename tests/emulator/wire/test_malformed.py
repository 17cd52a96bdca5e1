"""Whatever a peer sends, reading it raises a WireError or nothing, and takes little memory."""

import struct
import tracemalloc
from contextlib import suppress
from typing import Annotated

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.common.limits import REQUEST_ITEMS_MAX
from emulator.wire.apis import APIS
from emulator.wire.codec import decode_request, decode_response, encode_request, encode_response
from emulator.wire.compiler import reader, writer
from emulator.wire.exceptions import (
    MalformedFrame,
    TrailingBytes,
    UnknownApiKey,
    UnsupportedVersion,
    WireError,
)
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import MetadataRequest, MetadataRequestTopic
from emulator.wire.messages.fetch import FetchResponse
from emulator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from emulator.wire.types import (
    Api,
    Int32,
    Message,
    tag,
)
from tests.emulator.wire.random_messages import messages

api_versions = st.sampled_from(
    [(api, version) for api in APIS.values() for version in api.versions]
)


class Item(Message, frozen=True):
    number: Int32 = 0


class Tagged(Message, frozen=True):
    items: list[Item] = []  # noqa: RUF012 - as in emulator.wire.messages
    more: Annotated[list[Item], tag(0)] = []  # noqa: RUF012


@given(st.binary(max_size=100))
def test_random_bytes_raise_only_wire_errors(frame: bytes) -> None:
    with suppress(WireError):
        decode_request(frame)


@settings(max_examples=500)
@given(api_versions, st.binary(max_size=60))
def test_random_bodies_raise_only_wire_errors(chosen: tuple[Api, int], body: bytes) -> None:
    api, version = chosen
    with suppress(WireError):
        decode_request(struct.pack(">hhih", api.key, version, 1, -1) + body)
    with suppress(WireError):
        decode_response(api.key, version, body)


@settings(max_examples=300)
@given(api_versions, st.data())
def test_a_frame_cut_anywhere_is_malformed(chosen: tuple[Api, int], data: st.DataObject) -> None:
    api, version = chosen
    request = data.draw(messages(api.request, version))
    frame = encode_request(RequestHeader(api.key, version, 1, "me"), request)
    end = data.draw(st.integers(0, len(frame) - 1))
    with pytest.raises(MalformedFrame):
        decode_request(frame[:end])


@settings(max_examples=300)
@given(api_versions, st.data())
def test_changed_bytes_raise_only_wire_errors(chosen: tuple[Api, int], data: st.DataObject) -> None:
    api, version = chosen
    response = data.draw(messages(api.response, version))
    frame = bytearray(encode_response(api.key, version, 1, response))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(frame) - 1))
        frame[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    with suppress(WireError):
        decode_response(api.key, version, bytes(frame))


@pytest.mark.parametrize("version", APIS[1].versions)
def test_bytes_after_a_response_are_an_error(version: int) -> None:
    frame = encode_response(1, version, 1, FetchResponse())
    with pytest.raises(TrailingBytes, match=f"FetchResponse {version}: 3 of"):
        decode_response(1, version, frame + bytes(3))


def test_bytes_after_a_request_are_ignored_as_brokers_do() -> None:
    librdkafka = b"\0\3\0\x0c\0\0\0\5\0\7rdkafka\0" + bytes(7)  # Metadata 12, all topics
    _, request = decode_request(librdkafka)
    assert request == MetadataRequest(None, False)


@pytest.mark.parametrize(
    ("api_key", "version", "body"),
    [
        (3, 1, struct.pack(">i", 2**31 - 1)),  # topics
        (3, 1, struct.pack(">i", 2**31 - 1) + bytes(1000)),
        (1, 0, bytes(12) + struct.pack(">i", 200_000_000) + bytes(1_000_000)),
        (3, 9, b"\0\xff\xff\xff\xff\x0f"),
        (0, 3, b"\xff\xff" + bytes(6) + struct.pack(">ih", 1, 32_767)),
        (20, 0, struct.pack(">i", -5)),  # an array that may not be null
        (12, 0, struct.pack(">h", -1)),  # a string that may not be null
        (18, 3, b"\0\1\1" + b"\xff\xff\xff\xff\x0f"),  # tagged fields
        (18, 3, b"\0\1\1" + b"\1\x05\xff\xff\xff\xff\x0f"),
    ],
)
def test_nothing_is_allocated_by_a_length_that_the_frame_does_not_have(
    api_key: int, version: int, body: bytes
) -> None:
    frame = struct.pack(">hhih", api_key, version, 1, -1) + body
    with pytest.raises(MalformedFrame):
        decode_request(frame)  # the reader is made here, which takes memory of its own
    tracemalloc.start()
    try:
        with pytest.raises(MalformedFrame):
            decode_request(frame)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000


def test_an_api_that_is_not_known_is_named() -> None:
    with pytest.raises(UnknownApiKey, match="no API has the key 9999"):
        decode_request(struct.pack(">hhih", 9999, 0, 1, -1))


@example(version=-1)
@given(version=st.integers(-(2**15), -1) | st.integers(6, 2**15 - 1))
def test_an_unsupported_version_carries_the_header_to_answer(version: int) -> None:
    frame = struct.pack(">hhih", 18, version, 7, 2) + b"me" + b"whatever follows"
    with pytest.raises(UnsupportedVersion, match="its versions are 0 to") as raised:
        decode_request(frame)
    assert raised.value.header == RequestHeader(18, version, 7, "me")


@pytest.mark.parametrize("topics", [1, 2, 3])
def test_the_items_of_all_lists_together_are_counted(topics: int) -> None:
    """Two topics with one partition each are four items."""
    request = ProduceRequest(
        topic_data=[
            TopicProduceData(f"t{topic}", partition_data=[PartitionProduceData(0, b"")])
            for topic in range(topics)
        ]
    )
    data = writer(ProduceRequest, 9, flexible=True)(request)
    read = reader(ProduceRequest, 9, flexible=True, items_max=4)
    if topics <= 2:
        assert read(data, 0) == (request, len(data))
    else:
        with pytest.raises(MalformedFrame, match="more than 4 items"):
            read(data, 0)


def test_items_in_tagged_fields_are_counted_with_the_others() -> None:
    message = Tagged([Item(1), Item(2)], [Item(3), Item(4)])
    data = writer(Tagged, 0, flexible=True)(message)
    assert reader(Tagged, 0, flexible=True, items_max=4)(data, 0) == (message, len(data))
    with pytest.raises(MalformedFrame, match="more than 3 items"):
        reader(Tagged, 0, flexible=True, items_max=3)(data, 0)


def test_a_request_has_no_more_items_than_a_client_needs() -> None:
    asked = [MetadataRequestTopic(name="t")] * REQUEST_ITEMS_MAX
    header = RequestHeader(3, 1, 1, "me")
    decode_request(encode_request(header, MetadataRequest(asked)))
    with pytest.raises(MalformedFrame, match="MetadataRequest 1: more than 100,000 items"):
        decode_request(encode_request(header, MetadataRequest([*asked, asked[0]])))
