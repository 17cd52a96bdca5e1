"""A scenario's questions, the events that answer them, and those to watch for.

Nothing is written down: an answer is what a statement of the script was found to be, and what to
watch is what those statements ask about.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from console.model.library import Card
from emulator import events
from emulator.events import Event, ExpectationChecked, InputFinished
from emulator.inputs.conditions import Subject
from sessions.grammar.event_patterns import EventPattern
from sessions.model.touches import objects_of

Answer = ExpectationChecked | InputFinished
"""The result of a statement: of an assertion, or of any other."""

_LOG: Final = (events.RecordsAppended, events.LogTruncated)
_ROLES: Final = (events.ReplicaRoleChanged,)
_STATE: Final = (events.PartitionStateChanged,)
_ZNODES: Final = (events.ZnodeCreated, events.ZnodeChanged, events.ZnodeDeleted)
_PROCESS: Final = (events.BrokerStateChanged, events.BrokerRegistered, events.SessionEnded)
_CONSUMED: Final = (events.RecordsConsumed, events.ConsumeFinished)
MOVED_BY: Final[Mapping[str, Mapping[str, tuple[type[Event], ...]]]] = {
    "replica": {
        "leo": _LOG,
        "values": _LOG,
        "hw": (events.HighWatermarkChanged,),
        "remote_leo": (events.RemoteLogEndOffsetChanged,),
        "role": _ROLES,
        "epochs": (events.EpochCacheChanged,),
        "checkpointed_hw": (events.HighWatermarksCheckpointed,),
        "recovery_point": (events.RecoveryPointsCheckpointed,),
    },
    "partition": {
        "leo": _LOG,
        "hw": (events.HighWatermarkChanged,),
        "replicas": (events.ReplicasAssigned, events.TopicCreated, events.PartitionsAdded),
        "": _STATE,
    },
    "broker": {"": _PROCESS},
    "controller": {"": (events.ControllerElected,)},
    "quorum": {"": (events.QuorumRoleChanged,)},
    "member": {"": (events.QuorumRoleChanged,)},
    "zk": {"": _ZNODES, "watchers": (events.WatchFired,)},
    "producer": {
        "acked": (events.ProduceAcknowledged,),
        "failed": (events.ProduceFailed,),
        "retries": (events.ProduceRetried,),
    },
    "consumer": {"": _CONSUMED},
    "audit": {
        "acked": (events.ProduceAcknowledged,),
        "": (events.AuditChanged, events.LogTruncated),
    },
}
"""The events that change a value, by kind of subject and field; an empty one: any other field."""


def answers(card: Card, happened: Iterable[Event]) -> dict[int, list[Answer]]:
    """The answers to each question (from 1) among what has happened, in order."""
    answered: dict[int, list[Answer]] = {}
    for event in happened:
        if isinstance(event, Answer):
            if isinstance(event, InputFinished) and event.text.startswith("expect "):
                continue  # its check has said more
            for question in card.answers.get(event.line, ()):
                answered.setdefault(question, []).append(event)
    return answered


def is_watched(card: Card | None, event: Event) -> bool:
    """Whether an event changes what the answers of a scenario are about."""
    return card is not None and any(_is_of(event, subject) for subject in card.watched)


def _is_of(event: Event, subject: Subject | EventPattern) -> bool:
    if isinstance(subject, EventPattern):
        return subject.matches(event)
    kinds = MOVED_BY.get(subject.kind, {})
    if not isinstance(event, kinds.get(subject.field, kinds.get("", ()))):
        return False
    if not subject.name:
        return True
    name, _, broker = subject.name.partition("@")
    if subject.kind == "replica":
        host = getattr(event, "follower", getattr(event, "broker", None))
        return getattr(event, "tp", "") == name and str(host) == broker
    if isinstance(event, events.TopicCreated | events.PartitionsAdded):
        return event.topic == name.rpartition("-")[0]
    is_path = subject.kind in ("partition", "zk")
    return (subject.name if is_path else f"{subject.kind}.{subject.name}") in objects_of(event)
