"""Whether anybody can change the cluster's metadata: the controller, and what it depends on.

Processes and links say at once what ZooKeeper notices only when a session ends: a crashed
controller stays in ``/controller`` for as long as that takes.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from emulator.events import ZOOKEEPER
from sessions.model.health import SERVING
from sessions.model.quorum import controller_of, controllers_running
from sessions.model.states import BrokerState, QuorumState, ViewState

GONE = ("stopped", "crashed")
"""States of a process that has ended."""
ALL_PERCENT = 100
HELD_REQUESTS: Final = frozenset({"*", "Fetch", "FetchRequest"})
HELD_RESPONSES: Final = frozenset({"*", "FetchResponse"})
"""Names of messages: who holds them back on a link lets nobody fetch."""
TROUBLES: Final = ("", "zookeeper cut", "no controller", "zookeeper unreachable", "quorum lost")
"""The cluster's own troubles, in order of severity; the first is none.

``zookeeper cut``: some brokers that serve do not reach ZooKeeper.
"""


class Authority(Struct, frozen=True):
    """The controller of the cluster, and its trouble.

    ``controller`` is who is named as such, None if nobody is. ``trouble`` is why it does not
    control anything: empty if it does; ``none``, ``dead``, ``frozen``, ``starting``, ``cut off``
    (from ZooKeeper) or ``no majority`` (of the quorum). ``cut_off`` are the serving brokers that do
    not reach ZooKeeper, out of ``serving``. ``is_quorum_lost``: there is no majority of controllers
    that could commit a record or elect a leader.
    """

    controller: int | None
    trouble: str = ""
    cut_off: tuple[int, ...] = ()
    serving: int = 0
    is_quorum_lost: bool = False

    @property
    def is_zookeeper_unreachable(self) -> bool:
        """Whether no broker that serves requests reaches ZooKeeper."""
        return self.serving > 0 and len(self.cut_off) == self.serving


def has_begun(state: ViewState) -> bool:
    """Whether the cluster has had a controller: before, a missing one is no news."""
    epoch = state.controller.epoch if state.quorum is None else state.quorum.epoch
    return epoch is not None and bool(state.brokers)


def trouble_of(state: ViewState) -> int:
    """The cluster's own trouble, a place in :data:`TROUBLES`."""
    if not has_begun(state):
        return 0
    here = authority(state)
    if here.is_zookeeper_unreachable:
        return TROUBLES.index("zookeeper unreachable")
    if here.is_quorum_lost:
        return TROUBLES.index("quorum lost")
    if here.trouble:
        return TROUBLES.index("no controller")
    is_leaving = all(state.brokers[broker].state != "running" for broker in here.cut_off)
    return 0 if is_leaving else TROUBLES.index("zookeeper cut")


def authority(state: ViewState) -> Authority:
    """Return the controller at this moment."""
    controller = controller_of(state)
    if state.quorum is not None:
        trouble = _quorum_trouble(state, state.quorum)
        is_lost = trouble == "no majority" or (bool(trouble) and not _majority_runs(state.quorum))
        return Authority(controller, trouble, is_quorum_lost=is_lost)
    serving = [broker for broker in state.brokers.values() if broker.state in SERVING]
    cut = cut_links(state)
    lost = tuple(
        broker.id
        for broker in serving
        # a running cluster lists those brokers whose session lasts
        if not (state.is_observed or _reaches_zookeeper(broker, cut))
    )
    trouble = "none" if controller is None else _controller_trouble(state, controller)
    if not trouble and controller in lost:
        trouble = "cut off"
    return Authority(controller, trouble, lost, len(serving))


def _controller_trouble(state: ViewState, controller: int) -> str:
    broker = state.brokers.get(controller)
    if broker is None:
        return "dead"
    if broker.state == "starting" and broker.zk_connection == "disconnected":
        return "starting"  # what it was before still holds /controller, until that session ends
    return process_trouble(broker.state)


def process_trouble(state: str) -> str:
    """Return why a process in this state can do nothing; empty if it can."""
    if state in GONE:
        return "dead"
    return "frozen" if state == "frozen" else ""


def cut_links(state: ViewState) -> set[tuple[int, int]]:
    """The links that carry nothing, as (source, destination)."""
    dead = (link for link in state.links if link.cut or link.drop_percent >= ALL_PERCENT)
    return {(link.source, link.destination) for link in dead}


def severed_followers(state: ViewState) -> set[tuple[int, int]]:
    """The brokers between which no fetches pass, as (follower, leader)."""
    pairs = set[tuple[int, int]]()
    for source, destination in cut_links(state):
        pairs |= {(source, destination), (destination, source)}
    for link in state.links:
        if not HELD_REQUESTS.isdisjoint(link.holding):
            pairs.add((link.source, link.destination))
        if not HELD_RESPONSES.isdisjoint(link.holding):
            pairs.add((link.destination, link.source))
    return pairs


def _reaches_zookeeper(broker: BrokerState, cut: set[tuple[int, int]]) -> bool:
    both_directions = {(broker.id, ZOOKEEPER), (ZOOKEEPER, broker.id)}
    has_session = broker.session != 0 and broker.zk_connection != "expired"
    return has_session and not both_directions & cut


def _quorum_trouble(state: ViewState, quorum: QuorumState) -> str:
    leader = quorum.leader
    if not quorum.controllers:  # a history told by the metadata alone
        return ""
    if leader is None:
        return "none" if _majority_runs(quorum) else "no majority"
    trouble = process_trouble(quorum.controllers.get(leader, ""))
    return trouble or ("" if _has_majority(state, quorum, leader) else "no majority")


def _majority_runs(quorum: QuorumState) -> bool:
    """Whether enough controllers run to elect a leader."""
    return 2 * controllers_running(quorum) > len(quorum.controllers)


def _has_majority(state: ViewState, quorum: QuorumState, leader: int) -> bool:
    """Whether a majority of the controllers run and exchange messages with the leader."""
    cut = cut_links(state)
    followers: Iterable[int] = (
        controller
        for controller, process in quorum.controllers.items()
        if process == "running" and not {(controller, leader), (leader, controller)} & cut
    )
    return 2 * len(set(followers) | {leader}) > len(quorum.controllers)
