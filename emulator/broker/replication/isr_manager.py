"""How a leader persists ISR changes and notifies the controller of them.

Up to 2.6 it writes them to ZooKeeper conditionally; from 2.7 on it asks the controller (KIP-497).
Which changes to propose is decided in :mod:`emulator.replication.partition`.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from emulator import events
from emulator.broker.replication.partition_locks import PartitionLocks
from emulator.broker.replication.replica import LEADER, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.protocol import (
    AlterIsrItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    PartitionInfo,
)
from emulator.replication.partition import (
    RETRY_CHANGE,
    SHRINK,
    AnnounceIsr,
    ExpireIsr,
    IsrRefused,
    IsrStored,
    ProposeIsr,
)
from emulator.zookeeper.data import PartitionState
from emulator.zookeeper.errors import ConnectionLoss, ZooKeeperError

ALTER_RETRY_US = 50_000
"""How long a leader waits before it retries an unanswered AlterPartition."""
TIMEOUT = "alter-partition-timeout"

WRITE_RETRY_US = 100_000
"""How often a leader with an ISR change still to be written checks whether ZooKeeper is back."""

ISR_CHECK_US = 2_500_000
ISR_QUIET_US = 5_000_000
ISR_CAP_US = 60_000_000
"""How often a broker may notify, after how long without changes it does, and how long it may wait.

