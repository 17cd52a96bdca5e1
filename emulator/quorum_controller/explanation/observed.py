"""What an active controller holds before a record, as far as its log tells."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    UnregisterBrokerRecord,
)
from emulator.metadata_log.registrations import BrokerRegistration
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.explanation.entry import ANY_DIRECTORY, DirectoryNumbers, Entry
from emulator.quorum_controller.explanation.hypotheses import Hypothesis
from emulator.quorum_controller.heartbeats import BrokerHeartbeats
from emulator.quorum_controller.partition_index import PartitionIndex
from emulator.quorum_controller.state import ControllerState
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.control_records import LeaderChangeMessage, VotersRecord
from emulator.wire.types import Message

Levels = dict[str, tuple[int, int]]
"""The levels of each feature that a node supports, lowest and highest."""

LONG_AGO_US: Final = -(1 << 60)
BROKEN_IMAGE = (KeyError, ValueError, IndexError, AttributeError)
"""What the image and the rules raise if a record refers to what does not exist."""


class RegisteredBroker(BrokerRegistration, frozen=True):
    """A broker with several log directories: ``online`` has the numbers of those available."""

    online: frozenset[int] = frozenset()

    def has_online(self, directory: int) -> bool:
        """Whether a replica in that log directory is available (``DirectoryId.isOnline``)."""
        if directory == ANY_DIRECTORY:
            return True
        return directory > 0 and (not self.online or directory in self.online)


class DeletedTopic(Struct, frozen=True):
    """A topic that does not exist any more, and the offset of its deletion."""

    name: str
    offset: int


class ObservedController(Struct):
    """The state before a record: that of the controller, and of the nodes around it.

    ``leader`` is the active controller. ``broker_levels`` and ``controller_levels`` are the levels
    of features that nodes support. ``heard`` says what last showed the controller that a broker
    lives, as text. ``others`` has what no rule about replication reads (access control, quotas,
    credentials, tokens, configurations of groups and client metrics), by kind and name.
    """

    state: ControllerState = field(
        default_factory=lambda: ControllerState(
            MetadataImage(), PartitionIndex(), BrokerHeartbeats(0, by_epoch=False)
        )
    )
    directories: DirectoryNumbers = field(default_factory=DirectoryNumbers.none)
    leader: int | None = None
    voters: tuple[int, ...] = ()
    broker_levels: dict[int, Levels] = field(default_factory=dict)
    controller_levels: dict[int, Levels] = field(default_factory=dict)
    broker_directories: dict[int, tuple[int, ...]] = field(default_factory=dict)
    deleted: dict[str, DeletedTopic] = field(default_factory=dict)
    heard: dict[int, str] = field(default_factory=dict)
    others: dict[tuple[object, ...], object] = field(default_factory=dict)
    zk_migration_state: int = 0
    _contexts: dict[Hypothesis, Context] = field(default_factory=dict)

    @property
    def image(self) -> MetadataImage:
        return self.state.image

    def context(self, hypothesis: Hypothesis) -> Context:
        """Return what the rules of the controller take."""
        context = self._contexts.get(hypothesis)
        if context is None:
            settings = hypothesis.settings
            if self.leader is not None:
                settings = replace(settings, node_id=self.leader)
            context = Context(self.state, settings, hypothesis.rules)
            self._contexts[hypothesis] = context
        return context

    def last_contact_ms(self, broker: int) -> int | None:
        """The time of the last record that shows the controller to have heard of a broker."""
        session = self.state.heartbeats.brokers.get(broker)
        return None if session is None else session.last_contact_us // 1_000

    def forget_contacts(self) -> None:
        """Forget when brokers were heard of: a snapshot does not tell."""
        self.heard.clear()
        for broker in self.state.heartbeats.brokers.values():
            broker.last_contact_us = LONG_AGO_US

    # ---- applying records

    def apply(self, entry: Entry) -> None:
        """Apply a record.

        Raises:
            KeyError, ValueError, IndexError, AttributeError: it refers to what does not exist.
        """
        record = entry.record
        if isinstance(record, RemoveTopicRecord):
            topic = self.image.topics[record.topic_id]
            self.deleted[topic.id] = DeletedTopic(topic.name, entry.offset)
        if record is not None:
            self.state.replay(record, entry.offset, entry.epoch, entry.timestamp_ms * 1_000)
        note = _NOTES.get(type(entry.message))
        if note is not None:
            note(self, entry.message, entry)

    def _begin_epoch(self, message: LeaderChangeMessage, entry: Entry) -> None:
        self.leader = message.leader_id
        self._contexts.clear()
        self.voters = tuple(voter.voter_id for voter in message.voters)
        for broker in self.state.heartbeats.brokers.values():
            broker.last_contact_us = entry.timestamp_ms * 1_000
        for broker_id in self.heard:
            self.heard[broker_id] = (
                f"controller {message.leader_id} began its session at offset {entry.offset:,}"
            )

    def _set_voters(self, message: VotersRecord, _: Entry) -> None:
        self.voters = tuple(voter.voter_id for voter in message.voters)

    def _register_broker(self, message: wire.RegisterBrokerRecord, entry: Entry) -> None:
        assert isinstance(entry.record, RegisterBrokerRecord)
        broker = message.broker_id
        self.broker_levels[broker] = _levels(message.features)
        self._set_directories(broker, message.log_dirs)
        self.heard[broker] = f"it registered at offset {entry.offset:,}"

    def _change_broker(self, message: wire.BrokerRegistrationChangeRecord, entry: Entry) -> None:
        record = entry.record
        assert isinstance(record, BrokerRegistrationChangeRecord)
        broker = message.broker_id
        if message.log_dirs:
            self._set_directories(broker, message.log_dirs)
        if record.fenced:
            fencing = "fenced" if record.fenced > 0 else "unfenced"
            self.heard[broker] = f"it was {fencing} at offset {entry.offset:,}"
        elif record.in_controlled_shutdown:
            self.heard[broker] = f"it began its controlled shutdown at offset {entry.offset:,}"

    def _unregister_broker(self, message: wire.UnregisterBrokerRecord, entry: Entry) -> None:
        assert isinstance(entry.record, UnregisterBrokerRecord)
        for table in (self.broker_levels, self.broker_directories, self.heard):
            table.pop(message.broker_id, None)

    def _set_directories(self, broker: int, ids: list[bytes]) -> None:
        numbers = tuple(map(self.directories.number_of, ids))
        self.broker_directories[broker] = numbers
        registration = self.image.brokers[broker]
        fields = BrokerRegistration.__struct_fields__
        values = {field: getattr(registration, field) for field in fields}
        values["directory"] = self.directories.default(ids)
        self.image.brokers[broker] = RegisteredBroker(**values, online=frozenset(numbers))

    def _register_controller(self, message: wire.RegisterControllerRecord, _: Entry) -> None:
        self.controller_levels[message.controller_id] = _levels(message.features)

    def _unregister_controller(self, message: wire.UnregisterControllerRecord, _: Entry) -> None:
        del self.controller_levels[message.controller_id]

    def _migrate(self, message: wire.ZkMigrationStateRecord, _: Entry) -> None:
        self.zk_migration_state = message.zk_migration_state

    def _set_other(self, message: Message, _: Entry) -> None:
        key, value = other_of(message)
        if value is None:
            self.others.pop(key, None)
        else:
            self.others[key] = value


def _levels(features: list[Any]) -> Levels:
    return {
        feature.name: (feature.min_supported_version, feature.max_supported_version)
        for feature in features
    }


Key = tuple[object, ...]

_OTHERS: Final[dict[type[Message], Callable[[Any], tuple[Key, object]]]] = {
    wire.AccessControlEntryRecord: lambda record: (("acl", record.id), record),
    wire.RemoveAccessControlEntryRecord: lambda record: (("acl", record.id), None),
    wire.UserScramCredentialRecord: lambda record: (
        ("scram", record.name, record.mechanism),
        record,
    ),
    wire.RemoveUserScramCredentialRecord: lambda record: (
        ("scram", record.name, record.mechanism),
        None,
    ),
    wire.ClientQuotaRecord: lambda record: (
        ("quota", _entity(record), record.key),
        None if record.remove else record.value,
    ),
    wire.DelegationTokenRecord: lambda record: (("token", record.token_id), record),
    wire.RemoveDelegationTokenRecord: lambda record: (("token", record.token_id), None),
    wire.ConfigRecord: lambda record: (
        ("config", record.resource_type, record.resource_name, record.name),
        record.value,
    ),
}


def other_of(message: Message) -> tuple[Key, object]:
    """Return the key in ``others`` that a message sets, and its value; None: it is removed."""
    return _OTHERS[type(message)](message)


def _entity(quota: wire.ClientQuotaRecord) -> Key:
    return tuple(sorted((entity.entity_type, entity.entity_name or "") for entity in quota.entity))


_NOTES: dict[type[Message], Any] = {
    LeaderChangeMessage: ObservedController._begin_epoch,
    VotersRecord: ObservedController._set_voters,
    wire.RegisterBrokerRecord: ObservedController._register_broker,
    wire.BrokerRegistrationChangeRecord: ObservedController._change_broker,
    wire.UnregisterBrokerRecord: ObservedController._unregister_broker,
    wire.RegisterControllerRecord: ObservedController._register_controller,
    wire.UnregisterControllerRecord: ObservedController._unregister_controller,
    wire.ZkMigrationStateRecord: ObservedController._migrate,
    **dict.fromkeys(_OTHERS, ObservedController._set_other),
}
