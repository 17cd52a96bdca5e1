from console.model.workspace import SIGN
from tests.console.driving import console, toasts
from tests.console.fakes import ListSource, failover
from tests.console.libraries import SmallLibrary


def live() -> ListSource:
    return ListSource(failover(), "LIVE")


async def test_what_is_opened_lies_over_what_was_there_and_q_comes_back() -> None:
    async with console(live(), "colon", library=SmallLibrary()) as driven:
        await driven.type("broker crash 2")
        await driven.press("enter", "3", "7", "enter", "escape")
        assert driven.app.stage.source is not driven.source
        assert driven.app.stage.statements == ["broker crash 2"]
        await driven.press("5", "minus")
        assert driven.app.sources.mode_here == "partitions"
        await driven.press("Q")
        assert driven.app.stage.source is driven.source
        assert driven.screen.context == "lab"
        assert not any(SIGN in mode for mode in driven.app._modes)
        await driven.press("Q", "i")
        assert any("nothing was opened before this" in toast for toast in toasts(driven))
        assert any("no scenario is open here" in toast for toast in toasts(driven))


async def test_what_lies_below_stands_still_and_all_is_closed_in_the_end() -> None:
    source = live()
    async with console(source, "space", "7", "enter", library=SmallLibrary()) as driven:
        before = source.time_us
        await driven.pilot.pause(0.3)
        assert source.time_us == before
        recording = driven.app.stage.source.recorder
    assert recording is not None
    assert recording.closed


async def test_questions_are_answered_as_far_as_one_has_stepped() -> None:
    async with console(live(), "7", "enter", library=SmallLibrary()) as driven:
        assert "PREDICT, BEFORE YOU STEP ON" in driven.text()
        assert driven.text().count("not answered yet") == 2
        await driven.press("escape", "L", "i", "G")
        assert driven.app.stage.source.at_tail
        assert "not answered yet" not in driven.text()
        assert "00:01.418  t-0@1.hw == 0" in driven.text()
