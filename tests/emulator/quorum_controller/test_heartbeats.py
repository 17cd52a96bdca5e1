"""What the controller knows of brokers by their heartbeats: sessions, and what a broker becomes."""

import pytest

from emulator.quorum_controller.heartbeats import (
    NO_OFFSET,
    BrokerControlState,
    BrokerHeartbeats,
    Heartbeat,
)

TIMEOUT_US = 9_000_000
FENCED, UNFENCED = BrokerControlState.FENCED, BrokerControlState.UNFENCED
GOING, GONE = BrokerControlState.CONTROLLED_SHUTDOWN, BrokerControlState.SHUTDOWN_NOW


def heard(by_epoch: bool, **at_us: int) -> BrokerHeartbeats:
    """Brokers ``b1``, ``b2``, .. of epoch 7, unfenced, and when each was heard of."""
    made = BrokerHeartbeats(TIMEOUT_US, by_epoch)
    for name, now_us in at_us.items():
        broker = int(name[1:])
        made.register(broker, now_us, fenced=False)
        made.track(broker, 7, now_us)
    return made


# ---- sessions


@pytest.mark.parametrize("by_epoch", [False, True])
@pytest.mark.parametrize(
    ("after_us", "valid"), [(0, True), (TIMEOUT_US, True), (TIMEOUT_US + 1, False)]
)
def test_a_session_is_valid_up_to_its_last_moment(
    by_epoch: bool, after_us: int, valid: bool
) -> None:
    found = heard(by_epoch, b1=5)
    assert found.has_valid_session(1, 7, 5 + after_us) is valid
    assert found.expired(5 + after_us) == (None if valid else (1, 7 if by_epoch else None))


def test_up_to_3_9_a_fenced_or_unknown_broker_has_no_session() -> None:
    found = heard(False, b1=5)
    found.touch(1, 6, fenced=True, metadata_offset=3)
    assert not found.has_valid_session(1, 7, 6)
    assert not found.has_valid_session(2, 7, 6)
    assert found.expired(1 << 40) is None
    assert found.next_check_us(6) is None


def test_from_4_0_on_a_session_is_that_of_one_broker_epoch() -> None:
    found = heard(True, b1=5)
    assert not found.has_valid_session(1, 8, 6)
    assert not found.has_valid_session(2, 7, 6)
    found.touch(1, 6, fenced=True, metadata_offset=3)
    assert found.has_valid_session(1, 7, 6)
    found.track(1, 8, 6)
    found.forget_session(1, 7)
    assert (found.has_valid_session(1, 7, 6), found.has_valid_session(1, 8, 6)) == (False, True)
    found.forget_session(1, 8)
    assert found.contact_times == {}


@pytest.mark.parametrize("by_epoch", [False, True])
def test_of_several_that_are_silent_the_longest_silent_one_is_fenced_first(by_epoch: bool) -> None:
    epoch = 7 if by_epoch else None
    found = heard(by_epoch, b1=30, b2=10, b3=20)
    assert found.expired(30 + TIMEOUT_US) == (2, epoch)
    assert heard(by_epoch, b4=10, b2=10).expired(11 + TIMEOUT_US) == (4, epoch)


def test_stale_brokers_are_looked_for_when_the_first_session_ends_or_eight_times_in_one() -> None:
    assert heard(False, b1=30, b2=10).next_check_us(40) == 10 + TIMEOUT_US + 1
    assert heard(False, b1=30).next_check_us(1 << 40) == 1 << 40
    assert heard(True, b1=30).next_check_us(40) == 40 + TIMEOUT_US // 8
    assert BrokerHeartbeats(800, by_epoch=True).next_check_us(40) == 1_040


# ---- what is remembered


def test_a_broker_that_is_fenced_or_unfenced_by_a_record_keeps_its_offset() -> None:
    found = heard(False, b1=5)
    found.touch(1, 6, fenced=False, metadata_offset=33)
    found.register(1, 7, fenced=True)
    assert (found.brokers[1].metadata_offset, found.brokers[1].fenced) == (33, True)
    found.register(1, 8, fenced=True)  # a new registration begins without one
    assert found.brokers[1].metadata_offset == NO_OFFSET == -1


def test_a_shutdown_begins_once_and_ends_with_fencing() -> None:
    found = heard(False, b1=5)
    found.begin_controlled_shutdown(1, 0)
    assert found.brokers[1].state is GOING
    found.begin_controlled_shutdown(1, 60)
    assert found.brokers[1].controlled_shutdown_offset == 0
    found.touch(1, 6, fenced=False, metadata_offset=1)
    assert found.brokers[1].state is GOING
    found.touch(1, 6, fenced=True, metadata_offset=1)
    assert found.brokers[1].state is FENCED


def test_the_lowest_offset_is_that_of_the_active_brokers() -> None:
    found = heard(False, b1=5, b2=5, b3=5, b4=5)
    for broker, offset in ((1, 40), (2, 50), (3, 10), (4, 20)):
        found.touch(broker, 5, fenced=broker == 3, metadata_offset=offset)
    found.begin_controlled_shutdown(4, 60)
    assert found.lowest_active_offset() == 40
    assert BrokerHeartbeats(TIMEOUT_US, by_epoch=False).lowest_active_offset() is None


# ---- what a heartbeat leads to


@pytest.mark.parametrize(
    ("fenced", "heartbeat", "leads", "then"),
    [
        (True, Heartbeat(9), False, FENCED),
        (True, Heartbeat(10), False, UNFENCED),
        (True, Heartbeat(11), False, UNFENCED),
        (True, Heartbeat(10, want_fence=True), False, FENCED),
        (True, Heartbeat(10, want_shut_down=True), False, GONE),
        (False, Heartbeat(10), True, UNFENCED),
        (False, Heartbeat(10, want_fence=True), True, FENCED),
        (False, Heartbeat(10, want_fence=True, want_shut_down=True), True, GONE),
        (False, Heartbeat(10, want_shut_down=True), True, GOING),
        (False, Heartbeat(10, want_shut_down=True), False, GONE),
    ],
)
def test_what_a_broker_becomes_with_a_heartbeat(
    fenced: bool, heartbeat: Heartbeat, leads: bool, then: BrokerControlState
) -> None:
    found = heard(False, b1=5)
    found.touch(1, 5, fenced=fenced, metadata_offset=5)
    assert found.next_state(1, heartbeat, 10, has_leaderships=leads) is then


@pytest.mark.parametrize(
    ("leads", "lowest", "then"),
    [(True, 99, GOING), (False, 59, GOING), (False, 60, GONE), (False, None, GONE)],
)
def test_a_shutdown_ends_once_all_others_know_the_new_leaders(
    leads: bool, lowest: int | None, then: BrokerControlState
) -> None:
    found = heard(False, b1=5)
    found.begin_controlled_shutdown(1, 60)
    if lowest is not None:
        found.register(2, 5, fenced=False)
        found.touch(2, 5, fenced=False, metadata_offset=lowest)
    assert (
        found.next_state(1, Heartbeat(99, want_shut_down=True), 10, has_leaderships=leads) is then
    )
