from console.render.lines import Span
from console.widgets.text import LabelView, TextView
from tests.console.driving import console


async def test_only_lines_that_differ_are_repainted() -> None:
    async with console(None, "question_mark") as driven:
        view = driven.screen.query_one("#text", TextView)
        repainted: list[int] = []
        view.refresh_lines_of = repainted.extend  # type: ignore[assignment, method-assign]
        lines = list(view.lines)
        lines[2] = (Span("another"),)
        view.show(lines)
        view.show(lines)
        assert repainted == [2]


def test_labels_never_take_the_keys() -> None:
    assert not LabelView.can_focus
    assert TextView.can_focus
