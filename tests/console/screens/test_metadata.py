import pytest

from console.actions.lookup import in_context
from console.screens.metadata import MetadataScreen
from console.screens.znodes import ZnodesScreen
from emulator import events
from tests.console.driving import LARGE, SMALL, console
from tests.console.kraft import kraft
from tests.console.test_every_key import note_actions, press
from tests.support.kraft_states import CLUSTER, FENCED


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_the_image_is_shown_as_a_tree(size: tuple[int, int]) -> None:
    async with console(kraft(*FENCED), "4", size=size) as driven:
        assert isinstance(driven.screen, MetadataScreen)
        names = [row[2:14].strip() for row in driven.lines()[4:16]]
        assert names == [
            "▾ brokers (3",
            '· 0  {"fen',
            '· 1  {"fen',
            '· 2  {"fen',
            "▸ configs (2",
            "▾ controller",
            '· 100  {"z',
            '· 101  {"z',
            '· 102  {"z',
            "▸ features (",
            "▾ topics (1)",
            "▸ orders (",
        ]
        assert "4 Metadata" in driven.lines()[1]
        assert "Znodes" not in driven.text()


async def test_a_node_shows_its_data_and_the_records_about_it() -> None:
    async with console(kraft(*FENCED), "4", "G", "right", "G", size=(120, 42)) as driven:
        text = driven.text()
        assert driven.screen.selection() == ("/topics/orders/2",)
        assert "leader                  0" in text
        assert "isr                     [0,1]" in text
        assert "leaderEpoch             1" in text
        assert "history of /topics/orders/2" in text
        assert "about it  2" in text


async def test_the_history_of_a_folder_is_that_of_its_children() -> None:
    async with console(kraft(*FENCED), "4") as driven:
        assert driven.screen.selection() == ("/brokers",)
        _, _, history = driven.text().partition("history of /brokers")
        for broker in range(3):
            assert f'{{"brokerId":{broker},' in history
        assert "Nothing has changed" not in history
        await driven.press("W")
        assert "BrokerRegistrationChange" in driven.text()


async def test_who_has_read_how_much_is_a_tape() -> None:
    async with console(kraft(*FENCED), "4") as driven:
        rows = {row.split()[1]: row for row in driven.lines() if row[:1] in ("▸", "●", "✖")}
        assert "leader " in rows["100"]
        assert "follower" in rows["101"]
        assert "fenced        crashed" in rows["2"]
        assert rows["0"].count("•") == rows["100"].count("•") == 27
        assert (rows["2"].count("•"), rows["2"].count("·")) == (23, 4)  # the batch that fences it


async def test_without_a_majority_it_says_so() -> None:
    source = kraft(CLUSTER, "controller crash 101", "controller crash 102", "wait 10s")
    async with console(source, "4") as driven:
        assert "no majority: 1 of 3 run" in driven.text()
        assert "no leader" in driven.text()


async def test_enter_opens_what_a_node_stands_for() -> None:
    async with console(kraft(*FENCED), "4", "down", "enter") as driven:
        assert driven.screen.context == "broker"
        await driven.press("escape", "G", "enter", "down", "enter")
        assert driven.screen.trail() == "orders-0"


async def test_enter_in_the_history_brings_the_time_cursor_to_the_record() -> None:
    keys = ("4", *("down",) * 3, "shift+tab", "G", "enter")
    async with console(kraft(*FENCED), *keys) as driven:
        event = driven.source.history[driven.source.seq - 1]
        assert isinstance(event, events.MetadataRecordCommitted)
        assert event.kind == "BrokerRegistrationChange"


async def test_why_opens_the_last_record() -> None:
    async with console(kraft(*FENCED), "4", *("down",) * 3, "W") as driven:
        assert "MetadataRecordCommitted" in driven.text()


async def test_before_the_cluster_there_is_nothing() -> None:
    source = kraft(*FENCED)
    async with console(source, "4", "t") as driven:
        await driven.type("#1")
        await driven.press("enter")
        assert "There is no metadata log at this time." in driven.text()


async def test_the_screen_of_znodes_says_that_there_are_none() -> None:
    async with console(kraft(*FENCED)) as driven:
        driven.app.navigation.go("znodes")
        await driven.settle()
        assert isinstance(driven.screen, ZnodesScreen)
        assert "This cluster has no ZooKeeper." in driven.text()


async def test_every_key_of_the_screen_does_its_action(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(kraft(*FENCED)) as driven:
        done = note_actions(driven, monkeypatch)
        for action in in_context("metadata"):
            await driven.press("escape", "escape", "4")
            await press(driven, action, "REPLAY", done)
