from msgspec.structs import replace

from console.model.library import Card
from console.model.questions import Answer, answers
from console.render.lines import text_of, width_of
from console.render.scenario_card import briefing_lines
from emulator.events import ExpectationChecked, InputFinished
from sessions.model.cluster_view import ClusterView

CARD = Card(
    "A1-x", "A title", "HW", "watch this closely.", ("Why?", "How?"), ("0.9",), "0.9", "KIP-1."
)
CARD = replace(CARD, answers={4: (1,), 5: (2,)})


def test_a_briefing_has_title_release_watch_questions_and_end() -> None:
    rows = [text_of(row) for row in briefing_lines(CARD, "0.9", 60)]
    assert rows[0] == " A title"
    assert rows[1] == " A1-x  release 0.9  HW"
    assert " watch this closely." in rows
    assert " 1. Why?" in rows
    assert " 2. How?" in rows
    assert " KIP-1." in rows
    assert not any("NOTE" in row for row in rows)


def test_a_release_that_it_is_not_written_for_is_minded() -> None:
    rows = [text_of(row) for row in briefing_lines(CARD, "3.9", 200)]
    assert any(
        "It is written for 0.9 to 0.9: what it expects may fail on 3.9." in row for row in rows
    )


def test_every_line_fits() -> None:
    assert all(width_of(row) <= 30 for row in briefing_lines(CARD, "0.9", 30))


def told(*events: Answer) -> list[str]:
    """The briefing of somebody who has come so far."""
    rows = briefing_lines(CARD, "0.9", 60, answers(CARD, events), ClusterView())
    return [text_of(row).rstrip() for row in rows]


def test_under_each_question_stands_what_its_statements_have_come_to() -> None:
    rows = told(
        ExpectationChecked(9, 7_200_000, 0, "t-0.leader == 2", 4, True, "2"),
        InputFinished(10, 7_200_000, 0, "expect t-0.leader == 2", 4, "NONE"),
        ExpectationChecked(11, 8_000_000, 0, "audit.lost == 0", 5, False, "1"),
        ExpectationChecked(12, 8_000_000, 0, "audit.lost == 7", 99, True, "7"),
    )
    why, how = rows.index(" 1. Why?"), rows.index(" 2. How?")
    assert rows[why + 1 : how] == ["    00:07.200  t-0.leader == 2"]
    assert rows[how + 1] == "    00:08.000  not audit.lost == 0, but 1"
    assert not any("audit.lost == 7" in row for row in rows)


def test_what_is_not_known_yet_says_how_to_get_there() -> None:
    rows = told()
    assert rows[rows.index(" 1. Why?") + 1] == "    not answered yet: J steps to the next statement"


def test_a_wait_tells_its_condition_and_other_statements_what_the_audit_says() -> None:
    rows = told(
        InputFinished(3, 1_000_000, 0, "wait until t-0.hw == 1", 4, "NONE"),
        InputFinished(4, 1_000_000, 0, "broker start 1", 5, "NONE"),
    )
    assert "    00:01.000  t-0.hw == 1" in rows
    assert "    00:01.000  in the end 0 lost, 0 duplicated, 0 diverged" in rows
