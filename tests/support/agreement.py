"""Whether all take the partitions to be what their znodes say: at a quiet point they must."""

from collections.abc import Iterator

from emulator.broker.replication.replica import FOLLOWER, LEADER, Replica
from emulator.cluster import Cluster
from emulator.controller.context import ControllerState
from emulator.protocol import PartitionInfo

Fields = tuple[int, int, list[int], int]
"""Leader, leader epoch, ISR in order of ids, version of the znode."""


def disagreements(cluster: Cluster) -> list[str]:
    """Who says what else than the znodes, one line each; the dead and the frozen say nothing.

    A replica that was moved away from a broker that could not be told stays there, and follows or
    leads for itself: nobody asks it any more. Of a partition whose
    leader is dead brokers need not know.
    Up to 0.8.2 leaders tell nobody of the ISRs that they write: there only leader and epoch count.
    """
    return [*_of_controller(cluster), *_of_brokers(cluster), *_of_metadata(cluster)]


def living(cluster: Cluster) -> list[int]:
    """The brokers that work, in ZooKeeper's eyes too."""
    return [
        broker
        for broker in cluster.brokers
        if cluster.host_works(broker) and cluster.zookeeper.exists(f"/brokers/ids/{broker}")
    ]


def _of_controller(cluster: Cluster) -> Iterator[str]:
    active = [b for b in living(cluster) if cluster.controller_cache(b) is not None]
    named = cluster.controller_id()
    if active != ([] if named is None else [named]):
        yield f"controllers by /controller {named}, by themselves {active}"
        return
    for broker in active:
        cache = cluster.controller_cache(broker)
        assert cache is not None
        yield from _of_cache(cluster, broker, cache)


def _of_cache(cluster: Cluster, broker: int, cache: ControllerState) -> Iterator[str]:
    if cache.epoch != cluster.controller_epoch():
        yield f"controller {broker} is of epoch {cache.epoch}, not {cluster.controller_epoch()}"
    live = sorted(int(name) for name in cluster.zookeeper.children("/brokers/ids"))
    if sorted(cache.live) != live:
        yield f"controller {broker} believes {sorted(cache.live)} to be alive, not {live}"
    for tp in cluster.partitions():
        if cache.assignments.get(tp) != cluster.assigned(tp):
            seen, real = cache.assignments.get(tp), cluster.assigned(tp)
            yield f"controller {broker} has {tp} on {seen}, not {real}"
        yield from _compared(cluster, f"controller {broker}", tp, cache.infos.get(tp))
    for tp in [tp for tp in cache.assignments if cluster.assigned(tp) is None]:
        yield f"controller {broker} knows {tp}, which is gone"


def _of_brokers(cluster: Cluster) -> Iterator[str]:
    for broker in living(cluster):
        for tp, replica in cluster.state.brokers[broker].replicas.items():
            if replica.is_known:
                yield from _of_replica(cluster, broker, tp, replica)
    for tp in cluster.partitions():
        info = cluster.state_of(tp)
        led = info is not None and info.leader in living(cluster)
        for broker in living(cluster) if led else ():
            found = cluster.replica(tp, broker)
            if broker in (cluster.assigned(tp) or ()) and not (found and found.is_known):
                yield f"broker {broker} was never told of {tp}"


def _of_replica(cluster: Cluster, broker: int, tp: str, replica: Replica) -> Iterator[str]:
    info, assigned = cluster.state_of(tp), cluster.assigned(tp)
    if info is None or assigned is None:
        yield f"broker {broker} has a replica of {tp}, which is gone"
        return
    if info.leader not in living(cluster) or broker not in assigned:
        return
    role = LEADER if info.leader == broker else FOLLOWER
    if replica.role != role:
        yield f"broker {broker} is {replica.role} of {tp}, not {role}"
    if replica.leader_epoch != info.leader_epoch:
        yield f"broker {broker} has {tp} in epoch {replica.leader_epoch}, not {info.leader_epoch}"
    if role == LEADER:
        seen = (sorted(replica.isr), replica.zk_version)
        real = (sorted(info.isr), info.zk_version)
        if seen != real:
            yield f"leader {broker} of {tp} has ISR and version {seen}, not {real}"
    elif replica.leader != info.leader:
        yield f"follower {broker} of {tp} follows {replica.leader}, not {info.leader}"


def _of_metadata(cluster: Cluster) -> Iterator[str]:
    for broker in living(cluster):
        told = cluster.state.brokers[broker].process.metadata
        for tp in cluster.partitions():
            yield from _compared(cluster, f"broker {broker}'s metadata", tp, told.get(tp))
        for tp in [tp for tp in told if cluster.assigned(tp) is None]:
            yield f"broker {broker} tells clients of {tp}, which is gone"


def _compared(cluster: Cluster, who: str, tp: str, told: PartitionInfo | None) -> Iterator[str]:
    info = cluster.state_of(tp)
    count = 4 if cluster.profile.has("consumer_groups") else 2
    seen, real = _fields(told)[:count], _fields(info)[:count]
    if seen != real:
        yield f"{who} has {tp} as {seen}, not {real}"


def _fields(info: PartitionInfo | None) -> tuple[object, ...]:
    """What can be compared; nothing where nobody knows of a partition."""
    if info is None:
        return ()
    return info.leader, info.leader_epoch, sorted(info.isr), info.zk_version


def incomplete(cluster: Cluster) -> list[str]:
    """What is not fully replicated: leader, ISR, or logs, one line each."""
    found: list[str] = []
    for tp in cluster.partitions():
        info, assigned = cluster.state_of(tp), cluster.assigned(tp)
        if info is None or assigned is None:
            found.append(f"{tp} has no state")
            continue
        if info.leader < 0 or sorted(info.isr) != sorted(assigned):
            found.append(f"{tp} has leader {info.leader} and ISR {info.isr} of {assigned}")
        ends = {broker: log.end for broker, log in cluster.audit.logs_of(tp).items()}
        if len(set(ends.values())) != 1:
            found.append(f"{tp} has logs that end at {ends}")
    return found
