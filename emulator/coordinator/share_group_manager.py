"""Share groups on their coordinator: writing what was decided, answering, and timing out.

A request's records are applied at once, and appended; the answer is sent when they are replicated.
If they cannot be appended, the group is again as it was before. With a partition whose state is not
there yet, a group begins once its members are answered. Source: ``GroupCoordinatorService`` 4.1 and
4.2.
"""

from collections.abc import Mapping
from typing import Final

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.common.java_collections import timeline_order
from emulator.common.names import as_sent, split
from emulator.coordinator.consumer_groups.assignors.specification import Partitions
from emulator.coordinator.consumer_groups.records import TopicMetadata
from emulator.coordinator.consumer_groups.requests import NO_GROUP, Refused
from emulator.coordinator.group_metadata import GroupMetadataManager
from emulator.coordinator.groups import Group, ShareWork, Store, group_key
from emulator.coordinator.share_groups import requests
from emulator.coordinator.share_groups.group import EMPTY, LEFT, ShareGroup, ShareMember, copy
from emulator.coordinator.share_groups.records import (
    Record,
    ShareCurrentRecord,
    ShareGroupEpochRecord,
    ShareTargetEpochRecord,
)
from emulator.coordinator.share_groups.requests import ASSIGNOR, Outcome, Rules
from emulator.coordinator.share_persister import SharePersister
from emulator.coordinator.share_state.requests import Request
from emulator.coordinator.write_errors import UNKNOWN_ERROR, WRITE_ERRORS
from emulator.metadata_log.metadata_version import SHARE_VERSION
from emulator.protocol import (
    AlterShareGroupOffsetsRequest,
    ConsumerGroupDescription,
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

TASK: Final = "groups"
ASKER: Final = "share-groups"
US_PER_MS: Final = 1_000
UNKNOWN_TOPIC: Final = "UNKNOWN_TOPIC_OR_PARTITION"
BEGIN, ALTER, DELETE, END, DESCRIBE = "begin", "alter", "delete", "end", "describe"
"""What is done to the state of share-partitions: members need it; offsets are altered, deleted or
described; the group is deleted."""


class ShareGroupManager:
    """The share groups that a broker coordinates."""

    def __init__(
        self, context: BrokerContext, metadata: GroupMetadataManager, persister: SharePersister
    ) -> None:
        """Act in ``context`` on the groups of ``metadata``."""
        self.context = context
        self.metadata = metadata
        self.persister = persister
        persister.on_answer(ASKER, self._state_answered)
        self.kernel = context.kernel

    @property
    def is_enabled(self) -> bool:
        """Whether the release has share groups, and the cluster their feature."""
        level = self.context.metadata.feature_level(SHARE_VERSION)
        return level > 0 and self.context.profile.has("share_groups")

    @property
    def rules(self) -> Rules:
        """The rules that the configuration gives now."""
        config, profile = self.context.config, self.context.profile
        waits = profile.has("target_assignments_wait")
        renewed = profile.has("share_locks_renewed")
        return Rules(
            config.share_group_max_size,
            config.share_initialize_retry_us,
            renewed,
            not renewed,
            renewed,
            config.share_assignment_interval_us if waits else None,
        )

    def topic(self, name: str) -> TopicMetadata | None:
        """A topic as this broker knows it."""
        found = self.context.metadata.topic(name)
        return None if found is None else TopicMetadata(as_sent(found.id), found.partitions)

    def _session_timeout_us(self, group: str) -> int:
        """How long a member of a group may be silent."""
        default_us = self.context.config.share_session_timeout_us
        return self.context.group_duration_us(group, "share.session.timeout.ms", default_us)

    # ---- heartbeats

    def accepts(self, request: int, message: ShareGroupHeartbeatRequest) -> bool:
        """Whether a heartbeat is valid by itself; if it is not, it is answered."""
        try:
            requests.validate(message, self.rules)
        except Refused as refused:
            self._refuse(request, message, refused)
            return False
        return True

    def heartbeat(self, request: int, message: ShareGroupHeartbeatRequest) -> None:
        """Handle a member's heartbeat."""
        try:
            if message.member_epoch == LEFT:
                self._leave(request, message)
            else:
                self._stay(request, message)
        except Refused as refused:
            self._refuse(request, message, refused)

    def _refuse(self, request: int, message: ShareGroupHeartbeatRequest, refused: Refused) -> None:
        if refused.error == "FENCED_MEMBER_EPOCH":
            self.kernel.emit(
                events.MemberFenced,
                message.group,
                self.context.id,
                message.client,
                message.member_id,
                refused.error,
                message.member_epoch,
            )
        text = str(refused)
        response = ShareGroupHeartbeatResponse(request, message.group, refused.error, text)
        self.metadata.respond(request, response)

    def _stay(self, request: int, message: ShareGroupHeartbeatRequest) -> None:
        group = self.metadata.group(message.group)
        if group is None and message.member_epoch:
            raise Refused(NO_GROUP, f"Share group {message.group} not found.")
        if group is not None and group.share is None:
            raise Refused(NO_GROUP, f"Group {message.group} is not a share group.")
        known = None if group is None else group.share
        share = known or requests.new_group(message.group, self.rules)
        is_new = message.member_id not in share.members
        outcome = requests.heartbeat(share, message, self, self.rules, self.kernel.now)
        group = group or self.metadata.make(message.group)
        group.share = share
        before = dict(share.members)
        assignment = outcome.assignment
        answer = ShareGroupHeartbeatResponse(
            request,
            message.group,
            NONE,
            "",
            outcome.member.id,
            outcome.member.epoch,
            self.context.group_duration_us(
                message.group,
                "share.heartbeat.interval.ms",
                self.context.config.share_heartbeat_interval_us,
            )
            // US_PER_MS,
            assignment,
            {} if assignment is None else self._names(share, assignment),
        )
        epochs = [r.epoch for r in outcome.records if isinstance(r, ShareGroupEpochRecord)]
        begins = (epochs[-1] if epochs else share.epoch, outcome.begins or {})
        self._write(group, outcome.records, answer, begins)
        timeout_us = self._session_timeout_us(message.group)
        share.sessions[outcome.member.id] = self.kernel.now + timeout_us
        self.watch(share)
        if is_new:
            self.kernel.emit(
                events.MemberJoined,
                group.name,
                self.context.id,
                outcome.member.client,
                outcome.member.id,
            )
        self._tell(group, outcome, before)

    def _leave(self, request: int, message: ShareGroupHeartbeatRequest) -> None:
        group = self.metadata.group(message.group)
        if group is None:
            raise Refused(NO_GROUP, f"Group {message.group} not found.")
        if group.share is None:
            raise Refused(NO_GROUP, f"Group {message.group} is not a share group.")
        member = requests.leave(group.share, message)
        answer = ShareGroupHeartbeatResponse(request, message.group, NONE, "", member.id, LEFT)
        self._remove(group, member, "left", answer)

    def _remove(
        self,
        group: Group,
        member: ShareMember,
        reason: str,
        answer: ShareGroupHeartbeatResponse | None = None,
    ) -> None:
        assert group.share is not None
        before = dict(group.share.members)
        outcome = requests.remove(group.share, member, self, self.rules)
        self._write(group, outcome.records, answer)
        if not group.share.members:
            group.empty_since_us = self.kernel.now
        self.kernel.emit(
            events.MemberLeft, group.name, self.context.id, member.client, member.id, reason
        )
        self._tell(group, outcome._replace(reason=f"{member.client}: {reason}"), before)

    # ---- writing

    def _write(
        self,
        group: Group,
        records: list[Record],
        answer: ShareGroupHeartbeatResponse | None = None,
        begins: tuple[int, Partitions] = (0, {}),
    ) -> None:
        """Apply records and append them; answer when all that was decided before is replicated."""
        assert group.share is not None
        answers = [] if answer is None else [answer]
        if not records:
            pending = [s for s in self.metadata.state.stores.values() if s.group == group.name]
            if pending and answer is not None:
                pending[-1].share_answers.append(answer)
            else:
                self._answer(answers)
            return
        before = copy(group.share)
        for record in records:
            group.share.replay(record)
        self._note_state(group)
        self.metadata.write(
            Store(
                group.name,
                share_answers=answers,
                share_before=before,
                state_epoch=begins[0],
                begins=begins[1],
            ),
            records,
        )

    def stored(self, store: Store, error: str) -> None:
        """Handle the outcome of a write: answer, or restore the group as it was."""
        group = self.metadata.group(store.group)
        if error == NONE:
            self._answer(store.share_answers)
            if store.begins and group is not None and group.share is not None:
                self._begin(group.share, store.state_epoch, store.begins)
            return
        if group is not None and error != "REQUEST_TIMED_OUT":
            sessions = group.share.sessions if group.share is not None else {}
            group.share = store.share_before
            assert group.share is not None
            group.share.sessions.update(sessions)
            self._note_state(group)
        told = WRITE_ERRORS.get(error, UNKNOWN_ERROR)
        self._answer(
            [
                ShareGroupHeartbeatResponse(each.request, each.group, told)
                for each in store.share_answers
            ]
        )

    def _answer(self, answers: list[ShareGroupHeartbeatResponse]) -> None:
        for answer in answers:
            self.metadata.respond(answer.request, answer)

    # ---- the state of share-partitions

    def _work(self, work: ShareWork, asked: Mapping[str, Request]) -> None:
        """Ask share coordinators about partitions, requests by name of partition, and wait."""
        state = self.metadata.state
        state.last_work += 1
        at = state.last_work
        state.works[at] = work
        numbers = {self.persister.number(): tp for tp in asked}
        work.waits = dict(numbers)
        if not numbers:
            self._done(at)
            return
        for number in numbers:
            state.asked[number] = at
        for number, tp in numbers.items():
            self.persister.send(ASKER, number, asked[tp])

    def _state_answered(self, number: int, response: ShareGroupStateResponse) -> None:
        state = self.metadata.state
        at = state.asked.pop(number, None)
        work = None if at is None else state.works.get(at)
        if work is None or at is None:
            return
        tp = work.waits.pop(number)
        work.answers[tp] = response
        if not work.waits:
            self._done(at)

    def _done(self, at: int) -> None:
        """Go on after all share coordinators have answered."""
        work = self.metadata.state.works.pop(at)
        if work.kind == DESCRIBE:
            self._described(work)
            return
        group = self.metadata.group(work.group)
        error = next((each.error for each in work.answers.values() if each.error != NONE), NONE)
        share = None if group is None else group.share
        if group is None or share is None:
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
        elif work.kind == END:
            self.end(group)
        if work.kind in (ALTER, DELETE):
            self._offsets_changed(work)
        elif work.kind == END:
            self.metadata.ended(work.request, work.group)

    @staticmethod
    def _topics_of(work: ShareWork) -> Partitions:
        found: Partitions = {}
        for tp, response in work.answers.items():
            topic_id = as_sent(response.key.topic_id)
            found.setdefault(topic_id, []).append(split(tp)[1])
        return {topic: sorted(numbers) for topic, numbers in found.items()}

    def _key(self, group: str, name: str, partition: int) -> SharePartitionKey | None:
        topic = self.context.metadata.topic(name)
        return None if topic is None else SharePartitionKey(group, topic.id, partition)

    def _begin(self, share: ShareGroup, state_epoch: int, begins: Partitions) -> None:
        """Let share coordinators begin with partitions."""
        names = {topic: share.initializing[topic].name for topic in begins}
        asked: dict[str, Request] = {}
        for topic, numbers in begins.items():
            for number in numbers:
                key = self._key(share.name, names[topic], number)
                if key is not None:
                    asked[f"{names[topic]}-{number}"] = InitializeShareGroupStateRequest(
                        key, state_epoch
                    )
        self._work(ShareWork(share.name, BEGIN, names=names), asked)

    # ---- offsets

    def describe_offsets(self, request: int, message: DescribeShareGroupOffsetsRequest) -> None:
        """Tell how far groups are, once their share coordinators have told."""
        work = ShareWork("", DESCRIBE, request)
        asked: dict[str, Request] = {}
        for name, wanted in message.groups.items():
            group = self.metadata.group(name)
            share = None if group is None else group.share
            partitions = wanted
            if partitions is None:
                known = {} if share is None else share.initialized
                partitions = [
                    f"{each.name}-{number}"
                    for topic, each in known.items()
                    if (found := self.topic(each.name)) is not None and found.id == topic
                    for number in each.partitions
                ]
            work.offsets[name] = dict.fromkeys(partitions, ShareOffset(NONE))
            for tp in partitions:
                key = self._key(name, *split(tp))
                if key is not None:
                    asked[f"{name}\n{tp}"] = ReadShareGroupStateSummaryRequest(key)
        self._work(work, asked)

    def _described(self, work: ShareWork) -> None:
        for where, told in work.answers.items():
            group, _, tp = where.partition("\n")
            if told.error == NONE:
                work.offsets[group][tp] = ShareOffset(NONE, told.start, told.leader_epoch)
        response = DescribeShareGroupOffsetsResponse(
            work.request, dict.fromkeys(work.offsets, NONE), work.offsets
        )
        self.metadata.respond(work.request, response)

    def alter_offsets(self, request: int, message: AlterShareGroupOffsetsRequest) -> None:
        """Begin anew with partitions at other offsets.

        Brokers of 4.1 name the topics that do not exist, and do nothing about the others.
        """
        if not self.rules.checks_ids:
            missing = [tp for tp in message.offsets if self.topic(split(tp)[0]) is None]
            errors = dict.fromkeys(missing, (UNKNOWN_TOPIC, ""))
            response = ShareGroupOffsetsResponse(request, message.group, NONE, "", errors)
            self.metadata.respond(request, response)
            return
        group = self.metadata.group(message.group)
        error, text = self._refusal(group, message.group, may_be_new=self.rules.checks_ids)
        if error != NONE:
            self._offsets_refused(request, message.group, error, text)
            return
        if group is None:
            group = self.metadata.make(message.group)
            group.share = requests.new_group(message.group, self.rules)
        share = group.share
        assert share is not None
        work = ShareWork(message.group, ALTER, request)
        asked: dict[str, Request] = {}
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
            asked[tp] = InitializeShareGroupStateRequest(key, share.epoch, offset)
        records: list[Record] = []
        if share.epoch == 0 and not share.has_partitions:
            records.append(ShareGroupEpochRecord(share.name, 0))
        if begins:
            records.append(requests.altering(share, begins, work.names, self.kernel.now))
        self._write(group, records)
        self._work(work, asked)

    def delete_offsets(self, request: int, message: DeleteShareGroupOffsetsRequest) -> None:
        """Delete the state of topics."""
        group = self.metadata.group(message.group)
        error, text = self._refusal(group, message.group)
        if error != NONE or group is None or group.share is None:
            self._offsets_refused(request, message.group, error, text)
            return
        share = group.share
        work = ShareWork(message.group, DELETE, request)
        asked: dict[str, Request] = {}
        gone: dict[str, str] = {}
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
            gone[topic.id] = name
            for number in begun.partitions if begun else range(topic.partitions):
                key = self._key(message.group, name, number)
                if key is not None:
                    asked[f"{name}-{number}"] = DeleteShareGroupStateRequest(key)
        if gone:
            self._write(group, [requests.deleting(share, gone)])
        self._work(work, asked)

    def _refusal(
        self, group: Group | None, name: str, *, may_be_new: bool = False
    ) -> tuple[str, str]:
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
        for tp, told in work.answers.items():
            if told.error != NONE:
                name = tp if work.kind == ALTER else split(tp)[0]
                work.errors[name] = (told.error, told.message)
        response = ShareGroupOffsetsResponse(work.request, work.group, NONE, "", work.errors)
        self.metadata.respond(work.request, response)

    # ---- the end of a group

    def delete(self, request: int, group: Group) -> None:
        """Delete the state of a group without members, and then the group."""
        share = group.share
        assert share is not None
        begun = {**share.initialized, **share.initializing}
        asked: dict[str, Request] = {}
        for each in begun.values():
            for number in each.partitions:
                key = self._key(group.name, each.name, number)
                if key is not None:
                    asked[f"{each.name}-{number}"] = DeleteShareGroupStateRequest(key)
        if share.has_partitions:
            self._write(group, [requests.deleting(share)])
        self._work(ShareWork(group.name, END, request), asked)

    def end(self, group: Group) -> None:
        """Write the tombstones of a group, and forget it."""
        assert group.share is not None
        self._write(group, requests.deletion_records(group.share))
        del self.metadata.state.groups[group.name]
        self.context.timers.clear_deadline(TASK, group_key(group.name))

    # ---- what is told

    def _note_state(self, group: Group) -> None:
        """Keep the state and the epoch where those of classic groups are."""
        assert group.share is not None
        group.state, group.generation = group.share.state, group.share.epoch

    def _tell(self, group: Group, outcome: Outcome, before: dict[str, ShareMember]) -> None:
        """Emit what a request has changed."""
        share, kernel = group.share, self.kernel
        assert share is not None
        epochs = [r for r in outcome.records if isinstance(r, ShareGroupEpochRecord)]
        if epochs:
            fields = (group.name, self.context.id, share.epoch, outcome.reason)
            kernel.emit(events.GroupEpochBumped, *fields)
        if any(isinstance(r, ShareTargetEpochRecord) for r in outcome.records):
            fields = (group.name, self.context.id, share.assignment_epoch, ASSIGNOR)
            kernel.emit(events.TargetAssignmentComputed, *fields)
        for record in outcome.records:
            if isinstance(record, ShareCurrentRecord) and not record.is_tombstone:
                member = share.members[record.member]
                if member != before.get(member.id):
                    self._tell_member(share, member)
        if outcome.records:
            kernel.emit(
                events.GroupStateChanged, group.name, self.context.id, share.state, share.epoch
            )

    def _tell_member(self, share: ShareGroup, member: ShareMember) -> None:
        names = self._names(share, member.assigned)
        self.kernel.emit(
            events.MemberAssignmentChanged,
            share.name,
            self.context.id,
            member.client,
            member.id,
            member.epoch,
            "STABLE",
            [
                f"{names.get(topic, topic)}-{number}"
                for topic, numbers in member.assigned.items()
                for number in numbers
            ],
            [],
            [],
        )

    def _names(self, share: ShareGroup, partitions: Partitions) -> dict[str, str]:
        """The names of topics by id, as far as they still exist."""
        found = {}
        for name in {name for member in share.members.values() for name in member.topics} | {
            each.name for each in share.initialized.values()
        }:
            topic = self.topic(name)
            if topic is not None and topic.id in partitions:
                found[topic.id] = name
        return found

    def description(self, group: Group | None, name: str) -> ConsumerGroupDescription:
        """A group as its coordinator describes it."""
        if group is None:
            return ConsumerGroupDescription(NO_GROUP, f"Group {name} not found.")
        if group.share is None:
            return ConsumerGroupDescription(NO_GROUP, f"Group {name} is not a share group.")
        share = group.share
        members = [share.members[each] for each in timeline_order(share.members)]
        assigned: Partitions = {topic: [] for each in members for topic in each.assigned}
        return ConsumerGroupDescription(
            NONE,
            "",
            share.state,
            share.epoch,
            share.assignment_epoch,
            ASSIGNOR,
            [
                ConsumerMemberDescription(
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
                for member in members
            ],
            self._names(share, assigned),
        )

    # ---- time

    def watch(self, share: ShareGroup) -> None:
        """Schedule a check of a group at its next deadline."""
        if share.sessions:
            due_us = min(share.sessions.values())
            self.context.timers.set_deadline(TASK, group_key(share.name), due_us)

    def expire(self, group: Group) -> None:
        """Remove members that were silent for too long."""
        share, now = group.share, self.kernel.now
        assert share is not None
        for name, due_us in list(share.sessions.items()):
            if due_us <= now and name in share.members:
                self._remove(group, share.members[name], "session expired")
        self.watch(share)

    def loaded(self, group: Group) -> None:
        """Start the sessions of a group that was loaded anew."""
        share, now = group.share, self.kernel.now
        assert share is not None
        for name in share.members:
            share.sessions[name] = now + self._session_timeout_us(group.name)
        self._note_state(group)
        if share.state == EMPTY:
            group.empty_since_us = now
        self.watch(share)
