"""What the search finds by the brokers' own rules, by itself: the protocol's known mistakes.

The releases in which each was possible are Kafka's: KIP-101 (0.11), KIP-279 (2.0) and KAFKA-7415
(2.0.1), KAFKA-7128 (2.0.1), KIP-320 (2.1).
"""

from typing import Any

import pytest

from emulator.explorer.bounds import (
    ACKNOWLEDGED_KEPT,
    COMMITTED_AGREEMENT,
    ELR_HAS_COMMITTED,
    ISR_HAS_COMMITTED,
    PROPERTIES,
    Bounds,
    properties_for,
)
from emulator.explorer.brokers import Parts
from emulator.explorer.replica import Replica
from emulator.explorer.search import Result, Violation
from tests.support import searches
from tests.support.generations import since
from tests.support.searches import TOGETHER

SMALL = Bounds("3.9", replicas=2, records=2, elections=2, crashes=1)
BY_HIGH_WATERMARK = since("0.8.1", "0.10.2")


pytestmark = TOGETHER


def searched(version: str, *properties: str, **bounds: Any) -> Result:
    return searches.searched(Bounds(version, **bounds), *properties)


def shortest(result: Result, name: str) -> Violation:
    return next(violation for violation in result.violations if violation.name == name)


def reasons(violation: Violation) -> list[str]:
    """Why logs were truncated on the way."""
    return [
        dict(each.details)["reason"] for each in violation.path if "reason" in dict(each.details)
    ]


def replica(violation: Violation, number: int, broker: int, replicas: int) -> Replica:
    found = violation.states[number][Parts(replicas).replica(broker)]
    assert isinstance(found, Replica)
    return found


@pytest.mark.parametrize("version", ["seed", *BY_HIGH_WATERMARK])
def test_v7_truncation_to_the_high_watermark_loses_what_was_acknowledged(version: str) -> None:
    result = searched(version, elections=2, crashes=1)
    lost = shortest(result, ACKNOWLEDGED_KEPT)
    assert (lost.faults, lost.steps) == (1, 11)
    assert reasons(lost) == ["to high watermark"]
    assert shortest(result, ISR_HAS_COMMITTED).steps == 10
    assert result.complete


@pytest.mark.parametrize("version", BY_HIGH_WATERMARK)
def test_v10_a_log_that_lost_its_tail_and_one_that_kept_it_are_in_one_isr(version: str) -> None:
    result = searched(version, ISR_HAS_COMMITTED, elections=0, crashes=1, power_losses=1)
    violation = shortest(result, ISR_HAS_COMMITTED)
    assert (violation.faults, violation.steps) == (2, 11)
    last = len(violation.states) - 1
    logs = [[record.id for record in replica(violation, last, b, 2).log] for b in (1, 2)]
    assert logs == [[1], [0]]


@pytest.mark.parametrize("version", since("0.11", "2.0.0"))
def test_v11_a_response_that_the_follower_cannot_place_leaves_two_histories(version: str) -> None:
    """Until 1.1 the response has no epoch; in 2.0.0 it has one below the follower's first."""
    result = searched(version, COMMITTED_AGREEMENT, records=3, elections=2, crashes=0)
    violation = shortest(result, COMMITTED_AGREEMENT)
    assert (violation.faults, violation.steps) == (0, 17)
    assert "EpochResponse" in [action.name for action in violation.path]
    assert reasons(violation) == []


@pytest.mark.parametrize("version", since("2.0.1"))
def test_v11_since_kafka_7415_the_two_agree(version: str) -> None:
    result = searched(version, COMMITTED_AGREEMENT, records=3, elections=2, crashes=0)
    assert (result.complete, result.violations) == (True, [])


@pytest.mark.parametrize("version", since("0.11", "2.0.1"))
def test_v12_a_follower_falls_back_to_its_high_watermark(version: str) -> None:
    result = searched(version, elections=2, crashes=1)
    short, lost = shortest(result, ISR_HAS_COMMITTED), shortest(result, ACKNOWLEDGED_KEPT)
    assert short.faults == 0
    assert lost.faults == 1
    assert reasons(short) == reasons(lost) == ["no such epoch: to high watermark"]


@pytest.mark.parametrize("version", since("0.11", "2.0.1"))
def test_v14_a_fetch_of_an_older_epoch_is_counted(version: str) -> None:
    result = searched(version, ISR_HAS_COMMITTED, elections=0, crashes=1, power_losses=1)
    violation = shortest(result, ISR_HAS_COMMITTED)
    assert violation.path[-1].name == "Fetch"
    before = len(violation.states) - 2
    led, fetching = (replica(violation, before, broker, 2) for broker in (1, 2))
    assert (led.role, led.leader_epoch) == ("leader", 3)
    assert (fetching.role, fetching.leader_epoch) == ("follower", 1)
    assert 2 in replica(violation, before + 1, 1, 2).isr


