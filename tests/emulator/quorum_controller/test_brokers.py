"""Brokers register, beat, are fenced, and go."""

import pytest
from msgspec.structs import replace

from emulator.metadata_log.records import BrokerRegistrationChangeRecord
from emulator.quorum_controller.cluster_control import BrokerRegistrationRequest
from emulator.quorum_controller.heartbeats import Heartbeat
from emulator.quorum_controller.result import ApiException
from emulator.quorum_controller.topics import CreatableTopic
from tests.emulator.quorum_controller.quorum import Quorum


def types(quorum: Quorum, since: int) -> list[list[str]]:
    return [[each.type for each in batch] for batch in quorum.shown(since)]


def started(release: str = "4.1.2", **features: int) -> Quorum:
    named = {name.replace("_", "."): level for name, level in features.items()}
    quorum = Quorum(release, features=named)
    quorum.start(0, 1, 2)
    return quorum


def is_fenced(quorum: Quorum, broker: int) -> bool:
    return quorum.controller.image.brokers[broker].fenced


# ---- registration and unfencing


def test_a_new_broker_is_fenced_until_it_has_read_its_own_registration() -> None:
    quorum = Quorum()
    epoch = quorum.register(0)
    at = quorum.end - 1
    assert epoch == at
    assert quorum.heartbeat(0, offset=at - 1).is_fenced
    assert is_fenced(quorum, 0)
    reply = quorum.heartbeat(0, offset=at)
    assert reply.is_caught_up
    assert not reply.is_fenced
    assert not is_fenced(quorum, 0)


def test_a_broker_that_wants_to_stay_fenced_does() -> None:
    quorum = Quorum()
    quorum.register(0)
    assert quorum.heartbeat(0, want_fence=True).is_fenced


def test_the_broker_epoch_is_the_offset_at_which_the_registration_begins() -> None:
    quorum = started()
    quorum.create("t", (0,))
    quorum.let_pass(5, 1, 2)
    before = quorum.end
    # It comes back from kill -9, and so leaves the ELR before its registration is written.
    assert quorum.register(0) == before
    assert quorum.controller.image.brokers[0].record_offset == before + 1


def test_another_incarnation_waits_for_the_session_to_end() -> None:
    quorum = started()
    quorum.let_pass(1, 0, 1, 2)
    with pytest.raises(ApiException) as refused:
        quorum.register(0, "again")
    assert refused.value.error == "DUPLICATE_BROKER_REGISTRATION"
    quorum.let_pass(5, 1, 2)
    quorum.register(0, "again")


def test_the_same_incarnation_keeps_its_epoch_and_its_state() -> None:
    quorum = Quorum()
    epoch = quorum.register(0, "same")
    quorum.heartbeat(0)
    assert quorum.register(0, "same") == epoch
    broker = quorum.controller.image.brokers[0]
    assert (broker.fenced, broker.registrations) == (False, 1)


@pytest.mark.parametrize("release", ["3.9.2", "4.0.2", "4.1.2"])
def test_a_frozen_broker_is_unfenced_with_the_epoch_that_it_had(release: str) -> None:
    quorum = started(release)
    epoch = quorum.controller.image.brokers[0].epoch
    quorum.let_pass(5, 1, 2)
    assert is_fenced(quorum, 0)
    quorum.heartbeat(0)
    assert not is_fenced(quorum, 0)
    assert quorum.controller.image.brokers[0].epoch == epoch


