"""Why a share group's records are where they are, and why a group rebalances, as sentences."""

from collections.abc import Iterator
from typing import Final

from console.model.reader import EventReader
from emulator import events
from emulator.events import Event
from sessions.model.states import GroupState, ShareRun
from sessions.text import clean, number

LOOKS_MAX: Final = 400
"""How many events of a group are looked at, from the newest back."""
KEPT_MAX: Final = 256
PREPARING: Final = "PreparingRebalance"
_OfRecords = (
    events.RecordsAcquired
    | events.RecordsAcknowledged
    | events.RecordsReleased
    | events.RecordsArchived
    | events.RecordsRestored
)


def _covers(event: _OfRecords, run: ShareRun) -> bool:
    return event.first_offset <= run.first <= event.last_offset


def _numbered(text: str, event: Event) -> str:
    return f"{text} (#{number(event.seq)})"


class GroupWhy:
    """Finds the events behind a group's state; what was found is kept."""

    def __init__(self, reader: EventReader) -> None:
        self.reader = reader
        self._known: dict[tuple[str, ...], str] = {}

    def of_run(self, group: str, tp: str, run: ShareRun) -> str:
        """Why records are delivered again, can be, or never will be; empty if there is no story."""
        key = (group, tp, str(run.first), str(run.seq))
        if key not in self._known:
            if len(self._known) >= KEPT_MAX:
                self._known.clear()
            self._known[key] = self._of_run(group, tp, run)
        return self._known[key]

    def _of_run(self, group: str, tp: str, run: ShareRun) -> str:
        event = self.reader.get(run.seq)
        if run.state == "archived":
            return "" if event is None else self._archived(group, tp, run, event)
        if run.state == "acquired":
            because = self._end_of_delivery(group, tp, run, run.seq)
            return f"delivered again because {because}" if because else ""
        if run.state == "available":
            because = self._end_of_delivery(group, tp, run, run.seq + 1)
            return f"to be delivered again because {because}" if because else ""
        return ""

    def _archived(self, group: str, tp: str, run: ShareRun, event: Event) -> str:
        if isinstance(event, events.RecordsAcknowledged):
            verb = "rejected it" if event.acknowledgement == "reject" else "found no record there"
            return _numbered(f"archived because {clean(event.consumer)} {verb}", event)
        if isinstance(event, events.RecordsReleased) and event.reason not in (
            "lock expired",
            "session ended",
        ):
            return _numbered(f"archived: {event.reason}", event)
        because = self._end_of_delivery(group, tp, run, run.seq + 1)
        why = f"; at last {because}" if because else ""
        return f"archived after {run.deliveries} deliveries{why}"

    def _end_of_delivery(self, group: str, tp: str, run: ShareRun, before: int) -> str:
        """How the delivery of records before an event ended; empty if there was none."""
        of_records: Event | None = None
        of_leader: Event | None = None
        for event in self._back(group, before):
            match event:
                case events.RecordsAcquired(tp=where) if where == tp and _covers(event, run):
                    end = of_records or of_leader
                    return "" if end is None else _ended(end, event)
                case (
                    events.RecordsAcknowledged(tp=where)
                    | events.RecordsReleased(tp=where)
                    | events.RecordsArchived(tp=where)
                    | events.RecordsRestored(tp=where)
                ) if where == tp and _covers(event, run):
                    of_records = of_records or event
                case events.SharePartitionForgotten(tp=where) if where == tp:
                    of_leader = event
                case events.SharePartitionLoaded(tp=where) if where == tp:
                    of_leader = of_leader or event
                case _:
                    pass
        return ""

    def of_rebalance(self, group: GroupState) -> str:
        """Why the group's last rebalance began; empty if that is not known."""
        key = (group.name, str(group.generation), group.state)
        if key not in self._known:
            self._known[key] = self._of_rebalance(group)
        return self._known[key]

    def _of_rebalance(self, group: GroupState) -> str:
        for event in self._back(group.name, group.changed + 1):
            match event:
                case events.GroupEpochBumped():
                    who = self._member_before(group.name, event)
                    reason = who or clean(event.reason)
                    return _numbered(f"epoch {event.generation} because {reason}", event)
                case events.GroupStateChanged() if event.state == PREPARING:
                    who = self._member_before(group.name, event)
                    what = who or "a member joined again, with another subscription or as leader"
                    return _numbered(f"rebalance because {what}", event)
                case _:
                    pass
        return ""

    def _member_before(self, group: str, event: Event) -> str:
        """Who joined or left by what an event tells, right before it."""
        before = next(self._back(group, event.seq), None)
        if before is None or before.cause != event.cause:
            return ""
        if isinstance(before, events.MemberJoined):
            return f"{clean(before.consumer)} joined"
        if isinstance(before, events.MemberLeft):
            return _leaving(before)
        return ""

    def _back(self, group: str, before: int) -> Iterator[Event]:
        """The group's events before an event, the newest first."""
        seq: int | None = before
        for _ in range(LOOKS_MAX):
            seq = None if seq is None else self.reader.touching((f"group.{group}",), seq, -1)
            event = None if seq is None else self.reader.get(seq)
            if event is None:
                return
            yield event


def _leaving(event: events.MemberLeft) -> str:
    consumer = clean(event.consumer)
    return {
        "left": f"{consumer} left",
        "session expired": f"{consumer} missed its session",
        "did not join again": f"{consumer} did not join again in time",
        "did not revoke in time": f"{consumer} did not give up its partitions in time",
    }.get(event.reason, f"{consumer}: {clean(event.reason)}")


def _ended(event: Event, acquired: events.RecordsAcquired) -> str:
    consumer = clean(acquired.consumer)
    if isinstance(event, events.SharePartitionForgotten | events.SharePartitionLoaded):
        return _numbered(_forgotten(event, acquired), event)
    match event:
        case events.RecordsReleased(reason="lock expired"):
            what = f"the acquisition lock of {consumer} ran out"
        case events.RecordsReleased(reason="session ended"):
            what = f"{consumer} left: its share session ended"
        case events.RecordsReleased():
            what = event.reason
        case events.RecordsAcknowledged(acknowledgement="release") | events.RecordsArchived():
            what = f"{consumer} released it"
        case events.RecordsAcknowledged():
            what = f"the answer of {consumer} was never stored"
        case events.RecordsRestored():
            what = f"the answer of {consumer} was not stored: {event.error}"
        case _:
            return ""
    return _numbered(what, event)


def _forgotten(
    event: events.SharePartitionForgotten | events.SharePartitionLoaded,
    acquired: events.RecordsAcquired,
) -> str:
    """Why nobody knows any more that records were acquired: that is not stored."""
    broker, consumer = f"broker {event.broker}", clean(acquired.consumer)
    if isinstance(event, events.SharePartitionLoaded) and event.broker != acquired.broker:
        return f"the leader changed: {broker} does not know that {consumer} had it"
    if isinstance(event, events.SharePartitionLoaded):
        return f"{broker} started again, and forgot that {consumer} had it"
    if event.reason == "leads no more":
        return f"the leader changed: {broker} leads no more, and {consumer} had it from there"
    return f"{broker} read the state again: {clean(event.reason)}"
