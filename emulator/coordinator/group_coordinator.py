"""The group coordinator's request handling, loading of partitions, and timers.

A broker coordinates the groups of those partitions of __consumer_offsets that it leads, once it has
loaded them. Source: ``kafka.coordinator.group.GroupCoordinator`` 0.9 to 3.9.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from msgspec.structs import replace

from emulator import protocol as messages
from emulator.broker_context import BrokerContext
from emulator.broker_effects import PartitionsDeleted
from emulator.common.errors import LOADING, NONE
from emulator.common.names import split
from emulator.coordinator import internal_topics
from emulator.coordinator.consumer_group_manager import ConsumerGroupManager
from emulator.coordinator.consumer_groups.group import ConsumerGroup
from emulator.coordinator.consumer_groups.requests import offset_error
from emulator.coordinator.group_metadata import VERIFIER, GroupMetadataManager
from emulator.coordinator.groups import (
    COMMIT,
    COMPLETING,
    DEAD,
    HEARTBEAT,
    PREPARING,
    REBALANCING,
    REFUSED,
    STABLE,
    TASK,
    CoordinatorState,
    Deletion,
    Group,
    Store,
    consumes,
    group_key,
)
from emulator.coordinator.internal_topics import OFFSETS
from emulator.coordinator.members import GroupMembership
from emulator.coordinator.modern_group_manager import GroupT, ModernGroupManager, RequestT
from emulator.coordinator.modern_groups.group import MemberT
from emulator.coordinator.offset_expiry import OffsetExpiration, subscribed_topics
from emulator.coordinator.own_requests import OwnRequests
from emulator.coordinator.share_group_manager import ShareGroupManager
from emulator.coordinator.share_persister import SharePersister
from emulator.storage.log import Log

T = TypeVar("T")
LOADING_US: Final = 5_000
"""How long loading a partition of __consumer_offsets takes."""
EPOCHS_SINCE: Final = 9
"""The first OffsetCommit version in which members send epochs (KIP-848)."""
LOOK: Final = "look"
"""The deadline for checking old offsets; those of groups and loads are ``group NAME`` and
``load TP``."""

OffsetsChange = TypeVar(
    "OffsetsChange",
    messages.AlterShareGroupOffsetsRequest,
    messages.DeleteShareGroupOffsetsRequest,
)


class GroupCoordinator:
    """Handles group requests and their timers."""

    def __init__(
        self,
        context: BrokerContext,
        state: CoordinatorState,
        own: OwnRequests,
        persister: SharePersister,
        *,
        append: Callable[[int, int, messages.ProduceRequest], None],
        log_of: Callable[[str], tuple[Log, int]],
    ) -> None:
        """Act in ``context``.

        ``append`` handles a ProduceRequest as if a client had sent it; ``log_of`` returns this
        broker's log of a partition and its high watermark.
        """
        self.context = context
        has = context.profile.has
        self.checks_first = has("heartbeats_checked_before_coordinator")
        self.waits_to_tell = has("group_records_need_no_min_isr")
        self.deletes_shares_first = has("share_groups") and not has("share_group_early_access")
        self.is_early = has("consumer_group_early_access")
        self.needs_epoch = has("transactional_offsets_need_epoch")
        self.needs_name = has("groups_need_name")
        self.checks_members_as_others = has("transactional_members_checked_as_others")
        refused = has("heartbeats_refused_before_assignment")
        self.heartbeats = HEARTBEAT | {COMPLETING: REBALANCING if refused else NONE}
        self.state = state
        self.kernel = context.kernel
        self.timers = context.timers
        self.offsets = GroupMetadataManager(
            context,
            state,
            own,
            append=append,
            log_of=log_of,
            assignment_stored=self._assignment_stored,
            modern_stored=self._modern_stored,
            deletion_due=self._delete,
        )
        own.on_response(VERIFIER, self._transaction_verified)
        self.members = GroupMembership(context, self.offsets)
        self.consumers = ConsumerGroupManager(context, self.offsets, self.members)
        self.shares = ShareGroupManager(context, self.offsets, persister)
        self.expiry = OffsetExpiration(context, self.offsets)
        self.respond = self.offsets.respond
        self.group = self.offsets.group
        self.partition_of = self.offsets.partition_of

    # ---- coordination of groups

    def refusal(self, group: str) -> str:
        """The error for a request about a group that this broker does not coordinate (yet)."""
        due_us = self.state.partitions.get(self.partition_of(group))
        if due_us is None:
            return "NOT_COORDINATOR"
        return LOADING if due_us else NONE

    def find(self, client: int, request: int, message: messages.FindCoordinatorRequest) -> None:
        """Return a group's coordinator, creating __consumer_offsets if it does not exist."""
        process = self.context.process
        info = process.metadata.get(self.partition_of(message.group))
        if info is None:
            internal_topics.create(self.context, OFFSETS)
        if info is None or info.leader not in process.live_brokers:
            response = messages.FindCoordinatorResponse(
                request, message.group, "COORDINATOR_NOT_AVAILABLE"
            )
        else:
            response = messages.FindCoordinatorResponse(request, message.group, NONE, info.leader)
        self.context.respond(client, request, response)

    # ---- becoming and resigning as coordinator

    def leads(self, tp: str) -> None:
        """Load a partition's groups on becoming its leader, if it belongs to __consumer_offsets."""
        partitions = self.state.partitions
        if OFFSETS.holds(tp) and tp not in partitions:
            partitions[tp] = self.kernel.now + LOADING_US
            self.timers.set_deadline(TASK, f"load {tp}", partitions[tp])
            self.expiry.begin()

    def leads_no_more(self, tp: str) -> None:
        """Handle the loss of a partition's leadership: its groups move to another coordinator."""
        state = self.state
        if state.partitions.pop(tp, None) is None:
            return
        self.timers.clear_deadline(TASK, f"load {tp}")
        for group in [g for g in state.groups.values() if self.partition_of(g.name) == tp]:
            self.members.fail_waiting(group, "NOT_COORDINATOR")
            self.offsets.to(group, DEAD)
            del state.groups[group.name]
            self.timers.clear_deadline(TASK, group_key(group.name))

    # ---- requests

    def join(self, _client: int, request: int, message: messages.JoinGroupRequest) -> None:
        """Add or rejoin a member; respond when all members have joined."""
        error, config = self._classic_refusal(message.group), self.context.config
        shortest, longest = config.group_min_session_timeout_us, config.group_max_session_timeout_us
        if error == NONE and not shortest <= message.session_timeout_us <= longest:
            error = "INVALID_SESSION_TIMEOUT"
        elif error == NONE and (self.is_share(message.group) or not names_protocols(message)):
            error = "INCONSISTENT_GROUP_PROTOCOL"
        if error != NONE:
            response = messages.JoinGroupResponse(request, message.group, error, message.member_id)
            self.respond(request, response)
        elif self.has_consumers(message.group):
            self.consumers.join(request, message)
        else:
            self.consumers.make_way(message.group)
            self.members.join(request, message)
        self._watch_positions()

    def _classic_refusal(self, name: str) -> str:
        """The error for a classic member's request: in 3.7 no consumer group takes such members."""
        error, group = self._named(name), self.group(name)
        if error == NONE and self.is_early and group is not None and group.consumer is not None:
            return "GROUP_ID_NOT_FOUND"
        return error

    def has_consumers(self, name: str) -> bool:
        """Whether a group is a consumer group with members, which serves classic members too."""
        group = self.group(name)
        return group is not None and group.consumer is not None and bool(group.consumer.members)

    def is_share(self, name: str) -> bool:
        """Whether a group is a share group, which other members may not join."""
        group = self.group(name)
        return group is not None and group.share is not None

    def sync(self, _client: int, request: int, message: messages.SyncGroupRequest) -> None:
        """Return a member's assignment; respond when the leader's assignment is stored."""
        error = self._classic_refusal(message.group)
        if error != NONE:
            self.respond(request, messages.SyncGroupResponse(request, message.group, error))
        elif self.has_consumers(message.group):
            self.consumers.sync(request, message)
        else:
            self.members.sync(request, message)
        self._watch_positions()

    def heartbeat(self, _client: int, request: int, message: messages.HeartbeatRequest) -> None:
        """Keep a member's session alive; a group that is loading raises no error.

        One that is refused before the assignment does not, nor do refused commits.
        """
        error = self._classic_refusal(message.group)
        # An error would only make the member look for another coordinator, and there is none; its
        # session starts anew when the group is loaded (GroupCoordinator.handleHeartbeat).
        if error == LOADING:
            error = NONE
        elif error == NONE and self.has_consumers(message.group):
            error = self.consumers.classic_heartbeat(message)
        elif error == NONE:
            error = self.members.check(message)
            group = self.group(message.group)
            if error == NONE and group is not None:
                error = self.heartbeats[group.state]
                if error == NONE or group.state == PREPARING:
                    self.members.alive(group, message.member_id)
        self.respond(request, messages.HeartbeatResponse(request, message.group, error))

    def leave(self, _client: int, request: int, message: messages.LeaveGroupRequest) -> None:
        error = self._classic_refusal(message.group)
        if error == NONE and self.has_consumers(message.group):
            self.consumers.leave(request, message)
            return
        response = messages.LeaveGroupResponse(request, message.group, error)
        if error == NONE:
            group = self.group(message.group)
            errors = [
                REFUSED if group is None else self.members.leave(group, *member)
                for member in message.members
            ]
            response = messages.LeaveGroupResponse.of_members(request, message.group, errors)
        self.respond(request, response)
        self._watch_positions()

    def commit(self, _client: int, request: int, message: messages.OffsetCommitRequest) -> None:
        """Write offsets to the log; respond when they are replicated.

        Partitions that this broker does not know are not committed; without any other the group is
        not asked for (``KafkaApis.handleOffsetCommitRequest``).
        """
        existing = self._existing(message.offsets)
        if message.offsets and not existing:
            self.respond(request, messages.OffsetCommitResponse(request, message.group, NONE))
            return
        message = replace(message, offsets=existing)
        error = self._offsets_refusal(message.group, self.refusal)
        group = self.group(message.group)
        if error == NONE and message.generation < 0 and self._is_empty(group):
            group = group or self.offsets.make(message.group)
        elif error == NONE and group is None:
            has_name = message.version >= EPOCHS_SINCE and (self.waits_to_tell or self.is_early)
            error = "GROUP_ID_NOT_FOUND" if has_name else "ILLEGAL_GENERATION"
        elif error == NONE and group is not None and group.consumer is not None:
            error = offset_error(group.consumer, message.member_id, message.generation)
            if message.version < EPOCHS_SINCE and error != REFUSED:
                member = group.consumer.members[message.member_id]
                error = error if member.classic is not None else "UNSUPPORTED_VERSION"
        elif error == NONE:
            error = self.members.check(message)
            if error == NONE and group is not None:
                error = COMMIT[group.state]
                if error == NONE:
                    self.members.alive(group, message.member_id)
        if error == NONE and group is not None:
            self.offsets.commit(group, request, message)
        else:
            self.respond(request, messages.OffsetCommitResponse(request, message.group, error))
        self._watch_positions()

    def commit_in_transaction(
        self, _client: int, request: int, message: messages.TxnOffsetCommitRequest
    ) -> None:
        """Write offsets that take effect when a transaction commits.

        Since 3.7 the transaction is verified first.
        """
        existing = self._existing(message.offsets)
        if message.offsets and not existing:
            self.respond(request, messages.OffsetCommitResponse(request, message.group, NONE))
            return
        message = replace(message, offsets=existing)
        error = self._named(message.group)
        if error == NONE and self.offsets.verifies_first:
            self.offsets.verify(request, message)
        else:
            self._commit_in_transaction(request, message, error)

    def _transactional_member_error(
        self, group: Group | None, message: messages.TxnOffsetCommitRequest
    ) -> str:
        """The error for a producer that sends who its member is, which is not current (KIP-447).

        Source: ``GroupCoordinator.doTxnCommitOffsets``, ``validateOffsetCommit``.
        """
        if not self.checks_members_as_others:
            return self._stated_member_error(group, message)
        is_member = message.generation >= 0 or bool(message.member_id or message.instance_id)
        if not is_member or (message.generation < 0 and self._is_empty(group)):
            return NONE
        if group is None:
            return "ILLEGAL_GENERATION" if self.waits_to_tell else REFUSED
        if group.consumer is not None:
            return offset_error(group.consumer, message.member_id, message.generation)
        return self.members.check(message)

    @staticmethod
    def _stated_member_error(group: Group | None, message: messages.TxnOffsetCommitRequest) -> str:
        """The error before 3.0, when only what is sent was compared."""
        member, instance = message.member_id, message.instance_id
        current = group.static_member(instance) if group is not None and instance else None
        if current is not None and current.id != member:
            return "FENCED_INSTANCE_ID"
        if member and (group is None or member not in group.members):
            return REFUSED
        generation = 0 if group is None else group.generation
        is_other = message.generation >= 0 and message.generation != generation
        return "ILLEGAL_GENERATION" if is_other else NONE

    def _transaction_verified(self, number: int, outcome: messages.ProduceResponse) -> None:
        self._commit_in_transaction(*self.offsets.verified(number, outcome))

    def _commit_in_transaction(
        self, request: int, message: messages.TxnOffsetCommitRequest, error: str
    ) -> None:
        if error == NONE:
            error = self._offsets_refusal(message.group, self._named)
        group = self.group(message.group)
        if error == NONE:
            error = self._transactional_member_error(group, message)
        has_epoch = message.producer_id >= 0 and message.producer_epoch >= 0
        if error == NONE and self.needs_epoch and not has_epoch:
            error = "UNKNOWN_SERVER_ERROR"  # MemoryRecordsBuilder.validateProducerState throws
        if error == NONE and self.is_early and self.context.config.transaction_verification:
            error = "INVALID_TXN_STATE"  # a coordinator of 3.7 has no transaction verified
        if error == NONE:
            self.offsets.commit(group or self.offsets.make(message.group), request, message)
        else:
            self.respond(request, messages.OffsetCommitResponse(request, message.group, error))
        self._watch_positions()

    def _offsets_refusal(self, group: str, refusal: Callable[[str], str]) -> str:
        """The error for a group whose offsets change: share groups have none here.

        Source: ``ShareGroup.validateOffsetCommit`` and ``validateOffsetDelete``.
        """
        error = refusal(group)
        return "GROUP_ID_NOT_FOUND" if error == NONE and self.is_share(group) else error

    def _named(self, group: str) -> str:
        """The error for a request about a group that must have a name.

        Those of old consumers, which commit offsets, need none (``isValidGroupId``).
        """
        return "INVALID_GROUP_ID" if self.needs_name and not group else self.refusal(group)

    def _existing(self, offsets: dict[str, T]) -> dict[str, T]:
        """Return what there is for the partitions that this broker knows."""
        metadata = self.context.metadata
        return {tp: at for tp, at in offsets.items() if metadata.leader(tp) is not None}

    @staticmethod
    def _is_empty(group: Group | None) -> bool:
        return group is None or not group.has_members

    def committed(self, _client: int, request: int, message: messages.OffsetFetchRequest) -> None:
        error = self.refusal(message.group)
        waits = self.waits_to_tell and message.require_stable
        name = message.group
        group = self.group(name) if waits else self.offsets.committed([name]).get(name)
        is_member = message.member_id is not None or message.member_epoch >= 0
        if error == NONE and group is not None and group.consumer is not None and is_member:
            error = "UNKNOWN_SERVER_ERROR"  # a member without an id is looked for in vain
            if message.member_id is not None:
                error = offset_error(group.consumer, message.member_id, message.member_epoch)
        waits = waits and error == NONE
        known = {} if group is None or error != NONE else group.offsets
        if group is not None and waits:
            known = self.offsets.uncommitted(group)
        partitions = list(known) if message.partitions is None else message.partitions
        offsets = {tp: known.get(tp, -1) for tp in partitions}
        committed = {} if group is None or error != NONE else group.epochs
        epochs = {tp: committed[tp] for tp in partitions if tp in committed}
        metadata = {} if group is None or error != NONE else group.notes
        notes = {tp: metadata[tp] for tp in partitions if tp in metadata}
        unstable: list[str] = []
        if message.require_stable and not self.is_early and group is not None and error == NONE:
            changing = {tp for positions in group.unstable.values() for tp in positions}
            unstable = [tp for tp in partitions if tp in changing]
            offsets |= dict.fromkeys(unstable, -1)
        response = messages.OffsetFetchResponse(
            request, message.group, error, offsets, epochs, notes, unstable
        )
        if not (waits and self.offsets.await_pending(message.group, response)):
            self.respond(request, response)

    # ---- administrative requests

    def describe(self, _client: int, request: int, message: messages.DescribeGroupsRequest) -> None:
        """Describe groups, or list those coordinated here if no names are given."""
        if message.groups is None:
            loading = any(self.state.partitions.values())
            error = LOADING if loading else NONE
            groups = self.offsets.committed()
            described = {name: self._description(group) for name, group in groups.items()}
            self.respond(request, messages.DescribeGroupsResponse(request, error, described))
            return
        asked: dict[str, messages.GroupDescription] = {}
        groups = self.offsets.committed(message.groups)
        for name in message.groups:
            error, group = self.refusal(name), groups.get(name)
            if error != NONE:
                asked[name] = messages.GroupDescription(error)
            elif group is None:
                asked[name] = messages.GroupDescription(
                    NONE, DEAD, message=f"Group {name} not found."
                )
            elif group.modern is not None:
                text = f"Group {name} is not a classic group."
                asked[name] = messages.GroupDescription(NONE, DEAD, message=text)
            else:
                asked[name] = self._description(group)
        self.respond(request, messages.DescribeGroupsResponse(request, NONE, asked))

    @staticmethod
    def _description(group: Group) -> messages.GroupDescription:
        """A group with its members; their metadata and assignments only in the state ``Stable``."""
        if group.consumer is not None:
            return messages.GroupDescription(NONE, group.state, "consumer", type="consumer")
        if group.share is not None:
            return messages.GroupDescription(NONE, group.state, "share", type="share")
        members = {
            member.id: messages.MemberDescription(
                member.consumer,
                member.metadata_of(group.assignor) if group.state == STABLE else b"",
                member.assignment if group.state == STABLE else b"",
                member.instance_id,
            )
            for member in group.members.values()
        }
        protocol = group.assignor if group.state == STABLE else ""
        kind = group.protocol_type or ("consumer" if group.generation else "")
        return messages.GroupDescription(NONE, group.state, kind, protocol, members)

    def delete(self, _client: int, request: int, message: messages.DeleteGroupsRequest) -> None:
        errors = {name: self.refusal(name) for name in message.groups}
        names = [name for name, error in errors.items() if error == NONE]
        if not names:
            self.respond(request, messages.DeleteGroupsResponse(request, errors))
            return
        self.state.deletions[request] = Deletion(errors, names)
        if not self.deletes_shares_first:
            self._delete(request, list(names), NONE)
            return
        partitions: dict[str, list[str]] = {}
        for name in names:
            partitions.setdefault(self.partition_of(name), []).append(name)
        for tp, groups in partitions.items():
            self.offsets.delete_after_pending(tp, request, groups)

    def _delete(self, request: int, names: list[str], error: str) -> None:
        """Delete groups for a request, unless what it waited for was not replicated in time."""
        for name in names:
            group = self.group(name)
            if error != NONE:
                self.offsets.ended(request, name, error)
            elif group is None:
                self.offsets.ended(request, name, "GROUP_ID_NOT_FOUND")
            elif group.has_members:
                self.offsets.ended(request, name, "NON_EMPTY_GROUP")
            elif group.share is not None:
                self.shares.delete(request, group)
            elif self.waits_to_tell:
                self.expiry.forget(group, request)
            else:
                self.expiry.forget(group)
                self.offsets.ended(request, name, NONE)

    def delete_offsets(
        self, _client: int, request: int, message: messages.OffsetDeleteRequest
    ) -> None:
        """Delete offsets, except those of topics that members are, or may be, subscribed to."""
        error = self._offsets_refusal(message.group, self._named)
        group = self.group(message.group)
        if error == NONE and group is None:
            error = "GROUP_ID_NOT_FOUND"
        elif error == NONE and group is not None and group.members and not consumes(group):
            error = "NON_EMPTY_GROUP"
        errors: dict[str, str] = {}
        if error == NONE and group is not None:
            topics = subscribed_topics(group)
            errors = dict.fromkeys(message.partitions, "UNKNOWN_TOPIC_OR_PARTITION")
            for tp in self._existing(errors):
                is_read = topics is None or split(tp)[0] in topics
                errors[tp] = "GROUP_SUBSCRIBED_TO_TOPIC" if is_read else NONE
            others = [tp for tp, result in errors.items() if result == NONE]
            response = messages.OffsetDeleteResponse(request, error, errors)
            if self.expiry.forget_positions(group, others, response):
                return
        self.respond(request, messages.OffsetDeleteResponse(request, error, errors))

    def partitions_deleted(self, effect: PartitionsDeleted) -> None:
        """Delete the offsets of partitions that are no more (KAFKA-2000)."""
        self.expiry.forget_deleted(effect.partitions)
        self._watch_positions()

    def consumer_heartbeat(
        self, _client: int, request: int, message: messages.ConsumerGroupHeartbeatRequest
    ) -> None:
        """Let a member of a consumer group join, stay or leave (KIP-848)."""
        self._heartbeat(self.consumers, request, message, checks_first=self.checks_first)
        self._watch_positions()

    def share_heartbeat(
        self, _client: int, request: int, message: messages.ShareGroupHeartbeatRequest
    ) -> None:
        """Let a member of a share group join, stay or leave (KIP-932)."""
        self._heartbeat(self.shares, request, message, checks_first=self.checks_first)

    def _heartbeat(
        self,
        manager: ModernGroupManager[GroupT, MemberT, RequestT],
        request: int,
        message: RequestT,
        *,
        checks_first: bool,
    ) -> None:
        error = self.refusal(message.group)
        if not manager.is_enabled:
            error = "UNSUPPORTED_VERSION"
        elif checks_first and not manager.accepts(request, message):
            return
        if error != NONE:
            self.respond(request, manager.response(request, message.group, error))
        elif checks_first or manager.accepts(request, message):
            manager.heartbeat(request, message)

    def describe_consumer_groups(
        self, _client: int, request: int, message: messages.ConsumerGroupDescribeRequest
    ) -> None:
        described = self._descriptions(self.consumers, message.groups)
        self.respond(request, messages.ConsumerGroupDescribeResponse(request, described))

    def describe_share_groups(
        self, _client: int, request: int, message: messages.ShareGroupDescribeRequest
    ) -> None:
        described = self._descriptions(self.shares, message.groups)
        self.respond(request, messages.ShareGroupDescribeResponse(request, described))

    def _descriptions(
        self, manager: ModernGroupManager[GroupT, MemberT, RequestT], names: Sequence[str]
    ) -> dict[str, messages.ConsumerGroupDescription]:
        described: dict[str, messages.ConsumerGroupDescription] = {}
        groups = self.offsets.committed(names)
        for name in names:
            error = self.refusal(name) if name else "INVALID_GROUP_ID"
            if not manager.is_enabled:
                error = "UNSUPPORTED_VERSION"
            described[name] = (
                manager.description(groups.get(name), name)
                if error == NONE
                else messages.ConsumerGroupDescription(error)
            )
        return described

    def describe_share_offsets(
        self, _client: int, request: int, message: messages.DescribeShareGroupOffsetsRequest
    ) -> None:
        errors = {name: self.refusal(name) for name in message.groups}
        if not self.shares.is_enabled:
            errors = dict.fromkeys(message.groups, "UNSUPPORTED_VERSION")
        if all(error == NONE for error in errors.values()):
            self.shares.describe_offsets(request, message)
        else:
            self.respond(request, messages.DescribeShareGroupOffsetsResponse(request, errors))

    def alter_share_offsets(
        self, _client: int, request: int, message: messages.AlterShareGroupOffsetsRequest
    ) -> None:
        """Set the start offsets of a share group."""
        self._change_share_offsets(request, message, self.shares.alter_offsets)

    def delete_share_offsets(
        self, _client: int, request: int, message: messages.DeleteShareGroupOffsetsRequest
    ) -> None:
        """Delete the state of topics of a share group."""
        self._change_share_offsets(request, message, self.shares.delete_offsets)

    def _change_share_offsets(
        self, request: int, message: OffsetsChange, change: Callable[[int, OffsetsChange], None]
    ) -> None:
        error = self._named(message.group) if self.shares.is_enabled else "UNSUPPORTED_VERSION"
        if error == NONE:
            change(request, message)
        else:
            self.respond(request, messages.ShareGroupOffsetsResponse(request, message.group, error))

    def _modern_stored(self, store: Store, error: str) -> None:
        manager = self.consumers if isinstance(store.before, ConsumerGroup) else self.shares
        manager.stored(store, error)

    def _assignment_stored(self, group: Group, store: Store, error: str) -> None:
        self.members.assignment_stored(group, store, error)

    # ---- time

    def tick(self) -> None:
        """Run what is due: load partitions, end waits for members, expire sessions and offsets."""
        due = [str(of) for of in self.timers.overdue(TASK)]
        for tp in [of.removeprefix("load ") for of in due if of.startswith("load ")]:
            self._load(tp)
        for name in [of.removeprefix("regexes ") for of in due if of.startswith("regexes ")]:
            group = self.group(name)
            if group is not None:
                self.consumers.resolve(group)
        for name in [of.removeprefix("group ") for of in due if of.startswith("group ")]:
            group = self.group(name)
            if group is not None and group.consumer is not None:
                self.consumers.expire(group)
            elif group is not None and group.share is not None:
                self.shares.expire(group)
            elif group is not None:
                self.members.expire(group)
        for number in [of.removeprefix("store ") for of in due if of.startswith("store ")]:
            self.offsets.late(int(number))
        self.expiry.look()
        self._watch_positions()

    def _load(self, tp: str) -> None:
        self.state.partitions[tp] = 0
        for group in self.offsets.load(tp):
            if group.consumer is not None:
                self.consumers.loaded(group)
            elif group.share is not None:
                self.shares.loaded(group)
            else:
                self.members.watch(group)

    def _watch_positions(self) -> None:
        """Schedule the check for old offsets, as long as there is a group."""
        due_us = self.expiry.due_us()
        if due_us is not None and self.timers.deadline_of(TASK, LOOK) is None:
            self.timers.set_deadline(TASK, LOOK, due_us)


def names_protocols(message: messages.JoinGroupRequest) -> bool:
    """Whether a member offers a protocol: an emulated one its assignor, others by type and name."""
    return bool(message.assignor or (message.protocol_type and message.protocols))
