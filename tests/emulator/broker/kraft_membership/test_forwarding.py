"""What a broker in KRaft mode checks before it forwards a request to the controller."""

import pytest

from commands.language.parser import parse_script
from commands.runs.driver import Pace
from commands.runs.json_result import json_object
from commands.runs.run import started

NONE, REFUSED = "NONE", "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("broker", "change", "error"),
    [
        ("default", "min.insync.replicas=2", NONE),
        ("default", "min.insync.replicas=0", REFUSED),
        ("default", "unclean.leader.election.enable=perhaps", REFUSED),
        ("default", "replica.lag.time.max.ms=5000", REFUSED),
        ("default", "log.retention.hours=2", REFUSED),
        ("default", "--delete replica.lag.time.max.ms", NONE),
        ("default", "no.such.config=1", NONE),
        ("0", "log.retention.ms=7000000", NONE),
        ("0", "log.retention.ms=soon", REFUSED),
        ("1", "log.retention.ms=7000000", REFUSED),
    ],
)
def test_a_broker_validates_the_configurations_of_brokers(
    broker: str, change: str, error: str
) -> None:
    statement = f"config broker {broker} {change}"
    script = f"cluster --brokers 2\n{statement}\nwait 1s\ntopic create t --replica-assignment 0"
    runner = started(parse_script(script, "", {}, ["--version", "4.1.2"]), Pace(), None)
    runner.run(lambda step, outcome: None)
    changed, created = json_object(runner)["outputs"]
    assert changed["result"] == {broker: error}
    assert created["result"] == {"t": NONE}
