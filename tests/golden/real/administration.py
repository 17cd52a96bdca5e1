"""Topics, configurations, moves and elections, asked of a real cluster as its own tools ask."""

import base64
import json
import uuid
from collections.abc import Mapping

from emulator.inputs.statements import (
    AddPartitions,
    CancelReassignment,
    ConfigureBroker,
    ConfigureTopic,
    CreateTopic,
    DeleteTopic,
    ElectPreferred,
    ElectUnclean,
    Reassign,
)
from emulator.replication.assignment import assign_seed
from tests.golden.real import wire
from tests.golden.real.clients import NAMES
from tests.golden.real.look import assignment, topics
from tests.golden.real.processes import RealCluster

MOVES_IN_TOPIC, TOPIC_IDS = (2, 4), (2, 8)
NAMED_ENTITIES, ENTITY_PATHS = (0, 9), (0, 10, 1)


def create_topic(cluster: RealCluster, wanted: CreateTopic) -> None:
    """Write the topic's znodes as the release's own tool does."""
    lists = wanted.assignment
    if not lists:
        there = cluster.registered()
        lists = assign_seed(there, wanted.partitions, wanted.replication_factor)
    cluster.zk.ensure_path("/config/topics")
    config = json.dumps({"version": 1, "config": wanted.config}).encode()
    cluster.zk.create(f"/config/topics/{wanted.topic}", config)
    told = _topic(cluster, dict(enumerate(lists)))
    cluster.zk.create(f"/brokers/topics/{wanted.topic}", json.dumps(told).encode())


def _topic(cluster: RealCluster, replicas: dict[int, list[int]]) -> dict[str, object]:
    partitions = {str(number): each for number, each in replicas.items()}
    if cluster.version < MOVES_IN_TOPIC:
        return {"version": 1, "partitions": partitions}
    moving: dict[str, object] = {"adding_replicas": {}, "removing_replicas": {}}
    if cluster.version < TOPIC_IDS:
        return {"version": 2, "partitions": partitions, **moving}
    identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
    return {"version": 3, "partitions": partitions, "topic_id": identity, **moving}


def add_partitions(cluster: RealCluster, wanted: AddPartitions) -> None:
    """Write the topic's znode with more partitions, by the rule that it was made by."""
    path = f"/brokers/topics/{wanted.topic}"
    told = json.loads(cluster.zk.get(path)[0])
    there = assignment(cluster, wanted.topic)
    factor = len(there[0])
    added = assign_seed(cluster.registered(), wanted.partitions, factor)
    for number in range(len(there), wanted.partitions):
        told["partitions"][str(number)] = added[number]
    cluster.zk.set(path, json.dumps(told).encode())


def delete_topic(cluster: RealCluster, wanted: DeleteTopic) -> None:
    """Ask for a topic's deletion."""
    cluster.zk.create(f"/admin/delete_topics/{wanted.topic}")


def configure_topic(cluster: RealCluster, wanted: ConfigureTopic) -> None:
    """Change a topic's configuration, and tell the brokers."""
    _configure(cluster, "topics", wanted.topic, wanted.config)


def configure_broker(cluster: RealCluster, wanted: ConfigureBroker) -> None:
    """Change a broker's configuration while it runs (1.1+)."""
    _configure(cluster, "brokers", str(wanted.broker), wanted.config)


def _configure(
    cluster: RealCluster, kind: str, name: str, config: Mapping[str, str | None]
) -> None:
    path = f"/config/{kind}/{name}"
    found = cluster.get(path)
    before: dict[str, str] = json.loads(found[0])["config"] if found else {}
    kept = {key: value for key, value in {**before, **config}.items() if value}
    data = json.dumps({"version": 1, "config": kept}).encode()
    if found:
        cluster.zk.set(path, data)
    else:
        cluster.zk.create(path, data, makepath=True)
    change: object = {"version": 2, "entity_path": f"{kind}/{name}"}
    if cluster.version < NAMED_ENTITIES:
        change = name
    elif cluster.version < ENTITY_PATHS:
        change = {"version": 1, "entity_type": kind, "entity_name": name}
    cluster.zk.create("/config/changes/config_change_", json.dumps(change).encode(), sequence=True)


def reassign(cluster: RealCluster, wanted: Reassign) -> None:
    """Ask for a partition's move."""
    moved = {**_partition(wanted.tp), "replicas": wanted.replicas}
    data = json.dumps({"version": 1, "partitions": [moved]}).encode()
    cluster.zk.create("/admin/reassign_partitions", data)


def cancel(cluster: RealCluster, wanted: CancelReassignment) -> str:
    """Ask the controller to take a move back; the error."""
    topic, _, number = wanted.tp.rpartition("-")
    code = wire.alter_reassignment(_controller(cluster), topic, int(number), None)
    return NAMES.get(code, str(code))


def elect_preferred(cluster: RealCluster, wanted: ElectPreferred) -> None:
    """Ask for the preferred leaders of some partitions, or of all."""
    every = [f"{topic}-{n}" for topic in topics(cluster) for n in assignment(cluster, topic)]
    listed = [_partition(tp) for tp in wanted.partitions or every]
    data = json.dumps({"version": 1, "partitions": listed}).encode()
    cluster.zk.create("/admin/preferred_replica_election", data)


def elect_unclean(cluster: RealCluster, wanted: ElectUnclean) -> str:
    """Ask the controller for an election outside the ISR; the error."""
    topic, _, number = wanted.tp.rpartition("-")
    code = wire.elect_unclean(_controller(cluster), topic, int(number))
    return NAMES.get(code, str(code))


def _partition(tp: str) -> dict[str, object]:
    topic, _, number = tp.rpartition("-")
    return {"topic": topic, "partition": int(number)}


def _controller(cluster: RealCluster) -> int:
    found = cluster.get("/controller")
    assert found is not None
    return cluster.ports[json.loads(found[0])["brokerid"]]
