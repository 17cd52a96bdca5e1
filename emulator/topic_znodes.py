"""The znodes that make a topic, as each release writes them."""

from emulator.world import World
from emulator.znode_json import compact


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