def test_a_heartbeat_of_a_former_incarnation_is_refused() -> None:
    quorum = started()
    quorum.let_pass(5, 1, 2)
    former = quorum.controller.image.brokers[0].epoch
    quorum.start(0)
    with pytest.raises(ApiException) as refused:
        quorum.controller.process_broker_heartbeat(0, former, Heartbeat(0), quorum.now_us)
    assert refused.value.error == "STALE_BROKER_EPOCH"


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        # KAFKA-18106: before, the ISR kept a broker that may lack records until its leader noticed.
        ("3.9.2", ["RegisterBroker"]),
        ("4.0.2", ["PartitionChange", "RegisterBroker"]),
        ("4.1.2", ["PartitionChange", "RegisterBroker"]),
    ],
)
def test_a_registration_that_comes_before_the_fencing(release: str, expected: list[str]) -> None:
    quorum = started(release)
    quorum.create("t", (0, 1, 2))
    quorum.now_us += 5_000_000  # the session is over, but nobody has looked yet
    since = len(quorum.log)
    quorum.register(0, "again")
    assert types(quorum, since) == [expected]


# ---- fencing


@pytest.mark.parametrize("release", ["3.9.2", "4.0.2", "4.1.2"])
def test_partitions_change_in_the_batch_that_fences_before_the_broker(release: str) -> None:
    quorum = started(release)
    quorum.create("t", (0, 1, 2), (1, 0, 2))
    since = len(quorum.log)
    quorum.let_pass(5, 1, 2)
    (batch,) = quorum.shown(since)
    assert [each.data for each in batch] == [
        {"topicId": "t", "partitionId": 0, "isr": [1, 2], "leader": 1},
        {"topicId": "t", "partitionId": 1, "isr": [1, 2]},
        {"brokerId": 0, "brokerEpoch": "0.1", "fenced": 1},
    ]
    # A follower that leaves does not raise the leader epoch (KAFKA-15021).
    assert [quorum.partition("t", number).leader_epoch for number in (0, 1)] == [1, 0]


def test_before_metadata_version_3_6_a_shrinking_isr_raises_the_leader_epoch() -> None:
    quorum = started("3.5.2")
    quorum.create("t", (0, 1, 2))
    quorum.let_pass(5, 0, 1)
    assert quorum.partition("t").isr == (0, 1)
    assert quorum.partition("t").leader == 0
    assert quorum.partition("t").leader_epoch == 1


def test_stale_brokers_are_fenced_one_at_a_time() -> None:
    quorum = started()
    quorum.create("t", (0, 1, 2))
    since = len(quorum.log)
    quorum.let_pass(5, 2)
    fencing = [batch[-1].data["brokerId"] for batch in quorum.shown(since)]
    assert sorted(fencing) == [0, 1]
    assert quorum.partition("t").isr == (2,)


@pytest.mark.parametrize("release", ["4.0.2", "4.1.2"])
def test_the_session_of_an_earlier_process_fences_nobody(release: str) -> None:
    """A broker registers again after its session has ended, and before the controller looks."""
    quorum = started(release)
    quorum.let_pass(1, 0, 1, 2)
    quorum.now_us += 4_100_000
    quorum.heartbeat(1)
    quorum.heartbeat(2)
    quorum.start(0)
    since = len(quorum.log)
    assert quorum.append(quorum.controller.maybe_fence_one_stale_broker(quorum.now_us))
    assert quorum.log[since:] == []
    assert not quorum.append(quorum.controller.maybe_fence_one_stale_broker(quorum.now_us))
    assert not quorum.controller.image.brokers[0].fenced


@pytest.mark.parametrize(("release", "times"), [("3.9.2", 1), ("4.0.2", 2), ("4.1.2", 2)])
def test_a_stopped_broker_is_fenced_once_more_when_its_session_ends(
    release: str, times: int
) -> None:
    quorum = started(release)
    quorum.let_pass(1, 0, 1, 2)
    since = len(quorum.log)
    assert quorum.heartbeat(0, want_shut_down=True).should_shut_down
    quorum.let_pass(6, 1, 2)
    assert types(quorum, since) == [["BrokerRegistrationChange"]] * times


