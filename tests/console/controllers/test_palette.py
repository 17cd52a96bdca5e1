from textual.command import CommandList

from console.actions.lookup import ACTIONS
from console.controllers.palette import ActionProvider, ObjectProvider, objects, title
from tests.console.driving import Console, console


def test_a_title_names_the_keys() -> None:
    assert (
        title(ACTIONS["app.palette"])
        == "Find anything by name: actions, partitions, znodes, settings, events  (^p)"
    )


async def test_typing_narrows_what_is_offered() -> None:
    async with console(None, "2") as driven:
        provider = ActionProvider(driven.app.screen)
        hits = [hit async for hit in provider.search("reverse the")]
        assert len(hits) < len(provider.actions())
        assert max(hits, key=lambda hit: hit.score).text == title(
            ACTIONS["partitions.sort.reverse"]
        )


async def test_everything_is_offered_before_anything_is_typed() -> None:
    async with console(None, "2") as driven:
        provider = ActionProvider(driven.app.screen)
        found = [hit.text async for hit in provider.discover()]
        assert len(found) == len(provider.actions())


async def found(driven: Console, query: str) -> list[str]:
    provider = ObjectProvider(driven.app.screen)
    return [str(hit.text).strip() async for hit in provider.search(query)]


async def test_everything_that_has_a_name_is_found_and_opens() -> None:
    async with console(None, "2") as driven:
        assert "partition orders-3" in await found(driven, "orders-3")
        assert "topic orders" in await found(driven, "ORD")
        assert "broker 2" in await found(driven, "broker 2")
        assert "znode /brokers" in await found(driven, "/brok")
        assert "event #100" in await found(driven, "#100")
        assert "record 72004" in await found(driven, "record 72,004")
        assert "setting replica.lag.time.max.ms=30000" in await found(driven, "lag.time")
        assert "setting orders: min.insync.replicas=2" in await found(driven, "insync")
        assert "bookmark b1" in await found(driven, "b1")
        assert await found(driven, "no-such-thing") == []


async def test_what_is_chosen_in_the_palette_is_opened() -> None:
    async with console(None, "2") as driven:
        chosen = objects(driven.app.stage, "orders-3")[0]
        driven.app.post_message(chosen.message)
        await driven.settle()
        assert driven.screen.trail() == "orders-3"


async def test_a_palette_that_another_screen_hides_at_once_works_when_it_is_shown() -> None:
    async with console(None, "2") as driven:
        driven.app.action_app_palette()
        driven.app.navigation.action_go_brokers()
        await driven.settle()
        assert driven.app.sources.mode_here == "brokers"
        await driven.press("2", *"reverse the")
        assert driven.app.screen.query_one(CommandList).option_count > 0
