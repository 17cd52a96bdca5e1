from console.model.workspace import Stage
from console.render.broker_columns import (
    STATE_ROLES,
    broker_lines,
    columns,
    fields,
    oldest_fetch_us,
)
from console.render.columns import place, row_line
from console.render.lines import text_of, width_of
from sessions.model.states import LinkState
from tests.console.fakes import ListSource, failover


def stage() -> Stage:
    made = Stage(ListSource(failover()))
    made.follow()
    return made


def test_a_row_says_state_load_and_session() -> None:
    shared = stage()
    table = place(columns(shared), 200, wide=False)
    brokers = shared.view.state.brokers
    assert text_of(row_line(table, brokers[1])).split()[:5] == ["✖", "crashed", "1", "0", "6"]
    assert text_of(row_line(table, brokers[2])).split()[:7] == (
        ["●", "running", "2", "epoch", "2", "4", "5"]
    )


def test_the_filter_knows_what_the_table_shows() -> None:
    shared = stage()
    known = fields(shared)
    broker = shared.view.state.brokers[1]
    assert [known[name].read(broker) for name in ("id", "state", "leaders", "out")] == [
        1,
        "crashed",
        0,
        5,
    ]


def test_the_oldest_fetch_is_told_of_running_brokers() -> None:
    shared = stage()
    broker = shared.view.state.brokers[2]
    assert oldest_fetch_us(shared, broker) is None
    now = shared.source.time_us
    broker.fetch_sent_us = {1: now - 99_000, 3: now - 9_000}
    assert oldest_fetch_us(shared, broker) == 9_000, "broker 1 is dead: nobody fetches from it"
    shared.view.state.znodes["/brokers/ids/3"].ctime_us = now - 5_000
    assert oldest_fetch_us(shared, broker) is None, "that was the process before this one"


def test_links_and_configuration_stand_in_the_inspector() -> None:
    shared = stage()
    state = shared.view.state
    state.links = [LinkState(1, -1, True, 250_000, 5.0, ["FetchResponse"], 3)]
    state.broker_configs = {1: {"min.insync.replicas": "2"}}
    rows = [text_of(row) for row in broker_lines(shared, state.brokers[1], 70)]
    assert "  1 > zk cut, slow 250ms, drops 5%, holds FetchResponse, 3 waiting" in rows
    assert "  min.insync.replicas 2" in rows
    assert all(width_of(row) <= 30 for row in broker_lines(shared, state.brokers[1], 30))


def test_every_state_of_a_process_has_a_role() -> None:
    assert set(STATE_ROLES) == {
        *("running", "starting", "controlled_shutdown", "frozen", "crashed", "stopped")
    }


def test_what_a_broker_is_connected_to_is_not_cut() -> None:
    shared = stage()
    broker = shared.view.state.brokers[2]
    for width in (30, 36, 70):
        rows = [text_of(row) for row in broker_lines(shared, broker, width)]
        assert any(row.endswith(f"ZooKeeper {broker.zk_connection}") for row in rows)
