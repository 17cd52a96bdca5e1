"""Tables of a KRaft cluster in which broker 2 died, then broker 1, and was fenced."""

from typing import Any

import pytest

from commands.language.statements.show import Show
from commands.output.grids import Grid
from commands.output.show_tables import grids
from sessions.grammar.words import BadWord
from sessions.model.cluster_view import ClusterView
from tests.support.kraft_states import ELIGIBLE
from tests.support.script_events import events_of


def view_of(*statements: str) -> ClusterView:
    view = ClusterView()
    view.apply_all(events_of(*statements))
    return view


def only(view: ClusterView, what: str, target: str = "") -> Grid:
    (grid,) = grids(Show(what, target), view)
    return grid


def rows(grid: Grid) -> list[dict[str, Any]]:
    return list(grid.plain())


def values(grid: Grid) -> dict[object, object]:
    return {row[0]: row[1] for row in grid.rows}


def test_partitions_have_eligible_replicas_beside_the_isr() -> None:
    (found, *_) = rows(only(view_of(*ELIGIBLE), "partitions"))
    assert (found["isr"], found["osr"], found["elr"]) == ([0], [1, 2], [1])


def test_a_brokers_role_is_what_it_is_to_the_controller() -> None:
    found = rows(only(view_of(*ELIGIBLE), "brokers"))
    assert [(row["state"], row["role"]) for row in found] == [
        ("running", "active"),
        ("crashed", "fenced"),
        ("crashed", "fenced"),
    ]


def test_the_cluster_counts_controllers_and_fenced_brokers() -> None:
    found = values(only(view_of(*ELIGIBLE), "cluster"))
    assert found["controller"] == 100
    assert found["controllers up"] == "3 of 3"
    assert found["fenced brokers"] == 2


def test_a_quorum_without_a_majority_has_no_leader() -> None:
    lost = view_of(*ELIGIBLE, "controller crash active", "controller crash standby", "wait 10s")
    assert values(only(lost, "cluster"))["controller"] is None
    status, log = grids(Show("quorum"), lost)
    assert values(status)["leader"] is None
    crashed = [row for row in rows(log) if row["process"] == "crashed"]
    assert [row["host"] for row in crashed] == [100, 101, 1, 2]
    assert "leader" not in {row["role"] for row in rows(log)}


def test_the_quorum_tells_how_far_each_host_has_the_log() -> None:
    status, log = grids(Show("quorum"), view_of(*ELIGIBLE))
    found = {row["host"]: row for row in rows(log)}
    committed = values(status)["committed"]
    assert found[100] == {
        "host": 100,
        "role": "leader",
        "process": "running",
        "end": committed,
        "behind": 0,
    }
    assert found[0]["end"] == committed
    behind = {host: row["behind"] for host, row in found.items()}
    assert behind[2] > behind[1] > 0


def test_the_metadata_image_is_a_tree() -> None:
    view = view_of(*ELIGIBLE)
    assert [row[0] for row in only(view, "metadata", "/").rows] == [
        *("/", "/brokers", "/configs", "/controllers", "/features", "/topics"),
    ]
    node, *below = rows(only(view, "metadata", "/topics/orders"))
    assert (node["node"], node["nodes_below"]) == ("/topics/orders", 3)
    assert [row["node"] for row in below] == [f"/topics/orders/{n}" for n in range(3)]
    assert '"eligibleLeaderReplicas":[1]' in str(below[0]["data"])


def test_a_path_that_is_unknown_has_a_nearest_one() -> None:
    with pytest.raises(BadWord, match="did you mean '/topics/orders'"):
        only(view_of(*ELIGIBLE), "metadata", "/topics/order")


@pytest.mark.parametrize("what", ["quorum", "metadata"])
def test_a_cluster_with_zookeeper_has_neither(what: str) -> None:
    with pytest.raises(BadWord, match="keeps its metadata in ZooKeeper"):
        grids(Show(what, "/"), ClusterView())
