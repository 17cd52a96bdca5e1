from console.model.workspace import Stage
from console.render.lines import line, text_of
from console.render.rows import Pick
from console.widgets.pick_list import PickView
from tests.console.fakes import ListSource, failover

PICKS = [
    Pick(name, line(name.upper()), f"{name} {extra}")
    for name, extra in (("one", "red"), ("two", "blue"), ("three", "red"))
]


def view() -> PickView:
    made = PickView(Stage(ListSource(failover())), id="picks")
    made.offer(PICKS)
    return made


def test_the_cursor_begins_on_the_first_line() -> None:
    assert view().selected == "one"
    assert text_of(view().draw(0))[2:] == "ONE"


def test_the_cursor_stays_with_its_key_when_others_come() -> None:
    picks = view()
    picks.set_cursor(1)
    picks.offer([Pick("zero", line("ZERO"), "zero"), *PICKS])
    assert (picks.selected, picks.cursor_index()) == ("two", 2)


def test_the_cursor_of_a_line_that_goes_is_on_the_first_one() -> None:
    picks = view()
    picks.set_cursor(2)
    picks.offer(PICKS[:2])
    assert picks.selected == "one"


def test_nothing_is_selected_where_nothing_is() -> None:
    picks = PickView(Stage(ListSource(failover())), id="picks")
    assert (picks.selected, picks.cursor_index(), picks.row_text()) == ("", None, "")


def test_the_keys_and_texts_can_be_copied() -> None:
    picks = view()
    assert (picks.cell_text(), picks.row_text()) == ("one", "one red")
