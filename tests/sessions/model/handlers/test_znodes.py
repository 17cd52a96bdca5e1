"""Znodes: the Stat of a node and of its parent, and what the special ones mean."""

from emulator.events import (
    BrokerRegistered,
    ClusterCreated,
    Event,
    ZnodeChanged,
    ZnodeCreated,
    ZnodeDeleted,
)
from sessions.model.cluster_view import ClusterView
from sessions.model.handlers import znodes
from sessions.model.states import ZnodeState
from tests.sessions.examples import folded


def test_a_parents_cversion_counts_children_coming_and_going() -> None:
    view = folded(
        [
            ZnodeCreated(1, 10, 0, "/a", None, 0, 5),
            ZnodeCreated(2, 20, 0, "/a/b", "x", 77, 6),
            ZnodeChanged(3, 30, 0, "/a/b", "y", 1, 7),
            ZnodeDeleted(4, 40, 0, "/a/b", 8),
        ]
    )
    assert view.state.znodes["/a"] == ZnodeState("/a", None, 5, 5, 8, 10, 10, cversion=2, changed=4)
    assert "/a/b" not in view.state.znodes


def test_a_change_is_in_the_nodes_own_stat() -> None:
    view = folded(
        [
            ZnodeCreated(1, 10, 0, "/a", "x", 77, 5),
            ZnodeChanged(2, 30, 0, "/a", "y", 1, 7),
        ]
    )
    assert view.state.znodes["/a"] == ZnodeState(
        "/a", "y", 5, 7, 5, 10, 30, version=1, ephemeral_owner=77, changed=2
    )


def test_zookeepers_own_nodes_are_there_from_the_start() -> None:
    assert set(ClusterView().state.znodes) == {
        "/",
        "/zookeeper",
        "/zookeeper/quota",
        "/zookeeper/config",
    }


def test_an_old_release_comes_with_a_zookeeper_without_a_config_node() -> None:
    view = folded([ClusterCreated(1, 0, 0, "2.2", 1, [1], [], {}, False)])
    assert "/zookeeper/config" not in view.state.znodes
    assert list(view.state.znodes["/zookeeper"].children) == ["quota"]
    assert "/zookeeper/config" in ClusterView().state.znodes


def test_the_controller_is_who_its_znode_names() -> None:
    view = folded(
        [
            ZnodeCreated(1, 0, 0, "/controller_epoch", "4", 0, 5),
            ZnodeCreated(2, 0, 0, "/controller", '{"version":1,"brokerid":3}', 7, 6),
        ]
    )
    controller = view.state.controller
    assert (controller.broker, controller.epoch, controller.epoch_zk_version) == (3, 4, 0)
    view.apply(ZnodeChanged(3, 0, 0, "/controller_epoch", "5", 1, 7))
    view.apply(ZnodeChanged(4, 0, 0, "/controller", "no JSON", 1, 8))
    assert (controller.broker, controller.epoch, controller.epoch_zk_version) == (None, 5, 1)
    view.apply(ZnodeDeleted(5, 0, 0, "/controller_epoch", 9))
    assert (controller.epoch, controller.epoch_zk_version) == (None, None)


def test_a_broker_whose_znode_is_gone_is_not_registered() -> None:
    view = folded(
        [
            ClusterCreated(1, 0, 0, "3.9", 1, [1], [], {}, False),
            ZnodeCreated(2, 0, 0, "/brokers", None, 0, 4),
            ZnodeCreated(3, 0, 0, "/brokers/ids", None, 0, 5),
            ZnodeCreated(4, 0, 0, "/brokers/ids/1", "{}", 7, 6),
            BrokerRegistered(5, 0, 0, 1, 6, 7),
            ZnodeDeleted(6, 0, 0, "/brokers/ids/1", 8),
        ]
    )
    assert (view.state.brokers[1].registered, view.state.brokers[1].broker_epoch) == (False, 0)


def test_changed_znodes_are_told_also_when_they_are_gone() -> None:
    view = folded(
        [ZnodeCreated(1, 0, 0, "/a", None, 0, 5), ZnodeCreated(2, 0, 0, "/b", None, 0, 6)]
    )
    assert set(view.changed_znodes_since(1)) == {"/b", "/"}
    view.apply(ZnodeDeleted(3, 0, 0, "/a", 7))
    assert set(view.changed_znodes_since(2)) == {"/a", "/"}


def test_every_handler_is_for_a_type_of_event() -> None:
    assert all(issubclass(kind, Event) for kind in znodes.HANDLERS)
