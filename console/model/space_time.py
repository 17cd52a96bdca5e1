"""The contents of a space-time diagram: where events happen, and which belong together."""

from collections.abc import Sequence
from typing import Final

from console.model.reader import EventReader
from emulator import events
from emulator.events import CLIENTS, ZOOKEEPER, Event
from sessions.model.states import ViewState

AFTER_MAX: Final = 4_096
"""How far after an event its effects are searched."""
FOLLOWING_MAX: Final = 200
"""The most effects that are shown."""

AT_ZOOKEEPER: Final = (
    events.ZnodeCreated,
    events.ZnodeChanged,
    events.ZnodeDeleted,
    events.SessionCreated,
    events.SessionEnded,
    events.WatchFired,
    events.PartitionStateChanged,
    events.PartitionStateRemoved,
    events.TopicCreated,
    events.TopicDeleted,
    events.PartitionsAdded,
    events.ReplicasAssigned,
    events.ConfigChanged,
    events.MetadataRecordCommitted,
)
"""What is written there, or noticed there; in KRaft, what its controllers write."""
ON_THE_WAY: Final = (
    events.LinkChanged,
    events.MessageLost,
    events.MessageHeld,
    events.MessageReleased,
)
"""What happens to messages between hosts."""


def place_of(event: Event) -> int | None:
    """The host at which an event happens; None for a message between two.

    What is asked of the cluster, and what is found out about records, counts as the clients'.
    """
    if isinstance(event, ON_THE_WAY):
        return None
    if isinstance(event, AT_ZOOKEEPER):
        return ZOOKEEPER
    for field in ("source", "controller", "broker", "host"):
        number = getattr(event, field, None)
        if isinstance(number, int):
            return number
    return CLIENTS


def hosts_of(state: ViewState) -> dict[int, str]:
    """The names of clients, who keeps the metadata (ZooKeeper, or controllers), and brokers."""
    controllers = () if state.quorum is None else sorted(state.quorum.controllers)
    keepers = {controller: f"ctrl {controller}" for controller in controllers} or {ZOOKEEPER: "zk"}
    return {
        CLIENTS: "clients",
        **keepers,
        **{broker: f"broker {broker}" for broker in state.brokers},
    }


def keeper_of(state: ViewState) -> int | None:
    """Where metadata is written: ZooKeeper, or the leader of KRaft's quorum."""
    return ZOOKEEPER if state.quorum is None else state.quorum.leader


def following(reader: EventReader, seq: int) -> list[Event]:
    """The direct and indirect effects of an event, among the events near it."""
    known, followers = {seq}, []
    for event in reader.page(seq + 1, seq + AFTER_MAX):
        if event.cause in known:
            known.add(event.seq)
            followers.append(event)
            if len(followers) == FOLLOWING_MAX:
                break
    return followers


def fates_of(shown: Sequence[Event]) -> dict[int, str]:
    """Why messages did not arrive, by their numbers, as far as these events say."""
    return {event.message: event.reason for event in shown if isinstance(event, events.MessageLost)}
