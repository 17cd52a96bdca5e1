"""Hosts whose cached partition state differs from the znode.

The controller has its cache (:data:`~sessions.model.folding.CACHE`), each broker the metadata that
it passes on to clients. Almost always all agree, so only those who do not are kept: a change of the
znode leaves everybody behind, and each catches up by an event of its own. Snapshots share the dict
of each partition, so it is replaced and never changed.
"""

from typing import Final, cast

from emulator import events
from sessions.model.folding import CACHE, Handlers, Model
from sessions.model.states import Belief, BrokerState, PartitionState

Rows = list[tuple[str, int, int, int]]
"""What an UpdateMetadataRequest says: partition, leader, leader epoch, version of the znode."""
DURING_DELETE: Final = -2
"""The leader in an UpdateMetadata that takes a partition away."""
LOADED: Final = "initializeControllerContext"
"""The step at which a new controller reads every state znode."""


def znode_moves(model: Model, partition: PartitionState) -> None:
    """The znode is about to change; all hosts still have its present value.

    In KRaft there is none: hosts differ in how far they have read the metadata log.
    """
    if not model.believers or model.state.quorum is not None:
        return
    before = znode_state(partition)
    behind = model.state.beliefs.get(partition.name)
    if behind is None:
        model.state.beliefs[partition.name] = dict.fromkeys(model.believers, before)
        return
    missing = [host for host in model.believers if host not in behind]
    if missing:
        model.state.beliefs[partition.name] = behind | dict.fromkeys(missing, before)


def znode_gone(model: Model, tp: str) -> None:
    """The state was deleted; a host without it is up to date again."""
    behind = model.state.beliefs.get(tp, {})
    for host in [host for host, belief in behind.items() if belief is None]:
        _agrees(model, tp, host)


def forgotten(model: Model, broker: BrokerState) -> None:
    """A process has ended, and its cache is gone."""
    broker.live_brokers = None
    model.believers_changed()
    for tp in [tp for tp, behind in model.state.beliefs.items() if broker.id in behind]:
        _agrees(model, tp, broker.id)


# ---- the controller's cache


def leader_elected(model: Model, event: events.LeaderElected) -> None:
    """The controller knows what it has just written."""
    if event.controller == model.state.controller.broker:
        _agrees(model, event.tp, CACHE)


def partition_cached(model: Model, event: events.PartitionCached) -> None:
    """Update the controller's cache; that of a former controller is ignored."""
    if event.broker == model.state.controller.broker:
        belief = Belief(event.leader, event.leader_epoch, event.isr, event.zk_version)
        _believes(model, event.tp, CACHE, belief)


def controller_step(model: Model, event: events.ControllerStep) -> None:
    """A new controller has read all there is."""
    if event.name == LOADED and event.broker == model.state.controller.broker:
        for tp in [tp for tp, behind in model.state.beliefs.items() if CACHE in behind]:
            _agrees(model, tp, CACHE)


# ---- metadata


def metadata_updated(model: Model, event: events.MetadataUpdated) -> None:
    """Update the states and the live brokers that a broker returns to clients."""
    state, me = model.state, event.broker
    broker = model.broker(me, event.seq)
    rows = state.updates.pop(event.request, [])
    if broker.live_brokers is None:
        _knows_nothing_but(model, me, {row[0] for row in rows})
    is_first, broker.live_brokers = broker.live_brokers is None, event.live_brokers
    if is_first:
        model.believers_changed()
    partitions = model.partitions
    for tp, leader, leader_epoch, version in cast("Rows", rows):
        partition = partitions.get(tp)
        if partition is None or partition.zk_version != version or partition.leader != leader:
            _believes(model, tp, me, _heard(model, tp, leader, leader_epoch, version))
        else:
            _agrees(model, tp, me)


def _knows_nothing_but(model: Model, broker: int, keys: set[str | int]) -> None:
    """Handle a broker's first update: other partitions do not exist for the broker."""
    for tp, partition in model.partitions.items():
        if partition.leader is not None and tp not in keys:
            _believes(model, tp, broker, None)


def _heard(model: Model, tp: str, leader: int, leader_epoch: int, version: int) -> Belief | None:
    """Record a partition in an UpdateMetadata request that differs from the znode."""
    if leader == DURING_DELETE:
        return None
    for other in model.state.beliefs.get(tp, {}).values():
        if other is not None and (other.zk_version, other.leader) == (version, leader):
            return other
    return Belief(leader, leader_epoch, None, version)


# ---- keeping only who disagrees


def znode_state(partition: PartitionState) -> Belief | None:
    """Return the state in the znode."""
    if partition.leader is None:
        return None
    epoch, version = partition.leader_epoch, partition.zk_version
    assert epoch is not None
    assert version is not None
    return Belief(partition.leader, epoch, partition.isr, version)


def _believes(model: Model, tp: str, host: int, belief: Belief | None) -> None:
    partition = model.partitions.get(tp)
    if belief == (None if partition is None else znode_state(partition)):
        _agrees(model, tp, host)
    elif partition is not None:
        beliefs = model.state.beliefs
        beliefs[tp] = beliefs.get(tp, {}) | {host: belief}


def _agrees(model: Model, tp: str, host: int) -> None:
    beliefs = model.state.beliefs
    behind = beliefs.get(tp)
    if behind is None or host not in behind:
        return
    if len(behind) == 1:
        del beliefs[tp]
        return
    beliefs[tp] = behind = behind.copy()
    del behind[host]


HANDLERS: Final[Handlers] = {
    events.PartitionCached: partition_cached,
    events.ControllerStep: controller_step,
    events.MetadataUpdated: metadata_updated,
}
