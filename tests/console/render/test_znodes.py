from console.render.lines import text_of
from console.render.znodes import znode_lines
from console.styles.glyphs import ASCII
from sessions.model.states import ZnodeState


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
