"""What can be seen of a real cluster from outside, in the shape of what ``run --json`` prints."""

import json
import struct
import time
from typing import Any

from emulator.inputs.conditions import Clause, Subject, Value
from emulator.scenario.conditions import UNORDERED, holds
from tests.golden.real import wire
from tests.golden.real.processes import RealCluster
from tests.golden.real.segments import checkpointed, epochs_of, log_of

Plain = dict[str, Any]
QUIET_LIMIT_SECONDS = 20
UNREADABLE = (OSError, struct.error)


def topics(cluster: RealCluster) -> list[str]:
    """The topics but Kafka's own."""
    there = cluster.zk.exists("/brokers/topics")
    names = cluster.zk.get_children("/brokers/topics") if there else []
    return sorted(name for name in names if not name.startswith("__"))


def assignment(cluster: RealCluster, topic: str) -> dict[int, list[int]]:
    """Each partition's replicas as the topic's znode has them."""
    found = cluster.get(f"/brokers/topics/{topic}")
    if found is None or not found[0]:
        return {}
    parts = json.loads(found[0])["partitions"]
    return {int(number): replicas for number, replicas in sorted(parts.items(), key=_by_number)}


def _by_number(item: tuple[str, object]) -> int:
    return int(item[0])


def snapshot(cluster: RealCluster) -> Plain:
    """Everything that can be seen now."""
    controller, epoch = cluster.get("/controller"), cluster.get("/controller_epoch")
    names = topics(cluster)
    return {
        "controller": {
            "broker": json.loads(controller[0])["brokerid"] if controller else None,
            "epoch": int(epoch[0]) if epoch else None,
            "epoch_zk_version": epoch[1].version if epoch else None,
        },
        "brokers": [_broker(cluster, each) for each in cluster.ids],
        "partitions": [
            partition(cluster, topic, number, replicas)
            for topic in names
            for number, replicas in assignment(cluster, topic).items()
        ],
        "metadata": [_told(cluster, broker, topic) for broker in cluster.live() for topic in names],
    }


def _broker(cluster: RealCluster, broker: int) -> Plain:
    registered = cluster.zk.exists(f"/brokers/ids/{broker}") is not None
    return {"id": broker, "state": cluster.states[broker], "registered": registered}


def _told(cluster: RealCluster, broker: int, topic: str) -> object:
    try:
        return broker, topic, sorted(wire.metadata(cluster.ports[broker], topic).items())
    except UNREADABLE:
        return broker, topic, None


def partition(cluster: RealCluster, topic: str, number: int, replicas: list[int]) -> Plain:
    """One partition: its ``state`` znode, its leader's response, and its logs."""
    found = cluster.get(f"/brokers/topics/{topic}/partitions/{number}/state")
    seen: Plain = {"topic": topic, "partition": number, "replicas": replicas}
    if found is None:
        seen |= {"state": "nonexistent", "leader": None, "isr": []}
    else:
        told = json.loads(found[0])
        seen["state"] = "online" if told["leader"] >= 0 else "offline"
        seen |= {key: told[key] for key in ("leader", "leader_epoch", "controller_epoch", "isr")}
        seen["zk_version"] = found[1].version
    logs = [replica(cluster, f"{topic}-{number}", broker) for broker in cluster.ids]
    seen["replica_states"] = [each for each in logs if each is not None]
    seen["hw"] = seen["leo"] = None
    if cluster.is_up(seen["leader"]):
        seen["hw"] = _high_watermark(cluster, seen["leader"], topic, number)
        of_leader = [each for each in seen["replica_states"] if each["broker"] == seen["leader"]]
        seen["leo"] = of_leader[0]["leo"] if of_leader else None
    return seen


def _high_watermark(cluster: RealCluster, leader: int, topic: str, number: int) -> int | None:
    try:
        response = wire.fetch(cluster.ports[leader], topic, number, 0)
    except UNREADABLE:
        return None
    return None if response.error else response.high_watermark


def replica(cluster: RealCluster, tp: str, broker: int) -> Plain | None:
    """What lies in a replica's folder; None if there is none, or it is just being changed."""
    data = cluster.data(broker)
    if not (data / tp).is_dir():
        return None
    try:
        records, end = log_of(data / tp)
    except (*UNREADABLE, IndexError):
        return None
    return {
        "broker": broker,
        "role": "serving" if cluster.is_up(broker) else "offline",
        "leo": end,
        "hw": checkpointed(data, "replication-offset-checkpoint", tp),
        "epochs": epochs_of(data / tp),
        "values": [each.value for each in records],
        "record_epochs": [each.epoch for each in records],
    }


def quiet(cluster: RealCluster, seconds: float) -> Plain:
    """The snapshot once nothing has changed for so long; ``unsettled`` if that never came."""
    last: Plain = {}
    since = began = time.monotonic()
    while time.monotonic() - began < QUIET_LIMIT_SECONDS:
        now = snapshot(cluster)
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since >= seconds:
            return now
        time.sleep(0.1)
    return {**last, "unsettled": True}


# ---- conditions


def first_failure(
    cluster: RealCluster, clients: dict[str, dict[str, Plain]], clauses: list[Clause]
) -> Clause | None:
    """The first clause that does not hold."""
    for clause in clauses:
        left, right = value_of(cluster, clients, clause.left), clause.right
        if clause.right_subject is not None:
            right = value_of(cluster, clients, clause.right_subject)
        if not holds(left, clause.op, right, unordered=clause.left.field in UNORDERED):
            return clause
    return None


def value_of(cluster: RealCluster, clients: dict[str, dict[str, Plain]], subject: Subject) -> Value:
    """What a subject's field is on the real cluster; None if that cannot be seen."""
    name, field = subject.name, subject.field
    if subject.kind == "zk":
        return _of_znode(cluster, name, field)
    if subject.kind == "partition":
        topic, _, number = name.rpartition("-")
        return value_of_partition(cluster, topic, int(number), field)
    found: Plain | None = None
    if subject.kind == "replica":
        tp, _, broker = name.rpartition("@")
        found = replica(cluster, tp, int(broker))
    elif subject.kind == "controller":
        found = snapshot(cluster)["controller"]
    elif subject.kind == "broker":
        found = _broker(cluster, int(name))
    elif subject.kind in clients:
        found = clients[subject.kind].get(name)
    value: Value = (found or {}).get(field)
    return value


def value_of_partition(cluster: RealCluster, topic: str, number: int, field: str) -> Value:
    """A field of a partition, None if it cannot be seen."""
    replicas = assignment(cluster, topic).get(number)
    if replicas is None:
        return "nonexistent" if field == "state" else None
    seen = partition(cluster, topic, number, replicas)
    if field == "osr":
        return [each for each in replicas if each not in seen["isr"]]
    named = {"epoch": "leader_epoch", "version": "zk_version"}
    value: Value = seen.get(named.get(field, field))
    return value


def _of_znode(cluster: RealCluster, path: str, field: str) -> Value:
    found = cluster.get(path)
    if field == "exists":
        return found is not None
    if found is None:
        return None
    if field == "children":
        return sorted(cluster.zk.get_children(path))
    return found[0] if field == "data" else int(found[1].version)