def test_kafka_7128_a_new_leader_takes_in_a_follower_that_lacks_what_is_committed() -> None:
    bounds = {"replicas": 3, "records": 1, "elections": 1, "crashes": 2}
    result = searched("2.0.0", ACKNOWLEDGED_KEPT, **bounds)
    lost = shortest(result, ACKNOWLEDGED_KEPT)
    assert (lost.faults, lost.steps) == (2, 14)
    joined = next(
        number
        for number, action in enumerate(lost.path)
        if action.name == "Fetch" and dict(action.details)["broker"] == 2
    )
    led, fetching = replica(lost, joined, 3, 3), replica(lost, joined, 2, 3)
    assert (led.isr, led.log_end, led.high_watermark) == ((1, 3), 1, 0)
    assert fetching.log_end == 0
    assert replica(lost, joined + 1, 3, 3).isr == (1, 3, 2)


@pytest.mark.parametrize("version", ["2.1", "2.5", "2.8", "3.9"])
@pytest.mark.parametrize(
    "bounds",
    [
        {"elections": 2, "crashes": 1},
        {"elections": 1, "crashes": 1, "isr_changes": 1, "min_insync_replicas": 2},
        {"replicas": 3, "records": 1, "elections": 1, "crashes": 0},
    ],
    ids=str,
)
def test_since_2_1_nothing_is_found_within_the_same_bounds(
    version: str, bounds: dict[str, int]
) -> None:
    result = searched(version, **bounds)
    assert (result.complete, result.violations) == (True, [])


@pytest.mark.parametrize("version", since("2.1", "2.5"))
def test_v10_v14_since_2_1_not_even_power_losses_leave_an_isr_member_short(version: str) -> None:
    result = searched(version, ISR_HAS_COMMITTED, elections=0, crashes=1, power_losses=1)
    assert (result.complete, result.violations) == (True, [])


@pytest.mark.parametrize("version", since("2.7"))
def test_kip_903_a_member_is_let_in_that_has_lost_its_log_since_it_was_proposed(
    version: str,
) -> None:
    """In every release with AlterPartition: KIP-903 (3.5) protects KRaft mode only."""
    result = searched(version, ISR_HAS_COMMITTED, elections=0, crashes=1, power_losses=1)
    violation = shortest(result, ISR_HAS_COMMITTED)
    names = [action.name for action in violation.path]
    assert violation.faults == 2
    assert names.index("PowerLoss") < names.index("AlterPartition")


@pytest.mark.parametrize(
    ("bounds", "steps", "faults"),
    [
        ({"acks": 1, "elections": 1}, 3, 0),
        ({"elections": 0, "crashes": 2, "power_losses": 1}, 6, 2),
        ({"elections": 0, "crashes": 1, "isr_changes": 1, "unclean": True}, 6, 1),
    ],
    ids=str,
)
def test_what_kafka_does_not_promise_is_lost_in_3_9_too(
    bounds: dict[str, Any], steps: int, faults: int
) -> None:
    violation = shortest(searched("3.9", ACKNOWLEDGED_KEPT, **bounds), ACKNOWLEDGED_KEPT)
    assert (violation.steps, violation.faults) == (steps, faults)


@pytest.mark.parametrize(("version", "elr"), [("4.0", False), ("4.0", True), ("4.1", True)])
def test_without_zookeeper_nothing_is_found_within_the_default_bounds(
    version: str, elr: bool
) -> None:
    result = searched(version, kraft=True, elr=elr)
    assert (result.complete, result.violations, result.states) == (True, [], 23_118)


@pytest.mark.parametrize("replicas", [2, 3])
def test_kip_966_who_lost_its_log_does_not_lead_alone_where_another_is_eligible(
    replicas: int,
) -> None:
    """Without ELR the only member of the ISR leads again, whatever it has lost."""
    bounds: dict[str, Any] = {"kraft": True, "replicas": replicas, "records": 1, "elections": 0}
    bounds |= {"crashes": 0, "power_losses": 1, "isr_changes": 1, "min_insync_replicas": 2}
    lost = shortest(searched("4.0", ACKNOWLEDGED_KEPT, **bounds), ACKNOWLEDGED_KEPT)
    assert (lost.faults, lost.path[-1].name) == (1, "Start")
    if replicas == 2:
        kept = searched("4.0", ACKNOWLEDGED_KEPT, **bounds, elr=True)
        assert (kept.complete, kept.violations) == (True, [])


