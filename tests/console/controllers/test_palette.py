from console.actions.lookup import ACTIONS
from console.controllers.palette import ActionProvider, title
from tests.console.driving import console


def test_a_title_names_the_keys() -> None:
    assert title(ACTIONS["app.palette"]) == "Find any action by name  (^p)"


async def test_typing_narrows_what_is_offered() -> None:
    async with console(None, "2") as driven:
        provider = ActionProvider(driven.app.screen)
        found = [hit.text async for hit in provider.search("reverse")]
        assert found == [title(ACTIONS["partitions.sort.reverse"])]


async def test_everything_is_offered_before_anything_is_typed() -> None:
    async with console(None, "2") as driven:
        provider = ActionProvider(driven.app.screen)
        found = [hit.text async for hit in provider.discover()]
        assert len(found) == len(provider.actions())
