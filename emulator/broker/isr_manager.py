"""How a leader changes the ISR.

By a conditional ZooKeeper write (up to 2.6), or by asking the controller (2.7+, KIP-497).
"""

from typing import TYPE_CHECKING

from emulator import events
from emulator.broker.replica import LEADER, PendingIsr, Replica
from emulator.protocol import (
    AlterIsrItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    PartitionInfo,
)
from emulator.replication import in_sync_replicas
from emulator.zookeeper.data import PartitionState
from emulator.zookeeper.errors import ZooKeeperError

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

ALTER_RETRY_US = 50_000
"""How long a leader waits before it sends an unanswered AlterPartition again."""

ALTER_TIMEOUT_US = 30_000_000
"""How long it waits for the answer."""


class IsrManager:
    """Shrinks and grows the ISRs of the partitions that a broker leads."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.kernel = broker.world.kernel
        self.profile = broker.world.profile
        self.by_controller = self.profile.has("alter_isr")

    # ---- deciding

    def period_us(self) -> int:
        """How often the isr-expiration task runs: each lag time, from 0.10.2 each half of it."""
        lag_us = self.broker.config.replica_lag_time_max_us
        return lag_us // 2 if self.profile.has("half_lag_expiry") else lag_us

    def expire(self) -> None:
        """The isr-expiration task.

        Every partition led here drops the members that are out of sync.
        """
        replicas = self.broker.state.replicas
        for replica in [replicas[tp] for tp in self._suspects() if tp in replicas]:
            if replica.role == LEADER and len(replica.isr) > 1 and replica.pending is None:
                out = [f for f in replica.isr if self._is_out(replica, f)]
                if out:
                    if self.kernel.cause == 0:
                        self.kernel.fired(self.broker.id, "isr-expiration")
                    self._change(
                        replica, [b for b in replica.isr if b not in out], "shrink", out[0]
                    )

    def _suspects(self) -> list[str]:
        """The partitions in which a follower may be out of sync.

        Those with a follower that lacks something; where having everything does not suffice, all of
        them once a follower has been silent.
        """
        state = self.broker.state
        silent_since_us = self.kernel.now - self.broker.config.replica_lag_time_max_us
        silent = any(each.last_fetch_us < silent_since_us for each in state.fetch_sessions.values())
        if not self.profile.has("in_sync_at_log_end") and (silent or self.world.stepwise):
            return list(state.replicas)
        return list(state.lagging)

    def _is_out(self, replica: Replica, follower: int) -> bool:
        remote = replica.remotes.get(follower)
        if remote is None:
            return False
        end = replica.log.end
        remote.last_caught_up_us = self.broker.leader.caught_up_us(replica, follower)
        return in_sync_replicas.is_out_of_sync(
            self.profile,
            remote,
            end,
            self.kernel.now,
            lag_time_us=self.broker.config.replica_lag_time_max_us,
            lag_messages=self.broker.config.replica_lag_max_messages,
        )

    def maybe_expand(self, replica: Replica, follower: int) -> None:
        """After a fetch of a follower outside the ISR: let it in if it has what it takes."""
        if replica.pending is not None or not self.broker.may_be_isr_member(follower):
            return
        leo = replica.remotes[follower].leo
        if in_sync_replicas.may_join_isr(
            self.profile, leo, replica.high_watermark, replica.epoch_start
        ):
            self._change(replica, [*replica.isr, follower], "expand", follower)

    # ---- doing

    def _change(self, replica: Replica, isr: list[int], change: str, follower: int) -> None:
        self.kernel.emit(events.IsrChangeStarted, replica.tp, self.broker.id, isr, change, follower)
        if self.by_controller:
            replica.pending = PendingIsr(isr, change)
            self.broker.state.pending_isr[replica.tp] = None
            self.send_pending()
        else:
            self._write(replica, isr)

    def _write(self, replica: Replica, isr: list[int]) -> None:
        """Kafka up to 2.6: conditional setData with the version that the leader knows.

        A mismatch is skipped.
        """
        state = PartitionState(replica.controller_epoch, self.broker.id, replica.leader_epoch, isr)
        try:
            version = self.broker.context.metadata.write_isr(replica.tp, state, replica.zk_version)
        except ZooKeeperError:
            return
        self.broker.isr_changed(replica, isr, version)
        self.broker.leader.check_high_watermark(replica, "isr")

    def send_pending(self) -> None:
        """Send the controller what it has not been asked yet.

        One request is under way at a time.
        """
        state = self.broker.state
        controller = self.broker.state.process.known_controller
        if state.alter_request or not state.pending_isr or controller < 0:
            if state.pending_isr and controller < 0:
                self.broker.later("alter-partition", ALTER_RETRY_US)
            return
        items: dict[str, AlterIsrItem] = {}
        for tp in list(state.pending_isr):
            replica = state.replicas.get(tp)
            if replica is None or replica.pending is None or replica.role != LEADER:
                del state.pending_isr[tp]
                continue
            items[tp] = AlterIsrItem(replica.leader_epoch, replica.pending.isr, replica.zk_version)
        if items:
            request = AlterPartitionRequest(self.broker.id, state.broker_epoch, items)
            state.alter_request = self.world.network.send(self.broker.id, controller, request)
            state.alter_sent_us = self.kernel.now
            self.broker.later("alter-partition-timeout", ALTER_TIMEOUT_US)

    def answered(self, message: AlterPartitionResponse) -> None:
        """Take the controller's answer (Partition.handleAlterIsrResponse)."""
        state = self.broker.state
        if message.request != state.alter_request:
            return
        state.alter_request = 0
        if message.error != "NONE":
            self.broker.later("alter-partition", ALTER_RETRY_US)
            return
        for tp, (error, info) in message.partitions.items():
            state.pending_isr.pop(tp, None)
            replica = state.replicas.get(tp)
            if replica is not None and replica.pending is not None and replica.role == LEADER:
                self._take_answer(replica, error, info)
        self.send_pending()

    def _take_answer(self, replica: Replica, error: str, info: PartitionInfo | None) -> None:
        if error == "NONE" and info is not None:
            if info.leader_epoch == replica.leader_epoch and info.zk_version >= replica.zk_version:
                replica.pending = None
                self.broker.isr_changed(replica, list(info.isr), info.zk_version)
                if self.profile.has("isr_answer_rechecks_hw"):
                    self.broker.leader.check_high_watermark(replica, "isr")
        elif error == "INELIGIBLE_REPLICA":
            replica.pending = None

    def connection_lost(self, peer: int) -> None:
        """The connection to the controller broke: ask again after a while."""
        state = self.broker.state
        if state.alter_request and peer == state.process.known_controller:
            self.retry_later()

    def check_timeout(self) -> None:
        """A time limit came: was the request under way sent so long ago?"""
        state = self.broker.state
        if state.alter_request and self.kernel.now - state.alter_sent_us >= ALTER_TIMEOUT_US:
            self.retry_later()
        elif state.alter_request:
            self.broker.arm("alter-partition-timeout", state.alter_sent_us + ALTER_TIMEOUT_US)

    def retry_later(self) -> None:
        """Give the request under way up and send what is pending again after 50 ms."""
        self.broker.state.alter_request = 0
        self.broker.later("alter-partition", ALTER_RETRY_US)
