from console.render.lines import Line, text_of, width_of
from console.render.space_time import Diagram
from console.styles.glyphs import ASCII
from emulator import events
from emulator.events import CLIENTS, ZOOKEEPER

HOSTS = {CLIENTS: "clients", ZOOKEEPER: "zk", 0: "broker 0", 1: "broker 1", 2: "broker 2"}
DIAGRAM = Diagram(HOSTS, 120, ASCII)


def drawn(row: Line) -> str:
    return text_of(row).rstrip()


def message(source: int, destination: int, name: str = "FetchRequest") -> events.MessageSent:
    return events.MessageSent(1_234, 3_000_000, 7, name, source, destination, 0, [])


def test_hosts_stand_above_their_lines() -> None:
    title = drawn(DIAGRAM.title())
    lifelines = drawn(DIAGRAM.row(message(1, 2), role=""))
    assert title.split() == ["clients", "zk", "broker", "0", "broker", "1", "broker", "2"]
    for name, host in (("clients", CLIENTS), ("zk", ZOOKEEPER)):
        column = 19 + DIAGRAM.columns[host]
        assert abs(title.index(name) + len(name) // 2 - column) <= 1
        assert lifelines[column] == "|"


def test_a_message_is_an_arrow_from_host_to_host() -> None:
    there = drawn(DIAGRAM.row(message(1, 2), role=""))
    assert there.startswith(" 00:03.000   1,234 ")
    assert "o---FetchRequest--->|" in there
    assert "|<--FetchRequest----o" in drawn(DIAGRAM.row(message(2, 1), role=""))
    assert "--x|" in drawn(DIAGRAM.row(message(1, 2), role="", lost=True))


def test_anything_else_is_a_point_with_its_text_on_the_side_that_has_room() -> None:
    left = events.TimerFired(5, 0, 0, ZOOKEEPER, "session-expiry")
    right = events.HighWatermarkChanged(5, 0, 0, "orders-0", 2, 4, 3, "fetch")
    assert "o TIMER zk: session-expiry" in drawn(DIAGRAM.row(left, role=""))
    assert "HW orders-0@2 HW 3 > 4 (fetch) o" in drawn(DIAGRAM.row(right, role=""))
    assert "message #7 lost: cut" in drawn(
        DIAGRAM.row(events.MessageLost(8, 0, 7, 7, "cut"), role="")
    )


def test_rows_fit_at_any_width_and_number_of_hosts() -> None:
    for width in (60, 80, 120, 200):
        for count in (1, 3, 12):
            diagram = Diagram(
                {-2: "clients", -1: "zk", **dict.fromkeys(range(count), "b")}, width, ASCII
            )
            far = message(0, count - 1) if count > 1 else message(0, ZOOKEEPER)
            point = events.InputReceived(9, 0, 0, "x" * 300, 1, 1)
            for row in (diagram.title(), diagram.row(far, role=""), diagram.row(point, role="")):
                assert width_of(row) <= width


def test_in_kraft_metadata_is_written_at_the_active_controller() -> None:
    hosts = {CLIENTS: "clients", 100: "ctrl 100", 101: "ctrl 101", 0: "broker 0"}
    diagram = Diagram(hosts, 120, ASCII, keeper=101)
    assert "ctrl 101" in drawn(diagram.title())
    row = drawn(diagram.row(events.TopicDeleted(9, 0, 0, "orders"), role=""))
    assert row[19 + diagram.columns[101]] == "o"
