from console.model.links import Link
from console.model.workspace import Stage
from console.render.lines import Span, line
from console.render.rows import Row
from console.widgets.links import LinkView
from tests.console.fakes import ListSource, failover


def rows(*names: str) -> list[Row]:
    return [Row(line(Span(name)), Link("znode", name), {"name": name}, name) for name in names]


def view(*names: str) -> LinkView:
    made = LinkView(Stage(ListSource(failover())))
    made.all_rows = made.rows = rows(*names)
    return made


def test_copying_gives_the_text_and_what_the_row_stands_for() -> None:
    links = view("a", "b")
    links.set_cursor(1)
    assert links.cell_text() == "b"
    assert links.row_text() == '{"name":"b"}'
    assert links.draw(1)[0].text.strip() == links.stage.glyphs.cursor
    assert view().cell_text() == view().row_text() == ""


def test_a_filter_that_makes_no_sense_is_answered_with_why() -> None:
    assert "re:( is not a regular expression" in str(view("a").set_filter("re:("))
