"""Transactions of scripted producers: fencing, timeouts, failovers, and what is refused."""

import pytest

from commands.language.parser import parse_script
from commands.runs.driver import Pace
from commands.runs.script_runner import ScriptRunner
from emulator.inputs.statements import BeginTransaction
from tests.support.lab import Lab

TOPIC = """\
cluster --brokers 4 --config transaction.state.log.num.partitions=1
topic create t --replica-assignment 1:2:3
wait until t-0.leader == 1
"""
VERSIONS = ("0.11", "2.4", "3.9", "4.1")


def run(text: str, version: str = "3.9") -> None:
    """Run a script after the topic's creation; everything that it expects holds."""
    script = parse_script(TOPIC + text, "script", cluster_options=("--version", version))
    runner = ScriptRunner(script, Pace())
    runner.run(lambda step, outcome: None)
    assert runner.tally.failed == []
    assert runner.tally.passed


@pytest.mark.parametrize("version", VERSIONS)
def test_a_second_producer_with_the_same_id_fences_the_first_and_aborts_its_transaction(
    version: str,
) -> None:
    run(
        """\
transaction begin --transactional-id id
transaction produce t --value lost
transaction begin --transactional-id id --producer p2
transaction produce t --value kept --producer p2
transaction commit
transaction commit --producer p2
expect error NONE
settle
consume t --isolation read_committed
expect consumer.c1.values == [kept]
""",
        version,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_transaction_that_takes_too_long_is_aborted_and_its_producer_begins_anew(
    version: str,
) -> None:
    run(
        """\
transaction begin --timeout 1s
transaction produce t --value late
wait 70s
expect event TransactionStateChanged state=CompleteAbort
transaction produce t --value later
transaction abort
transaction begin
transaction produce t --value new
transaction commit
expect error NONE
settle
consume t --isolation read_committed
expect consumer.c1.values == [new]
""",
        version,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_transaction_survives_its_coordinator_and_the_leader(version: str) -> None:
    run(
        """\
transaction begin
transaction produce t --value a
wait 1s
broker crash 1
wait until t-0.leader != 1
transaction produce t --value b
transaction commit
expect error NONE
settle 3s
consume t --isolation read_committed
expect consumer.c1.values == [a,b] and t-0.lso == 3 and audit.duplicated == 0
broker start 1
broker crash 2
wait 10s
transaction begin
transaction produce t --value c
transaction commit
expect error NONE
settle 3s
consume t --isolation read_committed
expect consumer.c1.values == [a,b,c]
""",
        version,
    )


def test_a_record_that_fails_leaves_only_the_abort() -> None:
    run(
        """\
topic create small --replica-assignment 1 --config max.message.bytes=100
wait 1s
transaction begin
transaction produce t --value a
transaction produce small --value '0123456789012345678901234567890123456789012345678901234567890'
expect error MESSAGE_TOO_LARGE
transaction commit
expect error MESSAGE_TOO_LARGE
transaction abort
expect error NONE
transaction begin
transaction produce t --value b
transaction commit
expect error NONE
settle
consume t --isolation read_committed
expect consumer.c1.values == [b]
"""
    )


def test_what_a_producer_may_not_do_now_is_refused() -> None:
    run(
        """\
transaction produce t --value a
expect error INVALID_TXN_STATE
transaction commit
expect error INVALID_TXN_STATE
transaction begin
transaction begin
expect error INVALID_TXN_STATE
produce t --value a
expect error INVALID_TXN_STATE
produce t --value other --producer p2
transaction commit
expect error NONE
transaction begin
transaction abort
expect error NONE
"""
    )


def test_releases_before_0_11_have_no_transactions() -> None:
    script = TOPIC.replace(" --config transaction.state.log.num.partitions=1", "")
    text = script + "transaction begin\nexpect error UNSUPPORTED_VERSION\n"
    text += "consume t --isolation read_committed\nexpect error UNSUPPORTED_VERSION\n"
    runner = ScriptRunner(
        parse_script(text, "script", cluster_options=("--version", "0.10.2")), Pace()
    )
    runner.run(lambda step, outcome: None)
    assert (runner.tally.failed, runner.tally.passed) == ([], 2)


def test_a_consumer_with_a_limit_counts_only_the_records_that_it_gets() -> None:
    run(
        """\
produce t --value a --acks all --producer plain
transaction begin
transaction produce t --value gone --count 3
transaction abort
settle
produce t --value b --count 3 --acks all --producer plain
settle
consume t --isolation read_committed --max 2
expect consumer.c1.values == [a,b-0] and consumer.c1.position == 6
consume t --max 2 --offset 2
expect consumer.c1.values == [gone-1,gone-2]
"""
    )


def test_records_in_flight_are_waited_for_before_the_end() -> None:
    run(
        """\
transaction begin
transaction produce t --value a --count 20 --async
transaction commit
expect error NONE
settle
expect producer.p1.acked == 20 and producer.p1.pending == 0
consume t --isolation read_committed
expect consumer.c1.position == 21
"""
    )


def test_a_transaction_without_a_coordinator_names_the_topic_of_transactions() -> None:
    outcome = Lab("3.9", brokers=2).do(BeginTransaction())
    assert outcome.error == "COORDINATOR_NOT_AVAILABLE"
    assert outcome.message.startswith(
        "__transaction_state is made with transaction.state.log.replication.factor=3, and 2 brokers"
    )
