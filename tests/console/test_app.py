import os

import pytest
from textual.notifications import Notification

from console.app import MODE_SCREENS, TidegaugeApp
from console.model.pacer import Pacer
from console.render.bars import TABS
from emulator import events
from sessions.playback.cursor import Reply
from tests.console.driving import LARGE, SIZES, SMALL, Console, console
from tests.console.fakes import ListSource, failover


def live() -> ListSource:
    return ListSource(failover(), "LIVE")


def toasts(driven: Console) -> list[str]:
    notifications: list[Notification] = list(driven.app._notifications)
    return [str(notification.message) for notification in notifications]


async def test_number_keys_show_the_screens() -> None:
    async with console() as driven:
        for key, mode, _ in TABS:
            await driven.press(key)
            assert driven.app.current_mode == mode
            assert isinstance(driven.app.screen, MODE_SCREENS[mode])  # type: ignore[arg-type]


async def test_minus_toggles_the_last_screen() -> None:
    async with console(None, "2", "5", "minus") as driven:
        assert driven.app.current_mode == "partitions"
        await driven.press("minus")
        assert driven.app.current_mode == "events"


@pytest.mark.parametrize("size", SIZES)
async def test_seed_time_and_number_are_on_every_screen(size: tuple[int, int]) -> None:
    async with console(size=size) as driven:
        for key, _, _ in TABS:
            await driven.press(key)
            header = driven.lines()[0]
            assert all(part in header for part in ("seed 43", "00:00:06.169", "#170", "REPLAY"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "way", ["1", "2", "2 enter", "3", "3 enter", "4", "5", "5 enter", "question_mark"]
)
async def test_every_screen_fills_its_lines_and_no_more(size: tuple[int, int], way: str) -> None:
    async with console(None, *way.split(), size=size) as driven:
        strips = driven.app.screen._compositor.render_strips()
        assert [strip.cell_length for strip in strips] == [size[0]] * size[1]
        assert "enter" in driven.lines()[-1] or "back" in driven.lines()[-1]


@pytest.mark.parametrize("size", [(59, 24), (80, 14), (20, 5)])
async def test_a_screen_that_is_too_small_says_what_it_needs(size: tuple[int, int]) -> None:
    async with console(size=size) as driven:
        assert "needs 60x15" in driven.text()
        assert f"{size[0]}x{size[1]}" in driven.text()


async def test_a_screen_that_grows_shows_everything_again() -> None:
    async with console(None, "2", size=(50, 10)) as driven:
        await driven.pilot.resize_terminal(*LARGE)
        await driven.settle()
        assert "orders-5" in driven.text()
        assert driven.app.focused is driven.screen.panes[0].view


async def test_the_ascii_set_draws_nothing_else() -> None:
    async with console(ascii=True) as driven:
        for key, _, _ in TABS:
            await driven.press(key)
            assert driven.text().isascii()


async def test_no_color_leaves_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "NO_COLOR", "1")
    async with console(None, "2") as driven:
        styles = {
            segment.style
            for strip in driven.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None
        }
    colours = {c for s in styles for c in (s.color, s.bgcolor) if c is not None}
    assert all(colour.is_default for colour in colours)
    assert any(style.reverse for style in styles)


# ---- time


async def test_space_pauses_and_goes_on() -> None:
    async with console(live()) as driven:
        assert " PAUSED ‖ " in driven.lines()[0]
        await driven.press("space")
        assert " LIVE ▶ " in driven.lines()[0]


async def test_dot_and_comma_step_by_one_event() -> None:
    async with console(None, "comma", "comma", "full_stop") as driven:
        assert driven.source.seq == 169
        assert "#169" in driven.lines()[0]


async def test_angle_brackets_jump_to_what_touches_the_selection() -> None:
    async with console(None, "2", "greater_than_sign") as driven:
        assert "no later event touches orders-5" in toasts(driven)
        await driven.press("less_than_sign", "less_than_sign")
        assert driven.source.seq == 134


async def test_go_to_takes_events_times_and_distances() -> None:
    async with console() as driven:
        for text, seq in (("#100", 100), ("0:03", 134), ("+4s", 170), ("start", 0)):
            await driven.press("t")
            await driven.type(text)
            await driven.press("enter")
            assert driven.source.seq == seq


async def test_a_place_that_is_none_keeps_the_line_open_and_says_why() -> None:
    async with console(None, "t") as driven:
        await driven.type("soon")
        await driven.press("enter")
        assert "is not a place in time" in driven.text()
        assert driven.screen.prompt.is_open
        await driven.press("escape")
        assert not driven.screen.prompt.is_open


async def test_square_brackets_jump_between_bookmarks() -> None:
    async with console(None, "left_square_bracket") as driven:
        assert driven.source.seq == 126
        assert "bookmark b1 before the crash" in toasts(driven)
        await driven.press("left_square_bracket")
        assert "no bookmark before this place; b sets one" in toasts(driven)


async def test_parentheses_change_the_speed() -> None:
    async with console(None, "right_parenthesis", "right_parenthesis") as driven:
        assert " 4x " in driven.lines()[0]
        await driven.press(*("left_parenthesis",) * 3)
        assert " 1/2x " in driven.lines()[0]


async def test_live_goes_to_the_end_and_follows() -> None:
    async with console(ListSource(failover(), "LIVE", at=20), "L") as driven:
        assert driven.source.at_tail
        assert " LIVE ▶ " in driven.lines()[0]


