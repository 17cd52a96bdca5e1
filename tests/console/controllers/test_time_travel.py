import pytest
from textual import events

from console.controllers.time_travel import OUTPUT_TOAST_MAX, complaint
from sessions.playback.cursor import Reply
from sessions.sources.twin import TwinSource
from tests.console.driving import console
from tests.console.fakes import ListSource, failover
from tests.console.libraries import SmallLibrary, failing_over


def test_a_complaint_names_the_error_and_says_why() -> None:
    assert complaint(Reply("NO_NODE", "there is no /x")) == "NO_NODE: there is no /x"
    assert complaint(Reply("REQUEST_TIMED_OUT")) == "REQUEST_TIMED_OUT"


def test_only_short_output_is_a_toast() -> None:
    assert OUTPUT_TOAST_MAX < 10


async def test_a_statement_in_the_past_asks_where_and_a_fork_leaves_the_first_run_alone() -> None:
    with failing_over() as source:
        last = source.last_seq
        source.seek_seq(200)
        async with console(source, "colon", library=SmallLibrary()) as driven:
            await driven.type("broker crash 3")
            await driven.press("enter")
            assert driven.screen.context == "menu"
            assert "Fork from #200" in driven.text()
            assert "Go to the live end" in driven.text()
            await driven.press("enter")
            for _ in range(100):
                await driven.settle()
                if driven.app.sources.mode_here == "compare":
                    break
            twin = driven.app.stage.source
            assert isinstance(twin, TwinSource)
            assert twin.behind is source
            assert source.last_seq == last, "the first run is as it was"
            crashed = [
                b.id for b in twin.front.present.state.brokers.values() if b.state == "crashed"
            ]
            assert crashed == [3]
            assert twin.pairing.first_difference is not None


async def test_a_statement_in_the_past_can_be_given_at_the_live_end() -> None:
    with failing_over() as source:
        source.seek_seq(200)
        async with console(source, "colon") as driven:
            await driven.type("broker crash 3")
            await driven.press("enter", "down", "enter")
            assert source.at_tail
            assert source.view.state.brokers[3].state == "crashed"


async def test_staying_in_the_past_gives_nothing() -> None:
    with failing_over() as source:
        last = source.last_seq
        source.seek_seq(200)
        async with console(source, "colon") as driven:
            await driven.type("broker crash 3")
            await driven.press("enter", "escape")
            assert (source.seq, source.last_seq) == (200, last)


async def test_lines_pasted_in_the_past_are_asked_about_once_and_given_in_their_order() -> None:
    with failing_over() as source:
        source.seek_seq(200)
        async with console(source, "colon") as driven:
            lines = "broker crash 3\nbroker start 3\nbroker crash 2\nshow brokers"
            driven.screen.prompt.input.post_message(events.Paste(lines))
            await driven.settle()
            assert "broker crash 3: where?" in driven.text()
            await driven.press("down", "enter")
            assert source.at_tail
            assert source.view.state.brokers[3].state != "crashed"
            assert source.view.state.brokers[2].state == "crashed"
            assert driven.screen.prompt.input.value == "show brokers"
            assert driven.screen.prompt.is_open


@pytest.mark.parametrize("text", ["help", "?"])
async def test_help_can_be_asked_for_as_a_statement(text: str) -> None:
    async with console(ListSource(failover(), "LIVE"), "2", "colon") as driven:
        await driven.type(text)
        await driven.press("enter")
        assert "help: partitions" in driven.text()
        assert driven.source.submitted == []


async def test_a_cluster_goes_on_if_nothing_later_touches_the_selection() -> None:
    source = ListSource(failover(), "LIVE")
    async with console(source, "2") as driven:
        driven.app.stage.pacer.paused = False
        await driven.press("greater_than_sign")
        (toast,) = driven.app._notifications
        assert toast.message == "no later event touches orders-5"
        assert not driven.app.stage.pacer.paused
