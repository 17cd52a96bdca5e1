import pytest

from commands.runs.live import asked
from console.model.faults import Fault, faults_of, subject_of, together
from emulator import events
from sessions.model.cluster_view import ClusterView
from tests.console.fakes import Script, failover
from tests.console.kraft import kraft
from tests.console.libraries import failing_over
from tests.support.kraft_states import FENCED


def view() -> ClusterView:
    made = ClusterView()
    made.apply_all(failover())
    return made


def titles(found: list[Fault]) -> list[str]:
    return [fault.title for fault in found]


def after(*facts: tuple[object, ...]) -> ClusterView:
    made = view()
    script = Script()
    script.events, script.time_us = list(failover()), made.time_us
    for kind, *fields in facts:
        assert isinstance(kind, type)
        script.add(kind, *fields)
    made.apply_all(script.events[made.seq :])
    return made


def test_a_running_broker_can_be_broken_in_every_way() -> None:
    found = titles(faults_of(view(), ["broker.2"]))
    assert found[:5] == [
        "crash broker 2",
        "power off broker 2",
        "shut broker 2 down (controlled shutdown)",
        "freeze broker 2",
        "expire session of broker 2",
    ]
    assert "cut broker 2 from ZooKeeper" in found
    assert "isolate broker 2" in found
    assert "cut link 2 to 3" in found
    assert "delay link 2 to 3 by 500ms" in found


def test_a_broker_that_is_down_can_be_started_and_nothing_else() -> None:
    assert titles(faults_of(view(), ["broker.1"])) == [
        "start broker 1",
        "start broker 1 with empty disks",
    ]


def test_a_frozen_broker_can_be_thawed() -> None:
    found = titles(faults_of(after((events.BrokerStateChanged, 2, "frozen")), ["broker.2"]))
    assert found[0] == "thaw broker 2"
    assert "freeze broker 2" not in found


def test_a_partition_has_slow_followers_the_unclean_switch_and_its_leaders_faults() -> None:
    found = titles(faults_of(view(), ["orders-0"]))
    assert "slow follower: 3 stops fetching" in found
    assert "unclean election on for orders" in found
    assert "elect the preferred leader" in found
    assert "crash broker 2" in found


def test_a_slow_follower_can_be_let_go_again() -> None:
    paused = after((events.ReplicaFetchPaused, "orders-0", 3, True))
    assert "let follower 3 fetch again" in titles(faults_of(paused, ["orders-0"]))


def test_an_offline_partition_can_be_given_a_leader() -> None:
    assert "elect a leader for orders-5 uncleanly" in titles(faults_of(view(), ["orders-5"]))


def test_the_unclean_switch_goes_over_to_what_it_is_not() -> None:
    on = after((events.ConfigChanged, "topic", "orders", "unclean.leader.election.enable", "true"))
    assert "unclean election off for orders" in titles(faults_of(on, ["orders-0"]))
    old = after((events.ClusterCreated, "0.9", 1, [1, 2, 3], [], {}, False))
    assert "unclean election off for orders" in titles(faults_of(old, ["orders-0"]))


def test_links_that_are_not_plain_can_be_healed() -> None:
    cut = after((events.LinkChanged, 2, 3, True, 0, 0.0, []))
    assert "heal all links" in titles(faults_of(cut, ["broker.2"]))


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("orders-3", "orders-3"),
        ("broker.3", "broker 3"),
        ("/brokers/ids/3", "broker 3"),
        ("/brokers/topics/orders/partitions/4/state", "orders-4"),
        ("/controller", "broker 2"),
        ("producer.p1", "broker 2"),
    ],
)
def test_the_object_is_known_by_any_of_its_names(name: str, subject: str) -> None:
    assert subject_of(view(), [name]) == subject


def test_where_there_is_no_broker_nothing_can_be_broken() -> None:
    assert faults_of(ClusterView(), []) == []
    assert subject_of(ClusterView(), []) == "nothing"


@pytest.mark.parametrize("name", ["orders-0", "orders-5", "broker.1", "broker.2"])
def test_every_fault_is_a_statement_of_the_command_language(name: str) -> None:
    for fault in faults_of(view(), [name]):
        assert len(asked(fault.statement)) == 1


