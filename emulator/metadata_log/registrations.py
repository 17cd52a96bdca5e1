"""The image's partitions, brokers and controllers, as immutable values."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from emulator.metadata_log.records import (
    FENCE,
    IN_CONTROLLED_SHUTDOWN,
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    RECOVERED,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    Directories,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    Replicas,
)


class PartitionRegistration(Struct, frozen=True, array_like=True, gc=False):
    """A partition in the metadata log (``PartitionRegistration``).

    ``leader`` is -1 if there is none. During a reassignment, ``replicas`` contains the target and
    the replicas being removed, which are also in ``removing_replicas``. Members of the ``elr`` left
    the ISR when it was, or became, smaller than min.insync.replicas, and may be elected cleanly
    (KIP-966); ``last_known_elr`` has the last leader while there is none. ``directories`` are the
    log directories of the replicas as the controller knows them, in their order; empty if they are
    all the first ones (KIP-858).
    """

    replicas: Replicas
    isr: Replicas
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    leader_recovery_state: int = RECOVERED
    removing_replicas: Replicas = ()
    adding_replicas: Replicas = ()
    elr: Replicas = ()
    last_known_elr: Replicas = ()
    directories: Directories = ()

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_LEADER

    @property
    def preferred_replica(self) -> int:
        return self.replicas[0] if self.replicas else NO_LEADER

    @property
    def has_preferred_leader(self) -> bool:
        """Whether the preferred replica is the leader."""
        return self.leader == self.preferred_replica

    @property
    def is_reassigning(self) -> bool:
        return bool(self.removing_replicas or self.adding_replicas)

    def directory(self, replica: int) -> int:
        """The log directory that the controller knows a replica to be in."""
        return self.directories[self.replicas.index(replica)] if self.directories else 0

    def merge(self, record: PartitionChangeRecord) -> "PartitionRegistration":
        """Return the partition after a change.

        The partition epoch is bumped, and so is the leader epoch if the record names a leader.
        """
        elects = record.leader != NO_LEADER_CHANGE
        recovery = record.leader_recovery_state
        return PartitionRegistration(
            self.replicas if record.replicas is None else record.replicas,
            self.isr if record.isr is None else record.isr,
            record.leader if elects else self.leader,
            self.leader_epoch + elects,
            self.partition_epoch + 1,
            self.leader_recovery_state if recovery == NO_RECOVERY_CHANGE else recovery,
            _changed(self.removing_replicas, record.removing_replicas),
            _changed(self.adding_replicas, record.adding_replicas),
            _changed(self.elr, record.eligible_leader_replicas),
            _changed(self.last_known_elr, record.last_known_elr),
            _changed(self.directories, record.directories),
        )

    def without_elr(self) -> "PartitionRegistration":
        """Return the partition after a ClearElrRecord (KIP-966).

        This also bumps the partition epoch, although no record names the partition
        (``ReplicationControlManager.removeTopicElrs``, ``TopicDelta.maybeClearElr``).
        """
        epoch = self.partition_epoch + 1
        return replace(self, elr=(), last_known_elr=(), partition_epoch=epoch)


def partition_of(record: PartitionRecord) -> PartitionRegistration:
    """Return the partition created by a record."""
    return PartitionRegistration(
        record.replicas,
        record.isr,
        record.leader,
        record.leader_epoch,
        record.partition_epoch,
        record.leader_recovery_state,
        record.removing_replicas,
        record.adding_replicas,
        record.eligible_leader_replicas or (),
        record.last_known_elr or (),
        record.directories,
    )


def record_of(topic_id: str, number: int, partition: PartitionRegistration) -> PartitionRecord:
    """Return the record that creates a partition in this state."""
    return PartitionRecord(
        *(number, topic_id, partition.replicas, partition.isr),
        *(partition.removing_replicas, partition.adding_replicas, partition.leader),
        *(partition.leader_recovery_state, partition.leader_epoch, partition.partition_epoch),
        *(partition.elr or None, partition.last_known_elr or None, partition.directories),
    )


def directories_of(replicas: Replicas, brokers: Mapping[int, "BrokerRegistration"]) -> Directories:
    """Return where new replicas go: each to its broker's directory."""
    directories = tuple(
        brokers[replica].directory if replica in brokers else 0 for replica in replicas
    )
    return directories if any(directories) else ()


def _changed(now: Replicas, change: Replicas | None) -> Replicas:
    return now if change is None else change


class BrokerRegistration(Struct, frozen=True):
    """A broker in the metadata log (``BrokerRegistration``).

    ``epoch`` is the broker epoch, ``record_offset`` the offset of the last RegisterBrokerRecord: a
    broker is unfenced once it has read that record. ``registrations`` counts its incarnations.
    ``cordoned_log_dirs`` is None until it has named them (KIP-1066). ``directory`` is its log
    directory.
    """

    id: int
    epoch: int
    incarnation_id: str
    record_offset: int
    fenced: bool = True
    in_controlled_shutdown: bool = False
    rack: str | None = None
    registrations: int = 1
    cordoned_log_dirs: tuple[str, ...] | None = None
    directory: int = 0

    @property
    def is_active(self) -> bool:
        """Whether it may lead and join ISRs: neither fenced nor shutting down (KIP-841)."""
        return not self.fenced and not self.in_controlled_shutdown

    def has_online(self, directory: int) -> bool:
        """Whether a replica in that log directory is available (``DirectoryId.isOnline``)."""
        return directory == self.directory

    def merge(self, record: BrokerRegistrationChangeRecord) -> "BrokerRegistration":
        """Return the broker after a change of its registration."""
        fenced = {FENCE: True, UNFENCE: False}.get(record.fenced, self.fenced)
        shutting_down = record.in_controlled_shutdown == IN_CONTROLLED_SHUTDOWN
        return replace(
            self,
            fenced=fenced,
            in_controlled_shutdown=self.in_controlled_shutdown or shutting_down,
            cordoned_log_dirs=(
                self.cordoned_log_dirs
                if record.cordoned_log_dirs is None
                else record.cordoned_log_dirs
            ),
        )


def broker_of(
    record: RegisterBrokerRecord, offset: int, before: BrokerRegistration | None
) -> BrokerRegistration:
    """Return the broker registered by a record at ``offset``, given its previous registration."""
    earlier = before.registrations if before else 0
    is_same = before is not None and before.incarnation_id == record.incarnation_id
    return BrokerRegistration(
        record.broker_id,
        record.broker_epoch,
        record.incarnation_id,
        offset,
        record.fenced,
        record.in_controlled_shutdown,
        record.rack,
        earlier if is_same else earlier + 1,
        directory=record.directory,
    )
