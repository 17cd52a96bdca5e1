"""The JSON of ``kcat -L -J``: what a client's metadata has.

It lists the brokers that are alive; those that only have replicas are down. Its ``controllerid`` is
not used: in KRaft mode it is any broker.
"""

from typing import Final

from msgspec import Struct

from emulator.cluster_image.image import Broker, ClusterImage, Partition, Topic
from sessions.own_cluster.content import Content
from sessions.own_cluster.reading import Authority, Reading

NAME: Final = "kcat -L -J"


class _Node(Struct):
    id: int
    name: str = ""


class _Partition(Struct):
    partition: int
    leader: int = -1
    replicas: list[_Node] = []
    isrs: list[_Node] = []


class _Topic(Struct):
    topic: str
    partitions: list[_Partition] = []


class _Metadata(Struct):
    brokers: list[_Node]
    topics: list[_Topic]


def recognizes(head: str) -> bool:
    """Whether a text begins as kcat's JSON does."""
    return head.lstrip().startswith("{") and '"originating_broker"' in head[:1000]


def read(content: Content) -> Reading:
    """Return the brokers and topics of a client's metadata.

    Raises:
        FormatError: it is not complete.
    """
    metadata = content.json(_Metadata)
    topics = tuple(
        Topic(
            topic.topic,
            partitions=tuple(
                Partition(
                    partition.partition,
                    replicas=tuple(node.id for node in partition.replicas),
                    leader=partition.leader,
                    isr=tuple(node.id for node in partition.isrs),
                )
                for partition in topic.partitions
            ),
        )
        for topic in metadata.topics
    )
    alive = {node.id: node for node in metadata.brokers}
    assigned = {
        broker
        for topic in topics
        for partition in topic.partitions
        for broker in partition.replicas
    }
    brokers = [_broker(node) for node in metadata.brokers]
    brokers += [Broker(broker, up=False) for broker in sorted(assigned - alive.keys())]
    image = ClusterImage(brokers=tuple(brokers), topics=topics)
    return Reading(content.name, NAME, Authority.CLIENT, image)


def _broker(node: _Node) -> Broker:
    host, _, port = node.name.rpartition(":")
    if not host or not port.isdecimal():
        return Broker(node.id, up=True)
    return Broker(node.id, up=True, host=host, port=int(port))