@pytest.mark.parametrize("name", ["orders-0", "broker.1", "broker.2"])
def test_what_may_cost_something_asks_for_the_objects_name(name: str) -> None:
    harmless = ("start", "thaw", "heal", "delay", "slow", "let", "elect the preferred")
    for fault in faults_of(view(), [name]):
        costs = not fault.title.startswith(harmless) or "empty" in fault.title
        assert bool(fault.confirm) == costs, fault.title


def test_a_topic_whose_name_looks_like_an_option_can_be_broken() -> None:
    odd = after(
        (events.TopicCreated, "-foo", [[2, 3]], {}),
        (events.PartitionStateChanged, "-foo-0", 2, 0, [2, 3], 1, 0),
    )
    found = {fault.statement for fault in faults_of(odd, ["-foo-0"])}
    assert "topic config -- -foo unclean.leader.election.enable=true" in found
    with failing_over() as source:
        for statement in found:
            assert source.statements_of(statement), statement


def test_brokers_of_a_rack_can_die_together() -> None:
    script = Script()
    script.add(events.ClusterCreated, "3.9", 1, [1, 2, 3], ["a", "b", "a"], {}, False)
    for broker in (1, 2, 3):
        script.add(events.BrokerStateChanged, broker, "running")
    made = ClusterView()
    made.apply_all(script.events)
    rack = Fault("crash rack a (brokers 1, 3)", "broker crash 1; broker crash 3", "rack a")
    assert rack in faults_of(made, ["broker.1"])
    assert not any("rack" in title for title in titles(faults_of(made, ["broker.2"])))
    assert len(asked(rack.statement)) == 2


def test_faults_that_are_done_together_ask_for_each_name_once() -> None:
    crash, isolate = Fault("crash", "broker crash 1", "broker 1"), Fault("cut", "x", "broker 1")
    assert together([crash, isolate]) == Fault("crash, then cut", "broker crash 1; x", "broker 1")


def test_in_kraft_controllers_can_be_broken_and_there_is_no_zookeeper_to_be_cut_from() -> None:
    script = Script()
    script.add(events.ClusterCreated, "3.9", 1, [0, 1], [], {}, False)
    for broker in (0, 1):
        script.add(events.BrokerStateChanged, broker, "running")
    for controller in (100, 101, 102):
        script.add(events.ControllerStateChanged, controller, "running")
    script.add(events.QuorumRoleChanged, 101, "leader", 1, 101)
    script.add(events.ControllerStateChanged, 100, "crashed")
    script.add(events.ControllerStateChanged, 102, "frozen")
    made = ClusterView()
    made.apply_all(script.events)
    found = {fault.title: fault for fault in faults_of(made, ["broker.1"])}
    assert not any("ZooKeeper" in title for title in found)
    cut = found["cut broker 1 from the controllers"].statement
    assert cut == "network cut 1 100; network cut 1 101; network cut 1 102"
    assert [title for title in found if "controller 1" in title] == [
        "crash controller 101 (active)",
        "freeze controller 101 (active)",
        "start controller 100",
        "thaw controller 102",
        "crash controller 102",
    ]
    assert all(asked(fault.statement) for fault in found.values())
    assert found["crash controller 101 (active)"].confirm == "controller 101"


@pytest.mark.parametrize("name", ["broker.102", "/controllers/102"])
def test_what_can_be_done_to_a_selected_controller_comes_first(name: str) -> None:
    view = kraft(*FENCED, "controller crash 102").view
    assert subject_of(view, [name]) == "controller 102"
    assert faults_of(view, [name])[0].statement == "controller start 102"
    thawed = kraft(*FENCED, "controller freeze 102").view
    assert faults_of(thawed, [name])[0].statement == "controller thaw 102"


def test_paths_of_the_metadata_image_name_brokers_and_partitions() -> None:
    view = kraft(*FENCED).view
    assert subject_of(view, ["/brokers/2"]) == "broker 2"
    assert subject_of(view, ["/topics/orders/1"]) == "orders-1"
    assert subject_of(view, []) == "controller 100"


def test_each_statement_that_kraft_offers_is_one() -> None:
    view = kraft(*FENCED, "controller freeze 101").view
    for name in ("broker.0", "broker.2", "broker.100", "broker.101", "orders-0"):
        for fault in faults_of(view, [name]):
            assert asked(fault.statement)
