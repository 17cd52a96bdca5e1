from console.render.lines import text_of
from console.screens.znode import ZnodeScreen, changes_of
from emulator import events
from tests.console.driving import LARGE, SMALL, Console, console
from tests.console.fakes import ListSource, Script, failover
from tests.console.libraries import failing_over

PATH = "/controller"


def history() -> ListSource:
    script = Script(failover(), time_us=6_200_000)
    add = script.add
    watch = add(events.WatchFired, PATH, "NodeDeleted", 3, cause=134)
    made = add(events.ZnodeCreated, PATH, '{"brokerid":2}', 0x12, 50, 2, cause=watch)
    add(events.ZnodeChanged, PATH, '{"brokerid":3}', 1, 51, 3, cause=made)
    return ListSource(script.events)


async def opened(driven: Console) -> ZnodeScreen:
    driven.app.navigation.open("znode", PATH)
    await driven.settle()
    assert isinstance(driven.screen, ZnodeScreen)
    return driven.screen


def test_of_a_json_object_the_fields_that_changed_are_shown() -> None:
    before, after = '{"leader":1,"isr":[1,2],"version":1}', '{"leader":-1,"isr":[1,2],"new":"x"}'
    assert text_of(changes_of(before, after)).strip() == (
        'leader 1 > -1  new null > "x"  version 1 > null'
    )
    for odd in (None, "", "12", "[1]", "{"):
        assert changes_of(odd, after) == ()
        assert changes_of(after, odd) == ()


async def test_every_version_is_listed_with_what_was_written() -> None:
    async with console(history(), size=LARGE) as driven:
        await opened(driven)
        rows = [
            row[:70] for row in driven.lines() if "  0x" in row[:18] or "notified 3" in row[:70]
        ]
        assert "created ephemeral  {" in rows[0]
        assert "deleted" in rows[1]
        assert "notified 3: NodeDeleted" in rows[2]
        assert "broker 2 created ephemeral  " in rows[3]
        assert rows[4].startswith("▸    v1     0x33")
        assert "broker 3 set  brokerid 2" in rows[4]
        assert "brokerid  3" in driven.text()
        assert "3          notified 00:00:06.2" in driven.text()


async def test_enter_brings_the_time_cursor_to_the_version_in_all_kinds_of_time() -> None:
    source = history()
    async with console(source, size=SMALL) as driven:
        screen = await opened(driven)
        await driven.press("up", "up", "up", "enter")
        assert isinstance(source.history[source.seq - 1], events.ZnodeDeleted)
        assert isinstance(screen.versions.selected, events.ZnodeDeleted)
        await driven.press("tab")
        assert "It does not exist at this time." in driven.text()
        assert "will be notified" in driven.text()
        await driven.press("tab", "greater_than_sign")
        assert source.seq == 171
        await driven.press("W")
        assert driven.screen.context == "event"


async def test_what_zookeeper_began_with_has_no_version() -> None:
    async with console(history()) as driven:
        driven.app.navigation.open("znode", "/zookeeper")
        await driven.settle()
        assert "No version is recorded" in driven.text()
        await driven.press("Y", "y", "n")


async def watches(driven: Console, path: str) -> str:
    """The lines about who watches a znode now, once they are known."""
    driven.app.navigation.open("znode", path)
    await driven.settle()
    await driven.app.workers.wait_for_complete()
    await driven.settle()
    screen = driven.screen
    assert isinstance(screen, ZnodeScreen)
    text = "\n".join(text_of(row) for row in screen.detail.lines)
    return text.partition("WATCHES  ")[2].partition("WATCHES THAT FIRED")[0]


async def test_watches_and_writers_are_those_of_the_cluster_at_any_time() -> None:
    with failing_over() as source:
        tree = source.cluster.zookeeper
        assert sorted(tree.watches.of_path("/controller")[0]) == [0, 2, 3]
        brokers = tree.watches.of_path("/brokers/ids")[1]
        async with console(source, size=LARGE) as driven:
            now = await watches(driven, "/controller")
            assert [each for each in range(4) if f"broker {each}  data" in now] == [0, 2, 3]
            assert f"broker {brokers[0]}  children" in await watches(driven, "/brokers/ids")
            source.seek_time(1_000_000)
            was = await watches(driven, "/controller")
            assert [each for each in range(4) if f"broker {each}  data" in was] == [0, 1, 2, 3]
            assert "no watches" in await watches(driven, "/consumers")