Source: ``ReplicaManager.IsrChangePropagationInterval`` and its neighbours, 0.9 to 2.6.
"""


class IsrManagerState(Struct, array_like=True):
    """ISR changes to be stored and notifications to be sent; lost when the process ends.

    ``pending`` are partitions with a change for the controller, and the broker epochs of the
    members that were known when it was proposed (KIP-903). ``unanswered`` is the request for some
    of them, sent again as it is until it is answered; ``request`` is its number in flight (0:
    none). ``controller`` is the presumed controller (-1: unknown), kept until a connection to it
    breaks or it says that it is not the controller. ``changes`` are partitions whose ISR this
    broker has written and not yet notified; the last write was at ``changed_us``, the last
    notification at ``told_us``.
    """

    pending: dict[str, list[int]] = field(default_factory=dict)
    unanswered: AlterPartitionRequest | None = None
    request: int = 0
    controller: int = -1
    changes: dict[str, None] = field(default_factory=dict)
    changed_us: int = 0
    told_us: int = 0


class IsrManager:
    """Shrinks and expands the ISRs of the partitions that a broker leads."""

    def __init__(
        self,
        context: BrokerContext,
        state: IsrManagerState,
        replicas: Replicas,
        session_fetches: Callable[[Replica], Mapping[int, int]],
        last_fetches: Callable[[], Mapping[int, int]],
        locks: PartitionLocks,
    ) -> None:
        """Act in ``context`` on ``replicas``; hold their ``locks`` while ZooKeeper is unavailable.

        ``session_fetches`` returns when the followers of a replica last fetched, ``last_fetches``
        when each follower did (microseconds).
        """
        self.context = context
        self.kernel = context.kernel
        self.profile = context.profile
        self.state = state
        self.replicas = replicas
        self.session_fetches = session_fetches
        self.last_fetches = last_fetches
        self.locks = locks
        self.expired_session_fails = self.profile.has("session_expiry_fails_requests")
        self.fails_to_retry = self.profile.has("unexpected_alter_isr_error_is_final")
        self.writes_itself = self.profile.has("isr_write_holds_partition_lock")
        self.broker_epochs: Callable[[Replica, list[int]], list[int]] = _unknown
        replicas.on(ProposeIsr, self._propose)
        if self.profile.has("isr_change_notifications"):
            replicas.on(AnnounceIsr, self._announce)

    def start(self) -> None:
        """Start the interval between notifications at the process start (lastIsrPropagationMs)."""
        self.state.told_us = self.kernel.now

    # ---- the isr-expiration task

    def period_us(self) -> int:
        """The period of the isr-expiration task: the maximum lag time, from 0.10.2 half of it."""
        lag_us = self.context.config.replica_lag_time_max_us
        return lag_us // 2 if self.profile.has("isr_expiration_at_half_lag_time") else lag_us

    def expire(self) -> None:
        """Remove out-of-sync members from the ISR of every partition led here.

        The task has a single thread: at a locked partition it waits, and reaches no others.
        """
        replicas, held = self.replicas, self.locks.state.held
        for replica in [replicas.by_name[tp] for tp in self._suspects() if tp in replicas.by_name]:
            if held and (replica.tp in held or self.locks.expiring):
                return
            if replica.role == LEADER:
                is_served = replicas.served(replica.tp) is not None
                replicas.do(replica, ExpireIsr(self.session_fetches(replica) if is_served else {}))

    def _suspects(self) -> list[str]:
        """The partitions in which a follower may be out of sync.

        Those with a follower that lags; in releases where being caught up is not enough, also those
        whose fetches are refused, and all of them once any follower has been silent.
        """
        since_us = self.kernel.now - self.context.config.replica_lag_time_max_us
        silent = any(fetch_us < since_us for fetch_us in self.last_fetches().values())
        lagging = self.replicas.index.lagging
        if self.profile.has("in_sync_at_log_end"):
            return list(lagging)
        if silent or self.context.stepwise:
            return list(self.replicas.by_name)
        return list(lagging | dict.fromkeys(self.replicas.unserved()))

    # ---- storing a change

    def _propose(self, replica: Replica, effect: ProposeIsr) -> None:
        # The first shrink of a periodic task makes the task the cause of this and what follows.
        if effect.change == SHRINK and self.kernel.cause == 0:
            self.kernel.fired(self.context.id, "isr-expiration")
        self.context.emit(
            events.IsrChangeStarted,
            replica.tp,
            self.context.id,
            effect.isr,
            effect.change,
            effect.follower,
        )
        if self.writes_itself:
            self._write(replica, effect)
        else:
            self.state.pending[replica.tp] = self.broker_epochs(replica, effect.isr)
            self.send_pending()

    def _write(self, replica: Replica, proposed: ProposeIsr) -> bool:
        """Kafka up to 2.6: conditional setData with the version that the leader knows.

        A version mismatch is skipped: the controller has written, and its LeaderAndIsr is on the
        way. Without a response the partition's lock is held until there is one, and this returns
        False.
        """
        isr = proposed.isr
        epoch = replica.leader_epoch
        state = PartitionState(replica.controller_epoch, self.context.id, epoch, isr)
        try:
            version = self.context.metadata.write_isr(replica.tp, state, replica.zk_version)
        except ConnectionLoss:
            self.locks.hold(replica.tp, proposed)
            self.context.later("isr-write", WRITE_RETRY_US)
            return False
        except ZooKeeperError:
            return True
        self.replicas.do(replica, IsrStored(isr, version, epoch))
        return True

    def write_again(self) -> None:
        """Retry the writes for which locks are held."""
        for tp, proposed in list(self.locks.state.held.items()):
            if self._write(self.replicas.by_name[tp], proposed):
                self.locks.release(tp)

    def session_expired(self) -> None:
        """Fail the pending writes from 1.1 on; in earlier releases the next session retries."""
        if self.expired_session_fails:
            for tp in list(self.locks.state.held):
                self.locks.release(tp)

    def controller_known(self) -> None:
        """Remember the new controller, unless another broker is still presumed to be it.

        Source: ``BrokerToControllerRequestThread.doWork``. A leader may therefore keep asking a
        controller that was replaced long ago, until a request to it fails.
        """
        self._look_up_controller()
        self.send_pending()

    def _look_up_controller(self) -> None:
        """Look up the controller if none is presumed: a live broker, or the quorum's leader."""
        process = self.context.process
        known = self.context.voters or process.live_brokers
        if self.state.controller < 0 and process.known_controller in known:
            self.state.controller = process.known_controller

    def send_pending(self) -> None:
        """Send the pending changes to the controller; one request is in flight at a time."""
        state = self.state
        self._look_up_controller()
        if state.request or not (state.pending or state.unanswered):
            return
        if state.controller < 0:
            self.context.later("alter-partition", ALTER_RETRY_US)
            return
        if state.unanswered is None:
            state.unanswered = self._next_request()
        if state.unanswered is not None:
            network, config = self.context.network, self.context.config
            state.request = network.send(self.context.id, state.controller, state.unanswered)
            at_us = self.kernel.now + config.controller_socket_timeout_us
            self.context.timers.set_deadline(TIMEOUT, "", at_us)

    def _next_request(self) -> AlterPartitionRequest | None:
        """The request for all pending changes; None if none of them is still wanted."""
        state = self.state
        items: dict[str, AlterIsrItem] = {}
        for tp, epochs in list(state.pending.items()):
            replica = self.replicas.get(tp)
            if replica is None or replica.pending is None or replica.role != LEADER:
                del state.pending[tp]
                continue
            isr = replica.pending.isr
            topic_id = self.context.topic_id(tp)
            items[tp] = AlterIsrItem(
                replica.leader_epoch, isr, replica.zk_version, epochs, topic_id
            )
        if not items:
            return None
        return AlterPartitionRequest(self.context.id, self.context.process.broker_epoch, items)

    def on_response(self, message: AlterPartitionResponse) -> None:
        """Handle the controller's response (Partition.handleAlterPartitionResponse)."""
        state = self.state
        if message.request != state.request:
            return
        state.request = 0
        errors = {message.error, *(error for error, _ in message.partitions.values())}
        if "NOT_CONTROLLER" in errors:
            # It is sent again unchanged (``NodeToControllerRequestThread`` keeps the request), so
            # what was proposed in the meantime waits for the response to it.
            self.look_again()
            return
        sent, state.unanswered = state.unanswered, None
        if message.error != "NONE":
            self.context.later("alter-partition", ALTER_RETRY_US)
            return
        for tp, (error, info) in message.partitions.items():
            replica = self.replicas.get(tp)
            # The response is to an older proposal: the newer one stays pending, and is sent next.
            if replica is not None and sent is not None and _is_another(replica, sent):
                continue
            epochs = state.pending.pop(tp, [])
            if replica is None or replica.pending is None or replica.role != LEADER:
                continue
            if self._must_retry(replica, error, info):
                if self.fails_to_retry and self.profile.has("failed_isr_retry_ends_response"):
                    self._end_response()
                    return
                if not self.fails_to_retry:
                    state.pending[tp] = epochs
        self.send_pending()

    def _must_retry(self, replica: Replica, error: str, info: PartitionInfo | None) -> bool:
        """Let a partition know the controller's response; return whether it wants to try again."""
        if error == "NONE" and info is not None:
            stored = IsrStored(list(info.isr), info.zk_version, info.leader_epoch)
            self.replicas.do(replica, stored)
            return False
        return RETRY_CHANGE in self.replicas.do(replica, IsrRefused(error))

    def _end_response(self) -> None:
        """Stop processing: 2.7 and 2.8 throw "Failed to enqueue ISR change state" here.

        The other partitions of the request are sent again: in 2.7 soon, in 2.8 with the next
        change.
        """
        if self.profile.has("alter_isr_sent_periodically"):
            self.context.later("alter-partition", ALTER_RETRY_US)

    def connection_lost(self, peer: int) -> None:
        """Retry after a backoff when the connection to the controller breaks."""
        if self.state.request and peer == self.state.controller:
            self.look_again()

    def check_timeout(self) -> None:
        """Retry the pending changes if the request in flight has timed out."""
        if self.context.timers.overdue(TIMEOUT) and self.state.request:
            self.context.network.give_up(self.context.id, self.state.controller)
            self.look_again()

    def look_again(self) -> None:
        """Send the request again, to the controller that is known now.

        If that is the node which failed, wait for 50 ms (``NodeToControllerRequestThread``).
        """
        state = self.state
        failed, state.request, state.controller = state.controller, 0, -1
        if self.context.process.known_controller in (-1, failed):
            self.context.later("alter-partition", ALTER_RETRY_US)
        else:
            self.send_pending()

    # ---- ISR change notifications (0.9 to 2.6: leaders write the ISR themselves)

    def _announce(self, replica: Replica, _effect: AnnounceIsr) -> None:
        self.state.changes[replica.tp] = None
        self.state.changed_us = self.kernel.now
        if not self.context.stepwise:
            self.context.later("isr-propagation", ISR_CHECK_US)

    def propagate_changes(self) -> None:
        """Notify every 2.5 s, once there was no change for 5 s or no notification for 60 s."""
        state, context = self.state, self.context
        if not state.changes:
            return
        now = self.kernel.now
        quiet = now - state.changed_us >= ISR_QUIET_US
        if not (quiet or now - state.told_us >= ISR_CAP_US):
            context.later("isr-propagation", ISR_CHECK_US)
            return
        try:
            context.metadata.announce(state.changes)
        except ZooKeeperError:
            context.later("isr-propagation", ISR_CHECK_US)
            return
        state.changes = {}
        state.told_us = now


def _is_another(replica: Replica, sent: AlterPartitionRequest) -> bool:
    """Whether a change is pending that was proposed for a newer state than the one sent."""
    asked = sent.partitions.get(replica.tp)
    if asked is None or replica.pending is None:
        return False
    return (replica.leader_epoch, replica.zk_version) != (asked.leader_epoch, asked.zk_version)


def _unknown(_replica: Replica, _isr: list[int]) -> list[int]:
    """Report unknown broker epochs: there are none where ZooKeeper keeps the metadata."""
    return []
