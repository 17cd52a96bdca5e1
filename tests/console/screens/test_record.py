import pytest

from console.screens.record import RecordScreen
from tests.console.driving import LARGE, SMALL, console
from tests.console.fakes import ListSource, failover

RECORD = 72_004
"""The fifth record of orders-0."""


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_a_record_says_where_its_copies_are_and_were(size: tuple[int, int]) -> None:
    source = ListSource(failover())
    async with console(source, size=size) as driven:
        driven.app.navigation.open("record", str(RECORD))
        await driven.settle()
        screen = driven.screen
        assert isinstance(screen, RecordScreen)
        text = driven.text()
        assert "orders-0 record 72,004" in driven.lines()[1]
        assert "value       m4" in text
        assert "response    acknowledged" in text
        assert "1 down" in text
        assert "offset 4  epoch 0  below its HW" in text
        await driven.press("less_than_sign")
        assert source.seq < 170
        while source.seq > 75:
            await driven.press("less_than_sign")
        assert source.seq in (73, 74, 75)
        assert "response    none yet" in driven.text()
        await driven.press("G", "enter")
        assert driven.screen.context in ("event", "record")


async def test_the_response_is_told_whatever_the_events_are_filtered_by() -> None:
    async with console() as driven:
        driven.app.navigation.open("record", str(RECORD))
        await driven.settle()
        screen = driven.screen
        assert isinstance(screen, RecordScreen)
        screen.log_view.set_filter("LogTruncated")
        await driven.settle()
        assert "response    acknowledged" in driven.text()


async def test_lines_of_a_record_lead_on() -> None:
    async with console() as driven:
        driven.app.navigation.open("record", str(RECORD))
        await driven.settle()
        await driven.press("down", "down", "down", "enter")
        assert driven.screen.trail() == "orders-0"
        await driven.press("escape", "W")
        assert driven.screen.context == "event"
        await driven.press("escape", "tab", "enter")
        assert driven.screen.context == "event"


async def test_a_record_that_nobody_knows_is_a_toast() -> None:
    async with console() as driven:
        driven.app.navigation.open("record", "999999")
        await driven.settle()
        assert driven.screen.context == "overview"
