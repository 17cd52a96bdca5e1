"""The whole cluster as the other rooms use it: time, statements, and what it refuses."""

import pytest

from emulator.cluster import Cluster
from emulator.events import (
    BrokerRegistered,
    ClusterCreated,
    Event,
    InputFinished,
    InputReceived,
    ProduceAcknowledged,
)
from emulator.inputs.conditions import Clause, Subject
from emulator.inputs.statements import (
    CreateCluster,
    CreateTopic,
    Produce,
    Statement,
    Wait,
    WaitUntil,
)
from emulator.releases.config import ConfigError
from emulator.releases.profiles import VERSIONS
from emulator.scenario.conditions import value_of
from emulator.scenario.runner import Advance, Runner
from tests.support.lab import TP, Lab

SECOND_US = 1_000_000


@pytest.mark.parametrize("version", VERSIONS)
def test_brokers_start_one_after_another_and_the_first_is_controller(version: str) -> None:
    lab = Lab(version, brokers=4, first_id=3)
    registered = [each.broker for each in lab.seen.of(BrokerRegistered)]
    assert registered == [3, 4, 5, 6]
    assert lab.cluster.controller_id() == 3
    assert [lab.cluster.broker_state(broker) for broker in registered] == ["running"] * 4


def test_the_first_events_say_what_was_asked_and_what_was_made() -> None:
    lab = Lab("2.0.1", brokers=2, racks=["a", "b"], seed=9, config={"min.insync.replicas": "2"})
    assert [type(each) for each in lab.seen.events[:2]] == [InputReceived, ClusterCreated]
    made = lab.seen.of(ClusterCreated)[0]
    assert (made.version, made.seed, made.brokers, made.racks) == ("2.0.1", 9, [0, 1], ["a", "b"])
    assert made.config == {"min.insync.replicas": "2"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (CreateCluster(version="2.9"), "There is no version '2.9'; the nearest is '2.8.2'."),
        (CreateCluster(config={"min.isr": "2"}), "the nearest is 'min.insync.replicas'"),
        (CreateCluster(config={"foo.bar": "2"}), "There is no configuration 'foo.bar'."),
        (CreateCluster(config={"min.insync.replicas": "two"}), "must be an integer"),
        (CreateCluster(brokers=3, racks=["a"]), "There are 1 racks for 3 brokers."),
        (CreateCluster(brokers=3, hosts=["a"]), "There are 1 hosts for 3 brokers."),
    ],
    ids=["version", "name", "like none", "value", "racks", "hosts"],
)
def test_what_cannot_be_made_is_refused_with_the_nearest_valid_word(
    spec: CreateCluster, message: str
) -> None:
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        Cluster(spec)


# ---- time


def test_one_step_is_one_kernel_event() -> None:
    cluster = Cluster(CreateCluster())
    steps, due_us = cluster.steps, cluster.next_time_us
    assert due_us is not None
    assert cluster.step()
    assert cluster.steps == steps + 1
    assert cluster.now_us == due_us


def test_running_until_a_time_ends_exactly_there() -> None:
    cluster = Cluster(CreateCluster())
    until_us = cluster.now_us + 1_234_567
    Runner(cluster).run_until(until_us)
    assert cluster.now_us == until_us
    assert cluster.next_time_us is not None
    assert cluster.next_time_us > until_us


def test_a_budget_stops_a_run_that_can_go_on_later() -> None:
    whole, sliced = Runner(Cluster(CreateCluster())), Runner(Cluster(CreateCluster()))
    until_us = whole.now_us + 10 * SECOND_US
    whole.run_until(until_us)
    rounds = 1
    while sliced.advance(until_us, budget=3) is Advance.BUDGET:
        rounds += 1
    assert rounds > 3
    assert sliced.state_hash == whole.state_hash


# ---- statements


def produce(value: str = "a", **options: int) -> Statement:
    return Statement(Produce(topic="t", value=value, retries=0, **options), "produce t")  # type: ignore[arg-type]


def test_a_submitted_statement_ends_when_others_let_time_pass() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    ticket = lab.runner.submit(produce(acks=-1))
    assert not ticket.done
    lab.runner.run_until(lab.cluster.now_us + SECOND_US)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"


def test_several_statements_may_be_under_way() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    tickets = [lab.runner.submit(produce(value, acks=-1)) for value in "abc"]
    waiting = lab.runner.submit(Statement(Wait(duration_us=SECOND_US), "wait 1s"))
    lab.runner.run_until(lab.cluster.now_us + SECOND_US)
    assert all(ticket.done for ticket in (*tickets, waiting))
    assert lab.values(0) == "a b c"


def test_every_statement_begins_and_ends_in_the_record() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    lab.produce("a")
    received = [each.text for each in lab.seen.of(InputReceived)]
    finished = [each.text for each in lab.seen.of(InputFinished)]
    assert received == finished


def test_what_a_statement_leads_to_can_be_followed_back_to_it() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    lab.produce("a", acks=-1)
    by_number = {each.seq: each for each in lab.seen.events}
    asked = lab.seen.of(InputReceived, text="Produce")[0]
    acknowledged = lab.seen.of(ProduceAcknowledged)[0]
    trail: list[Event] = [acknowledged]
    while trail[-1].cause:
        trail.append(by_number[trail[-1].cause])
    assert trail[-1] == asked


def test_a_refused_statement_changes_nothing_and_says_why() -> None:
    lab = Lab("3.9")
    before = lab.cluster.zookeeper.zxid
    outcome = lab.do(CreateTopic(topic="t", partitions=1, replication_factor=9))
    assert outcome.refused
    assert outcome.error == "INVALID_REPLICATION_FACTOR"
    assert outcome.message.endswith(".")
    assert lab.cluster.zookeeper.zxid == before


# ---- looking


def condition(name: str, value: int, op: str = "==") -> WaitUntil:
    subject = Subject("partition", TP, name)
    return WaitUntil(clauses=[Clause(subject, op, value)], within_us=2 * SECOND_US)  # type: ignore[arg-type]


def test_waiting_for_a_condition_ends_as_soon_as_it_holds() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    ticket = lab.submit(condition("hw", 1))
    lab.produce("a", acks=-1)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"


def test_a_condition_that_does_not_come_to_hold_is_a_failed_statement() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    before_us = lab.cluster.now_us
    outcome = lab.do(condition("hw", 1))
    assert (outcome.passed, outcome.refused, outcome.actual) == (False, True, 0)
    assert lab.cluster.now_us - before_us == 2 * SECOND_US


def test_a_subject_is_looked_up_as_it_is_now() -> None:
    lab = Lab("3.9")
    assert value_of(lab.cluster, Subject("partition", TP, "leader")) is None
    lab.topic(1, 0)
    assert value_of(lab.cluster, Subject("partition", TP, "leader")) == 1
    assert value_of(lab.cluster, Subject("controller", "", "broker")) == 0
