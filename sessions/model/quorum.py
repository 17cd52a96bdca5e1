"""The members of the controller quorum and the brokers, and how far each has the metadata log."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from sessions.model.metadata_image import Metadata
from sessions.model.metadata_log import end_of
from sessions.model.states import CommittedRecord, QuorumState, ViewState

GONE: Final = ("stopped", "crashed", "fenced")
"""States of processes that are down, or that the cluster takes for down."""


class Member(Struct, frozen=True):
    """A host that reads the metadata log.

    ``role`` is a controller's in the quorum, or what a broker is to the controller. ``end`` is the
    offset up to which it has the log, ``behind`` the number of committed records after it;
    both are -1 if nothing is known.
    """

    id: int
    role: str
    state: str
    end: int
    behind: int
    is_leader: bool = False


def members(view: ViewState, metadata: Metadata) -> list[Member]:
    """Controllers first, then brokers, by id."""
    controllers = () if view.quorum is None else view.quorum.controllers
    hosts = [*sorted(controllers), *sorted(view.brokers)]
    return [member_of(view, metadata, host) for host in hosts]


def member_of(view: ViewState, metadata: Metadata, host: int) -> Member:
    """Return one host: the leader's view of it, and its own."""
    quorum = view.quorum
    assert quorum is not None
    if host in quorum.controllers:
        is_leader = host == quorum.leader
        end = leader_end(quorum) if is_leader else controller_end(quorum, host)
        role, state = controller_role(quorum, host), quorum.controllers[host]
    else:
        is_leader = False
        end = quorum.applied.get(host, -1)
        role, state = broker_role(metadata, host), view.brokers[host].state
    if view.is_observed and not quorum.log:
        return _observed(quorum, host, role, state, is_leader=is_leader)
    return Member(host, role, state, end, _behind(quorum.log, end), is_leader)


def _observed(quorum: QuorumState, host: int, role: str, state: str, *, is_leader: bool) -> Member:
    """Return a host as the quorum's leader tells clients; they cannot read the log itself."""
    if host not in quorum.controllers:
        role = "active" if state == "running" else "fenced"
    end = quorum.fetched.get(host, -1)
    return Member(host, role, state, end, max(0, end_of(quorum) - end), is_leader)


def controllers_running(quorum: QuorumState) -> int:
    """How many controllers' processes run."""
    return sum(state == "running" for state in quorum.controllers.values())


def controller_role(quorum: QuorumState, controller: int) -> str:
    """A controller's role in the quorum, as it knows it itself; a dash if its process is down."""
    is_gone = quorum.controllers.get(controller) in GONE
    return "-" if is_gone else quorum.roles.get(controller, "unattached")


def broker_role(metadata: Metadata, broker: int) -> str:
    """Return a broker's fields in the metadata."""
    registration = metadata.image.brokers.get(broker)
    if registration is None:
        return "unregistered"
    if registration.fenced:
        return "fenced"
    return "active" if registration.is_active else "shutting down"


def leader_end(quorum: QuorumState) -> int:
    """The least end of the leader's log: committed records, and those that others have fetched."""
    return max(end_of(quorum), *quorum.fetched.values(), 0)


def controller_end(quorum: QuorumState, member: int) -> int:
    """How far a controller has the log at least; -1 if nothing is known.

    The leader knows it from fetches, and the controller itself from what it has applied. One that
    led has all records of its epochs, since only a leader appends records.
    """
    end = max(quorum.fetched.get(member, -1), quorum.applied.get(member, -1))
    if end >= 0 and quorum.roles.get(member) == "follower":
        return end
    return max(end, _end_as_leader(quorum, member))


def _end_as_leader(quorum: QuorumState, member: int) -> int:
    """The end of the newest epoch that a controller led; -1 if it led none."""
    epoch, log = quorum.led.get(member), quorum.log
    if epoch is None or not log:
        return -1
    if epoch == log[-1].epoch:
        return log[-1].offset + 1
    return log[bisect_right(log, epoch, key=lambda record: record.epoch) - 1].offset + 1


def _behind(log: Sequence[CommittedRecord], end: int) -> int:
    if end < 0:
        return -1
    return len(log) - bisect_left(log, end, key=lambda record: record.offset)


def controller_of(state: ViewState) -> int | None:
    """The active controller: a broker, or in KRaft the leader of the quorum."""
    return state.controller.broker if state.quorum is None else state.quorum.leader
