"""The verdict on a cluster, by what people lose."""

from collections.abc import Callable

import pytest

from sessions.model.cluster_view import ClusterView
from sessions.model.health import Counts, writes_of
from sessions.model.summary import contract
from sessions.model.verdict import brokers_in_words, names_in_words, verdict, verdicts, words
from tests.support.script_events import viewed

UP = Counts(brokers_up=3, brokers=3, partitions=4)
TOPIC = """\
topic create orders --replica-assignment 1:2:0,2:0:1 --config min.insync.replicas=2
wait until orders-0.leader == 1
produce orders --count 6 --acks all
"""
ZOOKEEPER = "cluster --brokers 3 --version 3.9 --config zookeeper.session.timeout.ms=6000\n" + TOPIC
KRAFT = "cluster --brokers 3 --controllers 3 --version 4.1\n" + TOPIC


@pytest.mark.parametrize(
    ("counts", "kinds"),
    [
        (UP, ["healthy"]),
        (Counts(2, 3, 4), ["brokers down"]),
        (Counts(3, 3, 4, offline=1, blocked=2, refused=1), ["offline", "blocked", "refused"]),
        (Counts(3, 3, 4, refused=1, trouble=2), ["refused", "no controller"]),
        (Counts(3, 3, 4, trouble=2, lost_records=5), ["no controller", "lost"]),
        (Counts(3, 3, 4, trouble=1, unclean=1), ["zookeeper cut", "unclean"]),
        (Counts(3, 3, 4, trouble=3), ["zookeeper unreachable"]),
        (Counts(3, 3, 4, trouble=4, under_replicated=1), ["quorum lost", "under_replicated"]),
    ],
)  # fmt: skip
def test_what_people_lose_comes_first(counts: Counts, kinds: list[str]) -> None:
    assert [held.kind for held in verdicts(counts)] == kinds


def test_only_losses_are_written_in_capitals() -> None:
    for counts in (Counts(3, 3, 4, **{name: 1}) for name in Counts.__struct_fields__[3:]):
        for held in verdicts(counts):
            assert held.headline.isupper() == held.is_loss


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("", "healthy: 2 partitions"),
        ("broker crash 1\n", "WRITES BLOCKED: 2 partitions wait for broker 1, until 00:00:"),
        ("broker crash 1\nwait 20s\n", "at min ISR: 2 partitions"),
        (
            "broker crash 1\nwait 20s\nbroker crash 2\nwait 20s\n",
            "WRITES REFUSED: 2 partitions below min.insync.replicas",
        ),
    ],
)
@pytest.mark.parametrize("cluster", [ZOOKEEPER, KRAFT], ids=["zookeeper", "kraft"])
def test_both_modes_say_the_same(cluster: str, script: str, said: str) -> None:
    view = viewed(cluster + script)
    assert words(view, verdict(view.counts())).startswith(said)


@pytest.mark.parametrize(
    ("frozen", "said"),
    [
        ("controller freeze 100\n", "NO CONTROLLER: controller 100 is frozen"),
        (
            "controller freeze 100\ncontroller freeze 101\n",
            "QUORUM LOST: 1 of 3 controllers run, nobody can elect a leader or change an ISR",
        ),
    ],
)
def test_a_frozen_controller_is_replaced_if_a_majority_runs(frozen: str, said: str) -> None:
    view = viewed("cluster --brokers 2 --controllers 3 --version 4.1 --seed 1\n" + frozen)
    assert words(view, verdict(view.counts())) == said


