import pytest

from emulator.events import MessageSent
from tests.console.driving import SIZES, console
from tests.console.kraft import kraft
from tests.console.libraries import failing_over
from tests.support.kraft_states import FENCED


@pytest.mark.parametrize("size", SIZES)
async def test_d_draws_what_led_to_the_selected_event_and_what_it_led_to(
    size: tuple[int, int],
) -> None:
    async with console(None, "5", "D", size=size) as driven:
        assert driven.screen.context == "diagram"
        text = driven.text()
        assert "── #170 in space and time ── " in text
        assert "INPUT broker crash 1" in text


async def test_messages_are_arrows() -> None:
    with failing_over() as source:
        async with console(source, "5", "slash") as driven:
            await driven.type("LeaderAndIsrRequest")
            await driven.press("enter", "g", "D")
            assert any("LeaderAndIsr" in row and "▶" in row for row in driven.lines())


async def test_keys_move_along_causes_and_enter_opens() -> None:
    async with console(None, "5", "D") as driven:
        view = driven.screen.panes[0].view
        assert view.selected.seq == 170  # type: ignore[attr-defined]
        await driven.press("left")
        assert view.selected.seq == 169  # type: ignore[attr-defined]
        await driven.press("left", "left", "right")
        cause = view.selected  # type: ignore[attr-defined]
        assert driven.app.stage.reader.effects(cause.cause, 1)[0].seq == cause.seq
        await driven.press("enter")
        assert driven.screen.trail() == f"#{cause.seq}"


async def test_everything_can_be_drawn_around_it() -> None:
    async with console(None, "5", "D", "f") as driven:
        assert "everything ── 170 events" in driven.text()
        await driven.press("f")
        assert "what led to it" in driven.text()


async def test_the_event_at_the_time_cursor_is_drawn_where_none_is_selected() -> None:
    async with console(None, "2", "D") as driven:
        assert "── #170 in space and time" in driven.text()


async def test_it_draws_what_w_says_of_a_leader_whose_broker_was_fenced() -> None:
    """No event names the crash as its cause: that heartbeats were missed does."""
    source = kraft(*FENCED[:-2], "broker crash 2", "wait 14s")
    async with console(source, "2", "slash", size=(120, 40)) as driven:
        await driven.type("orders-2")
        await driven.press("enter", "W", "D")
        assert driven.screen.context == "diagram"
        assert "INPUT broker crash 2" in driven.text()
        view = driven.screen.panes[0].view
        await driven.press(*["left"] * 12)
        event = view.selected  # type: ignore[attr-defined]
        assert isinstance(event, MessageSent)
        assert (event.name, event.source) == ("BrokerHeartbeatRequest", 2)
