"""Who says what of a partition, and in what it differs from the znode."""

from sessions.model.cluster_view import ClusterView
from sessions.model.folding import CACHE
from sessions.model.states import (
    Belief,
    BrokerState,
    ControllerState,
    PartitionState,
    ReplicaState,
    ViewState,
)
from sessions.model.truths import Truth, truths

OLD = Belief(1, 0, [1, 2], 0)


def a_view(**beliefs: Belief | None) -> ClusterView:
    """Broker 2 leads t-0 after 1 was cut off; ``cache``, ``b1``, .. believe something else."""
    names = {"cache": CACHE, "b1": 1, "b2": 2, "b3": 3}
    partition = PartitionState(
        *("t", 0, [1, 2], "online", 2, 1, 4, 1, [2]),
        replica_states={
            1: ReplicaState(1, "leader", 5, 4, 0, leader=1, leader_epoch=0, isr=[1, 2]),
            2: ReplicaState(2, "leader", 4, 4, 0, leader=2, leader_epoch=1, isr=[2], zk_version=1),
        },
    )
    return ClusterView(
        ViewState(
            brokers={b: BrokerState(b, None, "running", live_brokers=[1, 2, 3]) for b in (1, 2, 3)},
            partitions={"t-0": partition},
            controller=ControllerState(3, 4, 4),
            beliefs={"t-0": {names[who]: belief for who, belief in beliefs.items()}},
        )
    )


def said(view: ClusterView) -> list[Truth]:
    return truths(view, view.partitions["t-0"])


def test_the_znode_comes_first_and_never_disagrees() -> None:
    assert said(a_view())[0] == Truth("znode", 2, 1, [2], 1)


def test_a_zombie_leader_disagrees_in_all_that_it_says() -> None:
    zombie = said(a_view())[2]
    assert zombie == Truth("broker 1 (leader)", 1, 0, [1, 2], None, 4, 5, zombie.disagrees)
    assert zombie.disagrees == ("leader", "leader_epoch", "isr")


def test_brokers_that_tell_clients_the_same_stand_together() -> None:
    rows = said(a_view(b1=OLD, b3=OLD))[-2:]
    assert [(each.who, each.leader) for each in rows] == [
        ("clients of 1, 3", 1),
        ("clients of 2", 2),
    ]
    assert rows[0].disagrees == ("leader", "leader_epoch", "isr", "zk_version")


def test_a_cache_that_is_behind_disagrees() -> None:
    assert said(a_view(cache=OLD))[1].who == "controller 3"
    assert "zk_version" in said(a_view(cache=OLD))[1].disagrees
    assert said(a_view())[1].disagrees == ()


def test_who_has_never_heard_of_the_partition_disagrees() -> None:
    assert said(a_view(cache=None))[1].disagrees == ("leader",)


def test_without_a_controller_there_is_no_cache() -> None:
    view = a_view()
    view.state.controller.broker = None
    assert not any(each.who.startswith("controller") for each in said(view))


def test_clients_are_not_sent_to_a_leader_that_is_not_alive() -> None:
    view = a_view()
    view.state.brokers[3].live_brokers = [1, 3]
    assert (said(view)[-1].who, said(view)[-1].leader) == ("clients of 3", -1)
    assert said(view)[-1].disagrees == ("leader",)


def test_the_order_of_an_isr_is_no_disagreement() -> None:
    view = a_view(cache=Belief(2, 1, [2, 1], 1))
    view.partitions["t-0"].isr = [1, 2]
    assert said(view)[1].disagrees == ()


def test_without_a_znode_who_says_nothing_is_right() -> None:
    view = a_view(cache=None, b1=None, b2=None, b3=OLD)
    partition = view.partitions["t-0"]
    partition.leader = partition.leader_epoch = partition.zk_version = None
    partition.replica_states = {}
    assert [(each.who, bool(each.disagrees)) for each in said(view)] == [
        ("znode", False),
        ("controller 3", False),
        ("clients of 1, 2", False),
        ("clients of 3", True),
    ]
