from console.render.lines import text_of
from console.render.znodes import (
    branch_line,
    child_path,
    matching,
    natural,
    parent_path,
    unfolded,
    znode_lines,
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
        text_of(branch_line(b, nodes[b.path], ASCII, is_open=is_open(b.path))).rstrip()
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
    assert sorted(["p10", "p9", "p"], key=natural) == ["p", "p9", "p10"]


def test_json_is_made_pretty_and_the_stat_is_zkclis() -> None:
    node = ZnodeState(
        "/x", '{"leader":2,"isr":[2,3]}', czxid=0x1C, mzxid=0x20, mtime_us=5_000_000, version=3
    )
    rows = [text_of(row).rstrip() for row in znode_lines(node, 60, ASCII)]
    assert rows[:3] == ["DATA  24 bytes", " leader  2", " isr     [2,3]"]
    assert " cZxid          0x1c" in rows
    assert " mtime          Sun Mar 15 10:16:05 UTC 2020  00:00:05.000" in rows
    assert " dataVersion    3" in rows
    assert " ephemeralOwner 0x0" in rows


def test_other_data_is_shown_as_it_is_but_safe() -> None:
    for raw, expected in ((None, " null"), ("a\x1bb", r" a\x1bb"), ("17", " 17")):
        assert text_of(znode_lines(ZnodeState("/x", raw), 60, ASCII)[1]) == expected


def test_hostile_names_cannot_move_the_cursor() -> None:
    nodes = {"/": ZnodeState("/", children={"\x1b[2J": None}), "/\x1b[2J": ZnodeState("/\x1b[2J")}
    (branch,) = unfolded(nodes, lambda path: False)
    assert text_of(branch_line(branch, nodes[branch.path], ASCII, is_open=False)).isprintable()
