"""A change of one partition: ISR, ELR, leader, epochs and assignment, determined together.

All of the controller's elections happen here. Other modules only determine the target ISR, the
replicas and the candidates, from which the record is built. Source: ``PartitionChangeBuilder`` 3.9
to 4.1; KIP-966 for eligible leader replicas.
"""

from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple

from msgspec import Struct

from emulator.metadata_log.changes import TopicIdPartition
from emulator.metadata_log.records import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    RECOVERING,
    Directories,
    PartitionChangeRecord,
    Replicas,
)
from emulator.metadata_log.registrations import BrokerRegistration, PartitionRegistration
from emulator.quorum_controller.reassignment import Completion, complete


class Election(Enum):
    """The type of an election (``PartitionChangeBuilder.Election``)."""

    PREFERRED = "preferred"
    """The preferred replica if it is eligible, else the current leader."""
    ONLINE = "online"
    """Any eligible member of the ISR, or of the ELR if the ISR is empty."""
    UNCLEAN = "unclean"
    """Otherwise any live replica: records may be lost."""


class ElectionRules(Struct, frozen=True):
    """The parameters of elections and ISR changes besides the partition.

    ``min_isr`` is min.insync.replicas, at most the replication factor. Release-specific:
    ``bumps_epoch_on_shrink`` (before metadata version 3.6-IV0, KAFKA-15021);
    ``elects_dead_last_known_leader`` (4.0, KAFKA-19522); ``notes_last_leader_of_empty_isr`` (up to
    4.1.0: the last leader is recorded when the ISR becomes empty, not when the leader is lost);
    ``bumps_epoch_without_change`` (up to 3.7: with ``bumps_epoch_on_shrink`` also if the last
    member stays in the ISR, KAFKA-16624); ``completion`` (of reassignments).
    """

    min_isr: int = 1
    elr_enabled: bool = False
    bumps_epoch_on_shrink: bool = False
    elects_dead_last_known_leader: bool = False
    notes_last_leader_of_empty_isr: bool = False
    bumps_epoch_without_change: bool = False
    completion: Completion = Completion.ALL


class _Elected(NamedTuple):
    leader: int
    unclean: bool


