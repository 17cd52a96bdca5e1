"""The controller in KRaft mode, and how brokers learn its decisions.

Its decisions are the records written by :mod:`emulator.quorum_controller`: it fences and unfences
brokers, elects leaders, maintains eligible leader replicas (KIP-966), and accepts or rejects ISRs
(KIP-841, KIP-903). Each broker has its own image, as recent as its position in the metadata log; a
broker that reads the log always reads to its end. There is a single controller; it never fails, and
fences a broker as soon as its process has ended.

A running broker is fenced when its heartbeats are late, as they are if it is frozen or cut off; all
else that it sends and receives is late only where other steps say so. It is unfenced by its next
heartbeat, with the broker epoch it has. One broker at a time is shut down in an orderly way: a
leader once all active brokers have read who leads now, any other at once.
"""

from typing import Any, Final, NamedTuple

from emulator.explorer.bounds import Bounds
from emulator.explorer.brokers import (
    Applied,
    BrokerActions,
    Change,
    Outcomes,
    Process,
    Processes,
    effect_details,
    running,
    step,
    with_process,
)
from emulator.explorer.model import Action, Rule, Value
from emulator.explorer.replica import CONTROLLER_EPOCH, NO_FETCHER, AlterResponse, Replica, Stepped
from emulator.metadata_log.changes import TopicIdPartition, TopicImage
from emulator.metadata_log.image import MetadataImage, config_key
from emulator.metadata_log.metadata_version import ELIGIBLE_LEADER_REPLICAS
from emulator.metadata_log.records import NO_LEADER, TOPIC_RESOURCE, AnyRecord
from emulator.metadata_log.registrations import BrokerRegistration, PartitionRegistration
from emulator.quorum_controller.alter_partition import AlterPartitionItem, alter_partition
from emulator.quorum_controller.cluster_control import BrokerRegistrationRequest, register_broker
from emulator.quorum_controller.context import MIN_INSYNC_REPLICAS, Context
from emulator.quorum_controller.elections import elect_leaders
from emulator.quorum_controller.feature_control import default_features
from emulator.quorum_controller.heartbeats import BrokerHeartbeats
from emulator.quorum_controller.isr_changes import (
    broker_fenced,
    broker_in_controlled_shutdown,
    broker_unfenced,
)
from emulator.quorum_controller.partition_change_builder import Election
from emulator.quorum_controller.partition_index import PartitionIndex
from emulator.quorum_controller.reassignments import alter_partition_reassignments
from emulator.quorum_controller.result import ApiException
from emulator.quorum_controller.settings import ControllerSettings, ReleaseRules
from emulator.quorum_controller.state import ControllerState
from emulator.releases.profiles import PROFILES
from emulator.replication.local_changes import command_for
from emulator.replication.partition import NONE

TOPIC: Final = "t"
KEY: Final = TopicIdPartition("id", 0)
INELIGIBLE_REPLICA: Final = "INELIGIBLE_REPLICA"