@pytest.mark.parametrize("release", ["3.9.2", "4.1.2"])
def test_sessions_begin_anew_at_a_new_controller(release: str) -> None:
    quorum = started(release)
    quorum.let_pass(3.5, 1, 2)
    quorum.fail_over()
    since = len(quorum.log)
    quorum.let_pass(3.5, 1, 2)
    assert types(quorum, since) == []
    quorum.let_pass(1, 1, 2)
    assert types(quorum, since) == [["BrokerRegistrationChange"]]


@pytest.mark.parametrize(("release", "fenced_again"), [("4.0.2", True), ("4.1.2", False)])
def test_only_4_0_begins_sessions_for_fenced_brokers(release: str, *, fenced_again: bool) -> None:
    quorum = started(release)
    quorum.let_pass(10, 1, 2)
    quorum.fail_over()
    since = len(quorum.log)
    quorum.let_pass(5, 1, 2)
    assert bool(quorum.log[since:]) == fenced_again


def test_4_x_looks_for_stale_brokers_eight_times_a_session() -> None:
    assert Quorum("4.1.2").controller.next_fence_check_us(1_000) == 501_000
    assert Quorum("3.9.2").controller.next_fence_check_us(1_000) is None
    old = started("3.9.2")
    assert old.controller.next_fence_check_us(1_000) == 4_000_001


# ---- controlled shutdown


def test_leaders_move_before_a_broker_goes() -> None:
    quorum = started()
    quorum.create("t", (0, 1, 2))
    since = len(quorum.log)
    reply = quorum.heartbeat(0, want_shut_down=True)
    assert (reply.in_controlled_shutdown, reply.should_shut_down) == (True, False)
    assert [each.data for each in quorum.shown(since)[0]] == [
        {"brokerId": 0, "brokerEpoch": "0.1", "fenced": 0, "inControlledShutdown": 1},
        {"topicId": "t", "partitionId": 0, "isr": [1, 2], "leader": 1},
    ]
    # It may go when the others have read so far that they know who leads now.
    moved_at = quorum.end - 1
    quorum.heartbeat(1, offset=moved_at)
    quorum.heartbeat(2, offset=moved_at - 1)
    assert not quorum.heartbeat(0, want_shut_down=True).should_shut_down
    quorum.heartbeat(2, offset=moved_at)
    assert quorum.heartbeat(0, want_shut_down=True).should_shut_down
    assert quorum.log[-1] == [BrokerRegistrationChangeRecord(0, reply_epoch(quorum), fenced=1)]
    assert quorum.controller.image.brokers[0].in_controlled_shutdown


def reply_epoch(quorum: Quorum) -> int:
    return quorum.controller.image.brokers[0].epoch


def test_a_broker_that_leads_nothing_goes_at_once() -> None:
    quorum = started()
    quorum.create("t", (1, 0))
    reply = quorum.heartbeat(0, want_shut_down=True)
    assert (reply.in_controlled_shutdown, reply.should_shut_down) == (False, True)
    assert quorum.partition("t").isr == (1,)


def test_the_last_replica_goes_offline_when_its_broker_begins_to_go() -> None:
    quorum = started("4.0.2")
    quorum.create("t", (0,))
    quorum.heartbeat(0, want_shut_down=True)
    partition = quorum.partition("t")
    assert (partition.leader, partition.isr, partition.leader_epoch) == (-1, (0,), 1)


def test_a_new_controller_lets_a_broker_go_that_leads_nothing_any_more() -> None:
    quorum = started()
    quorum.create("t", (0, 1, 2))
    quorum.heartbeat(0, want_shut_down=True)
    quorum.fail_over()
    assert quorum.heartbeat(0, want_shut_down=True).should_shut_down


def test_nobody_is_placed_on_a_broker_that_shuts_down() -> None:
    quorum = started()
    quorum.create("t", (0, 1, 2))
    quorum.heartbeat(0, want_shut_down=True)
    responses = quorum.append(quorum.controller.create_topics([CreatableTopic("u", 4, 2)]))
    assert not responses["u"].error.is_failure
    assert all(0 not in quorum.partition("u", number).replicas for number in range(4))


