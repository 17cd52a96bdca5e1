"""What the console shows of a KRaft cluster: nothing breaks, and nothing speaks of ZooKeeper."""

import pytest

from console.controllers.palette import ActionProvider, objects
from console.render.lines import text_of
from console.screens.page import help_lines
from tests.console.driving import LARGE, SMALL, console
from tests.console.kraft import kraft
from tests.support.kraft_states import CLUSTER, ELIGIBLE, FENCED, TOPIC

WIDEST = (200, 60)
SCREENS = (
    ("1",),
    ("2",),
    ("2", "enter"),
    ("3",),
    ("3", "enter"),
    ("3", "G", "enter"),
    ("4",),
    ("5",),
    ("5", "enter"),
    ("1", "a", "comma", "d"),
)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_no_screen_speaks_of_zookeeper(size: tuple[int, int]) -> None:
    async with console(kraft(*ELIGIBLE), size=size) as driven:
        for keys in SCREENS:
            await driven.press("escape", "escape", *keys)
            text = driven.text().lower()
            for word in ("znode", "zookeeper", "zk ", " session "):
                assert word not in text, (keys, word)


async def test_a_lost_quorum_is_seen_on_every_screen() -> None:
    lost = (CLUSTER, TOPIC, "controller crash active", "controller crash standby", "wait 5s")
    async with console(kraft(*lost), "1", size=LARGE) as driven:
        assert "There is no active controller" in driven.text()
        for screen in "12345":
            await driven.press(screen)
            assert "brk 3/3 ctl 1/3" in driven.text()
    async with console(kraft(CLUSTER, TOPIC), "1", size=LARGE) as driven:
        assert "No faults" in driven.text()
        assert "ctl" not in driven.text().splitlines()[0]


@pytest.mark.parametrize("screen", "123457")
async def test_no_help_speaks_of_zookeeper(screen: str) -> None:
    async with console(kraft(*ELIGIBLE), screen, "question_mark") as driven:
        rows = [text_of(row) for row in help_lines(driven.app.stage, driven.screen.context)]
        text = "\n".join(rows).lower()
        assert "what does the metadata log say" in text
        assert "znode" not in text
        assert "zookeeper" not in text


async def test_the_palette_offers_controllers_instead_of_znodes() -> None:
    async with console(kraft(*ELIGIBLE), "2") as driven:
        stage = driven.app.stage
        assert ("controller", "100") in {each[:2] for each in objects(stage, "100")}
        for word in ("znode", "zookeeper", "/"):
            kinds = {found.kind for found in objects(stage, word)}
            assert not kinds & {"znode", "setting"}, word
        shown = [hit.text async for hit in ActionProvider(driven.app.screen).discover()]
        assert not [text for text in shown if "znode" in str(text).lower()]
        (chosen,) = (each for each in objects(stage, "101") if each.kind == "controller")
        driven.app.post_message(chosen.message)
        await driven.settle()
        assert driven.screen.trail() == "controller 101"


async def test_the_elr_stands_beside_isr_and_osr() -> None:
    async with console(kraft(*ELIGIBLE), "2", size=(120, 60)) as driven:
        text = driven.text()
        assert "OSR   ELR" in text
        assert "ISR [0]  OSR [1,2]  ELR [1]  min 2" in text
        assert "METADATA /topics/orders/0" in text
        await driven.press("slash")
        await driven.type("elr=1")
        assert "partitions ── 3/3" in driven.text()
        await driven.type("0")
        assert "partitions ── 0/3" in driven.text()


async def test_who_led_last_is_told_while_nobody_can_lead() -> None:
    source = kraft(*ELIGIBLE, "broker crash 0", "wait 12s")
    async with console(source, "2") as driven:
        text = driven.text()
        assert "leader none" in text
        assert "ISR []" in text
        assert "last known leader [0]" in text


async def test_an_unclean_leader_is_recovering_until_its_isr_changes() -> None:
    done = (*ELIGIBLE, "broker crash 0", "wait 12s", "broker start 2", "wait 12s")
    async with console(kraft(*done, "election unclean orders-0"), "2") as driven:
        await driven.press("slash")
        await driven.type("orders-0")
        await driven.press("enter")
        assert "leader recovery state RECOVERING" in driven.text()


async def test_a_broker_that_is_behind_disagrees_with_the_log() -> None:
    cuts = [f"network cut 1 {controller}" for controller in (100, 101, 102)]
    async with console(kraft(*FENCED[:-2], *cuts, "wait 12s"), "2", size=WIDEST) as driven:
        text = driven.text()
        assert "DISAGREE with the metadata log" in text
        assert "clients of 1 isr [0,1,2] partition epoch 0" in text
        assert "controller 100 leader" not in text


async def test_clusters_without_controllers_yet_are_shown() -> None:
    async with console(kraft(CLUSTER), "2") as driven:
        await driven.press("3", "4", "1")
        assert "Metadata" in driven.text()
