"""The row of a session in ``sessions``: its metadata, and totals of its events."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from emulator.events import (
    AuditChanged,
    ClusterCreated,
    Event,
    ExpectationChecked,
    InvariantViolated,
    PartitionStateRemoved,
    ProduceAcknowledged,
    ProduceFailed,
    ProduceSent,
)
from sessions.dataset.rows.acknowledged import Unpromised
from sessions.dataset.rows.by_name import row_maker
from sessions.dataset.rows.leaderless import LeaderlessTime
from sessions.dataset.tables import SESSIONS
from sessions.dataset.writer import Row

session_row: Final = row_maker(SESSIONS)


class SessionFacts(Struct, frozen=True):
    """The metadata of a session, which its events do not contain.

    ``id`` names it in the dataset (letters, digits, ``.``, ``_`` and ``-``). ``variables`` are the
    values of its script's ``${NAME}``. ``state_hash`` is the SHA-256 of its final state; None: it
    was not recorded. ``end_us`` is the virtual time at which it ended; None: that of the last
    event. ``complete``: it has all events up to its end; otherwise ``damaged_at`` may be the number
    of the first event that cannot be read. ``path`` is the absolute path of its file; None: it has
    no file.
    """

    id: str
    name: str = ""
    variables: dict[str, str] = {}
    state_hash: str | None = None
    end_us: int | None = None
    complete: bool = True
    damaged_at: int | None = None
    path: str | None = None


class Totals:
    """Computes the totals of a session's row."""

    def __init__(self) -> None:
        self.created: ClusterCreated | None = None
        self.acked = 0
        self.failed = 0
        self.passed = 0
        self.missed = 0
        self.violated = 0
        self.unpromised = Unpromised()
        self.leaderless = LeaderlessTime()
        self.audits: dict[str, tuple[int, int, int, int, int]] = {}

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
        return {
            ClusterCreated: self._cluster_created,
            ProduceSent: self.unpromised.sent,
            ProduceAcknowledged: self._acknowledged,
            ProduceFailed: self._failed,
            ExpectationChecked: self._checked,
            InvariantViolated: self._violated,
            AuditChanged: self._audited,
            PartitionStateRemoved: self._removed,
        }

    def row(self, facts: SessionFacts, events: int, last_seq: int, last_us: int) -> Row:
        """Return the row after ``events`` events, the last with this number (0: none) and time."""
        created, end_us = self.created, max(last_us, facts.end_us or 0)
        audit = [sum(counts) for counts in zip(*self.audits.values(), strict=True)] or [0] * 5
        lost, lost_offsets, duplicated, diverged, consumed_lost = audit
        return session_row(
            name=facts.name or facts.id,
            version=created and created.version,
            seed=created and created.seed,
            brokers=created and len(created.brokers),
            config=list(created.config.items()) if created else [],
            variables=list(facts.variables.items()),
            path=facts.path,
            events=events,
            last_seq=last_seq,
            time_us=end_us,
            complete=facts.complete,
            damaged_at=facts.damaged_at,
            state_hash=facts.state_hash,
            acked=self.acked,
            failed=self.failed,
            lost=lost,
            lost_offsets=lost_offsets,
            duplicated=duplicated,
            diverged=diverged,
            consumed_lost=consumed_lost,
            expectations_passed=self.passed,
            expectations_failed=self.missed,
            invariants_violated=self.violated,
            leaderless_us=self.leaderless.up_to(end_us),
            outcome=self._outcome(facts.complete),
        )

    def _outcome(self, complete: bool) -> str:
        """Return the outcome: what is missing of a recording can fail, but not undo a failure."""
        if self.missed or self.violated:
            return "failed"
        return "passed" if complete else "unknown"

    def _cluster_created(self, event: ClusterCreated) -> None:
        self.created = event

    def _acknowledged(self, event: ProduceAcknowledged) -> None:
        if event.first_record not in self.unpromised:
            self.acked += event.count

    def _failed(self, event: ProduceFailed) -> None:
        self.failed += event.count

    def _checked(self, event: ExpectationChecked) -> None:
        if event.passed:
            self.passed += 1
        else:
            self.missed += 1

    def _violated(self, event: InvariantViolated) -> None:
        self.violated += not event.known

    def _audited(self, event: AuditChanged) -> None:
        self.audits[event.tp] = (
            sum(record not in self.unpromised for _, record in event.lost),
            sum(end - begin for begin, end in event.lost_offsets),
            len(event.duplicated),
            len(event.diverged),
            len(event.consumed_lost),
        )

    def _removed(self, event: PartitionStateRemoved) -> None:
        """Forget the faults of a partition that was deleted."""
        self.audits.pop(event.tp, None)