def test_a_leader_that_nobody_can_follow_is_waited_for_without_end() -> None:
    view = viewed(
        "cluster --brokers 2 --version 3.9\ntopic create t --replica-assignment 1\n"
        "wait until t-0.leader == 1\nbroker crash 1\n"
    )
    said = "WRITES BLOCKED: 1 partition waits for broker 1 (crashed)"
    assert words(view, verdict(view.counts())) == said


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ("network isolate 1\nwait 1s", "WRITES BLOCKED: 2 partitions wait for broker 1 (cut off)"),
        (
            "network cut 1 2\nwait 1s",
            "WRITES BLOCKED: 2 partitions wait for brokers 1 and 2 (cut off)",
        ),
        (
            "network cut zk 0\nnetwork isolate 2\nwait 1s",
            "WRITES BLOCKED: 2 partitions wait for broker 2 (cut off)",
        ),
        (
            "network hold 2 1 --only Fetch",
            "WRITES BLOCKED: 1 partition waits for broker 2 (cut off)",
        ),
        ("replica pause orders-0@0", "WRITES BLOCKED: 1 partition waits for broker 0 (paused)"),
        ("broker freeze 0", "WRITES BLOCKED: 2 partitions wait for broker 0, until 00:00:"),
        (
            "broker crash 0\nreplica pause orders-0@2",
            "WRITES BLOCKED: 2 partitions wait for brokers 0 and 2 (0 crashed, 2 paused)",
        ),
        (
            "broker crash 0\nwait 10s\nreplica pause orders-0@2\nproduce orders --partition 0 "
            "--acks 1\nwait 60s",
            "WRITES REFUSED: 1 partition below min.insync.replicas without brokers 0 and 2 "
            "(0 crashed, 2 behind)",
        ),
    ],
)
def test_who_keeps_writes_from_being_acknowledged_is_named_with_the_reason(
    faults: str, said: str
) -> None:
    view = viewed(ZOOKEEPER + faults + "\n")
    assert words(view, verdict(view.counts())).startswith(said)


def test_that_a_broker_is_frozen_is_said_after_the_time() -> None:
    view = viewed(ZOOKEEPER + "broker freeze 0\n")
    assert words(view, verdict(view.counts())).endswith(" at the latest (frozen)")


def test_lost_records_are_counted_and_their_partitions_named() -> None:
    view = viewed(
        "cluster --brokers 2 --version 3.9 --config zookeeper.session.timeout.ms=6000\n"
        "topic create t --replica-assignment 0:1 --config unclean.leader.election.enable=true\n"
        "wait until t-0.leader == 0\nwait 1s\nreplica pause t-0@1\nproduce t --count 3 --acks 1\n"
        "wait 60s\nbroker crash 0\nwait 20s\n"
    )
    assert view.counts().lost_records == 3
    held = {held.kind: words(view, held) for held in verdicts(view.counts())}
    assert held["lost"] == "3 RECORDS LOST: acknowledged records of t-0"
    assert held["unclean"] == "unclean leader: 1 partition, 3 records lost of t-0"


def test_the_result_of_a_script_has_the_verdicts() -> None:
    found = contract(viewed(ZOOKEEPER + "broker crash 1\n"))["verdicts"]
    assert [held["kind"] for held in found] == ["blocked", "brokers down"]
    assert found[0]["text"].startswith("WRITES BLOCKED: 2 partitions wait for broker 1, until")


def test_a_copy_and_an_encoded_state_come_to_the_same_counts() -> None:
    view = viewed(ZOOKEEPER + "broker crash 1\nnetwork cut 0 zk\nnetwork cut 2 zk\n")
    for copied in (view.copy(), ClusterView.decode(view.encode())):
        assert copied.counts() == view.counts()
        assert copied.blocked() == view.blocked()
    assert view.counts().trouble


def test_writes_are_taken_by_nobody_refused_or_wait() -> None:
    view = viewed(ZOOKEEPER + "broker crash 1\n")
    assert {tp: writes_of(view.flags(tp)) for tp in view.partitions} == {
        "orders-0": "nobody",
        "orders-1": "waiting",
    }


@pytest.mark.parametrize(
    ("told", "given", "said"),
    [
        (brokers_in_words, (2,), "broker 2"),
        (brokers_in_words, (1, 2, 3), "brokers 1, 2 and 3"),
        (brokers_in_words, (1, 2, 3, 4), "4 brokers"),
        (names_in_words, ["a-0"], "a-0"),
        (names_in_words, ["a-0", "a-1", "a-2", "a-3"], "a-0, a-1 and 2 more"),
    ],
)
def test_many_are_counted(told: Callable[[object], str], given: object, said: str) -> None:
    assert told(given) == said
