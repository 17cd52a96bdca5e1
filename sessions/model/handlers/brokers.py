"""Brokers, their sessions, the links between hosts, and the controller."""

from typing import Any, Final

from emulator import events
from emulator.releases.profiles import PROFILES
from sessions.model.folding import Handlers, Model
from sessions.model.handlers import cached_states, share_groups
from sessions.model.handlers.replicas import process_ended, process_paused
from sessions.model.health import SERVING
from sessions.model.states import UNKNOWN, BrokerState, LinkState

ENDED: Final = ("stopped", "crashed", "fenced")
"""States in which nothing of a broker counts but its disk; a running cluster calls it fenced."""


def cluster_created(model: Model, event: events.ClusterCreated) -> None:
    """Add the cluster's brokers; none is running yet."""
    state = model.state
    state.version, state.seed = event.version, event.seed
    state.stepwise, state.config = event.stepwise, event.config
    model.release_changed()
    if state.is_observed:
        state.znodes.clear()  # nobody tells a client of any
    racks: list[Any] = list(event.racks) or [None] * len(event.brokers)
    for broker, rack in zip(event.brokers, racks, strict=False):
        state.brokers[broker] = BrokerState(broker, rack or None, changed=event.seq)
    profile = PROFILES.get(event.version)
    if not (state.is_observed or profile is None or profile.has("zookeeper_config_node")):
        _without_config_node(model, event.seq)
    model.count_brokers()


def _without_config_node(model: Model, seq: int) -> None:
    node = model.znode("/zookeeper", seq)
    if node is not None and node.children.pop("config", 0) is None:
        node.cversion = -len(node.children)
        del model.state.znodes["/zookeeper/config"]
        model.znode_changes.current.append("/zookeeper/config")


def broker_state_changed(model: Model, event: events.BrokerStateChanged) -> None:
    """A process starts, runs, freezes or ends; once it has ended, only its disk is left."""
    did_serve = event.broker in model.serving
    broker = model.broker(event.broker, event.seq)
    broker.state = event.state
    if event.state in SERVING:
        broker.silent_us = 0
    elif not broker.silent_us:
        broker.silent_us = event.time_us
    if model.state.is_observed and event.state == "running":
        broker.registered, broker.zk_connection = True, "connected"  # or it would not be listed
        broker.broker_epoch = broker.broker_epoch or UNKNOWN
    model.count_brokers()
    if event.state in ENDED:
        broker.registered = broker.registered and not model.state.is_observed
        broker.zk_connection = "disconnected"
        broker.fetch_sent_us = {}
        process_ended(model, event.broker, event.seq)
        share_groups.process_ended(model, event.broker, event.seq)
        cached_states.forgotten(model, broker)
    elif did_serve != (event.broker in model.serving):
        process_paused(model, event.broker, event.seq)


def broker_registered(model: Model, event: events.BrokerRegistered) -> None:
    """The broker's znode is there."""
    broker = model.broker(event.broker, event.seq)
    broker.registered = True
    broker.rack = broker.rack if event.rack is None else event.rack
    broker.broker_epoch = event.broker_epoch
    broker.session = event.session
    model.watch_authority()


def session_created(model: Model, event: events.SessionCreated) -> None:
    """A host has a ZooKeeper session."""
    model.state.sessions[event.session] = event.host
    if event.host in model.state.brokers:
        model.broker(event.host, event.seq).session = event.session
        model.watch_authority()


def session_ended(model: Model, event: events.SessionEnded) -> None:
    """End a session; its host may already have another one."""
    model.state.sessions.pop(event.session, None)
    broker = model.state.brokers.get(event.host)
    if broker is not None and broker.session == event.session:
        model.broker(event.host, event.seq).session = 0
        model.watch_authority()


def zk_connection_changed(model: Model, event: events.ZkConnectionChanged) -> None:
    """Update a broker's own view of its session."""
    model.broker(event.broker, event.seq).zk_connection = event.state
    model.watch_authority()