# ---- unregistering, and ids


def test_an_unregistered_broker_leaves_every_isr() -> None:
    quorum = started()
    quorum.create("t", (0, 1, 2))
    quorum.append(quorum.controller.unregister_broker(0))
    assert quorum.partition("t").isr == (1, 2)
    assert 0 not in quorum.controller.image.brokers
    with pytest.raises(ApiException) as refused:
        quorum.controller.unregister_broker(0)
    assert refused.value.error == "BROKER_ID_NOT_REGISTERED"


def test_blocks_of_producer_ids_do_not_overlap_and_survive_a_failover() -> None:
    quorum = started()
    epochs = {broker: quorum.controller.image.brokers[broker].epoch for broker in (0, 1)}
    first = quorum.append(quorum.controller.allocate_producer_ids(0, epochs[0]))
    quorum.fail_over()
    second = quorum.append(quorum.controller.allocate_producer_ids(1, epochs[1]))
    assert [first, second] == [(0, 1_000), (1_000, 1_000)]


# ---- which registration counts


@pytest.mark.parametrize(("beyond", "caught_up"), [(-1, False), (0, True), (1, True)])
def test_a_broker_is_unfenced_by_any_heartbeat_from_its_registration_on(
    beyond: int, *, caught_up: bool
) -> None:
    quorum = Quorum()
    quorum.register(0)
    registered_at = quorum.end - 1
    quorum.register(1)
    reply = quorum.heartbeat(0, offset=registered_at + beyond)
    assert (reply.is_caught_up, reply.is_fenced) == (caught_up, not caught_up)


@pytest.mark.parametrize(("difference", "clean"), [(-1, False), (0, True), (1, False)])
def test_only_a_broker_that_names_its_last_epoch_has_stopped_cleanly(
    difference: int, *, clean: bool
) -> None:
    quorum = started()
    quorum.create("t", (0, 1), min_insync_replicas="2")
    quorum.let_pass(5, 1, 2)
    assert quorum.partition("t").elr == (0,)
    last = quorum.controller.image.brokers[0].epoch + difference
    request = BrokerRegistrationRequest(0, "the next", None, last)
    quorum.append(quorum.controller.register_broker(request, quorum.end, quorum.now_us))
    assert (quorum.partition("t").elr == (0,)) is clean
    assert is_fenced(quorum, 0)


def test_an_unknown_broker_is_refused_with_those_that_are_registered() -> None:
    with pytest.raises(ApiException, match="registered are 0, 1, 2"):
        started().controller.unregister_broker(7)
    with pytest.raises(ApiException, match="no broker is"):
        Quorum().controller.unregister_broker(7)


@pytest.mark.parametrize(("release", "count"), [("3.6.2", 0), ("3.9.2", 1)])
def test_controllers_register_from_3_7_on(release: str, count: int) -> None:
    result = Quorum(release).controller.register_controller(100, "one")
    assert len(result.records) == count
    assert result.is_atomic is bool(count)


@pytest.mark.parametrize(("release", "count"), [("4.2.2", 0), ("4.3.1", 1)])
def test_a_registration_names_its_cordoned_directories_once(release: str, count: int) -> None:
    """KIP-1066, from metadata version 4.3-IV0 on: brokers do not name them before."""
    quorum = Quorum(release)
    quorum.register(0)
    before = len(quorum.log)
    for _ in range(2):
        quorum.heartbeat(0, want_fence=True, cordoned_log_dirs=() if count else None)
    named = [BrokerRegistrationChangeRecord(0, 1, cordoned_log_dirs=())] * count
    written = [record for batch in quorum.log[before:] for record in batch]
    assert [replace(record, broker_epoch=1) for record in written] == named
    assert quorum.controller.image.brokers[0].cordoned_log_dirs == (() if count else None)
