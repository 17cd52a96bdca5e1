"""When a leader shrinks the ISRs of its partitions: the periodic isr-expiration task.

Which changes to propose is decided in :mod:`emulator.replication.partition`. How a change is stored
depends on how the broker belongs to its cluster: through the controller
(:mod:`emulator.broker.replication.alter_partition_manager`), or by the leader itself
(:mod:`emulator.broker.zookeeper_membership.zk_isr_manager`).
"""

from collections.abc import Callable, Mapping

from emulator import events
from emulator.broker.replication.partition_locks import PartitionLocks
from emulator.broker.replication.replica import LEADER, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.replication.partition import SHRINK, ExpireIsr, ProposeIsr


class IsrManager:
    """Shrinks the ISRs of the partitions that a broker leads."""

    def __init__(
        self,
        context: BrokerContext,
        replicas: Replicas,
        session_fetches: Callable[[Replica], Mapping[int, int]],
        last_fetches: Callable[[], Mapping[int, int]],
        locks: PartitionLocks,
    ) -> None:
        """Act in ``context`` on ``replicas``, up to a partition whose lock is held.

        ``session_fetches`` returns when the followers of a replica last fetched, ``last_fetches``
        when each follower did (microseconds).
        """
        self.context = context
        self.kernel = context.kernel
        self.profile = context.profile
        self.replicas = replicas
        self.session_fetches = session_fetches
        self.last_fetches = last_fetches
        self.locks = locks

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

    def change_proposed(self, replica: Replica, effect: ProposeIsr) -> None:
        """Emit the event that a leader wants to change an ISR, before the change is stored."""
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
