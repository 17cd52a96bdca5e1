"""JSON as brokers, controller and tools write it into znodes."""

import msgspec

from emulator.broker_context import World
from emulator.protocol.names import split
from emulator.zookeeper.tree import STARTED_MS


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


def _timestamp(world: World) -> str:
    return str(STARTED_MS + world.now // 1000)


def broker_json(world: World, broker: int) -> str:
    """The content of /brokers/ids/N in this release (ZkData.BrokerIdZNode)."""
    has = world.profile.has
    port = 9092 + broker
    host = f"broker-{broker}"
    basic = {"jmx_port": -1, "timestamp": _timestamp(world), "host": host}
    if not has("broker_endpoints"):
        return compact({**basic, "version": 1, "port": port})
    endpoints = {"endpoints": [f"PLAINTEXT://{host}:{port}"]}
    if not has("broker_rack"):
        return compact({**basic, **endpoints, "version": 2, "port": port})
    rack = world.settings.racks.get(broker)
    racks = {} if rack is None else {"rack": rack}
    if not has("listener_protocol_map"):
        return compact({**basic, **endpoints, **racks, "version": 3, "port": port})
    features: dict[str, object] = {"features": {}} if has("finalized_features") else {}
    return compact(
        {
            **features,
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            **endpoints,
            **racks,
            **basic,
            "port": port,
            "version": 5 if features else 4,
        }
    )


def controller_json(world: World, broker: int) -> str:
    """The content of /controller."""
    data: dict[str, object] = {"version": 1, "brokerid": broker, "timestamp": _timestamp(world)}
    if world.profile.has("kraft_controller_epoch"):
        data = {**data, "version": 2, "kraftControllerEpoch": -1}
    return compact(data)
