"""The totals of a session's row."""

from typing import Any

import pytest

from emulator.events import AuditChanged, Event, ExpectationChecked, ProduceAcknowledged
from sessions.dataset.rows.sessions import SessionFacts, Totals
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import SESSIONS
from tests.sessions.dataset.streams import Story

TP = "orders-0"


def row_of(events: list[Event], facts: SessionFacts) -> dict[str, Any]:
    totals = Totals()
    handlers = totals.handlers()
    for event in events:
        if type(event) in handlers:
            handlers[type(event)](event)
    row = totals.row(facts, len(events), len(events), 0)
    return dict(zip([name for name in SESSIONS.names if name != SESSION], row, strict=True))


@pytest.mark.parametrize(("acks", "promised"), [(0, 0), (1, 1), (-1, 1)])
def test_what_nobody_was_promised_is_neither_acknowledged_nor_lost(
    acks: int, promised: int
) -> None:
    story = Story()
    first = story.send(TP, 1, acks=1)
    story.tell(ProduceAcknowledged, "p", TP, first.first_record, 1, 0)
    batch = story.send(TP, 2, acks=acks)
    story.tell(ProduceAcknowledged, "p", TP, batch.first_record, 2, 1 if promised else -1)
    record = batch.first_record + 1
    story.tell(AuditChanged, TP, [(0, first.first_record), (1, record)], [], [], [])
    row = row_of(story.events, SessionFacts("s"))
    assert (row["acked"], row["lost"]) == (1 + 2 * promised, 1 + promised)


@pytest.mark.parametrize(
    ("complete", "passed", "outcome"),
    [(True, True, "passed"), (True, False, "failed"), (False, True, "unknown"),
     (False, False, "failed")],
)  # fmt: skip
def test_the_outcome_of_a_session_that_is_cut_off_is_not_known(
    complete: bool, passed: bool, outcome: str
) -> None:
    story = Story()
    story.tell(ExpectationChecked, "orders-0.leader = 1", 1, passed, "2")
    assert row_of(story.events, SessionFacts("s", complete=complete))["outcome"] == outcome
