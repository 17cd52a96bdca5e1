from console.model.difference import Change, differences
from console.model.links import Link
from sessions.model.cluster_view import ClusterView
from tests.console.fakes import failover

BEFORE, CRASHED = 126, 128


def at(seq: int) -> ClusterView:
    view = ClusterView()
    view.apply_all(failover()[:seq])
    return view


def found(first: int, last: int) -> dict[tuple[str, str], Change]:
    return {(each.object, each.what): each for each in differences(at(first), at(last))}


def test_nothing_differs_from_itself() -> None:
    assert differences(at(100), at(100)) == []


def test_a_failover_is_told_object_by_object() -> None:
    changes = found(BEFORE, 170)
    assert changes["cluster", "offline"].after == "1"
    assert changes["broker 1", "state"] == Change(
        "broker 1", Link("broker", "1"), "state", "running", "crashed"
    )
    leader = changes["orders-0", "leader"]
    assert (leader.before, leader.after, leader.link) == ("1", "2", Link("partition", "orders-0"))
    assert changes["orders-0", "ISR"].after == "[2,3]"
    assert changes["orders-0@1", "role"].after == "offline"
    assert changes["/controller", "exists"].before == "there"
    assert changes["controller", "epoch"].after == "2"


def test_the_other_way_round_says_the_opposite() -> None:
    there, back = differences(at(BEFORE), at(170)), differences(at(170), at(BEFORE))
    turned = {(each.object, each.what, each.after, each.before) for each in back}
    assert {(each.object, each.what, each.before, each.after) for each in there} == turned


def test_figures_that_move_all_the_time_are_told_from_the_others() -> None:
    changes = found(60, BEFORE)
    assert changes["orders-0@1", "LEO"].moves
    assert changes["producer p1", "exists"].after == "there"
    assert not any(each.moves for each in found(BEFORE, CRASHED).values() if each.what == "state")


def test_what_came_is_there_and_what_its_fields_are_is_left_out() -> None:
    changes = found(3, BEFORE)
    assert changes["orders-0", "exists"].after == "there"
    assert ("orders-0", "leader") not in changes
    assert changes["topic orders", "min.insync.replicas"].after == "2"
