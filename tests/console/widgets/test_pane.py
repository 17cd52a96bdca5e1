from console.render.lines import text_of
from console.widgets.pane import Pane
from tests.console.driving import console


async def test_a_pane_says_what_it_shows_and_how() -> None:
    async with console(None, "2") as driven:
        pane = driven.screen.query_one("#pane-table", Pane)
        pane.entitle("things", ["3/4", "faults only"])
        assert text_of(pane.heading.lines[0]).startswith("── things ── 3/4 ── faults only ──")
