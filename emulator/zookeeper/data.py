"""JSON as brokers, controller and tools write it into znodes."""

import msgspec

from emulator.broker_context import World
from emulator.protocol.names import split


def compact(value: object) -> str:
    """JSON without spaces, fields in the order given, other letters as they are (Jackson's way)."""
    return msgspec.json.encode(value).decode()


def state_path(tp: str) -> str:
    """The path of a partition's state znode."""
    topic, partition = split(tp)
    return f"/brokers/topics/{topic}/partitions/{partition}/state"


def state_json(leader: int, leader_epoch: int, isr: list[int], controller_epoch: int) -> str:
    """The content of a state znode, in the order in which Kafka prints its fields."""
    return compact(
        {
            "controller_epoch": controller_epoch,
            "leader": leader,
            "version": 1,
            "leader_epoch": leader_epoch,
            "isr": isr,
        }
    )


def write_topic(world: World, topic: str, lists: list[list[int]], config: dict[str, str]) -> None:
    """Write a new topic's configuration, then the topic; leaders are the controller's work."""
    write(world, f"/config/topics/{topic}", compact({"version": 1, "config": config}))
    write(world, f"/brokers/topics/{topic}", topic_json(world, lists))


def write(world: World, path: str, data: str) -> None:
    """Set a znode's data, making it if it is not there."""
    if world.zookeeper.find(path) is None:
        world.zookeeper.create(world, 0, path, data)
    else:
        world.zookeeper.set_data(world, path, data)


def topic_json(world: World, lists: list[list[int]]) -> str:
    """A new topic's znode as the release writes it."""
    partitions = {str(i): replicas for i, replicas in enumerate(lists)}
    if not world.profile.has("cancel_reassignment"):
        return compact({"version": 1, "partitions": partitions})
    moving: dict[str, object] = {"adding_replicas": {}, "removing_replicas": {}}
    if not world.profile.has("topic_ids"):
        return compact({"version": 2, "partitions": partitions, **moving})
    topic_id = world.cluster_id()
    return compact({"partitions": partitions, "topic_id": topic_id, **moving, "version": 3})
