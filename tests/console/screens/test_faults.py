import pytest

from console.screens.fault_variants import FaultVariantsScreen
from sessions.playback.cursor import Reply
from tests.console.driving import LARGE, SIZES, Console, console, toasts
from tests.console.fakes import ListSource, failover
from tests.console.libraries import failing_over


def live() -> ListSource:
    return ListSource(failover(), "LIVE")


async def forecast_done(driven: Console) -> None:
    """Wait until every fault that is listed has been looked into."""
    for _ in range(400):
        if not driven.screen.is_busy():
            await driven.settle()
            return
        await driven.pilot.pause(0.05)


@pytest.mark.parametrize("size", SIZES)
async def test_x_lists_the_faults_of_the_selected_object_with_their_effects(
    size: tuple[int, int],
) -> None:
    with failing_over() as source:
        before = source.last_seq
        async with console(source, "3", "x", size=size) as driven:
            assert driven.screen.context == "faults"
            assert "── faults of broker 1" in driven.text()
            assert "▌ start broker 1" in driven.text()
            await forecast_done(driven)
            assert "predicted on a copy of the cluster at 00:00:07" in driven.text()
            titles = next(row for row in driven.lines() if "  FAULT" in row).split()
            shown = ["FAULT", "WRITES", "FOR", "LOST", "OFFLINE", "<MIN", "MOVED", "CTRL", "URP"]
            assert titles == shown[: len(titles)]
            assert len(titles) == (9 if size == LARGE else 6)
            for title in ("start broker 1  ", "start broker 1 with empty disks  "):
                row = next(row for row in driven.lines() if title in row)
                assert row.split()[-len(titles) + 1 :] == [*".......", "-2"][: len(titles) - 1]
            assert "2 are fully in sync again" in driven.text()
            assert source.last_seq == before


async def test_what_costs_nothing_is_done_at_once_and_a_refusal_is_told() -> None:
    source = live()
    source.reply = Reply("INVALID", "there is no such link")
    async with console(source, "2", "down", "x", "slash") as driven:
        await driven.type("slow")
        await driven.press("enter", "I")
        assert any("there is no such link" in toast for toast in toasts(driven))
        assert driven.screen.context == "faults"
        source.reply = Reply()
        await driven.press("I")
        assert source.submitted[-1].startswith("replica pause orders-")
        assert driven.screen.context == "partitions"


async def test_what_may_cost_something_is_done_after_its_name() -> None:
    async with console(live(), "2", "x", "slash") as driven:
        await driven.type("uncleanly")
        await driven.press("enter", "I")
        assert driven.source.submitted == []
        assert "type 'orders-5' to do it" in driven.text()
        await driven.type("orders-4")
        await driven.press("enter")
        assert "the name does not match: type 'orders-5'" in driven.text()
        assert driven.source.submitted == []
        driven.screen.prompt.input.value = "orders-5"
        await driven.press("enter")
        assert driven.source.submitted == ["election unclean orders-5"]
        assert driven.screen.context == "partitions"
        assert "done: election unclean orders-5" in toasts(driven)


async def test_escape_leaves_it_be_and_words_that_nothing_has_say_so() -> None:
    async with console(live(), "2", "x", "G", "I", "escape", "slash") as driven:
        assert driven.source.submitted == []
        await driven.type("earthquake")
        assert "no fault matches" in driven.text()
        await driven.press("escape", "escape", "escape")
        assert driven.screen.context == "partitions"


async def test_a_recording_refuses_it_in_a_sentence() -> None:
    async with console(None, "3", "x") as driven:
        assert driven.screen.context == "brokers"
        assert any(toast.startswith("READ-ONLY: ") for toast in toasts(driven))


async def test_faults_are_those_of_the_cluster_as_it_is_now_wherever_the_cursor_stands() -> None:
    with failing_over() as source:
        source.seek_seq(100)
        async with console(source, "7") as driven:
            driven.app.stage.subject = ("broker.1",)
            await driven.press("x")
            assert source.view.state.brokers[1].state == "running"
            assert "▌ start broker 1" in driven.text()


async def test_what_is_marked_is_done_together_after_all_their_names() -> None:
    async with console(live(), "3", "down", "x", "m", "escape", "down", "x", "m") as driven:
        assert "crash broker 2, then crash broker 3" in driven.text()
        await driven.press("G", "I")
        assert "type 'broker 2 and broker 3' to do it" in driven.text()
        await driven.type("broker 2 and broker 3")
        await driven.press("enter")
        assert driven.source.submitted == ["broker crash 2; broker crash 3"]
        assert driven.app.stage.marked == {}


async def test_the_partitions_that_marked_faults_would_change_are_listed_and_open() -> None:
    with failing_over() as source:
        keys = ("3", "down", "down", "x", "m", "escape", "down", "x", "m")
        async with console(source, *keys) as driven:
            await driven.press("G")
            await forecast_done(driven)
            row = next(row for row in driven.lines() if row.startswith("▌"))
            assert "crash broker 2, then" in row
            assert "+" in row.partition("crash broker")[2]  # partitions go offline or lose min ISR
            assert "PARTITION" in driven.text()
            assert "partitions changed" in driven.text()
            await driven.press("enter", "enter")
            assert driven.screen.context == "partition"


async def test_a_fault_is_compared_under_other_conditions() -> None:
    with failing_over() as source:
        async with console(source, "3", "down", "x", "c") as driven:
            screen = driven.screen
            assert isinstance(screen, FaultVariantsScreen)
            for _ in range(400):
                if not screen.is_busy():
                    break
                await driven.settle()
            text = driven.text()
            assert "what differs is marked" in text
            for title in ("as it is", "unclean on", "min ISR 2", "acks all"):
                assert any(row.startswith(f"{title} ") for row in driven.lines()), title
            assert "not possible" not in text
            assert "controller moves to 3 (CTRL 3, not 2)" in text
            await driven.press("escape")
            assert driven.screen.context == "faults"
