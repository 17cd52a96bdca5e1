"""Whatever breaks: an idempotent producer's records stand in their order, once (2.1 and later).

Before 2.1 replication itself may lose acknowledged records; see the matrix.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.events import CLIENTS
from emulator.inputs.conditions import Clause, Subject
from emulator.inputs.statements import (
    AnyInput,
    CrashBroker,
    CutLink,
    DropOnLink,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    Produce,
    ReleaseMessages,
    StartBroker,
    ThawBroker,
    WaitUntil,
)
from tests.support.lab import TP, Lab

CONFIG = {"zookeeper.session.timeout.ms": "3000", "replica.lag.time.max.ms": "4000"}
BROKERS = (1, 2, 3)
RECORDS = 40
SECOND_US = 1_000_000

Fault = tuple[AnyInput, AnyInput]
"""What breaks something, and what mends it."""


def faults() -> list[Fault]:
    """Everything that may break, one broker or link at a time."""
    made: list[Fault] = []
    for broker in BROKERS:
        made.append((CrashBroker(broker=broker), StartBroker(broker=broker)))
        made.append((FreezeBroker(broker=broker), ThawBroker(broker=broker)))
        responses = HoldMessages(source=broker, destination=CLIENTS, api="ProduceResponse")
        made.append((responses, ReleaseMessages(source=broker, destination=CLIENTS, lose=True)))
        made.append((CutLink(source=broker, destination=CLIENTS), HealLinks()))
        made.append((DropOnLink(source=broker, destination=CLIENTS, percent=30), HealLinks()))
        other = broker % 3 + 1
        made.append((CutLink(source=broker, destination=other), HealLinks()))
    return made


PLANS = st.lists(
    st.tuples(st.sampled_from(faults()), st.integers(50, 5_000), st.integers(50, 3_000)),
    max_size=5,
)


def produced(lab: Lab, plan: list[tuple[Fault, int, int]], in_flight: int) -> None:
    """Let a producer go on while things break and are mended."""
    lab.topic(*BROKERS, config={"min.insync.replicas": "2"})
    first = Produce(topic="t", partition=0, value="first", idempotent=True)
    assert lab.do(first).error == "NONE"
    wanted = Produce(
        topic="t",
        partition=0,
        value="v",
        count=RECORDS,
        every_us=SECOND_US // 5,
        idempotent=True,
        in_flight=in_flight,
        timeout_us=2 * SECOND_US,
        background=True,
    )
    lab.do(wanted)
    for (breaks, mends), broken_ms, whole_ms in plan:
        lab.do(breaks)
        lab.wait(broken_ms)
        lab.do(mends)
        lab.wait(whole_ms)
    done = Clause(Subject("producer", "p1", "pending"), "==", 0)
    lab.do(WaitUntil(clauses=[done], within_us=300 * SECOND_US))


@pytest.mark.parametrize("in_flight", [1, 5])
@pytest.mark.parametrize("version", ["2.1", "2.4", "2.7", "3.9"])
@given(plan=PLANS, seed=st.integers(0, 99))
@settings(max_examples=12)
def test_records_stand_in_their_order_once(
    version: str, in_flight: int, plan: list[tuple[Fault, int, int]], seed: int
) -> None:
    lab = Lab(version, brokers=4, seed=seed, config=CONFIG)
    produced(lab, plan, in_flight)
    info = lab.cluster.state_of(TP)
    assert info is not None
    numbers = [int(each[2:]) for each in lab.values(info.leader).split()[1:]]
    assert numbers == sorted(set(numbers))
    producer = lab.cluster.clients.state.producers["p1"]
    assert producer.acked + producer.failed == RECORDS + 1
    assert len(numbers) >= producer.acked - 1
    assert lab.cluster.audit.count("lost") == lab.cluster.audit.count("duplicated") == 0
