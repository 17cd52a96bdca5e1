"""What controller and brokers take partitions' states to be, folded from events alone, beside what
they have in mind."""

import pytest

from emulator.cluster import Cluster
from emulator.events import (
    BrokerStateChanged,
    ControllerElected,
    ControllerStep,
    Event,
    LeaderElected,
    MessageLost,
    MessageSent,
    MetadataUpdated,
    PartitionCached,
    PartitionStateChanged,
    PartitionStateRemoved,
    TopicCreated,
)
from emulator.inputs.statements import Statement
from emulator.protocol import PartitionInfo
from emulator.scenario.runner import Runner
from sessions.model.cluster_view import ClusterView
from sessions.model.folding import CACHE
from sessions.model.handlers import cached_states
from sessions.model.states import Belief
from tests.sessions.examples import folded
from tests.support.random_scripts import script_of, spec_of

OLD = Belief(1, 0, [1, 2], 0)
BEGINNING: list[Event] = [
    BrokerStateChanged(1, 0, 0, 1, "running"),
    BrokerStateChanged(2, 0, 0, 2, "running"),
    ControllerElected(3, 0, 0, 1, 1, 1),
    MetadataUpdated(4, 0, 0, 1, 1, 1, [1, 2], 0),
    MetadataUpdated(5, 0, 0, 2, 1, 1, [1, 2], 0),
    TopicCreated(6, 0, 0, "t", [[1, 2]], {}),
    PartitionStateChanged(7, 0, 0, "t-0", 1, 0, [1, 2], 1, 0),
    LeaderElected(8, 0, 0, "t-0", 1, 1, 0, [1, 2], "New"),
    MessageSent(9, 0, 0, "UpdateMetadataRequest", 1, 1, 0, [["t-0", 1, 0, 0]]),
    MessageSent(10, 0, 0, "UpdateMetadataRequest", 1, 2, 0, [["t-0", 1, 0, 0]]),
]
TAKEN: list[Event] = [
    MetadataUpdated(11, 0, 0, 1, 1, 1, [1, 2], 9),
    MetadataUpdated(12, 0, 0, 2, 1, 1, [1, 2], 10),
]
MOVED: list[Event] = [PartitionStateChanged(13, 0, 0, "t-0", 2, 1, [2], 1, 1)]


def view_of(*parts: list[Event]) -> ClusterView:
    view = folded([event for part in parts for event in part])
    view.state.controller.broker = 1
    return view


def behind(view: ClusterView) -> dict[int, Belief | None]:
    return view.state.beliefs.get("t-0", {})


def test_nobody_knows_a_new_partition_but_who_made_it() -> None:
    view = folded(BEGINNING[:3])
    view.state.controller.broker = 1
    view.apply_all(BEGINNING[3:])
    assert behind(view) == {1: None, 2: None}


def test_a_broker_knows_what_it_took_over() -> None:
    view = view_of(BEGINNING, TAKEN[:1])
    assert 1 not in behind(view)
    assert behind(view)[2] is None


def test_what_was_lost_on_its_way_is_not_kept() -> None:
    view = view_of(BEGINNING)
    assert set(view.state.updates) == {9, 10}
    view.apply(MessageLost(11, 0, 0, 10, "cut"))
    assert set(view.state.updates) == {9}


def test_a_refused_update_is_not_kept() -> None:
    view = view_of(BEGINNING)
    view.apply(MessageSent(11, 0, 0, "UpdateMetadataResponse", 2, 1, 10, []))
    assert set(view.state.updates) == {9}


def test_a_write_leaves_everybody_else_behind() -> None:
    view = view_of(BEGINNING, TAKEN)
    view.apply_all(MOVED)
    assert behind(view) == {CACHE: OLD, 1: OLD, 2: OLD}


def test_an_election_is_known_to_its_controller() -> None:
    view = view_of(BEGINNING, TAKEN)
    view.apply_all([*MOVED, LeaderElected(14, 0, 0, "t-0", 1, 2, 1, [2], "Offline")])
    assert CACHE not in behind(view)


@pytest.mark.parametrize(("broker", "cached"), [(1, False), (2, True)])
def test_what_a_former_controller_remembers_is_nobodys(broker: int, cached: bool) -> None:
    view = view_of(BEGINNING, TAKEN)
    view.apply_all([*MOVED, PartitionCached(14, 0, 0, "t-0", broker, 2, 1, [2], 1)])
    assert (CACHE in behind(view)) == cached


