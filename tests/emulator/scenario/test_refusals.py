"""What is said of things that do not exist."""

import pytest

from commands.language.parser import parse_script
from commands.runs.driver import Pace
from commands.runs.script_runner import ScriptRunner

KRAFT = "cluster --version 4.1\ntopic create orders --replica-assignment 0:1\n"
ZOOKEEPER = "cluster --version 3.9\ntopic create orders --replica-assignment 0:1\n"


def messages_of(text: str) -> list[str]:
    runner = ScriptRunner(parse_script(text, "-"), Pace())
    messages: list[str] = []
    runner.run(lambda step, outcome: messages.append(outcome.message))
    return messages


@pytest.mark.parametrize(
    ("begun", "condition", "said"),
    [
        (KRAFT, "ordrs-0.leader == 0", "there is no partition ordrs-0; the nearest is orders-0"),
        (KRAFT, "orders-7@1.leo == 0", "there is no partition orders-7; the nearest is orders-0"),
        (KRAFT, "broker.7.fenced == true", "there is no broker 7; there are 0, 1, 2"),
        (
            KRAFT,
            "quorum.105 == equal",
            "no host 105; brokers are 0, 1, 2, controllers 100",
        ),
        (KRAFT, "zk./controller.version == 0", "there is no ZooKeeper in KRaft mode"),
        (ZOOKEEPER, "quorum.leader == 100", "there is a quorum only in KRaft mode"),
        (ZOOKEEPER, "broker.1.fenced == true", "there is 'fenced' only in KRaft mode"),
        (ZOOKEEPER, "orders-0.elr == [1]", "there is 'elr' only in KRaft mode"),
        (ZOOKEEPER, "producer.p2.acked == 0", "there is no producer p2; there is none yet"),
        (
            f"{ZOOKEEPER}produce orders\nconsume orders\n",
            "producer.p2.acked == 0",
            "there is no producer p2; the nearest is p1",
        ),
        (
            f"{ZOOKEEPER}consume orders\n",
            "consumer.c2.position == 0",
            "there is no consumer c2; the nearest is c1",
        ),
        (KRAFT, "orders-0.elr == [1]", "it is []"),
        (KRAFT, "orders-0@2.leo == 0", "it is nothing"),
    ],
)
def test_a_condition_on_what_does_not_exist_says_so(begun: str, condition: str, said: str) -> None:
    assert said in messages_of(f"{begun}expect {condition}\n")[-1]
