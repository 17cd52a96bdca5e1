from console.model.library import Card
from console.render.lines import text_of, width_of
from console.render.scenario_card import briefing_lines
from emulator.events import ExpectationChecked

CARD = Card(
    "A1-x", "A title", "HW", "watch this closely.", ("Why?", "How?"), ("0.9",), "0.9", "KIP-1."
)


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


def test_expectations_that_were_checked_answer_the_questions() -> None:
    checked = [
        ExpectationChecked(9, 7_200_000, 0, "t-0.leader == 2", 4, True, "2"),
        ExpectationChecked(11, 8_000_000, 0, "audit.lost == 0", 5, False, "1"),
    ]
    rows = [text_of(row) for row in briefing_lines(CARD, "0.9", 60, checked)]
    begin = rows.index(" ANSWERED SO FAR")
    assert rows[begin + 1] == " 00:07.200  t-0.leader == 2"
    assert rows[begin + 2] == " 00:08.000  not audit.lost == 0, but 1"
    assert not any("ANSWERED" in text_of(row) for row in briefing_lines(CARD, "0.9", 60))
