"""A broken invariant freezes the run; what cannot be read or written is told; both once."""

import pytest

from console.app import TidegaugeApp
from console.controllers.notices import Notices
from console.screens.notice import Notice, NoticeScreen
from emulator import events
from sessions.format.errors import SessionDamagedError
from tests.console.driving import LARGE, SIZES, SMALL, Console, console
from tests.console.fakes import ListSource, Script, failover
from tests.console.test_app import toasts

SENTENCE = "run.tide.db is damaged (the events from number 171 on): it opens up to event 170."


def broken(*, known: bool = False, times: int = 1) -> ListSource:
    """A live cluster in which an invariant breaks, and that goes on."""
    script = Script(failover(), time_us=6_200_000)
    for _ in range(times):
        script.add(
            events.InvariantViolated,
            "LeaderInIsr",
            "orders-1",
            "leader 2 not in [3]",
            known,
            cause=170,
        )
        script.add(events.TimerFired, 2, "isr-expiration")
    return ListSource(script.events, "LIVE", at=168)


async def let_run(driven: Console) -> None:
    """Let some frames pass."""
    driven.app.stage.pacer.speed = 256
    driven.app.stage.pacer.paused = False
    for _ in range(40):
        await driven.pilot.pause(0.03)
        if driven.app.stage.pacer.paused:
            break
    await driven.settle()


@pytest.mark.parametrize("size", SIZES)
async def test_a_broken_invariant_freezes_the_run_and_names_itself(size: tuple[int, int]) -> None:
    source = broken()
    async with console(source, size=size) as driven:
        driven.app.stage.reproduce = lambda source: "tidegauge replay x.tide.db --at 6.2s --paused"
        await let_run(driven)
        await driven.settle()
        assert (source.seq, source.flushed) == (171, 1)
        text = driven.text()
        assert "The invariant LeaderInIsr does not hold for orders-1: leader 2 not in [3]" in text
        assert "a partition's leader is in its ISR" in text
        assert "paused at event #171" in text
        assert "tidegauge replay x.tide.db --at 6.2s --paused" in text
        await driven.press("enter")
        assert driven.screen.context == "event"
        assert "LeaderInIsr" in driven.text()
        await driven.press("escape", "space")
        await let_run(driven)
        assert source.at_tail
        alarms: Notices = driven.app.notices
        assert alarms.alarmed_seqs == {171}


async def test_what_a_release_is_known_for_freezes_it_once() -> None:
    source = broken(known=True, times=3)
    async with console(source) as driven:
        await let_run(driven)
        assert source.seq == 171
        assert "Release 3.9 is known to break it." in driven.text()
        await driven.press("escape", "space")
        driven.app.stage.pacer.paused = False
        await driven.pilot.pause(0.4)
        assert source.at_tail


async def test_who_goes_past_it_by_hand_is_not_stopped() -> None:
    async with console(broken(), "L") as driven:
        assert driven.screen.context == "overview"
        assert driven.source.at_tail


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_a_session_that_ends_in_damage_says_so_once(size: tuple[int, int]) -> None:
    source = ListSource(failover())
    source.trouble = SENTENCE
    async with console(source, size=size) as driven:
        await driven.pilot.pause(0.3)
        await driven.settle()
        assert driven.screen.context == "notice"
        assert "run.tide.db is damaged (the events from number 171 on)" in driven.text()
        assert "Nothing was changed." in " ".join(driven.text().split())
        await driven.press("escape", "2")
        await driven.pilot.pause(0.3)
        assert driven.screen.context == "partitions"


async def test_a_part_that_cannot_be_read_is_a_complaint_and_no_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = ListSource(failover())

    def fail(seq: int) -> None:
        raise SessionDamagedError("run.tide.db has no event 12.")

    async with console(source, "2") as driven:
        monkeypatch.setattr(source, "seek_seq", fail)
        await driven.press("t")
        await driven.type("#12")
        await driven.press("enter")
        assert driven.screen.prompt.is_open
        assert "run.tide.db has no event 12." in driven.text()
        assert source.seq == 170


async def test_a_notice_gives_its_command_line_to_the_clipboard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with console() as driven:
        notice = Notice("test", ("It is one.", "It is two."), 20, "tidegauge run x")
        app: TidegaugeApp = driven.app
        copied: list[str] = []
        monkeypatch.setattr(app.terminal, "copy", copied.append)
        app.push_screen(NoticeScreen(app.stage, notice))
        await driven.settle()
        await driven.press("y")
        assert copied == ["tidegauge run x"]
        assert toasts(driven) == []


async def test_a_notice_waits_until_what_is_being_typed_is_done() -> None:
    async with console(ListSource(failover(), "LIVE"), "colon") as driven:
        await driven.type("broker cra")
        driven.app.notices.trouble(SENTENCE)
        await driven.settle()
        await driven.press("s", "h")
        assert driven.screen.prompt.input.value == "broker crash"
        await driven.press("escape")
        await driven.pilot.pause(0.3)
        await driven.settle()
        assert "is damaged" in driven.text()