def test_a_new_controller_reads_everything() -> None:
    view = view_of(BEGINNING, TAKEN)
    step = ("onControllerFailover", 2, cached_states.LOADED, "")
    view.apply_all([*MOVED, ControllerStep(14, 0, 0, 1, *step)])
    assert CACHE not in behind(view)


def test_an_update_that_is_overtaken_tells_what_an_older_version_said() -> None:
    view = view_of(BEGINNING, MOVED)
    view.apply_all(TAKEN[:1])
    assert behind(view)[1] == OLD


def test_what_a_version_said_that_nobody_remembers_is_not_made_up() -> None:
    view = view_of(BEGINNING, TAKEN)
    view.apply(MessageSent(13, 0, 0, "UpdateMetadataRequest", 2, 1, 0, [["t-0", 2, 5, 7]]))
    view.apply(MetadataUpdated(14, 0, 0, 1, 2, 2, [2], 13))
    assert behind(view) == {1: Belief(2, 5, None, 7)}


def test_a_process_that_ended_tells_nobody_anything() -> None:
    view = view_of(BEGINNING, TAKEN, MOVED)
    view.apply(BrokerStateChanged(14, 0, 0, 2, "crashed"))
    assert set(behind(view)) == {CACHE, 1}
    assert view.state.brokers[2].live_brokers is None


def test_a_broker_that_is_told_for_the_first_time_knows_nothing_else() -> None:
    view = view_of(BEGINNING, TAKEN)
    view.apply(BrokerStateChanged(13, 0, 0, 2, "crashed"))
    view.apply(BrokerStateChanged(14, 0, 0, 2, "running"))
    view.apply(MetadataUpdated(15, 0, 0, 2, 1, 1, [1, 2], 0))
    assert behind(view) == {2: None}


def test_who_knows_of_no_state_is_right_when_it_is_gone() -> None:
    view = view_of(BEGINNING, TAKEN[:1])
    view.apply(PartitionStateRemoved(13, 0, 0, "t-0"))
    assert behind(view) == {CACHE: OLD, 1: OLD}


@pytest.mark.parametrize("seed", range(12))
def test_beliefs_are_what_controller_and_brokers_have_in_mind(seed: int) -> None:
    view = ClusterView()
    cluster = Cluster(spec_of(seed), [view.apply])
    runner = Runner(cluster)
    for wanted in script_of(seed, 25):
        runner.execute(Statement(wanted, type(wanted).__name__))
        assert ClusterView.decode(view.encode()).state.beliefs == view.state.beliefs
        for tp in view.partitions:
            assert believed(cluster, view, tp) == in_mind(cluster, view, tp), (wanted, tp)


Words = tuple[int, int, int] | None
"""Leader, leader epoch and version of the znode."""


def who_believes(cluster: Cluster, view: ClusterView) -> list[int]:
    """Brokers that were told anything, and the controller if there is one."""
    told = [b.id for b in view.state.brokers.values() if b.live_brokers is not None]
    broker = view.state.controller.broker
    is_active = broker is not None and cluster.controller_cache(broker) is not None
    return [*told, *[CACHE] * is_active]


def believed(cluster: Cluster, view: ClusterView, tp: str) -> dict[int, Words]:
    """What the view takes everybody to believe."""
    said = cached_states.znode_state(view.partitions[tp])
    others = view.state.beliefs.get(tp, {})
    found = {each: others.get(each, said) for each in who_believes(cluster, view)}
    return {each: words(belief) for each, belief in found.items()}


def in_mind(cluster: Cluster, view: ClusterView, tp: str) -> dict[int, Words]:
    """What they do believe."""
    found: dict[int, Words] = {}
    for who in who_believes(cluster, view):
        if who == CACHE:
            controller = cluster.controller_cache(view.state.controller.broker or 0)
            infos = {} if controller is None else controller.infos
        else:
            infos = cluster.brokers[who].state.process.metadata
        info = infos.get(tp)
        found[who] = words(info)
    return found


def words(state: Belief | PartitionInfo | None) -> Words:
    """What somebody says of a partition, the ISR left out."""
    return None if state is None else (state.leader, state.leader_epoch, state.zk_version)
