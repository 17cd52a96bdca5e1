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
        self.gone: dict[int, int] = {}
        self.expired: set[int] = set()

    def begin(self, tree: Mapping[str, Znode]) -> None:
        """Emit the znodes that exist at the beginning, parents first."""
        for path in sorted(tree):
            change = ZnodeChange(path, None, tree[path])
            self._tell(change, tree[path].czxid, tree[path].owner, None)

    def take(
        self, transaction: Transaction, changes: Sequence[ZnodeChange], cause: int = 0
    ) -> None:
        """Emit what a transaction changed."""
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
                self.gone[writer] = ended
                if reason == "expired":
                    self.expired.add(ended)
        for change in changes:
            self._tell(change, zxid, session, writer)
        kernel.cause = 0

    def _tell(self, change: ZnodeChange, zxid: int, session: int, writer: int | None) -> None:
        emit, path, after = self.kernel.emit, change.path, change.after
        cause = self.kernel.cause
        if after is None:
            seq = emit(events.ZnodeDeleted, path, zxid, writer)
            kind, data, version = "deleted", None, 0
        elif change.before is None:
            owner = session if after.owner else 0
            data, version, kind = after.text, after.version, "created"
            seq = emit(events.ZnodeCreated, path, data, owner, zxid, writer)
        else:
            data, version, kind = after.text, after.version, "changed"
            seq = emit(events.ZnodeChanged, path, data, version, zxid, writer)
        self.kernel.cause = seq
        if path.startswith(_BROKERS):
            self._broker(path.removeprefix(_BROKERS), after, cause)
        elif path in (znodes.CONTROLLER, znodes.CONTROLLER_EPOCH):
            self._controller(path, after)
        elif (tp := znodes.partition_of(path)) is not None:
            self._state(tp, data, version, seq)
        else:
            self.facts.changed(kind, path, data, version)
        self.kernel.cause = cause

    def _broker(self, name: str, after: Znode | None, cause: int) -> None:
        if not name.isdecimal():
            return
        broker, emit = int(name), self.kernel.emit
        if after is None:
            state = "fenced" if cause in self.expired else "stopped"
            emit(events.BrokerStateChanged, broker, state)
        else:
            self.gone.pop(broker, None)
            emit(events.BrokerRegistered, broker, after.czxid, after.owner, None)
            emit(events.BrokerStateChanged, broker, "running")

    def _controller(self, path: str, after: Znode | None) -> None:
        emit = self.kernel.emit
        if path == znodes.CONTROLLER_EPOCH:
            epoch = None if after is None else znodes.controller_epoch_in(after.text)
            if epoch is not None and after is not None:
                self.controller_epoch = epoch
                if self.controller != NOBODY:
                    emit(events.ControllerElected, self.controller, epoch, after.version)
            return
        broker = None if after is None else znodes.controller_in(after.text)
        if self.controller != NOBODY:
            reason = "its znode /controller is gone"
            emit(events.ControllerResigned, self.controller, self.controller_epoch, reason)
        self.controller = NOBODY if broker is None else broker

    def _state(self, tp: str, data: str | None, version: int, seq: int) -> None:
        """Tell a partition's state, because of the end of the broker's session that led to it."""
        before = self.states.get(tp)
        state = None if data is None else znodes.state_in(data)
        if before is not None and state is not None:
            left = [broker for broker in before.isr if broker not in state.isr]
            if before.leader != state.leader:
                left.insert(0, before.leader)
            self.kernel.cause = next((self.gone[one] for one in left if one in self.gone), seq)
        if state is not None and state.leader >= 0:
            strategy = _strategy(before, state)
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
        self.facts.changed("changed", znodes.state_path(tp), data, version)


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
