import pytest

from console.model.workspace import Stage
from console.render.kraft_broker_columns import (
    controllers_up,
    host_lines,
    host_name,
    host_of,
    hosts,
    kraft_columns,
)
from console.render.lines import text_of
from console.styles.glyphs import ASCII
from tests.console.fakes import ListSource, failover
from tests.console.kraft import kraft
from tests.support.kraft_states import FENCED

ALL = (*FENCED, "controller crash 102")


@pytest.fixture
def stage() -> Stage:
    stage = Stage(kraft(*ALL), glyphs=ASCII)
    stage.follow()
    return stage


def cells(stage: Stage, id: str) -> dict[int, str]:
    column = next(column for column in kraft_columns(stage) if column.id == id)
    found = {}
    for host in hosts(stage.view.state):
        row = host_of(stage.view.state, host)
        assert row is not None
        found[host] = column.cell(row)[0]
    return found


def test_controllers_are_rows_beside_brokers(stage: Stage) -> None:
    assert cells(stage, "role") == {
        0: "active",
        1: "active",
        2: "fenced",
        100: "leader",
        101: "follower",
        102: "-",
    }
    assert cells(stage, "state")[102].endswith("crashed")
    assert controllers_up(stage.view.state) == "2/3 controllers up"
    assert [host_name(stage.view.state, host) for host in (2, 102)] == [
        "broker 2",
        "controller 102",
    ]
    assert host_of(stage.view.state, 7) is None


def test_controllers_have_no_broker_epoch(stage: Stage) -> None:
    epochs = cells(stage, "epoch")
    assert {host for host, epoch in epochs.items() if epoch == "-"} == {100, 101, 102}
    assert all(int(epochs[broker]) > 0 for broker in (0, 1, 2))


def test_how_far_each_has_the_metadata_is_told(stage: Stage) -> None:
    behind = cells(stage, "behind")
    assert {host for host, count in behind.items() if count == ASCII.no_record} == {
        0,
        1,
        100,
        101,
        102,
    }
    assert behind[2] == "4"


def test_nobody_is_said_to_have_a_session(stage: Stage) -> None:
    ids = [column.id for column in kraft_columns(stage)]
    assert "session" not in ids
    assert "zk" not in ids
    for host in (2, 100):
        row = host_of(stage.view.state, host)
        assert row is not None
        text = "\n".join(map(text_of, host_lines(stage, row, 60)))
        assert "session" not in text
        assert "ZooKeeper" not in text
        assert ("leads" in text) == (host == 2)


def test_with_zookeeper_there_are_brokers_only() -> None:
    state = ListSource(failover()).view.state
    assert hosts(state) == sorted(state.brokers)
    assert controllers_up(state) == ""


def test_a_controller_that_led_has_the_records_of_its_epochs() -> None:
    """The leader never learns the end of its predecessor's log by a fetch, but only it appended."""
    stage = Stage(kraft(*FENCED, "controller crash active", "wait 12s"), glyphs=ASCII)
    stage.follow()
    quorum = stage.view.state.quorum
    assert quorum is not None
    (crashed,) = (host for host, state in quorum.controllers.items() if state == "crashed")
    led = [record for record in quorum.log if record.epoch == 1]
    since = len(quorum.log) - len(led)
    assert led
    assert since
    assert cells(stage, "metadata")[crashed] == f"{led[-1].offset + 1}"
    assert cells(stage, "behind")[crashed] == f"{since}"


def test_how_far_a_controller_is_behind_is_unknown_until_it_has_fetched() -> None:
    stage = Stage(kraft(*ALL), glyphs=ASCII)
    stage.follow()
    quorum = stage.view.state.quorum
    assert quorum is not None
    quorum.fetched.pop(102)
    quorum.applied.pop(102, None)
    assert cells(stage, "metadata")[102] == cells(stage, "behind")[102] == "?"
    host = host_of(stage.view.state, 102)
    assert host is not None
    assert not any("behind" in text_of(row) for row in host_lines(stage, host, 60))
