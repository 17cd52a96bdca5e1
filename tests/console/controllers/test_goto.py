"""``t``: going to a time, a distance, an event or a condition."""

import pytest

from tests.console.driving import console, toasts
from tests.console.fakes import ListSource, failover


@pytest.mark.parametrize("place", ["1h", "+1h", "#900000"])
@pytest.mark.parametrize("kind", ["LIVE", "REPLAY"])
async def test_a_place_after_the_end_is_the_end_and_a_toast_says_so(kind: str, place: str) -> None:
    source = ListSource(failover(), kind, at=50)
    async with console(source, "t") as driven:
        await driven.type(place)
        await driven.press("enter")
        assert source.at_tail
        assert any(f"(#{source.last_seq})" in toast for toast in toasts(driven))


async def test_a_place_before_the_end_needs_no_toast() -> None:
    source = ListSource(failover(), "REPLAY", at=50)
    async with console(source, "t") as driven:
        await driven.type("#60")
        await driven.press("enter")
        assert source.seq == 60
        assert not toasts(driven)