class Registered(NamedTuple):
    """A broker's registration. ``epoch`` is the number of starts of its process."""

    epoch: int = 1
    fenced: bool = False
    in_controlled_shutdown: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it may lead and join ISRs."""
        return not self.fenced and not self.in_controlled_shutdown


class Metadata(NamedTuple):
    """The partition and the brokers according to the metadata log.

    ``version`` is the partition epoch, ``epoch`` the leader epoch.
    """

    leader: int
    epoch: int
    isr: tuple[int, ...]
    version: int
    assigned: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    recovery: int
    brokers: tuple[Registered, ...]

    @property
    def partition(self) -> PartitionRegistration:
        return PartitionRegistration(
            self.assigned,
            self.isr,
            self.leader,
            self.epoch,
            self.version,
            self.recovery,
            elr=self.elr,
            last_known_elr=self.last_known_elr,
        )

    @property
    def active(self) -> tuple[int, ...]:
        """The brokers that are neither fenced nor shutting down."""
        return tuple(
            broker for broker, registered in enumerate(self.brokers, 1) if registered.is_active
        )


class QuorumControllerRules:
    """The active controller's changes to the metadata, under a release's rules."""

    def __init__(self, bounds: Bounds) -> None:
        profile = PROFILES[bounds.version]
        self.rules = ReleaseRules.of(profile.numbers)
        self.settings = ControllerSettings(unclean_leader_election_enable=bounds.unclean)
        self.features = default_features(profile.version) | {
            ELIGIBLE_LEADER_REPLICAS: int(bounds.elr)
        }
        minimum = str(bounds.min_insync_replicas)
        self.configs = {config_key(TOPIC_RESOURCE, TOPIC): {MIN_INSYNC_REPLICAS: minimum}}

    def fence(self, metadata: Metadata, broker: int) -> Metadata:
        """Fence a broker that has stopped sending heartbeats."""
        context = self._context(metadata)
        return self._after(context, broker_fenced(context, broker))

    def shut_down(self, metadata: Metadata, broker: int) -> Metadata:
        """Move leadership away from a broker that is shutting down."""
        context = self._context(metadata)
        epoch = metadata.brokers[broker - 1].epoch
        return self._after(context, broker_in_controlled_shutdown(context, broker, epoch))

    def register(self, metadata: Metadata, broker: int, *, is_clean: bool) -> Metadata:
        """Register a broker that started, ``is_clean``: after an orderly stop."""
        context = self._context(metadata)
        before = metadata.brokers[broker - 1].epoch
        previous = before if is_clean else -1
        request = BrokerRegistrationRequest(broker, str(before + 1), previous_broker_epoch=previous)
        return self._after(context, register_broker(context, request, before + 1, 0).records)

    def unfence(self, metadata: Metadata, broker: int) -> Metadata:
        """Unfence a broker that has read the log up to its registration."""
        context = self._context(metadata)
        epoch = metadata.brokers[broker - 1].epoch
        return self._after(context, broker_unfenced(context, broker, epoch))

    def alter(self, metadata: Metadata, leader: int, replica: Replica) -> tuple[str, Metadata]:
        """Handle a leader's ISR change: return the error and the resulting metadata."""
        context = self._context(metadata)
        item = AlterPartitionItem(
            *KEY, replica.leader_epoch, replica.zk_version, replica.pending_epochs
        )
        epoch = dict(replica.pending_epochs)[leader]
        try:
            result = alter_partition(context, leader, epoch, [item])
        except ApiException as refused:
            return refused.error, metadata
        return result.response[KEY].error, self._after(context, result.records)

    def prefer(self, metadata: Metadata, broker: int) -> Metadata | None:
        """Make a broker the preferred leader and elect it; None if this is impossible."""
        context = self._context(metadata)
        partition = (TOPIC, KEY.partition)
        if metadata.assigned[0] != broker:
            target = (broker, *(replica for replica in metadata.assigned if replica != broker))
            moved = alter_partition_reassignments(context, {partition: target})
            context = self._context(self._after(context, moved.records))
        elected = elect_leaders(context, Election.PREFERRED, [partition])
        after = self._after(context, elected.records)
        return after if after.leader == broker else None

    def _context(self, metadata: Metadata) -> Context:
        brokers = {
            broker: BrokerRegistration(
                broker,
                registered.epoch,
                str(registered.epoch),
                0,
                registered.fenced,
                registered.in_controlled_shutdown,
            )
            for broker, registered in enumerate(metadata.brokers, 1)
        }
        topic = TopicImage(TOPIC, KEY.topic_id, {KEY.partition: metadata.partition})
        image = MetadataImage(
            features=self.features,
            brokers=brokers,
            topics={topic.id: topic},
            topic_ids={topic.name: topic.id},
            configs=self.configs,
        )
        heartbeats = BrokerHeartbeats(0, self.rules.contact_times_by_broker_epoch)
        state = ControllerState(image, PartitionIndex.of(image), heartbeats)
        return Context(state, self.settings, self.rules)

    def _after(self, context: Context, records: list[AnyRecord]) -> Metadata:
        for record in records:
            context.state.replay(record, 0, 0, 0)
        image = context.image
        partition = image.topics[KEY.topic_id].partitions[KEY.partition]
        return Metadata(
            partition.leader,
            partition.leader_epoch,
            partition.isr,
            partition.partition_epoch,
            partition.replicas,
            partition.elr,
            partition.last_known_elr,
            partition.leader_recovery_state,
            tuple(
                Registered(
                    registration.epoch, registration.fenced, registration.in_controlled_shutdown
                )
                for _, registration in sorted(image.brokers.items())
            ),
        )