class PartitionChangeBuilder(Struct):
    """The requested change of a partition; None means no change.

    ``acceptable_leaders`` are the brokers that may lead, if the controller knows their replica to
    be in the log directory with which they are registered in ``brokers``. ``unclean_shutdown`` is a
    broker that has restarted without its unflushed data, so it is no longer in sync or eligible.
    ``directory`` is a broker, and the directory in which its replica turned out to be (KIP-858).
    """

    partition: PartitionRegistration
    acceptable_leaders: Collection[int]
    brokers: Mapping[int, BrokerRegistration]
    rules: ElectionRules
    election: Election = Election.ONLINE
    target_isr: Replicas | None = None
    target_replicas: Replicas | None = None
    target_removing: Replicas | None = None
    target_adding: Replicas | None = None
    target_leader_recovery_state: int = NO_RECOVERY_CHANGE
    unclean_shutdown: int | None = None
    directory: tuple[int, int] | None = None

    def build(self, key: TopicIdPartition) -> PartitionChangeRecord | None:
        """Return the record of the change, or None if nothing changes."""
        partition = self.partition
        isr = partition.isr if self.target_isr is None else self.target_isr
        replicas = partition.replicas if self.target_replicas is None else self.target_replicas
        removing = _or(self.target_removing, partition.removing_replicas)
        adding = _or(self.target_adding, partition.adding_replicas)
        completed = complete(replicas, removing, adding, isr, self.rules.completion)
        if completed is not None:
            replicas, isr = completed
            removing = adding = ()
        elr = self._eligible(isr)

        elected = self._elect(replicas, isr, elr)
        leader = elected.leader if elected.leader != partition.leader else NO_LEADER_CHANGE
        is_unclean = elected.unclean and leader != NO_LEADER_CHANGE
        if is_unclean:
            # The data of other replicas is ignored from now on. This can lose records.
            isr, elr = (leader,), ()
        elif leader in elr:
            isr, elr = (leader,), tuple(member for member in elr if member != leader)
        changes_isr = is_unclean or (isr != partition.isr and (bool(isr) or self.rules.elr_enabled))
        new_isr = isr if changes_isr else None
        if leader == NO_LEADER_CHANGE and self._needs_new_epoch(replicas, isr, new_isr):
            leader = partition.leader

        record = PartitionChangeRecord(
            key.partition,
            key.topic_id,
            new_isr,
            leader,
            _if_new(replicas, partition.replicas),
            _if_new(removing, partition.removing_replicas),
            _if_new(adding, partition.adding_replicas),
            self._recovery_state(is_unclean=is_unclean),
            _if_new(elr if self.rules.elr_enabled else (), partition.elr),
            self._last_known(new_isr, leader),
            _if_new(self._directories(replicas), partition.directories),
        )
        return None if record == PartitionChangeRecord(key.partition, key.topic_id) else record

    # ---- eligible leader replicas

    def _eligible(self, isr: Replicas) -> Replicas:
        """The ELR before an election: former ISR members while the ISR is below the minimum."""
        partition = self.partition
        if not self.rules.elr_enabled:
            return partition.elr
        if len(isr) >= self.rules.min_isr:
            return ()
        candidates = {*partition.elr, *partition.isr} - {*isr, self.unclean_shutdown}
        return tuple(sorted(candidates))

    # ---- leader

    def _elect(self, replicas: Replicas, isr: Replicas, elr: Replicas) -> _Elected:
        current = self.partition.leader
        candidates = isr or elr
        order = [current, *replicas]
        if self.election is Election.PREFERRED:
            order.insert(0, replicas[0])
        for replica in order:
            if replica in candidates and self._may_lead(replica):
                return _Elected(replica, unclean=False)
        if self._may_elect_last_known(isr, elr):
            return _Elected(self.partition.last_known_elr[0], unclean=True)
        if self.election is Election.UNCLEAN:
            for replica in replicas:
                if self._may_lead(replica):
                    return _Elected(replica, unclean=True)
        return _Elected(NO_LEADER, unclean=False)

    def _may_lead(self, replica: int) -> bool:
        """Whether a replica's broker may lead and has it on its disk (``LeaderAcceptor``)."""
        if replica not in self.acceptable_leaders:
            return False
        return self.brokers[replica].has_online(self.partition.directory(replica))

    def _may_elect_last_known(self, isr: Replicas, elr: Replicas) -> bool:
        last_known = self.partition.last_known_elr
        if not self.rules.elr_enabled or isr or elr or len(last_known) != 1:
            return False
        return self._may_lead(last_known[0]) or self.rules.elects_dead_last_known_leader

    def _recovery_state(self, *, is_unclean: bool) -> int:
        now, target = self.partition.leader_recovery_state, self.target_leader_recovery_state
        if target not in (NO_RECOVERY_CHANGE, now):
            return target
        return RECOVERING if is_unclean and now != RECOVERING else NO_RECOVERY_CHANGE

    def _last_known(self, new_isr: Replicas | None, leader: int) -> Replicas | None:
        """The last known leader, recorded while there is no leader; None if unchanged."""
        if not self.rules.elr_enabled:
            return None
        partition = self.partition
        if self.rules.notes_last_leader_of_empty_isr:
            notes = new_isr == () and partition.last_known_elr != (partition.leader,)
            forgets = leader >= 0 or (partition.has_leader and leader != NO_LEADER)
        else:
            notes = leader == NO_LEADER and not partition.last_known_elr
            forgets = leader >= 0
        if notes:
            return (partition.leader,)
        return () if forgets and partition.last_known_elr else None

    # ---- log directories

    def _directories(self, replicas: Replicas) -> Directories:
        """The directories of the replicas: added ones are in their brokers' own."""
        if self.directory is None and replicas == self.partition.replicas:
            return self.partition.directories
        directories = tuple(self._directory(replica) for replica in replicas)
        return directories if any(directories) else ()

    def _directory(self, replica: int) -> int:
        if self.directory is not None and self.directory[0] == replica:
            return self.directory[1]
        if replica in self.partition.replicas:
            return self.partition.directory(replica)
        return self.brokers[replica].directory if replica in self.brokers else 0

    # ---- leader epoch

    def _needs_new_epoch(self, replicas: Replicas, isr: Replicas, new_isr: Replicas | None) -> bool:
        """Whether the leader epoch is bumped although the leader remains.

        This is the case if a replica is removed, and before 3.6-IV0 if the ISR shrinks.
        """
        if not set(self.partition.replicas) <= set(replicas):
            return True
        is_changed = new_isr is not None or self.rules.bumps_epoch_without_change
        shrinks = is_changed and not set(self.partition.isr) <= set(isr)
        return shrinks and self.rules.bumps_epoch_on_shrink


def _or(target: Replicas | None, now: Replicas) -> Replicas:
    return now if target is None else target


def _if_new(target: Replicas, now: Replicas) -> Replicas | None:
    return None if target == now else target