async def test_frames_move_the_cursor_while_playing() -> None:
    source = ListSource(failover(), at=0)
    async with console(source, "space") as driven:
        driven.app.stage.pacer.speed = 256
        await driven.pilot.pause(0.3)
        assert source.seq == 170
        assert driven.app.stage.pacer.paused


async def test_nothing_is_painted_while_nothing_happens() -> None:
    async with console() as driven:
        turn = driven.app.stage.turn
        await driven.pilot.pause(0.35)
        assert driven.app.stage.turn == turn


async def test_new_events_of_a_live_cluster_appear() -> None:
    async with console(live(), "2", "space") as driven:
        driven.source.feed(
            events.PartitionStateChanged(
                171, driven.source.time_us, 0, "orders-0", -1, 2, [2], 2, 2
            )
        )
        await driven.pilot.pause(0.3)
        assert "offl 2" in driven.lines()[0]


# ---- the gate


async def test_a_recording_refuses_to_be_written_to_in_a_sentence() -> None:
    async with console(None, "2", "colon") as driven:
        assert not driven.screen.prompt.is_open
        assert any(toast.startswith("READ-ONLY: ") for toast in toasts(driven))
        assert driven.source.submitted == []


async def test_the_gate_holds_for_the_palette_too() -> None:
    async with console() as driven:
        await driven.app.run_action("act_command")
        assert not driven.screen.prompt.is_open


# ---- statements


async def test_a_statement_is_given_to_the_source() -> None:
    async with console(live(), "colon") as driven:
        await driven.type("broker crash 2")
        await driven.press("enter")
        assert driven.source.submitted == ["broker crash 2"]
        assert not driven.screen.prompt.is_open


async def test_a_refused_statement_stays_in_the_line_with_the_reason() -> None:
    source = live()
    source.reply = Reply("INVALID", "there is no broker 9; brokers are 1, 2, 3")
    async with console(source, "colon") as driven:
        await driven.type("broker crash 9")
        await driven.press("enter")
        assert driven.screen.prompt.input.value == "broker crash 9"
        assert "there is no broker 9" in driven.text()


async def test_short_output_is_a_toast_and_long_output_a_page() -> None:
    source = live()
    source.reply = Reply(output="[0, 1]")
    async with console(source, "colon") as driven:
        await driven.type("zk ls /")
        await driven.press("enter")
        assert "[0, 1]" in toasts(driven)
        source.reply = Reply(output="\n".join(f"row {n} \x1b[31m" for n in range(30)))
        await driven.press("colon")
        await driven.type("show partitions")
        await driven.press("enter")
        assert driven.screen.context == "page"
        assert r"row 7 \x1b[31m" in driven.text()
        await driven.press("escape")
        assert driven.screen.context == "overview"


async def test_what_a_pending_statement_comes_to_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    source = live()
    source.reply = Reply(pending=True)
    finished = [("produce t", Reply("REQUEST_TIMED_OUT", "nobody answered"))]
    monkeypatch.setattr(
        source, "replies", lambda: [finished.pop()] if finished else [], raising=False
    )
    async with console(source, "colon") as driven:
        await driven.type("produce t")
        await driven.press("enter")
        assert "produce t: waits for time to pass (space)" in toasts(driven)
        await driven.pilot.pause(0.3)
        assert "produce t: REQUEST_TIMED_OUT: nobody answered" in toasts(driven)


# ---- the program


async def test_the_palette_finds_and_does_an_action() -> None:
    async with console(None, "ctrl+p") as driven:
        await driven.pilot.press(*"Znodes")
        await driven.pilot.pause(0.3)
        await driven.press("enter", "enter")
        assert driven.app.current_mode == "znodes"


async def test_ctrl_q_quits_and_ctrl_c_says_so() -> None:
    async with console(None, "ctrl+c") as driven:
        assert "ctrl+c once more quits, as ctrl+q does" in toasts(driven)
        await driven.press("ctrl+q")
        assert not driven.app.is_running


async def test_copied_text_goes_to_the_clipboard() -> None:
    async with console(None, "2", "y") as driven:
        assert driven.app.clipboard == "✖ OFFL"
        await driven.press("Y")
        assert '"topic":"orders","partition":5' in driven.app.clipboard


async def test_escape_takes_back_zoom_then_filter_then_screen() -> None:
    async with console(None, "2", "enter", "slash") as driven:
        await driven.type("STATE")
        await driven.press("enter", "z")
        assert driven.screen.has_class("-zoomed")
        await driven.press("escape")
        assert not driven.screen.has_class("-zoomed")
        await driven.press("escape")
        assert not driven.screen.clear_filter()
        await driven.press("escape")
        assert driven.screen.context == "partitions"


async def test_a_menu_stays_until_something_is_chosen_or_it_is_left() -> None:
    async with console(None, "2", "s", "5") as driven:
        assert driven.screen.context == "menu"
        await driven.press("escape", "5")
        assert driven.app.sources.mode_here == "events"


def test_the_app_starts_on_the_overview_with_its_own_pacer() -> None:
    app = TidegaugeApp(ListSource(failover()), paused=True)
    assert app.current_mode == "overview"
    assert isinstance(app.stage.pacer, Pacer)
    assert SMALL < LARGE