class KRaftMode(BrokerActions):
    """A partition whose state is in the metadata log."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(bounds)
        self.controller = QuorumControllerRules(bounds)

    def initial(self) -> tuple[Value, ...]:
        """The initial state: all replicas are in sync, and all brokers have read the whole log."""
        brokers = self.parts.brokers
        registered = tuple(Registered() for _ in brokers)
        metadata = Metadata(brokers[0], 0, brokers, 0, brokers[::-1], (), (), 0, registered)
        replicas = [
            self._published(broker, self.restarted(broker, Replica(epochs=())), metadata).replica
            for broker in brokers
        ]
        processes = tuple(Process() for _ in brokers)
        return (*replicas, *(metadata for _ in brokers), metadata, processes, (), 0, 0, 0, 0)

    def around(self, broker: int) -> tuple[int, ...]:
        """The processes, and the broker's image."""
        return (self.parts.processes, self.parts.channel(broker))

    def alive(self, *around: Any) -> tuple[int, ...]:
        """The active brokers in the broker's image."""
        _processes, image = around
        return () if image is None else image.active

    # ---- the metadata log

    def receive(self, broker: int, channel: Metadata | None) -> Outcomes:
        """A broker reads to the end of the log."""
        if channel is not None:
            yield Rule((self.parts.decided,), self._news, (broker, channel))

    def _news(self, broker: int, image: Metadata, metadata: Metadata) -> Outcomes:
        if image != metadata:
            reads = (self.parts.replica(broker),)
            yield Rule(reads, self._read, (broker, image, metadata))

    def _read(self, broker: int, image: Metadata, metadata: Metadata, replica: Replica) -> Outcomes:
        details: tuple[tuple[str, object], ...] = (
            ("broker", broker),
            ("leader", metadata.leader),
            ("epoch", metadata.epoch),
        )
        read: Change = (self.parts.channel(broker), image, metadata)
        if image.version == metadata.version:
            yield step(Action("MetadataUpdate", details), (read,))
            return
        stepped = self._published(broker, replica, metadata)
        if metadata.brokers[broker - 1].in_controlled_shutdown:
            # It starts no fetcher, and stops the one it has.
            stepped.replica = stepped.replica._replace(phase=NO_FETCHER, response=None)
        details += tuple(effect_details(stepped))
        others: tuple[Change, ...] = (read,)
        after = metadata
        if replica.pending and not stepped.replica.pending and not replica.alter_response:
            # The metadata overtakes the request, which the controller may still accept.
            _error, after = self.controller.alter(metadata, broker, replica)
        if after != metadata:
            others = (read, (self.parts.decided, metadata, after))
            details += (("isr", after.isr),)
        action = Action("MetadataUpdate", details)
        yield from self.settle(action, broker, replica, stepped, others, metadata.active)

    def _published(self, broker: int, replica: Replica, metadata: Metadata) -> Stepped:
        """Apply the partition's state in the log to a replica."""
        rules = self.rules_of[broker]
        state = rules.thaw(replica)
        has_leader = metadata.leader != NO_LEADER
        command = command_for(
            state, metadata.partition, CONTROLLER_EPOCH, leader_is_registered=has_leader
        )
        return rules.do(replica, command, metadata.active)

    # ---- AlterPartition

    def propose(self, applied: Applied, isr: tuple[int, ...]) -> Outcomes:
        """Send the broker epoch of each member, according to the leader's image."""
        yield Rule((self.parts.channel(applied.broker),), self._request, (applied, isr))

    def _request(self, applied: Applied, isr: tuple[int, ...], image: Metadata) -> Outcomes:
        epochs = tuple((member, image.brokers[member - 1].epoch) for member in isr)
        after = applied.after._replace(pending_epochs=epochs)
        yield from self.finish(applied._replace(after=after))

    def alter(
        self, broker: int, replica: Replica, decided: Metadata, processes: Processes
    ) -> Outcomes:
        """The controller accepts or rejects a pending ISR.

        An outdated leader gets no response: it will read the metadata it has missed.
        """
        assert replica.pending is not None
        isr, change = replica.pending
        error, metadata = self.controller.alter(decided, broker, replica)
        if error not in (NONE, INELIGIBLE_REPLICA):
            return
        response = AlterResponse(metadata.isr, metadata.version, metadata.epoch, error)
        details: tuple[tuple[str, object], ...] = (("leader", broker), ("isr", list(isr)))
        details += ((change, error == NONE),)
        changes: tuple[Change, ...] = (
            (self.parts.replica(broker), replica, replica._replace(alter_response=response)),
            (self.parts.decided, decided, metadata),
        )
        yield step(Action("AlterPartition", details), changes)

    # ---- the controller

    def move_leadership(self, decided: Metadata, processes: Processes, used: int) -> Outcomes:
        """Leadership moves to another ISR member through a preferred leader election.

        If that member is not the preferred leader, the replicas are first reassigned in a new
        order, which completes at once.
        """
        if used == self.bounds.elections or decided.leader == NO_LEADER:
            return
        for broker in decided.isr:
            metadata = None
            if broker != decided.leader:
                metadata = self.controller.prefer(decided, broker)
            if metadata is not None:
                action = Action("MoveLeadership", (("to", broker), ("epoch", metadata.epoch)))
                changes: tuple[Change, ...] = (
                    (self.parts.decided, decided, metadata),
                    (self.parts.elections, used, used + 1),
                )
                yield step(action, changes)

    # ---- heartbeats

    def rules_of_mode(self) -> list[Rule]:
        """Brokers that are fenced return, and brokers are shut down in an orderly way."""
        reads = (self.parts.decided, self.parts.processes)
        rules = []
        if self.bounds.fencings:
            rules.append(Rule(reads, self._unfence))
        if self.bounds.shutdowns:
            rules.append(Rule(reads, self._shut_down))
        return rules

    def faults_of_mode(self) -> list[Rule]:
        """Heartbeats of a running broker are late."""
        reads = (self.parts.decided, self.parts.processes, self.parts.fencings)
        return [Rule(reads, self._fence)] if self.bounds.fencings else []

    def _fence(self, decided: Metadata, processes: Processes, used: int) -> Outcomes:
        if used == self.bounds.fencings:
            return
        for broker in running(processes):
            if decided.brokers[broker - 1].is_active:
                changes: tuple[Change, ...] = (
                    (self.parts.decided, decided, self.controller.fence(decided, broker)),
                    (self.parts.fencings, used, used + 1),
                )
                yield step(Action("Fence", (("broker", broker),)), changes)

    def _unfence(self, decided: Metadata, processes: Processes) -> Outcomes:
        for broker in running(processes):
            if decided.brokers[broker - 1].fenced:
                unfenced = self.controller.unfence(decided, broker)
                change: Change = (self.parts.decided, decided, unfenced)
                yield step(Action("Unfence", (("broker", broker),)), (change,))

    def _shut_down(self, decided: Metadata, processes: Processes) -> Outcomes:
        leaving = [b for b in running(processes) if decided.brokers[b - 1].in_controlled_shutdown]
        for broker in leaving:
            reads = tuple(self.parts.channel(active) for active in decided.active)
            registered = decided.brokers[broker - 1]
            yield Rule(reads, self._shut_down_known, (broker, registered, processes))
        stops = sum(process.stops for process in processes)
        if leaving or stops == self.bounds.shutdowns:
            return
        for broker in running(processes):
            if broker == decided.leader:
                moved = self.controller.shut_down(decided, broker)
                action = Action("ControlledShutdown", (("broker", broker),))
                yield step(action, ((self.parts.decided, decided, moved),))
            elif decided.brokers[broker - 1].is_active:
                yield Rule((self.parts.replica(broker),), self.ends, ("Stop", broker, processes))

    def _shut_down_known(
        self, broker: int, registered: Registered, processes: Processes, *images: Metadata
    ) -> Outcomes:
        """The broker ends once all active brokers have read that it is shutting down."""
        if all(image.brokers[broker - 1] == registered for image in images):
            yield Rule((self.parts.replica(broker),), self.ends, ("Stop", broker, processes))

    # ---- processes

    def broker_stopped(
        self,
        action: Action,
        broker: int,
        changes: tuple[Change, ...],
        live: tuple[int, ...],
        decided: Metadata,
        channel: Metadata | None,
    ) -> Outcomes:
        """The controller fences the broker and elects new leaders for its partitions."""
        fenced: Change = (self.parts.decided, decided, self.controller.fence(decided, broker))
        yield step(action, (*changes, fenced, (self.parts.channel(broker), channel, None)))

    def started(
        self, broker: int, processes: Processes, replica: Replica, decided: Metadata
    ) -> Outcomes:
        """A process registers, reads the whole log, and is unfenced."""
        process = processes[broker - 1]
        registered = self.controller.register(decided, broker, is_clean=process.is_clean)
        process = process._replace(starts=process.starts + 1, is_up=True, is_clean=False)
        unfenced = self.controller.unfence(registered, broker)
        stepped = self._published(broker, self.restarted(broker, replica), decided)
        for before, after in ((decided, registered), (registered, unfenced)):
            if before.version != after.version:
                stepped = self._published(broker, stepped.replica, after)
        changes: tuple[Change, ...] = (
            (self.parts.processes, processes, with_process(processes, broker, process)),
            (self.parts.channel(broker), None, unfenced),
            (self.parts.decided, decided, unfenced),
        )
        action = Action("Start", (("broker", broker),))
        yield from self.settle(action, broker, replica, stepped, changes, unfenced.active)
