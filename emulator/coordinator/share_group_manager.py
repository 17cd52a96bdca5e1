"""Share groups on their coordinator: what they do otherwise than consumer groups.

With a partition whose state is not there yet, a group begins once its members are answered. Source:
``GroupCoordinatorService`` 4.1 and 4.2.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.common.names import as_sent, split
from emulator.coordinator.group_metadata import GroupMetadataManager
from emulator.coordinator.groups import TASK, Group, ShareWork, Store, group_key
from emulator.coordinator.modern_group_manager import ModernGroupManager, Progress, copied
from emulator.coordinator.modern_groups.group import LEFT, ModernMember
from emulator.coordinator.modern_groups.requests import NO_GROUP, Refused, existing, known_member
from emulator.coordinator.modern_groups.specification import Partitions
from emulator.coordinator.share_groups import requests
from emulator.coordinator.share_groups.group import ShareGroup
from emulator.coordinator.share_groups.records import Record, ShareGroupEpochRecord
from emulator.coordinator.share_groups.requests import ASSIGNOR, Outcome, Rules
from emulator.coordinator.share_persister import SharePersister
from emulator.coordinator.share_state.requests import Request
from emulator.coordinator.write_errors import UNKNOWN_ERROR
from emulator.metadata_log.metadata_version import SHARE_VERSION
from emulator.protocol import (
    AlterShareGroupOffsetsRequest,
    ConsumerMemberDescription,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupStateRequest,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    InitializeShareGroupStateRequest,
    ReadShareGroupStateSummaryRequest,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    ShareGroupOffsetsResponse,
    ShareGroupStateResponse,
    ShareOffset,
    SharePartitionKey,
)

ASKER: Final = "share-groups"
UNKNOWN_TOPIC: Final = "UNKNOWN_TOPIC_OR_PARTITION"
BEGIN, ALTER, DELETE, END, DESCRIBE = "begin", "alter", "delete", "end", "describe"
"""What is done to the state of share-partitions: members need it; offsets are altered, deleted or
described; the group is deleted."""


class ShareGroupManager(ModernGroupManager[ShareGroup, ModernMember, ShareGroupHeartbeatRequest]):
    """The share groups that a broker coordinates."""

    kind = "share"
    feature = SHARE_VERSION
    profile_feature = "share_groups"
    response = ShareGroupHeartbeatResponse

    def __init__(
        self, context: BrokerContext, metadata: GroupMetadataManager, persister: SharePersister
    ) -> None:
        super().__init__(context, metadata)
        self.persister = persister
        persister.on_answer(ASKER, self._state_answered)

    @property
    def is_enabled(self) -> bool:
        """Whether there are share groups; the early access needs no feature of the cluster."""
        return self.rules.is_early_access or super().is_enabled

    @property
    def rules(self) -> Rules:
        """The rules that the configuration gives now."""
        config, profile = self.context.config, self.context.profile
        waits = profile.has("target_assignments_wait")
        return Rules(
            config.share_group_max_size,
            config.share_initialize_retry_us,
            profile.has("share_assignments_balanced"),
            not profile.has("unsubscribed_share_partitions_forgotten"),
            profile.has("share_member_ids_need_no_uuid"),
            profile.has("share_members_join_again"),
            config.share_assignment_interval_us if waits else None,
            profile.has("share_group_early_access"),
        )

    @property
    def timeouts_us(self) -> tuple[int, int]:
        config = self.context.config
        return config.share_session_timeout_us, config.share_heartbeat_interval_us

    def state_of(self, group: Group) -> ShareGroup | None:
        return group.share

    def _validate(self, message: ShareGroupHeartbeatRequest) -> None:
        requests.validate(message, self.rules)

    # ---- heartbeats

    def _new(self, name: str) -> ShareGroup:
        return requests.new_group(name, self.rules)

    def _state_for(self, group: Group | None, message: ShareGroupHeartbeatRequest) -> ShareGroup:
        if self.rules.is_early_access and group is None and message.member_epoch:
            raise Refused("UNKNOWN_SERVER_ERROR", "")
        return super()._state_for(group, message)

    def _become(
        self, group: Group, state: ShareGroup, member: ModernMember
    ) -> tuple[list[Record], None]:
        group.modern = state
        return [], None

    def _decide(self, state: ShareGroup, message: ShareGroupHeartbeatRequest) -> Outcome:
        return requests.heartbeat(state, message, self, self.rules, self.kernel.now)

    def _leave(self, request: int, message: ShareGroupHeartbeatRequest) -> None:
        group = self.metadata.group(message.group)
        if group is None:
            raise Refused(NO_GROUP, f"Group {message.group} not found.")
        if group.share is None:
            raise Refused(NO_GROUP, self._of_other_type(message.group))
        member = known_member(group.share, message.member_id)
        answer = self.response(request, message.group, NONE, "", member.id, LEFT)
        self._remove(group, [member], "left", answer)

    def _removal(self, state: ShareGroup, members: Sequence[ModernMember]) -> Outcome:
        return requests.remove(state, members, self, self.rules)

    def stored(self, store: Store, error: str) -> None:
        """Handle the outcome of a write; what a stored group begins with is begun now."""
        super().stored(store, error)
        group = self.metadata.group(store.group)
        if error == NONE and store.begins and group is not None and group.share is not None:
            self._begin(group.share, store.state_epoch, store.begins)

    # ---- the state of share-partitions

    def _ask_share_coordinators(
        self, work: ShareWork, requests_by_name: Mapping[str, Request]
    ) -> None:
        """Ask share coordinators about partitions, requests by name of partition, and wait."""
        state = self.metadata.state
        state.last_work += 1
        work_number = state.last_work
        state.works[work_number] = work
        numbers = {self.persister.number(): tp for tp in requests_by_name}
        work.waits = dict(numbers)
        if not numbers:
            self._complete(work_number)
            return
        for number in numbers:
            state.asked[number] = work_number
        for number, tp in numbers.items():
            self.persister.send(ASKER, number, requests_by_name[tp])

    def _state_answered(self, number: int, response: ShareGroupStateResponse) -> None:
        state = self.metadata.state
        work_number = state.asked.pop(number, None)
        work = None if work_number is None else state.works.get(work_number)
        if work is None or work_number is None:
            return
        tp = work.waits.pop(number)
        work.answers[tp] = response
        if not work.waits:
            self._complete(work_number)

    def _complete(self, work_number: int) -> None:
        """Go on after all share coordinators have answered."""
        work = self.metadata.state.works.pop(work_number)
        if work.kind == DESCRIBE:
            self._answer_offsets(work)
            return
        group = self.metadata.group(work.group)
        error = next(
            (response.error for response in work.answers.values() if response.error != NONE), NONE
        )
        share = None if group is None else group.share
        if work.kind == END:
            self._end(work, group, error)
            return
        if group is None or share is None:
            if work.kind != BEGIN:
                self._offsets_refused(work.request, work.group, *self._refusal(group, work.group))
            return
        topics = self._topics_of(work)
        if work.kind in (BEGIN, ALTER):
            if error == NONE:
                record = requests.begun(share, topics, work.names, self.kernel.now)
                self._write(group, [record])
            elif work.kind == BEGIN:
                undone = requests.not_begun(share, topics)
                self._write(group, [] if undone is None else [undone])
        elif work.kind == DELETE and error == NONE:
            self._write(group, [requests.deleted(share, topics)])
        if work.kind != BEGIN:
            self._offsets_changed(work)

    @staticmethod
    def _topics_of(work: ShareWork) -> Partitions:
        topics: Partitions = {}
        for tp, response in work.answers.items():
            topic_id = as_sent(response.key.topic_id)
            topics.setdefault(topic_id, []).append(split(tp)[1])
        return {topic: sorted(numbers) for topic, numbers in topics.items()}

    def _key(self, group: str, name: str, partition: int) -> SharePartitionKey | None:
        topic = self.context.metadata.topic(name)
        return None if topic is None else SharePartitionKey(group, topic.id, partition)

    def _begin(self, share: ShareGroup, state_epoch: int, begins: Partitions) -> None:
        """Let share coordinators begin with partitions, unless it was called off meanwhile."""
        initializing = share.initializing
        names = {topic: initializing[topic].name for topic in begins if topic in initializing}
        state_requests: dict[str, Request] = {}
        for topic, name in names.items():
            for number in begins[topic]:
                key = self._key(share.name, name, number)
                if key is not None:
                    state_requests[f"{name}-{number}"] = InitializeShareGroupStateRequest(
                        key, state_epoch
                    )
        self._ask_share_coordinators(ShareWork(share.name, BEGIN, names=names), state_requests)

    # ---- offsets

    def describe_offsets(self, request: int, message: DescribeShareGroupOffsetsRequest) -> None:
        """Tell how far groups are, once their share coordinators have told.

        No share coordinator knows a group without a name, which fails if one would be asked.
        """
        work = ShareWork("", DESCRIBE, request)
        state_requests: dict[str, Request] = {}
        for name, named in message.groups.items():
            group = self.metadata.group(name)
            share = None if group is None else group.share
            partitions = named
            if partitions is None:
                initialized = {} if share is None else share.initialized
                partitions = [
                    f"{begun.name}-{number}"
                    for topic_id, begun in initialized.items()
                    if (topic := self.topic(begun.name)) is not None and topic.id == topic_id
                    for number in begun.partitions
                ]
            work.offsets[name] = dict.fromkeys(partitions, ShareOffset(NONE))
            for tp in partitions:
                key = self._key(name, *split(tp))
                if key is not None and not name:
                    work.offsets[name] = {}
                    work.failed = UNKNOWN_ERROR
                elif key is not None:
                    state_requests[f"{name}\n{tp}"] = ReadShareGroupStateSummaryRequest(key)
        self._ask_share_coordinators(work, state_requests)

    def _answer_offsets(self, work: ShareWork) -> None:
        for key, summary in work.answers.items():
            group, _, tp = key.partition("\n")
            if summary.error == NONE:
                work.offsets[group][tp] = ShareOffset(NONE, summary.start, summary.leader_epoch)
        response = DescribeShareGroupOffsetsResponse(
            work.request,
            {name: NONE if name else work.failed for name in work.offsets},
            work.offsets,
        )
        self.metadata.respond(work.request, response)

    def alter_offsets(self, request: int, message: AlterShareGroupOffsetsRequest) -> None:
        """Begin anew with partitions at other offsets.

        Brokers of 4.1 name the topics that do not exist, and do nothing about the others.
        """
        if not self.context.profile.has("share_offsets_altered"):
            missing = [tp for tp in message.offsets if self.topic(split(tp)[0]) is None]
            errors = dict.fromkeys(missing, (UNKNOWN_TOPIC, ""))
            response = ShareGroupOffsetsResponse(request, message.group, NONE, "", errors)
            self.metadata.respond(request, response)
            return
        group = self.metadata.group(message.group)
        error, text = self._refusal(group, message.group, may_be_new=True)
        if error != NONE:
            self._offsets_refused(request, message.group, error, text)
            return
        if group is None:
            group = self.metadata.make(message.group)
            group.modern = requests.new_group(message.group, self.rules)
        share = group.share
        assert share is not None
        work = ShareWork(message.group, ALTER, request)
        state_requests: dict[str, Request] = {}
        begins: Partitions = {}
        for tp, offset in message.offsets.items():
            name, number = split(tp)
            topic = self.topic(name)
            key = self._key(message.group, name, number)
            if topic is None or key is None or number >= topic.partitions:
                work.errors[tp] = (UNKNOWN_TOPIC, "")
                continue
            work.errors[tp] = (NONE, "")
            work.names[topic.id] = name
            begins.setdefault(topic.id, []).append(number)
            state_requests[tp] = InitializeShareGroupStateRequest(key, share.epoch, offset)
        records: list[Record] = []
        if share.epoch == 0 and not share.has_partitions:
            records.append(ShareGroupEpochRecord(share.name, 0))
        if begins:
            records.append(requests.altering(share, begins, work.names, self.kernel.now))
        self._write(group, records)
        self._ask_share_coordinators(work, state_requests)

    def delete_offsets(self, request: int, message: DeleteShareGroupOffsetsRequest) -> None:
        group = self.metadata.group(message.group)
        error, text = self._refusal(group, message.group)
        if error != NONE or group is None or group.share is None:
            self._offsets_refused(request, message.group, error, text)
            return
        share = group.share
        work = ShareWork(message.group, DELETE, request)
        state_requests: dict[str, Request] = {}
        deleted: dict[str, str] = {}
        for name in message.topics:
            topic = self.topic(name)
            if topic is None:
                text = "This server does not host this topic-partition."
                work.errors[name] = (UNKNOWN_TOPIC, text)
                continue
            begun = share.initialized.get(topic.id)
            if begun is None and topic.id not in share.deleting:
                work.errors[name] = (UNKNOWN_TOPIC, "There is no offset information to delete.")
                continue
            work.errors[name] = (NONE, "")
            deleted[topic.id] = name
            for number in begun.partitions if begun else range(topic.partitions):
                key = self._key(message.group, name, number)
                if key is not None:
                    state_requests[f"{name}-{number}"] = DeleteShareGroupStateRequest(key)
        if deleted:
            self._write(group, [requests.deleting(share, deleted)])
        self._ask_share_coordinators(work, state_requests)

    def _refusal(
        self, group: Group | None, name: str, *, may_be_new: bool = False
    ) -> tuple[str, str]:
        if self.metadata.partition_of(name) not in self.metadata.state.partitions:
            return "NOT_COORDINATOR", ""
        if group is None:
            return (NONE, "") if may_be_new else (NO_GROUP, f"Group {name} not found.")
        if group.share is None:
            return NO_GROUP, f"Group {name} is not a share group."
        if group.share.members:
            return "NON_EMPTY_GROUP", "The group is not empty."
        return NONE, ""

    def _offsets_refused(self, request: int, group: str, error: str, text: str) -> None:
        self.metadata.respond(request, ShareGroupOffsetsResponse(request, group, error, text))

    def _offsets_changed(self, work: ShareWork) -> None:
        for tp, summary in work.answers.items():
            if summary.error != NONE:
                name = tp if work.kind == ALTER else split(tp)[0]
                work.errors[name] = (summary.error, summary.message)
        response = ShareGroupOffsetsResponse(work.request, work.group, NONE, "", work.errors)
        self.metadata.respond(work.request, response)

    # ---- the end of a group

    def delete(self, request: int, group: Group) -> None:
        """Delete the state of a group without members, and then the group."""
        share = group.share
        assert share is not None
        begun = {**share.initialized, **share.initializing}
        state_requests: dict[str, Request] = {}
        for topic in begun.values():
            for number in topic.partitions:
                key = self._key(group.name, topic.name, number)
                if key is not None:
                    state_requests[f"{topic.name}-{number}"] = DeleteShareGroupStateRequest(key)
        if share.has_partitions:
            self._write(group, [requests.deleting(share)])
        self._ask_share_coordinators(ShareWork(group.name, END, request), state_requests)

    def _end(self, work: ShareWork, group: Group | None, error: str) -> None:
        """Write the tombstones of a group, and forget it, unless it can no more be deleted."""
        if error == NONE:
            error, _ = self._refusal(group, work.group)
        if error == NONE and group is not None and group.share is not None:
            records, former = requests.deletion_records(group.share), copied(group)
            self._write(group, records, reverts=former, deletes=work.request)
            del self.metadata.state.groups[group.name]
            self.context.timers.clear_deadline(TASK, group_key(group.name))
        else:
            self.metadata.ended(work.request, work.group, error)

    # ---- what is told

    def _assignor(self, state: ShareGroup) -> str:
        return ASSIGNOR

    def _progress(self, state: ShareGroup, member: ModernMember) -> Progress:
        return Progress("STABLE", {}, [])

    def names(self, state: ShareGroup, member: ModernMember | None = None) -> dict[str, str]:
        members = [*state.members.values(), *(() if member is None else (member,))]
        names = {name for member in members for name in member.topics}
        names.update(begun.name for begun in state.initialized.values())
        return {topic.id: name for name, topic in existing(names, self).items()}

    def _described(self, state: ShareGroup, member: ModernMember) -> ConsumerMemberDescription:
        return ConsumerMemberDescription(
            member.id,
            "",
            member.rack_id,
            member.epoch,
            member.client,
            member.host,
            member.topics,
            "",
            member.assigned,
            {},
        )
