"""The events of a transaction log, as an emulated cluster with ZooKeeper emits them.

Sessions and znodes are told as they are; what they mean for topics, partitions and configurations
is told by the same code (:class:`emulator.zookeeper.metadata.ZnodeFacts`). A broker whose
registration is gone is called ``fenced`` if its session expired: it may have died, hang or be cut
off. Logs of replicas and high watermarks appear in no event, because nobody wrote them down.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from emulator import events
from emulator.events import Event
from emulator.events.base import CLIENTS
from emulator.protocol import PartitionInfo
from emulator.zookeeper import data as znodes
from emulator.zookeeper.metadata import ZnodeFacts
from sessions.own_cluster.formats import zookeeper_log
from sessions.own_cluster.formats.zookeeper_log import Transaction
from sessions.own_cluster.zookeeper_history.znode_tree import Znode, ZnodeChange
from sessions.postmortem.events import US_PER_MS, WallClockEvents

NOBODY: Final = -1
_BROKERS: Final = f"{znodes.BROKER_IDS}/"


class ZnodeEvents(WallClockEvents):
    """Turns transactions into events for ``observers``.

    ``brokers_of`` names the broker of each session that ever registered one.
    """

    def __init__(
        self,
        observers: Sequence[Callable[[Event], None]],
        begin_us: int,
        release: str,
        brokers_of: Mapping[int, int],
    ) -> None:
        """Emit that the cluster is there at ``begin_us``."""
        super().__init__(observers, begin_us, release)
        self.brokers_of = brokers_of
        self.controller = NOBODY
        self.controller_epoch = 0
        self.states: dict[str, PartitionInfo] = {}
        self.facts = ZnodeFacts(self.kernel.emit, self.states, {}, {})
        self.session_ends: dict[int, int] = {}
        self.expired: set[int] = set()

    def begin(self, tree: Mapping[str, Znode]) -> None:
        """Emit the znodes that exist at the beginning, parents first."""
        for path in sorted(tree):
            change = ZnodeChange(path, None, tree[path])
            self._emit_change(change, tree[path].czxid, tree[path].owner, None)

    def take(
        self, transaction: Transaction, changes: Sequence[ZnodeChange], cause: int = 0
    ) -> None:
        self.go_to(transaction.time_ms * US_PER_MS)
        kernel, zxid, session = self.kernel, transaction.zxid, transaction.session
        kernel.cause = cause
        writer = self.brokers_of.get(session)
        host = CLIENTS if writer is None else writer
        if transaction.type == zookeeper_log.CREATE_SESSION:
            timeout = transaction.operations[0].timeout_ms
            kernel.emit(events.SessionCreated, session, host, timeout, zxid)
        elif transaction.type == zookeeper_log.CLOSE_SESSION:
            reason = "closed" if transaction.cxid else "expired"
            ended = kernel.emit(events.SessionEnded, session, host, reason, zxid)
            kernel.cause = ended
            if writer is not None:
                self.session_ends[writer] = ended
                if reason == "expired":
                    self.expired.add(ended)
        for change in changes:
            self._emit_change(change, zxid, session, writer)
        kernel.cause = 0

    def _emit_change(
        self, change: ZnodeChange, zxid: int, session: int, writer: int | None
    ) -> None:
        emit, path, znode = self.kernel.emit, change.path, change.after
        cause = self.kernel.cause
        if znode is None:
            seq = emit(events.ZnodeDeleted, path, zxid, writer)
            kind, text, version = "deleted", None, 0
        elif change.before is None:
            owner = session if znode.owner else 0
            text, version, kind = znode.text, znode.version, "created"
            seq = emit(events.ZnodeCreated, path, text, owner, zxid, writer)
        else:
            text, version, kind = znode.text, znode.version, "changed"
            seq = emit(events.ZnodeChanged, path, text, version, zxid, writer)
        self.kernel.cause = seq
        if path.startswith(_BROKERS):
            self._broker(path.removeprefix(_BROKERS), znode, cause)
        elif path in (znodes.CONTROLLER, znodes.CONTROLLER_EPOCH):
            self._controller(path, znode)
        elif (tp := znodes.partition_of(path)) is not None:
            self._state(tp, text, version, seq)
        else:
            self.facts.changed(kind, path, text, version)
        self.kernel.cause = cause

    def _broker(self, name: str, znode: Znode | None, cause: int) -> None:
        if not name.isdecimal():
            return
        broker, emit = int(name), self.kernel.emit
        if znode is None:
            state = "fenced" if cause in self.expired else "stopped"
            emit(events.BrokerStateChanged, broker, state)
        else:
            self.session_ends.pop(broker, None)
            emit(events.BrokerRegistered, broker, znode.czxid, znode.owner, None)
            emit(events.BrokerStateChanged, broker, "running")

    def _controller(self, path: str, znode: Znode | None) -> None:
        emit = self.kernel.emit
        if path == znodes.CONTROLLER_EPOCH:
            epoch = None if znode is None else znodes.controller_epoch_in(znode.text)
            if epoch is not None and znode is not None:
                self.controller_epoch = epoch
                if self.controller != NOBODY:
                    emit(events.ControllerElected, self.controller, epoch, znode.version)
            return
        broker = None if znode is None else znodes.controller_in(znode.text)
        if self.controller != NOBODY:
            reason = "its znode /controller is gone"
            emit(events.ControllerResigned, self.controller, self.controller_epoch, reason)
        self.controller = NOBODY if broker is None else broker

    def _state(self, tp: str, text: str | None, version: int, seq: int) -> None:
        """Tell a partition's state, because of the end of the broker's session that led to it."""
        former = self.states.get(tp)
        state = None if text is None else znodes.state_in(text)
        if former is not None and state is not None:
            removed = [broker for broker in former.isr if broker not in state.isr]
            if former.leader != state.leader:
                removed.insert(0, former.leader)
            ends = (self.session_ends.get(replica) for replica in removed)
            self.kernel.cause = next(filter(None, ends), seq)
        if state is not None and state.leader >= 0:
            strategy = _strategy(former, state)
            if strategy is not None:
                self.kernel.emit(
                    events.LeaderElected,
                    tp,
                    self.controller,
                    state.leader,
                    state.leader_epoch,
                    state.isr,
                    strategy,
                )
        self.facts.changed("changed", znodes.state_path(tp), text, version)


def _strategy(before: PartitionInfo | None, after: znodes.PartitionState) -> str | None:
    """How a leader was chosen, as far as the states before and after tell."""
    if before is None:
        return "New"
    if before.leader == after.leader:
        return None
    if after.leader not in before.isr:
        return "Unclean"
    if before.leader >= 0 and before.replicas[:1] == [after.leader]:
        return "Preferred"
    return "Offline"