def controller_elected(model: Model, event: events.ControllerElected) -> None:
    """A new controller."""
    controller = model.state.controller
    controller.broker, controller.epoch = event.broker, event.epoch
    controller.epoch_zk_version = event.epoch_zk_version
    controller.changed = event.seq
    model.watch_authority()


# ---- messages and links


def message_sent(model: Model, event: events.MessageSent) -> None:
    """Remember the last message, which may be held at once, and each broker's latest fetches."""
    model.last_sent = event
    if event.name == "FetchRequest" and event.source >= 0:
        broker = model.broker(event.source, event.seq)
        broker.fetch_sent_us[event.destination] = event.time_us
    elif event.name == "UpdateMetadataRequest":
        model.state.updates[event.seq] = event.detail
    elif event.name == "UpdateMetadataResponse":
        model.state.updates.pop(event.request, None)


def message_held(model: Model, event: events.MessageHeld) -> None:
    """Add a held message to its link: the last message sent."""
    state = model.state
    sent = model.last_sent
    if sent is not None and sent.seq == event.message:
        state.held[event.message] = (sent.source, sent.destination)
    elif state.sent[0] == event.message:
        state.held[event.message] = state.sent[1:]
    else:
        return
    _waiting(model, *state.held[event.message], 1)


def message_gone(model: Model, event: events.MessageReleased | events.MessageLost) -> None:
    """Remove a message that is no longer held; if it is lost, no host's state changes."""
    if isinstance(event, events.MessageLost):
        model.state.updates.pop(event.message, None)
    link = model.state.held.pop(event.message, None)
    if link is not None:
        _waiting(model, *link, -1)


def _waiting(model: Model, source: int, destination: int, step: int) -> None:
    for link in model.state.links:
        if link.source == source and link.destination == destination:
            link.waiting += step
            _drop_if_plain(model, link)
            return


def link_changed(model: Model, event: events.LinkChanged) -> None:
    """Update a link's faults; a link without faults or held messages is removed."""
    state = model.state
    key = (event.source, event.destination)
    link = next((k for k in state.links if (k.source, k.destination) == key), None)
    if link is None:
        link = LinkState(*key, cut=False, delay_us=0, drop_percent=0.0, holding=[])
        link.waiting = sum(key_of_message == key for key_of_message in state.held.values())
        state.links.append(link)
    link.cut, link.delay_us = event.cut, event.delay_us
    link.drop_percent, link.holding = event.drop_percent, event.holding
    _drop_if_plain(model, link)
    severed = model.severed
    model.watch_authority()
    for follower, leader in severed ^ model.severed:
        _fetches_changed(model, follower, leader, event.seq)


def _fetches_changed(model: Model, follower: int, leader: int, seq: int) -> None:
    """A broker can no longer fetch from another one, or can again: writes may wait for it."""
    if follower < 0 or leader < 0:
        return
    for tp in model.naming(follower):
        partition = model.partitions[tp]
        if partition.leader == leader and follower in partition.isr:
            model.judge(tp, model.partition(tp, seq))


def _drop_if_plain(model: Model, link: LinkState) -> None:
    if not (link.cut or link.delay_us or link.drop_percent or link.holding or link.waiting):
        model.state.links.remove(link)


HANDLERS: Final[Handlers] = {
    events.ClusterCreated: cluster_created,
    events.BrokerStateChanged: broker_state_changed,
    events.BrokerRegistered: broker_registered,
    events.SessionCreated: session_created,
    events.SessionEnded: session_ended,
    events.ZkConnectionChanged: zk_connection_changed,
    events.ControllerElected: controller_elected,
    events.MessageSent: message_sent,
    events.MessageHeld: message_held,
    events.MessageReleased: message_gone,
    events.MessageLost: message_gone,
    events.LinkChanged: link_changed,
}
