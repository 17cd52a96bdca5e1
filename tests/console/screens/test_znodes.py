from asyncio import sleep

import pytest

from console.screens.znodes import ZnodesScreen
from emulator import events
from emulator.events import Event
from sessions.model.touches import objects_of
from tests.console.driving import FRAME, LARGE, SMALL, console
from tests.console.fakes import ListSource, Script


def tree() -> list[Event]:
    script = Script()
    script.add(events.ClusterCreated, "3.9", 43, [0], [], {}, False)
    zxid = 1
    for path, data, session in (
        ("/brokers", None, 0),
        ("/brokers/ids", None, 0),
        ("/brokers/ids/0", '{"port":9092,"version":5}', 0x10),
        ("/brokers/ids/10", '{"port":9093}', 0x11),
        ("/brokers/ids/9", '{"port":9094}', 0x12),
        ("/controller", '{"brokerid":0}', 0x10),
        ("/admin", None, 0),
        ("/admin/delete_topics", None, 0),
    ):
        zxid += 1
        script.add(events.ZnodeCreated, path, data, session, zxid)
    script.add(events.ZnodeChanged, "/controller", '{"brokerid":9}', 1, 99)
    return script.events


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_open_branches_are_shown_in_natural_order(size: tuple[int, int]) -> None:
    async with console(ListSource(tree()), "4", size=size) as driven:
        assert isinstance(driven.screen, ZnodesScreen)
        shown = [row[:14].strip() for row in driven.lines()[4:13]]
        assert shown[:7] == [
            "▌ ▸ admin (1)",
            "▾ brokers (1",
            "▾ ids (3)",
            '· 0  {"p',
            '· 9  {"p',
            '· 10  {"',
            "· controller",
        ]


async def test_the_selected_znode_shows_data_and_stat() -> None:
    async with console(ListSource(tree()), "4", *("down",) * 3) as driven:
        text = driven.text()
        assert "── /brokers/ids/0 ── v0 ── ephemeral" in text
        assert "port     9092" in text
        assert "ephemeralOwner 0x10" in text
        assert driven.screen.selection() == ("/brokers/ids/0",)


async def test_branches_open_and_close() -> None:
    async with console(ListSource(tree()), "4", "right") as driven:
        assert "delete_topics" in driven.text()
        await driven.press("right")
        assert driven.screen.selection() == ("/admin/delete_topics",)
        await driven.press("left", "left")
        assert (
            "delete_topics"
            not in driven.text().replace("CHILDREN", "")[: driven.text().index("DATA")]
        )
        await driven.press("right")
        assert "▾ admin" in driven.text()


async def test_enter_opens_the_znode_and_why_its_last_event() -> None:
    async with console(ListSource(tree()), "4", "G", "up", "enter") as driven:
        assert driven.screen.context == "znode"
        assert driven.screen.trail() == "/controller"
        await driven.press("escape", "W")
        assert driven.screen.context == "event"
        assert "ZnodeChanged" in driven.text()


async def test_enter_in_the_history_brings_the_time_cursor_there() -> None:
    async with console(ListSource(tree()), "4", "G", "up", "shift+tab", "g", "enter") as driven:
        assert driven.screen.context == "znodes"
        assert driven.source.seq < driven.source.last_seq
        assert "/controller" in objects_of(driven.source.history[driven.source.seq - 1])


async def test_a_filter_lists_paths() -> None:
    async with console(ListSource(tree()), "4", "slash") as driven:
        await driven.type("ids/")
        assert [row[2:20].strip()[:17] for row in driven.lines()[4:7]] == [
            "· /brokers/ids/0",
            "· /brokers/ids/9",
            "· /brokers/ids/10",
        ]
        await driven.press("enter", "escape")
        assert "▾ brokers" in driven.text()
        await driven.press("slash")
        await driven.type("nowhere")
        assert "No path matches." in driven.text()


FRAMES_MAX = 100
"""How many frames a console may take to draw by itself."""


async def test_a_filter_without_matches_says_so_without_being_asked_to_paint() -> None:
    async with console(ListSource(tree()), "4", "slash") as driven:
        driven.screen.prompt.input.insert_text_at_cursor("nowhere")
        for _ in range(FRAMES_MAX):
            if "No path matches." in driven.text():
                break
            await sleep(FRAME)
        assert "No path matches." in driven.text()


async def test_the_tree_walks_in_time() -> None:
    async with console(ListSource(tree()), "4", "t") as driven:
        await driven.type("#4")
        await driven.press("enter")
        assert "ids (1)" in driven.text()
        assert "controller" not in driven.text()


async def test_the_path_and_the_znode_can_be_copied() -> None:
    async with console(ListSource(tree()), "4", "G", "up", "y") as driven:
        assert driven.app.clipboard == "/controller"
        await driven.press("Y")
        assert '"path":"/controller"' in driven.app.clipboard
