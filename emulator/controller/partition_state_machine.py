"""The controller's decisions on partitions: creating, electing, taking replicas offline."""

import msgspec

from emulator import events
from emulator.controller.channels import Batch
from emulator.controller.context import NEW, OFFLINE, ONLINE, Part
from emulator.controller.replica_state_machine import REPLICA_OFFLINE, REPLICA_ONLINE
from emulator.protocol import PartitionInfo
from emulator.protocol.names import split
from emulator.replication import election as elections
from emulator.replication.election import Choice
from emulator.zookeeper import errors
from emulator.zookeeper.data import state_json, state_path


class ControllerMovedError(Exception):
    """Another broker is controller by now: this one has to resign."""


class StateJson(msgspec.Struct):
    """What a state znode holds."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: list[int]
    version: int = 1


_decode_state = msgspec.json.Decoder(StateJson).decode


class Partitions(Part):
    """The partition and replica changes of an active controller."""

    # ---- reading and writing state znodes

    def read(self, tp: str) -> PartitionInfo | None:
        """What the state znode says; None if there is none, or nothing that can be read."""
        node = self.world.zookeeper.find(state_path(tp))
        if node is None or node.data is None:
            return None
        try:
            found = _decode_state(node.data)
        except msgspec.MsgspecError:
            return None
        return PartitionInfo(
            found.leader,
            found.leader_epoch,
            found.isr,
            node.version,
            self.state.assignments.get(tp, []),
            found.controller_epoch,
        )

    def refresh(self, tp: str) -> PartitionInfo | None:
        """Read a partition's state anew, as every decision does: leaders write ISRs themselves.

        None: an outsider deleted the znode, or wrote what cannot be read, or (up to 2.0) a newer
        controller has written it; nothing is decided then.

        Raises:
            ControllerMovedError: a newer controller has written it (from 2.1).
        """
        found = self.read(tp)
        if found is None:
            return None
        if found.controller_epoch > self.state.epoch:
            if self.profile.has("controller_multi"):
                raise ControllerMovedError
            self.failed(tp, "Offline", f"controller {found.controller_epoch} has written it")
            return None
        self.remember(tp, found)
        return found

    def remember(self, tp: str, info: PartitionInfo) -> None:
        """Take what a state znode says into the cache; what is news there is an event."""
        known = self.state.infos.get(tp)
        self.state.infos[tp] = info
        if known is None or known.zk_version != info.zk_version:
            self._cached(tp, info)

    def _cached(self, tp: str, info: PartitionInfo) -> None:
        self.kernel.emit(
            events.PartitionCached,
            tp,
            self.context.id,
            info.leader,
            info.leader_epoch,
            info.isr,
            info.zk_version,
        )

    def check_office(self) -> None:
        """2.1+ (KAFKA-6082): every write checks the version of /controller_epoch."""
        if not self.profile.has("controller_multi"):
            return
        node = self.world.zookeeper.nodes.get("/controller_epoch")
        if node is None or node.version != self.state.epoch_zk_version:
            raise ControllerMovedError

    def write(self, tp: str, leader: int, isr: list[int], *, bump: bool = True) -> PartitionInfo:
        """Write a partition's state without an election."""
        info = self._write(tp, leader, isr, bump=bump)
        self._cached(tp, info)
        return info

    def _write(self, tp: str, leader: int, isr: list[int], *, bump: bool = True) -> PartitionInfo:
        """Write a partition's state under the version that is known.

        Read again and retry if it has moved.
        """
        state = self.state
        while True:
            known = state.infos[tp]
            epoch = known.leader_epoch + 1 if bump else known.leader_epoch
            self.check_office()
            data = state_json(leader, epoch, isr, state.epoch)
            try:
                version = self.world.zookeeper.set_data(
                    self.world, state_path(tp), data, known.zk_version
                )
            except errors.BadVersionError:
                found = self.read(tp)
                if found is None or found.controller_epoch > state.epoch:
                    raise ControllerMovedError from None
                state.infos[tp] = found
                isr = [b for b in isr if b in found.isr] or isr
                continue
            info = PartitionInfo(leader, epoch, isr, version, state.assignments[tp], state.epoch)
            state.infos[tp] = info
            return info

    # ---- new partitions

    def create(self, tps: list[str]) -> None:
        """New partitions: those with a live replica get a leader and their znodes."""
        batch = Batch()
        for tp in tps:
            if self.controller.machines.move_partition(tp, NEW):
                self._initialize(tp, batch)
        self.controller.channels.send(batch)

    def _initialize(self, tp: str, batch: Batch) -> None:
        state = self.state
        assigned = state.assignments[tp]
        choice = elections.initial(assigned, state.live)
        if choice is None:
            self.failed(tp, "New", "no assigned replica is alive")
            return
        self.check_office()
        zookeeper, world = self.world.zookeeper, self.world
        topic, _, number = tp.rpartition("-")
        base = f"/brokers/topics/{topic}/partitions"
        for path in (base, f"{base}/{number}"):
            if path not in zookeeper.nodes:
                zookeeper.create(world, 0, path, None)
        data = state_json(choice.leader, 0, choice.isr, state.epoch)
        try:
            zookeeper.create(world, 0, f"{base}/{number}/state", data)
        except errors.NodeExistsError:
            self.failed(tp, "New", "another controller has made its state")
            self._adopt(tp, batch)
            return
        info = PartitionInfo(choice.leader, 0, choice.isr, 0, assigned, state.epoch, is_new=True)
        state.infos[tp] = info
        self.controller.machines.move_partition(tp, ONLINE)
        self._elected(tp, info, "New")
        batch.lead(choice.isr, tp, info)

    def _adopt(self, tp: str, batch: Batch) -> None:
        """A partition that another controller has made: tell its brokers what it is."""
        state, info = self.state, self.refresh(tp)
        if info is not None:
            target = ONLINE if info.leader in state.live else OFFLINE
            self.controller.machines.move_partition(tp, target)
            batch.lead(self._live_assigned(tp), tp, info)

    def _elected(self, tp: str, info: PartitionInfo, strategy: str) -> None:
        self.kernel.emit(
            events.LeaderElected,
            tp,
            self.context.id,
            info.leader,
            info.leader_epoch,
            info.isr,
            strategy,
        )

    def failed(self, tp: str, strategy: str, reason: str) -> None:
        """State that nobody could be elected, and why."""
        self.kernel.emit(events.ElectionFailed, tp, self.context.id, strategy, reason)

    # ---- elections

    def elect_offline(self, tps: list[str], batch: Batch) -> None:
        """triggerOnlinePartitionStateChange: find leaders for partitions that have none."""
        state = self.state
        for tp in tps:
            if state.partitions.get(tp) == NEW:
                self._initialize(tp, batch)
                continue
            info = self.refresh(tp)
            if info is None:
                continue
            topic, _ = split(tp)
            choice = elections.offline(
                state.assignments[tp],
                info.isr,
                self._live(),
                unclean=self.world.unclean_election(self.context.id, topic),
                isr_order=self.profile.has("offline_election_in_isr_order"),
            )
            if choice is None:
                self.failed(tp, "Offline", f"no live replica in the ISR {info.isr}")
            else:
                strategy = "Offline" if choice.leader in info.isr else "Unclean"
                self.lead(tp, choice, strategy, batch)

    def _live(self) -> list[int]:
        return [b for b in self.state.live if b not in self.state.shutting_down]

    def lead(self, tp: str, choice: Choice, strategy: str, batch: Batch) -> None:
        """Write down a choice, state it, and tell the replicas."""
        if not self.controller.machines.move_partition(tp, ONLINE):
            return
        info = self._write(tp, choice.leader, choice.isr)
        self._elected(tp, info, strategy)
        batch.lead(self._live_assigned(tp), tp, info)

    def _live_assigned(self, tp: str) -> list[int]:
        live = self._live()
        return [b for b in self.state.assignments[tp] if b in live]

    def elect_preferred(self, tps: list[str]) -> None:
        """Let the first assigned replica lead where it is live, in sync and does not lead yet."""
        batch = Batch()
        state = self.state
        for tp in tps:
            info = self.refresh(tp)
            if info is None:
                continue
            choice = elections.preferred(state.assignments[tp], info.isr, self._live())
            if choice is None:
                self.failed(tp, "Preferred", "the preferred replica is not alive and in sync")
            elif choice.leader != info.leader or self.profile.has(
                "preferred_election_of_current_leader"
            ):
                self.lead(tp, choice, "Preferred", batch)
        self.controller.channels.send(batch)

    def elect_unclean(self, tp: str) -> str:
        """Elect a live replica, in sync or not, for a partition without a leader; Kafka's error."""
        state = self.state
        if state.partitions.get(tp) == ONLINE:
            return "ELECTION_NOT_NEEDED"
        info = self.refresh(tp)
        if info is None:
            return "ELIGIBLE_LEADERS_NOT_AVAILABLE"
        choice = elections.offline(
            state.assignments[tp], info.isr, self._live(), unclean=True, isr_order=False
        )
        if choice is None:
            self.failed(tp, "Unclean", "no assigned replica is alive")
            return "ELIGIBLE_LEADERS_NOT_AVAILABLE"
        batch = Batch()
        self.lead(tp, choice, "Offline" if choice.leader in info.isr else "Unclean", batch)
        self.controller.channels.send(batch)
        return "NONE"

    # ---- brokers going and coming

    def offline_brokers(self, dead: list[int]) -> None:
        """OnReplicasBecomeOffline.

        Elect for what they led, then take their replicas out of the ISRs; what is being deleted is
        looked at there.
        """
        state = self.state
        batch = Batch()
        deletion = self.controller.deletion
        affected = [tp for tp in self.hosted(dead) if not deletion.is_deleting(tp)]
        leaderless = [tp for tp in affected if self._leader_in(tp, dead)]
        for tp in leaderless:
            self.controller.machines.move_partition(tp, OFFLINE)
        self.elect_offline(self.waiting(), batch)
        for broker in dead:
            for tp in affected:
                if broker in state.assignments[tp]:
                    self.replica_offline(tp, broker, batch)
        if leaderless:
            self.controller.channels.send(batch)
        else:
            self.controller.channels.send(batch, metadata_to=sorted(state.live))

    def hosted(self, brokers: list[int]) -> list[str]:
        """The partitions with a replica on any of ``brokers``."""
        wanted = frozenset(brokers)
        return [
            tp for tp, assigned in self.state.assignments.items() if not wanted.isdisjoint(assigned)
        ]

    def _leader_in(self, tp: str, brokers: list[int]) -> bool:
        info = self.state.infos.get(tp)
        return info is not None and info.leader in brokers

    def replica_offline(self, tp: str, broker: int, batch: Batch) -> None:
        """A replica leaves the ISR, unless it is the last one.

        If it led, there is no leader then.
        """
        if not self.controller.machines.move_replica(tp, broker, REPLICA_OFFLINE):
            return
        info = self.refresh(tp)
        if info is None:
            return
        live = self._live_assigned(tp)
        if broker not in info.isr:
            batch.lead([b for b in live if b != broker], tp, info)
            return
        topic, _ = split(tp)
        left = [b for b in info.isr if b != broker]
        empties = self.profile.has("empty_isr_on_unclean") and self.world.unclean_election(
            self.context.id, topic
        )
        leader = -1 if info.leader == broker else info.leader
        info = self.write(tp, leader, left if left or empties else info.isr)
        if leader < 0 and tp in self.state.partitions:  # its machine has not started if not
            self.controller.machines.move_partition(tp, OFFLINE)
        batch.lead([b for b in live if b != broker], tp, info)

    def broker_started(self, brokers: list[int]) -> None:
        """OnBrokerStartup.

        Tell all who is alive, tell the new ones what they host, elect where that helps.
        """
        state = self.state
        batch = Batch()
        if self.profile.has("broker_epochs"):
            others = [b for b in state.live if b not in brokers]
            self.controller.channels.send(Batch(), metadata_to=others)
            full = Batch()
            full.metadata = dict(state.infos)
            self.controller.channels.send(full, metadata_to=brokers)
        else:
            batch.metadata = dict(state.infos)
            self.controller.channels.send(batch, metadata_to=sorted(state.live))
        batch = Batch()
        for tp in self.hosted(brokers):
            if self.controller.deletion.is_deleting(tp):
                continue
            hosts = [b for b in brokers if b in state.assignments[tp]]
            for broker in hosts:
                self.controller.machines.move_replica(tp, broker, REPLICA_ONLINE)
            info = self.refresh(tp)
            if info is not None:
                batch.lead(hosts, tp, info)
        self.elect_offline(self.waiting(), batch)
        self.controller.channels.send(batch)

    def waiting(self) -> list[str]:
        """The partitions without a leader, but for those that are being deleted."""
        deletion = self.controller.deletion
        return [
            tp
            for tp, each in self.state.partitions.items()
            if each in (OFFLINE, NEW) and not deletion.is_deleting(tp)
        ]

    def leave(self, broker: int) -> list[str]:
        """Controlled shutdown of a broker: move what it leads, stop what it follows.

        Returns what it still leads.
        """
        state = self.state
        batch = Batch()
        remaining: list[str] = []
        for tp in self.hosted([broker]):
            info = self.refresh(tp)
            if info is None or len(state.assignments[tp]) == 1:
                continue
            if info.leader == broker:
                choice = elections.controlled_shutdown(
                    state.assignments[tp],
                    info.isr,
                    state.live,
                    state.shutting_down,
                    isr_order=self.profile.has("controlled_shutdown_election_in_isr_order"),
                )
                if choice is None:
                    self.failed(tp, "ControlledShutdown", "no other replica is alive and in sync")
                    remaining.append(tp)
                else:
                    self.lead(tp, choice, "ControlledShutdown", batch)
            else:
                batch.stop_replica(broker, tp, info.leader_epoch)
                self.replica_offline(tp, broker, batch)
        self.controller.channels.send(batch)
        return remaining
