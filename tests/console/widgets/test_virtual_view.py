from console.render.lines import Line, Span
from console.widgets.text import TextView
from console.widgets.virtual_view import VirtualView
from tests.console.driving import console


async def test_lines_are_drawn_once_and_kept() -> None:
    async with console(None, "question_mark") as driven:
        view = driven.screen.query_one("#text", TextView)
        drawn: list[int] = []
        draw = view.draw

        def noted(index: int) -> Line:
            drawn.append(index)
            return draw(index)

        view.draw = noted  # type: ignore[method-assign]
        await driven.press("down")
        await driven.press("up")
        assert len(drawn) <= 1


async def test_a_view_without_a_cursor_scrolls() -> None:
    async with console(None, "question_mark", "down", "pagedown") as driven:
        view = driven.screen.query_one("#text", TextView)
        assert view.top == 1 + view.page or view.top == view.count() - view.page


async def test_long_lines_scroll_sideways() -> None:
    async with console(None, "question_mark") as driven:
        view = driven.screen.query_one("#text", TextView)
        view.show([(Span("x" * 300 + "END"),)])
        await driven.settle()
        await driven.press(*("l",) * 40)
        assert "END" in driven.text()
        await driven.press(*("h",) * 40)
        assert "END" not in driven.text()


async def test_a_view_knows_what_is_in_sight() -> None:
    async with console(None, "5") as driven:
        view = driven.screen.query_one("#log", VirtualView)
        assert view.in_sight()[-1] == 169
        assert len(view.in_sight()) == view.page


async def test_a_role_keeps_the_background_of_the_line_under_the_cursor() -> None:
    async with console(None, "2") as driven:
        view = driven.screen.panes[0].view
        cursor = view.style_of("", "cursor")
        assert view.style_of("", "").bgcolor != cursor.bgcolor
        assert view.style_of("error", "cursor").bgcolor == cursor.bgcolor
