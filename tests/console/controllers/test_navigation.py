import pytest

from console.controllers.navigation import Navigation
from console.model.links import Link
from tests.console.driving import console
from tests.console.fakes import ListSource, failover

LEADS = {
    Link("partition", "orders-0"): "orders-0",
    Link("broker", "2"): "broker 2",
    Link("znode", "/controller"): "/controller",
    Link("event", "100"): "#100",
    Link("record", "72004"): "orders-0 record 72,004",
}


async def test_a_link_leads_to_its_page() -> None:
    async with console(ListSource(failover())) as driven:
        navigation: Navigation = driven.app.navigation
        for link, trail in LEADS.items():
            navigation.open_link(link)
            await driven.settle()
            assert driven.screen.trail() == trail
        assert len(driven.app.screen_stack) == len(LEADS) + 1


@pytest.mark.parametrize(
    "link", [None, Link("broker", "-1"), Link("event", "999"), Link("record", "5"), Link("?", "")]
)
async def test_what_leads_nowhere_leaves_one_where_one_is(link: Link | None) -> None:
    async with console() as driven:
        driven.app.navigation.open_link(link)
        await driven.settle()
        assert driven.screen.context == "overview"
        driven.app.navigation.open_link(Link("moment", "20"))
        assert driven.source.seq == 20
        driven.app.navigation.open_link(Link("mode", "events"))
        await driven.settle()
        assert driven.app.current_mode == "events"
