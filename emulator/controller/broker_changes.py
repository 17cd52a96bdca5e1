"""How the controller handles brokers that fail, start or shut down, and their partitions.

Source: ``KafkaController.onBrokerFailure``, ``onReplicasBecomeOffline``, ``onBrokerStartup``,
``doControlledShutdown`` and the event BrokerChange.
"""

from msgspec.structs import replace

from emulator.common.names import split
from emulator.controller.channels import Batch, Channels
from emulator.controller.context import (
    OFFLINE,
    BrokerChange,
    ControllerContext,
    UnreadableError,
)
from emulator.controller.hash_order import partitions_in_order
from emulator.controller.partition_state_machine import PartitionStateMachine
from emulator.controller.reassignment import Reassignment
from emulator.controller.replica_state_machine import REPLICA_ONLINE, ReplicaStateMachine
from emulator.controller.topic_deletion import TopicDeletion
from emulator.replication import election as elections
from emulator.zookeeper import data as znodes


class BrokerChanges:
    """The active controller's handling of broker failures, startups and shutdowns."""

    def __init__(
        self,
        context: ControllerContext,
        channels: Channels,
        partitions: PartitionStateMachine,
        replicas: ReplicaStateMachine,
        deletion: TopicDeletion,
        reassignment: Reassignment,
    ) -> None:
        self.context = context
        self.channels = channels
        self.partitions = partitions
        self.replicas = replicas
        self.deletion = deletion
        self.reassignment = reassignment
        self.one_by_one = self.context.profile.has("controlled_shutdown_one_by_one")
        self.dead_in_turn = self.context.profile.has("live_brokers_change_with_their_procedures")

    def look(self) -> None:
        """Handle BrokerChange: brokers that failed, started, or restarted in between (bounced).

        Raises:
            UnreadableError: a registration is malformed. Kafka's event then ends in an exception,
                so no change is noticed until that znode is gone.
        """
        state = self.context.state
        self.context.zk.watch_children(znodes.BROKER_IDS)
        now, unreadable = self.context.registered()
        if unreadable:
            raise UnreadableError(f"{znodes.BROKER_IDS}/{unreadable[0]} is no broker.")
        failed = [b for b in state.live if b not in now]
        new = [b for b in now if b not in state.live]
        bounced: list[int] = []
        if self.context.profile.has("broker_epochs"):
            bounced = [b for b, epoch in now.items() if state.live.get(b, epoch) != epoch]
        if failed or new or bounced:
            self.go_on(BrokerChange(now, failed, new, bounced, [*failed, *bounced]))

    def go_on(self, change: BrokerChange) -> None:
        """Shut down the send threads of failed brokers, then apply the change.

        If such a thread has a request in flight, the controller waits for its end and resumes here.
        It applies the data read before it waited.
        """
        thread = self.context.controllership.thread
        for number, broker in enumerate(change.removing):
            self.channels.remove(broker)
            if thread.closing:
                thread.change = replace(change, removing=change.removing[number + 1 :])
                return
        self._apply(change)

    def _apply(self, change: BrokerChange) -> None:
        """Handle new brokers first, then bounced ones, then failed ones.

        Up to 2.1 the cache is set to the live brokers up front; later a failed broker counts as
        alive until it is handled.
        """
        if not self.dead_in_turn:
            self._remove(change.gone)
        if change.new:
            self._add(change, change.new)
            self._started(change.new)
        if change.bounced:
            self._remove(change.bounced)
            self._failed(change.bounced)
            self._add(change, change.bounced)
            self._started(change.bounced)
        if change.gone:
            self._remove(change.gone)
            self._failed(change.gone)

    def _add(self, change: BrokerChange, brokers: list[int]) -> None:
        for broker in brokers:
            self.context.state.live[broker] = change.registered[broker]

    def _remove(self, brokers: list[int]) -> None:
        for broker in brokers:
            self.context.state.live.pop(broker, None)
            self.context.state.shutting_down.pop(broker, None)

    def _failed(self, brokers: list[int]) -> None:
        self._procedure("onBrokerFailure", brokers)
        self.failed(brokers)
        self.deletion.broker_gone(brokers)

    def _started(self, brokers: list[int]) -> None:
        self._procedure("onBrokerStartup", brokers)
        self.started(sorted(brokers))
        self.reassignment.resume(brokers)
        self.deletion.resume_for({split(tp)[0] for tp in self.context.hosted(brokers)})

    def _procedure(self, name: str, brokers: list[int]) -> None:
        detail = ", ".join(map(str, brokers))
        hosted = len(self.context.hosted(brokers))
        self.context.step(name, 1, name, f"broker {detail}: {hosted} partitions")

    def failed(self, dead: list[int]) -> None:
        """OnReplicasBecomeOffline.

        Elect leaders for the partitions they led, then remove their replicas from the ISRs and
        update deletions in progress. Both steps send a batch of requests of their own, so a broker
        slow to answer the first (up to 1.0 it waits for its idle fetchers) receives the second
        late.
        """
        state = self.context.state
        affected = [tp for tp in self.context.hosted(dead) if not self.context.is_deleting(tp)]
        leaderless = [tp for tp in affected if self._leader_in(tp, dead)]
        for tp in leaderless:
            self.partitions.move(tp, OFFLINE)
        elections = Batch()
        self.partitions.elect_offline(self.context.leaderless(), elections)
        self.channels.send(elections)
        departures = Batch()
        for broker in self.context.in_turn(dead):
            for tp in affected:
                if broker in state.assignments[tp]:
                    self.replicas.go_offline(tp, broker, departures)
        self.channels.send(departures)
        if not leaderless:  # no election has told the brokers which ones are gone
            self.channels.send(Batch(), metadata_to=sorted(state.live))

    def _leader_in(self, tp: str, brokers: list[int]) -> bool:
        info = self.context.state.infos.get(tp)
        return info is not None and info.leader in brokers

    def started(self, brokers: list[int]) -> None:
        """OnBrokerStartup.

        Announce the live brokers, send the new ones their replicas, elect leaders where possible.
        """
        state = self.context.state
        full = Batch()
        full.metadata = dict(state.infos)
        if self.context.profile.has("broker_epochs"):
            # The states of partitions have not changed: the other brokers have them.
            others = [b for b in state.live if b not in brokers]
            self.channels.send(Batch(), metadata_to=others)
            self.channels.send(full, metadata_to=brokers)
        else:
            self.channels.send(full, metadata_to=sorted(state.live))
        batch = Batch()
        for tp in self.context.hosted(brokers):
            hosts = [
                broker
                for broker in brokers
                if broker in state.assignments[tp]
                and self.replicas.move(tp, broker, REPLICA_ONLINE)
            ]
            info = state.infos.get(tp)
            if info is not None:
                batch.lead(hosts, tp, info)
        self.partitions.elect_offline(self.context.leaderless(), batch)
        self.channels.send(batch)

    def shut_down(self, broker: int) -> list[str]:
        """Controlled shutdown of a broker: move its leaderships away, stop its followers.

        Up to 1.0 this proceeds partition by partition, each with requests of its own; a following
        replica gets StopReplica twice, before and while it leaves the ISR. Return the partitions
        that the broker still leads.
        """
        state = self.context.state
        state.shutting_down[broker] = None
        batch = Batch()
        remaining: list[str] = []
        isr_order = self.context.profile.has("controlled_shutdown_election_in_isr_order")
        for tp in self._shutdown_order(broker):
            if self.one_by_one:
                self.channels.send(batch)
                batch = Batch()
            info = self.context.refresh(tp)
            assigned = state.assignments[tp]
            if info is None or len(assigned) == 1:
                continue
            if info.leader != broker:
                if self.one_by_one:
                    first = Batch()
                    first.stop_replica(broker, tp, info.leader_epoch)
                    self.channels.send(first)
                batch.stop_replica(broker, tp, info.leader_epoch)
                self.replicas.go_offline(tp, broker, batch)
                continue
            choice = elections.controlled_shutdown(
                assigned, info.isr, state.live, state.shutting_down, isr_order=isr_order
            )
            candidates = info.isr if isr_order else assigned
            if not self.partitions.elect(tp, "ControlledShutdown", choice, candidates, batch):
                self.context.failed(
                    tp, "ControlledShutdown", "no other replica is alive and in sync"
                )
                remaining.append(tp)
        self.channels.send(batch)
        return remaining

    def _shutdown_order(self, broker: int) -> list[str]:
        if not self.one_by_one:
            return self.context.hosted([broker])
        assignments = self.context.state.assignments
        is_copied = self.context.profile.has("assignments_filtered_into_a_map")
        hosted = self.context.state.order.partitions(
            lambda tp: broker in assignments[tp], is_copied=is_copied
        )
        return partitions_in_order(hosted, lambda tp: len(assignments[tp]))
