"""Share groups in the read model, against what the leaders themselves have."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from emulator.broker.share.in_flight import ACQUIRED, AVAILABLE
from emulator.broker.share.share_partition import ACTIVE
from emulator.broker.share.share_partition_events import STATE_NAMES
from emulator.inputs.statements import (
    AnyInput,
    Consume,
    CrashBroker,
    CreateTopic,
    FreezeBroker,
    HealLinks,
    IsolateBroker,
    Produce,
    StartBroker,
    StopBroker,
    ThawBroker,
    Wait,
)
from sessions.model.cluster_view import ClusterView
from sessions.model.states import GroupState, SharePartitionState
from tests.support.lab import Lab

SETTINGS = {
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.session.timeout.ms": "1000",
    "group.share.session.timeout.ms": "4000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "3000",
    "group.share.delivery.count.limit": "3",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}
FAULTS: dict[str, Callable[[int], AnyInput]] = {
    "crash": lambda broker: CrashBroker(broker=broker),
    "stop": lambda broker: StopBroker(broker=broker),
    "start": lambda broker: StartBroker(broker=broker),
    "freeze": lambda broker: FreezeBroker(broker=broker),
    "thaw": lambda broker: ThawBroker(broker=broker),
    "isolate": lambda broker: IsolateBroker(broker=broker),
    "heal": lambda _broker: HealLinks(),
}
Offsets = dict[int, tuple[str, int, str, int]]
"""State, deliveries, member and end of the lock of each offset."""


def lab_of(version: str, seed: int = 0) -> Lab:
    spec = {"features": {"share.version": 1}} if version == "4.1" else {}
    lab = Lab(version, 3, seed=seed, config=SETTINGS, **spec)
    lab.do(CreateTopic(topic="t", partitions=2, replication_factor=3))
    consume(lab, "a", timeout_us=5_000_000)
    return lab


def consume(lab: Lab, consumer: str, **more: Any) -> None:
    lab.do(Consume(topic="t", group="g", protocol="share", consumer=consumer, **more))


def produce(lab: Lab, count: int = 1, partition: int = 0) -> None:
    lab.do(Produce(topic="t", partition=partition, value="v", acks=-1, count=count))


def view_of(lab: Lab) -> ClusterView:
    view = ClusterView()
    view.apply_all(lab.seen.events)
    return view


def group_of(lab: Lab) -> GroupState:
    return view_of(lab).state.groups["g"]


def share_of(lab: Lab, tp: str = "t-0") -> SharePartitionState:
    return group_of(lab).shares[tp]


def had(lab: Lab, tp: str, number: int) -> tuple[int, Offsets] | None:
    """Start, and what was delivered of a share-partition, as a broker has it."""
    shares = lab.cluster.brokers[number].core.shares.state.partitions
    share = shares.get(f"g\n{tp}")
    if share is None or share.status != ACTIVE:
        return None
    offsets: Offsets = {}
    for run in share.runs():
        state = run.state
        if (state.state, state.deliveries) == (AVAILABLE, 0):
            continue
        until = state.expires_us if state.state == ACQUIRED else 0
        for offset in range(max(run.first, share.start), run.last + 1):
            row = (STATE_NAMES[state.state], state.deliveries, state.member, until)
            offsets[offset] = row
    return share.start, offsets


def shown(share: SharePartitionState) -> tuple[int, Offsets]:
    """The same as the read model has it."""
    return share.start, {
        offset: (run.state, run.deliveries, run.member, run.locked_until_us)
        for run in share.runs
        for offset in range(run.first, run.last + 1)
    }


def compare(lab: Lab, view: ClusterView) -> int:
    """Compare all share-partitions; return the number of records that were compared.

    A leader that has a successor which it does not know may still share its partition out.
    """
    compared = 0
    for tp in ("t-0", "t-1"):
        share = view.state.groups["g"].shares.get(tp)
        leader = view.partitions[tp].leader
        at_leader = None if leader is None or leader < 0 else had(lab, tp, leader)
        if share is None or share.broker < 0:
            assert at_leader is None
            continue
        assert shown(share) == had(lab, tp, share.broker)
        assert at_leader is None or share.broker == leader
        compared += len(shown(share)[1])
    return compared


def statement(random: Random) -> AnyInput:
    """What happens next."""
    kind = random.choices(
        (
            *("produce", "consume", "wait", "crash", "start"),
            *("freeze", "thaw", "isolate", "heal", "stop"),
        ),
        (6, 8, 4, 1, 2, 1, 2, 1, 2, 1),
    )[0]
    if kind == "wait":
        return Wait(duration_us=random.randint(1, 5) * 1_000_000)
    if kind == "produce":
        where, count = random.randrange(2), random.randint(1, 5)
        return Produce(topic="t", partition=where, value="v", count=count, timeout_us=900_000)
    if kind == "consume":
        return Consume(
            topic="t",
            group="g",
            protocol="share",
            consumer=random.choice("abc"),
            acknowledge=random.choice(("accept", "release", "reject", "none")),
            then=random.choice(("stay", "leave", "die")),
            max_records=random.choice((None, 2)),
            timeout_us=1_500_000,
        )
    return FAULTS[kind](random.randrange(3))


@pytest.mark.parametrize("version", ["4.1", "4.4"])
def test_the_read_model_has_what_the_leaders_have(version: str) -> None:
    compared = sum(compared_in_a_run(version, seed) for seed in range(4))
    assert compared > 40, "records were in flight while statements ended"


def compared_in_a_run(version: str, seed: int) -> int:
    random = Random(seed)
    lab = lab_of(version, seed)
    view, taken, compared = ClusterView(), 0, 0
    for _ in range(40):
        lab.do(statement(random))
        view.apply_all(lab.seen.events[taken:])
        taken = len(lab.seen.events)
        compared += compare(lab, view)
    return compared


def test_records_that_nobody_decided_on_can_be_acquired_again() -> None:
    lab = lab_of("4.2")
    produce(lab, 3)
    consume(lab, "a", acknowledge="none", timeout_us=100_000)
    (run,) = share_of(lab).runs
    assert (run.first, run.last, run.state, run.deliveries, run.consumer) == (
        *(0, 2, "acquired", 1),
        "a",
    )
    assert run.locked_until_us - view_of(lab).time_us in range(2_000_000, 3_000_001)
    lab.wait(3_500)
    (run,) = share_of(lab).runs
    assert (run.state, run.deliveries, run.consumer) == ("available", 1, "")


def test_what_is_rejected_is_archived_and_counted_after_the_start_has_passed_it() -> None:
    lab = lab_of("4.2")
    produce(lab, 2)
    consume(lab, "a", acknowledge="reject", max_records=1, timeout_us=1_000_000)
    share = share_of(lab)
    assert (share.start, share.archived, share.runs) == (1, 1, [])


def test_a_process_that_ends_shares_nothing_out() -> None:
    lab = lab_of("4.2")
    produce(lab)
    consume(lab, "a", acknowledge="none", timeout_us=100_000)
    lab.do(CrashBroker(broker=share_of(lab).broker))
    assert (share_of(lab).broker, share_of(lab).runs) == (-1, [])


def test_a_group_keeps_state_epoch_and_target_when_its_coordinator_crashes() -> None:
    lab = lab_of("4.2")
    before = group_of(lab)
    lab.do(CrashBroker(broker=before.broker))
    lab.wait(15_000)
    after = group_of(lab)
    assert after.broker != before.broker
    assert (after.state, after.protocol) == ("Stable", "share")
    assert after.generation == after.assignment_epoch == before.generation
    assert after.targets == before.targets
