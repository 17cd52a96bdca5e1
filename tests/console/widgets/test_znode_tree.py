from console.widgets.znode_tree import ZnodeTreeView
from tests.console.driving import console
from tests.console.fakes import ListSource
from tests.console.screens.test_znodes import tree


async def test_a_closed_branch_stands_in_for_what_was_selected_in_it() -> None:
    async with console(ListSource(tree()), "4", *("down",) * 3) as driven:
        view = driven.screen.query_one("#tree", ZnodeTreeView)
        view.open.discard("/brokers")
        view.unfold()
        assert driven.screen.selection() == ("/brokers",)


async def test_nothing_is_unfolded_while_no_znode_changes() -> None:
    async with console(ListSource(tree(), at=3), "4") as driven:
        view = driven.screen.query_one("#tree", ZnodeTreeView)
        before = view.branches
        view.follow()
        assert view.branches is before
