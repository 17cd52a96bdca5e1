from console.render.lines import text_of
from console.render.tree import (
    branch_line,
    child_path,
    matching,
    parent_path,
    unfolded,
)
from console.styles.glyphs import ASCII
from sessions.model.states import ZnodeState


def tree() -> dict[str, ZnodeState]:
    paths = ["/", "/brokers", "/brokers/ids", *(f"/brokers/ids/{n}" for n in (10, 9, 1)), "/admin"]
    nodes = {path: ZnodeState(path) for path in paths}
    for path in paths[1:]:
        nodes[parent_path(path)].children[path.rpartition("/")[2]] = None
    return nodes


def shown(*opened: str) -> list[str]:
    nodes = tree()
    is_open = set(opened).__contains__
    return [
        text_of(branch_line(b, nodes[b.path], "", ASCII, is_open=is_open(b.path))).rstrip()
        for b in unfolded(nodes, is_open)
    ]


def test_closed_branches_hide_what_is_in_them() -> None:
    assert shown() == [". admin", "+ brokers (1)"]


def test_open_branches_show_their_children_in_natural_order() -> None:
    assert shown("/brokers", "/brokers/ids") == [
        ". admin",
        "- brokers (1)",
        "  - ids (3)",
        "    . 1",
        "    . 9",
        "    . 10",
    ]


def test_a_search_is_a_flat_list_of_paths() -> None:
    found = matching(tree(), lambda path: "ids/" in path)
    assert [branch.path for branch in found] == [f"/brokers/ids/{n}" for n in (1, 9, 10)]


def test_paths_are_joined_and_taken_apart() -> None:
    assert [child_path("/", "a"), child_path("/a", "b")] == ["/a", "/a/b"]
    assert [parent_path("/a"), parent_path("/a/b")] == ["/", "/a"]


def test_hostile_names_cannot_move_the_cursor() -> None:
    nodes = {"/": ZnodeState("/", children={"\x1b[2J": None}), "/\x1b[2J": ZnodeState("/\x1b[2J")}
    (branch,) = unfolded(nodes, lambda path: False)
    assert text_of(branch_line(branch, nodes[branch.path], "", ASCII, is_open=False)).isprintable()


def test_data_is_shown_as_far_as_a_very_wide_screen_has_room_for_it() -> None:
    nodes = tree()
    nodes["/admin"].data = "x" * 150
    branch = next(branch for branch in unfolded(nodes, lambda path: False))
    text = text_of(branch_line(branch, nodes["/admin"], "", ASCII, is_open=False))
    assert text.endswith(f"  {'x' * 150}")
