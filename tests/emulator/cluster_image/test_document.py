"""The document of an image: what goes in comes out, in one order, a line an object."""

import json

import pytest
from msgspec.structs import replace

from emulator.cluster_image.document import DocumentError, decode, encode, ordered
from emulator.cluster_image.image import (
    AclEntry,
    Broker,
    ClusterImage,
    CommittedOffset,
    Controller,
    Group,
    Partition,
    Quorum,
    ReplicaLog,
    Topic,
)

IMAGE = ClusterImage(
    release="4.1",
    mode="kraft",
    quorum=Quorum(leader=101, epoch=3, controllers=(Controller(101, up=True), Controller(100))),
    configs={"min.insync.replicas": "1", "a.first": "x"},
    acls=(
        AclEntry("DENY", "User:bob", "ALL", "GROUP", "g", "PREFIXED", "10.0.0.7"),
        AclEntry("ALLOW", "User:alice", "READ", "TOPIC", "t"),
    ),
    brokers=(Broker(2, rack=""), Broker(1, rack="a", up=True, configs={})),
    topics=(
        Topic(
            "t", partitions=(Partition(1, (2, 1), 2, (2,), elr=()), Partition(0, (1, 2), -1, ()))
        ),
        Topic("a\u2028b", id="x", configs={}),
    ),
    groups=(Group("g", offsets=(CommittedOffset("t", 1, 7), CommittedOffset("t", 0))),),
)


def test_an_image_comes_back_from_its_document() -> None:
    assert decode(encode(IMAGE)) == ordered(IMAGE)


def test_the_order_of_the_parts_makes_no_difference() -> None:
    shuffled = replace(
        IMAGE,
        configs={"a.first": "x", "min.insync.replicas": "1"},
        brokers=IMAGE.brokers[::-1],
        topics=(
            IMAGE.topics[1],
            replace(IMAGE.topics[0], partitions=IMAGE.topics[0].partitions[::-1]),
        ),
    )
    assert encode(shuffled) == encode(IMAGE)


def test_an_access_control_entry_has_the_words_of_kafka() -> None:
    document = encode(replace(IMAGE, acls=(AclEntry("ALLOW", "User:a", "REED", "TOPIC", "t"),)))
    with pytest.raises(DocumentError, match="has no operation 'REED'; the nearest is 'READ'"):
        decode(document)


def test_it_is_json_with_a_line_for_each_partition_and_broker() -> None:
    text = encode(IMAGE).decode()
    document = json.loads(text)
    assert document["schema"] == 1
    assert '{"partition":1,"replicas":[2,1],"leader":2,"isr":[2],"elr":[]}' in text.splitlines()
    assert '{"id":2,"rack":""}' in text.splitlines()
    alice = '"permission":"ALLOW","principal":"User:alice","operation":"READ"'
    assert f'{{{alice},"resource_type":"TOPIC","resource":"t"}},' in text.splitlines()
    assert list(document["configs"]) == ["a.first", "min.insync.replicas"]


def test_what_is_unknown_is_absent_and_what_is_empty_is_there() -> None:
    document = json.loads(encode(IMAGE))
    first, second = document["topics"][1]["partitions"]
    assert first == {"partition": 0, "replicas": [1, 2], "leader": -1, "isr": []}
    assert second["elr"] == []
    log = ReplicaLog(1, size=0)
    image = ClusterImage(topics=(Topic("t", partitions=(Partition(0, logs=(log,)),)),))
    assert decode(encode(image)).topics[0].partitions[0].logs == (log,)


def test_an_empty_image_is_an_object() -> None:
    assert decode(encode(ClusterImage())) == ClusterImage()


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", "truncated"),
        (b"{}", "format"),
        (b'{"format":"tidegauge cluster image","schema":2}', "schema is 2"),
        (b'{"format":"tidegauge cluster image","schema":1,"brokers":[{}]}', "id"),
        (b'\xff{"format":1}', "malformed"),
    ],
)
def test_what_is_no_image_is_refused_with_the_reason(document: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        decode(document)


def test_json_of_great_depth_is_refused() -> None:
    deep = b'{"format":"tidegauge cluster image","schema":1,"x":' + b"[" * 100_000
    with pytest.raises(DocumentError, match="nested too deeply") as refused:
        decode(deep)
    assert len(str(refused.value)) < 100
