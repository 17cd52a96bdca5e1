"""How a leader stores ISR changes in ZooKeeper itself, and notifies the controller (up to 2.6).

Source: ``Partition.maybeShrinkIsr``, ``ReplicationUtils.updateLeaderAndIsr`` 0.8 to 2.6,
``ReplicaManager.maybePropagateIsrChanges`` 0.9 to 2.6.
"""

from msgspec import Struct, field

from emulator.broker.replication.partition_locks import PartitionLocks
from emulator.broker.replication.replica import Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.broker_effects import ProcessStarted
from emulator.replication.partition import AnnounceIsr, IsrStored, ProposeIsr
from emulator.zookeeper.client import ZkClient
from emulator.zookeeper.data import PartitionState
from emulator.zookeeper.errors import ConnectionLoss, ZooKeeperError
from emulator.zookeeper.metadata import PartitionMetadata

WRITE_RETRY_US = 100_000
"""How often a leader with an ISR change still to be written checks whether ZooKeeper is back."""

ISR_CHECK_US = 2_500_000
ISR_QUIET_US = 5_000_000
ISR_CAP_US = 60_000_000
"""How often a broker may notify, after how long without changes it does, and how long it may wait.

Source: ``ReplicaManager.IsrChangePropagationInterval`` and its neighbours, 0.9 to 2.6.
"""


class IsrNotificationsState(Struct, array_like=True):
    """Notifications to be sent; lost when the process ends.

    ``changes`` are partitions whose ISR this broker has written and not yet notified; the last
    write was at ``changed_us``, the last notification at ``told_us``.
    """

    changes: dict[str, None] = field(default_factory=dict)
    changed_us: int = 0
    told_us: int = 0


class ZkIsrManager:
    """Writes the ISR changes of the partitions that a broker leads, conditionally."""

    def __init__(
        self,
        context: BrokerContext,
        state: IsrNotificationsState,
        zk: ZkClient,
        replicas: Replicas,
        locks: PartitionLocks,
    ) -> None:
        """Act in ``context`` on ``replicas``; hold their ``locks`` while ``zk`` waits."""
        self.context = context
        self.kernel = context.kernel
        self.state = state
        self.metadata = PartitionMetadata(zk)
        self.replicas = replicas
        self.locks = locks
        self.expired_session_fails = context.profile.has("session_expiry_fails_requests")
        self.notifies = context.profile.has("isr_change_notifications")

    # ---- storing a change

    def propose(self, replica: Replica, effect: ProposeIsr) -> None:
        self._write(replica, effect)

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
            version = self.metadata.write_isr(replica.tp, state, replica.zk_version)
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

    # ---- ISR change notifications (0.9 to 2.6)

    def start(self, _effect: ProcessStarted) -> None:
        """Start the interval between notifications at the process start (lastIsrPropagationMs)."""
        self.state.told_us = self.kernel.now

    def announce(self, replica: Replica, _effect: AnnounceIsr) -> None:
        """Notify the controller of a change that was written, soon."""
        if not self.notifies:
            return
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
            self.metadata.announce(state.changes)
        except ZooKeeperError:
            context.later("isr-propagation", ISR_CHECK_US)
            return
        state.changes = {}
        state.told_us = now
