"""How a broker applies the metadata log to its image, replicas and configuration.

It applies committed records as far as it has fetched them, so its image may lag behind the
controller. Source: ``MetadataLoader``, ``BrokerMetadataPublisher``, ``ReplicaManager.applyDelta``
and ``DynamicConfigPublisher`` 3.9 to 4.1.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from emulator import events
from emulator.broker.kraft_membership.assignments_manager import AssignmentsManager
from emulator.broker.kraft_membership.partition_order import map_order
from emulator.broker.kraft_membership.state import SHUTTING_DOWN, KRaftMembershipState
from emulator.broker.replication.fetcher import FetcherManager
from emulator.broker.replication.replica import Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.broker_effects import MetadataPublished, PartitionsDeleted
from emulator.coordinator.internal_topics import INTERNAL_TOPICS
from emulator.metadata_log.changes import Change, MetadataDelta, TopicIdPartition
from emulator.metadata_log.image import config_key
from emulator.metadata_log.metadata_version import is_directory_assignment_supported
from emulator.metadata_log.records import BROKER_RESOURCE, NO_LEADER
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.protocol import PartitionInfo
from emulator.raft.snapshots import copy_of
from emulator.releases.config import is_dynamic, with_effect
from emulator.replication.local_changes import command_for
from emulator.replication.partition import Restart, Stop

DELETE_DELAY_US: Final = 60_000_000
"""How long a folder marked ``-delete`` stays (log.segment.delete.delay.ms).