RACE: dict[str, Any] = {"kraft": True, "replicas": 3, "records": 1, "elections": 0}
RACE |= {"isr_changes": 1, "min_insync_replicas": 2}


@pytest.mark.parametrize(("version", "elr"), [("3.9", False), ("4.0", False), ("4.1", True)])
def test_kafka_13790_metadata_of_the_same_epoch_replaces_a_pending_isr(
    version: str, elr: bool
) -> None:
    """The leader forgets whom it has proposed, and the controller still lets that replica in."""
    result = searched(version, ISR_HAS_COMMITTED, **RACE, elr=elr, crashes=0)
    violation = shortest(result, ISR_HAS_COMMITTED)
    last = violation.path[-1]
    assert (violation.steps, violation.faults, last.name) == (10, 0, "MetadataUpdate")
    details = dict(last.details)
    assert (details["isr"], details["acknowledged"]) == ((1, 2, 3), [0])


def test_after_that_race_one_crash_loses_an_acknowledged_record() -> None:
    result = searched("4.1", ACKNOWLEDGED_KEPT, **RACE, elr=True)
    violation = shortest(result, ACKNOWLEDGED_KEPT)
    assert (violation.steps, violation.faults) == (12, 1)


@pytest.mark.parametrize("version", ["3.9", "4.0", "4.1"])
@pytest.mark.parametrize(
    ("bounds", "states"), [({"fencings": 1}, 57_181), ({"shutdowns": 1}, 27_669)], ids=str
)
def test_neither_late_heartbeats_nor_an_orderly_stop_lose_anything(
    version: str, bounds: dict[str, int], states: int
) -> None:
    result = searched(version, kraft=True, elr=version == "4.1", crashes=0, **bounds)
    assert (result.complete, result.violations, result.states) == (True, [], states)


def test_a_fenced_leader_goes_on_and_an_orderly_stop_moves_leadership_first() -> None:
    """With acks=1 both lose a record that the next leader lacks."""
    bounds: dict[str, Any] = {"kraft": True, "acks": 1, "elections": 0, "crashes": 0}
    fenced = searched("4.1", ACKNOWLEDGED_KEPT, **bounds, fencings=1)
    violation = shortest(fenced, ACKNOWLEDGED_KEPT)
    assert violation.faults == 1
    assert "Fence" in [action.name for action in violation.path]
    stopped = searched("4.1", ACKNOWLEDGED_KEPT, **bounds, shutdowns=1)
    violation = shortest(stopped, ACKNOWLEDGED_KEPT)
    assert violation.faults == 0
    assert "ControlledShutdown" in [action.name for action in violation.path]


def test_kip_966_an_orderly_stop_keeps_a_broker_eligible() -> None:
    """Without ELR, whoever loses its power as the last in the ISR leads again, without records."""
    bounds: dict[str, Any] = {"kraft": True, "records": 1, "elections": 0, "crashes": 0}
    bounds |= {"power_losses": 1, "shutdowns": 1, "min_insync_replicas": 2}
    lost = shortest(searched("4.0", ACKNOWLEDGED_KEPT, **bounds), ACKNOWLEDGED_KEPT)
    names = [action.name for action in lost.path]
    assert names.index("ControlledShutdown") < names.index("PowerLoss")
    kept = searched("4.1", ACKNOWLEDGED_KEPT, **bounds, elr=True)
    assert (kept.complete, kept.violations) == (True, [])


def test_kip_903_what_was_proposed_of_an_earlier_incarnation_is_refused() -> None:
    """In ZooKeeper mode the same bounds let a member in that has lost its log."""
    bounds: dict[str, Any] = {"elections": 0, "crashes": 1, "power_losses": 1}
    assert searched("3.9", ISR_HAS_COMMITTED, **bounds).violations
    assert not searched("3.9", ISR_HAS_COMMITTED, kraft=True, **bounds).violations
    assert not searched("4.1", ISR_HAS_COMMITTED, kraft=True, elr=True, **bounds).violations


def test_what_is_looked_at_by_default_is_what_kafka_promises() -> None:
    assert properties_for(Bounds("4.1", kraft=True, elr=True)) == tuple(PROPERTIES)
    assert set(PROPERTIES) - set(properties_for(SMALL)) == {ELR_HAS_COMMITTED}
    for looser in ({"acks": 1}, {"power_losses": 1}, {"unclean": True}):
        promised = properties_for(Bounds("3.9", **looser))
        assert ACKNOWLEDGED_KEPT not in promised
        assert ISR_HAS_COMMITTED in promised
