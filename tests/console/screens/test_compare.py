import pytest

from commands.runs.console_library import ConsoleLibrary
from console.actions.lookup import available
from console.screens.compare import CompareScreen
from sessions.sources.twin import TwinSource
from tests.console.driving import SIZES, console, toasts
from tests.console.fakes import ListSource, failover
from tests.console.libraries import side_by_side


@pytest.mark.parametrize("size", SIZES)
async def test_both_runs_stand_side_by_side_and_n_finds_the_first_difference(
    size: tuple[int, int],
) -> None:
    with side_by_side() as twin:
        async with console(twin, "8", size=size) as driven:
            assert isinstance(driven.screen, CompareScreen)
            assert driven.text().count("controller 0 (ZooKeeper), down: none") == 2
            assert "V7-stale-hw-restart 0.11" in driven.text()
            assert "first ahead: n" in driven.text()
            await driven.press("n")
            assert "first here" in driven.text()
            assert "≠≠≠" in driven.text()
            assert "TRUNC" in driven.text()
            assert twin.place == twin.pairing.first_difference
            rows = [row for row in driven.lines() if "t-0@2" in row and "LEO" in row]
            assert any("≠  t-0@2" in row for row in rows)
            await driven.press("N")
            assert "no earlier difference" in toasts(driven)


async def test_both_step_together() -> None:
    with side_by_side() as twin:
        async with console(twin, "8") as driven:
            place = twin.place
            await driven.press("greater_than_sign", "down")
            assert twin.place == place + 2
            assert (twin.seq, twin.behind.seq) == twin.pairing.reached(twin.place)
            await driven.press("less_than_sign")
            assert twin.place == place + 1
            await driven.press("full_stop")
            assert twin.behind.seq == twin.pairing.reached(twin.place)[1]
            await driven.press("L")
            assert twin.behind.at_tail


async def test_other_screens_show_the_first_run_at_the_same_place() -> None:
    with side_by_side() as twin:
        async with console(twin, "8", "n", "2") as driven:
            assert "t-0" in driven.text()
            await driven.press("8", "enter")
            assert driven.screen.context == "event"
            assert "LogTruncated" in driven.text()


async def test_every_key_of_it_does_something() -> None:
    with side_by_side() as twin:
        async with console(twin, "8") as driven:
            missing = [
                a.id for a in available("compare") if driven.app.action_method(a.name) is None
            ]
    assert missing == []


async def test_one_run_alone_has_nothing_beside_it() -> None:
    async with console(ListSource(failover()), "8") as driven:
        assert driven.screen.context == "overview"
        assert any("opens a scenario on two releases" in toast for toast in toasts(driven))


@pytest.mark.parametrize("size", SIZES)
async def test_zookeeper_and_kraft_stand_side_by_side(size: tuple[int, int]) -> None:
    opened = ConsoleLibrary().open_scenario("E2-consumers-stop-at-the-high-watermark", "3.9", "4.1")
    twin = opened.source
    assert isinstance(twin, TwinSource)
    try:
        async with console(twin, "8", "N", size=size) as driven:
            first = twin.pairing.first_difference
            assert first == twin.place
            assert twin.pairing.pairs[first].left is not None
            assert "≠≠≠" in driven.text()
            assert "1 differ" in driven.text()
            await driven.press("n")
            text = driven.text()
            assert "controller 0 (ZooKeeper)" in text
            assert "controller 100 (KRaft)" in text
            assert "no later difference" in toasts(driven)
    finally:
        opened.close()


async def test_a_kraft_cluster_can_be_forked_from_its_past() -> None:
    library = ConsoleLibrary()
    opened = library.open_scenario("K1-fencing", "4.1")
    try:
        opened.source.seek_time(4_000_000)
        async with console(opened.source, "2", "colon", library=library) as driven:
            await driven.type("broker crash 1")
            await driven.press("enter", "enter")
            twin = driven.app.stage.source
            assert isinstance(twin, TwinSource)
            assert twin.front.name.endswith("fork")
            assert driven.screen.context == "compare"
            await driven.press("n")
            assert twin.place == twin.pairing.first_difference
            await driven.press("4")
            assert driven.screen.context == "metadata"
            await driven.press("Q")
            assert driven.app.stage.source is opened.source
    finally:
        opened.close()