The delay begins when the folder is renamed, and again when its broker restarts and finds it.
Source: ``LogManager.loadLog``, ``LogManager.addLogToBeDeleted``.
"""
FOLDERS_TASK: Final = "folders"


class MetadataPublisher(Struct, eq=False):
    """Applies the committed metadata log on one broker."""

    context: BrokerContext
    state: KRaftMembershipState
    replicas: Replicas
    fetchers: FetcherManager
    assignments: AssignmentsManager

    # ---- the log

    def apply(self) -> None:
        """Apply the records that are committed and not yet applied."""
        state, image = self.state, self.state.image
        if state.lifecycle.state == SHUTTING_DOWN:
            return
        log, committed = state.quorum.log, state.quorum.high_watermark
        delta = MetadataDelta(self.context.id)
        snapshot = log.snapshot_for(image.offset + 1)
        if snapshot is not None:
            before, image = image, copy_of(snapshot.image)
            state.image = image
            delta = image.changes_since(before, self.context.id)
        is_news = snapshot is not None
        for batch in log.from_offset(image.offset + 1, committed):
            is_news |= image.read_batch(batch.records, batch.base_offset, batch.epoch, delta)
        if is_news or not state.published:
            self._publish(delta)
            self.context.emit(events.MetadataApplied, self.context.id, image.offset + 1)

    def _publish(self, delta: MetadataDelta) -> None:
        process, image = self.context.process, self.state.image
        if delta.brokers:
            process.live_brokers = [
                b for b, registration in sorted(image.brokers.items()) if registration.is_active
            ]
        is_first, self.state.published = not self.state.published, True
        for_logs = delta.configs if is_first else self._configs_of_new_logs(delta)
        if for_logs or delta.topics:
            self._publish_configs(delta, for_logs)
        self._publish_internal_topics(delta)
        if is_first:
            self._load_logs()
        changes = delta.local_changes(self.context.id)
        for key, change in changes.deletes.items():
            self._delete(key, change)
        if changes.deletes:
            self._arm_folders()
        for key, change in changes.leaders.items():
            self._lead(key, change)
        self._follow_all(changes.followers)
        self.fetchers.shut_down_idle()
        later = [key for key in delta.configs if key not in for_logs]
        if later:
            self._publish_configs(delta, later)
        if delta.deleted:
            self.context.carry_out(PartitionsDeleted(delta.deleted))
        if is_first:
            self.assignments.assign(self._elsewhere([*changes.leaders, *changes.followers]))
            self.context.carry_out(MetadataPublished())

    def _elsewhere(self, keys: Iterable[TopicIdPartition]) -> list[TopicIdPartition]:
        """The replicas that the controller believes to be in another directory of this broker."""
        own, broker = self.state, self.context.id
        if not is_directory_assignment_supported(own.image.metadata_version):
            return []
        topics = own.image.topics
        return [
            key
            for key in keys
            if topics[key.topic_id].partitions[key.partition].directory(broker) != own.directory
        ]

    def _publish_internal_topics(self, delta: MetadataDelta) -> None:
        """Publish the leaders of the coordinators' partitions to the coordinators."""
        for name in INTERNAL_TOPICS:
            if name in delta.topics:
                self._publish_internal_topic(name)

    def _publish_internal_topic(self, name: str) -> None:
        metadata, topic = self.context.process.metadata, self.state.image.topic(name)
        now = {} if topic is None else {f"{name}-{n}": p for n, p in topic.partitions.items()}
        for tp in [tp for tp in metadata if tp.startswith(f"{name}-") and tp not in now]:
            del metadata[tp]
        for tp, partition in now.items():
            if tp not in metadata or metadata[tp].zk_version != partition.partition_epoch:
                metadata[tp] = PartitionInfo(
                    partition.leader,
                    partition.leader_epoch,
                    list(partition.isr),
                    partition.partition_epoch,
                    list(partition.replicas),
                    self.state.image.epoch,
                )

    # ---- configuration

    def _configs_of_new_logs(self, delta: MetadataDelta) -> list[str]:
        """The configurations that logs to be created read from the image itself.

        All others take effect after the replicas' changes, which they accompany: a leader whose
        min.insync.replicas is lowered does not advance its HW before the next occasion
        (``BrokerMetadataPublisher.onMetadataUpdate``; recorded with 4.1.2).
        """
        if not delta.configs:
            return []
        created = {change.topic for change in delta.partitions.values() if change.before is None}
        return [key for key in delta.configs if key.removeprefix("topic:") in created]

    def _publish_configs(self, delta: MetadataDelta, keys: Iterable[str]) -> None:
        """Apply topic values, and this broker's own on top of the cluster-wide defaults."""
        context, image = self.context, self.state.image
        process = context.process
        changed = False
        for key in keys:
            kind, _, name = key.partition(":")
            values = dict(image.configs.get(key, {}))
            if kind == "topic":
                changed = True
                if values:
                    process.topic_configs[name] = values
                else:
                    process.topic_configs.pop(name, None)
            elif name in ("", str(context.id)):
                changed = True
                own = image.configs.get(config_key(BROKER_RESOURCE, str(context.id)), {})
                configs = {**image.configs.get(config_key(BROKER_RESOURCE, ""), {}), **own}
                version = context.settings.version
                values = {k: v for k, v in configs.items() if is_dynamic(k, version)}
                context.settings.brokers[context.id] = with_effect(values, version)
        for topic in delta.topics:
            if topic not in image.topic_ids:
                process.topic_configs.pop(topic, None)
        if changed:
            context.configuration.changed()

    # ---- replicas

    def _replica(self, key: TopicIdPartition, change: Change) -> Replica:
        """The replica with its log, which is created if the topic id has none."""
        tp = f"{change.topic}-{key.partition}"
        replica = self.replicas.get(tp)
        if replica is None:
            replica = self.replicas.create(tp)
            self.state.topic_ids[tp] = key.topic_id
        return replica

    def _lead(self, key: TopicIdPartition, change: Change) -> None:
        after = change.after
        assert after is not None
        self._take_up(self._replica(key, change), after)

    def _follow_all(self, followers: dict[TopicIdPartition, Change]) -> None:
        """Apply the new epochs of all followed partitions, then start fetching them together."""
        keys = {f"{change.topic}-{key.partition}": key for key, change in followers.items()}
        self.fetchers.gather()
        for tp in map_order(keys):
            self._follow(keys[tp], followers[keys[tp]])
        self.fetchers.go_on()

    def _follow(self, key: TopicIdPartition, change: Change) -> None:
        """Follow the leader of a new epoch, if there is one."""
        after = change.after
        assert after is not None
        replica = self._replica(key, change)
        self._take_up(replica, after)
        if self._leaves(after):
            self.fetchers.remove(replica.tp)

    def _take_up(self, replica: Replica, partition: PartitionRegistration) -> None:
        image = self.state.image
        is_registered = partition.leader in image.brokers
        command = command_for(replica, partition, image.epoch, leader_is_registered=is_registered)
        self.replicas.do(replica, command)

    def _leaves(self, partition: PartitionRegistration) -> bool:
        """Whether to stop it in a controlled shutdown: it is not in the ISR, or has no leader."""
        if self.context.process.status != "controlled_shutdown":
            return False
        return partition.leader == NO_LEADER or self.context.id not in partition.isr

    # ---- folders

    def _delete(self, key: TopicIdPartition, change: Change) -> None:
        """Rename the folder of a replica that was removed from this broker; delete it later."""
        tp = f"{change.topic}-{key.partition}"
        if self.state.topic_ids.get(tp) == key.topic_id:
            self._rename(tp, "-delete", self.context.kernel.now + DELETE_DELAY_US)

    def _load_logs(self) -> None:
        """Load the logs on disk: only now are the topics known (``LogManager.startup``)."""
        for replica in self.replicas.by_name.values():
            self.replicas.do(replica, Restart(replica.stored_high_watermark))
        gone_us, folders = self.context.kernel.now + DELETE_DELAY_US, self.state.folders
        for name, times in folders.items():
            folders[name] = [gone_us if time_us else time_us for time_us in times]
        self._mark_strays()

    def _mark_strays(self) -> None:
        """Rename the folders of replicas that are not assigned to this broker (any more).

        Those belong to topics whose id was deleted, or to partitions that were moved away while the
        broker was down. Source: ``LogManager.isStrayKraftReplica`` (``isStrayReplica`` from 4.0
        on).
        """
        image = self.state.image
        for tp in list(self.replicas.by_name):
            topic = image.topics.get(self.state.topic_ids.get(tp, ""))
            number = int(tp.rpartition("-")[2])
            partition = None if topic is None else topic.partitions.get(number)
            if partition is None or self.context.id not in partition.replicas:
                self._rename(tp, "-stray", 0)
        self._arm_folders()

    def _rename(self, tp: str, mark: str, gone_us: int) -> None:
        replica = self.replicas.get(tp)
        if replica is None:
            return
        self.replicas.do(replica, Stop())
        self.fetchers.forget(tp)
        self.replicas.delete(replica)
        self.state.topic_ids.pop(tp, None)
        name = f"{tp}.{mark}"
        self.state.folders.setdefault(name, []).append(gone_us)
        self.context.emit(events.ReplicaFolderMoved, self.context.id, name, True)

    def _arm_folders(self) -> None:
        times_us = [at_us for times in self.state.folders.values() for at_us in times if at_us]
        if times_us:
            self.context.arm(FOLDERS_TASK, max(self.context.kernel.now, min(times_us)))

    def lose_folders(self) -> None:
        """Note that the renamed folders have gone with their disk."""
        for name, times in self.state.folders.items():
            for _ in times:
                self.context.emit(events.ReplicaFolderMoved, self.context.id, name, False)

    def remove_folders(self) -> None:
        """Delete the folders whose delay has passed."""
        folders, now_us = self.state.folders, self.context.kernel.now
        for name, times in list(folders.items()):
            folders[name] = pending = [at_us for at_us in times if not 0 < at_us <= now_us]
            for _ in range(len(times) - len(pending)):
                self.context.emit(events.ReplicaFolderMoved, self.context.id, name, False)
            if not pending:
                del folders[name]
        self._arm_folders()
