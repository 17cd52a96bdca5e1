"""A broker that has restarted is not taken for its previous process (KIP-903)."""

import pytest

from commands.language.parser import parse_script
from commands.runs.driver import Pace
from commands.runs.run import started
from commands.runs.script_runner import ScriptRunner
from emulator.events import Event, IsrChangeStarted, MessageSent, RequestRefused
from emulator.protocol import FetchPartition, FetchRequest

SCRIPT = """cluster --brokers 3 --config broker.session.timeout.ms=60000 \
  --config replica.lag.time.max.ms=60000
topic create t --replica-assignment 0:1:2
settle
broker stop 2
wait until t-0.isr == [0,1]
network cut 0 2
broker start 2
wait until broker.2.fenced == false
wait 1s
network cut 0 100
network heal 0 2
wait 3s
broker stop 2
wait 3s
broker start 2
wait until broker.2.fenced == false
wait 3s
network heal 0 100
wait until t-0.isr == [0,1,2]
settle
"""
"""Broker 2 restarts while the leader, cut off from the controller, wants it in the ISR."""


def run(release: str) -> tuple[ScriptRunner, list[Event]]:
    options = ["--version", release, "--mode", "kraft"]
    runner = started(parse_script(SCRIPT, release, {}, options), Pace(), None)
    seen: list[Event] = []
    runner.cluster.subscribe(seen.append)
    runner.run(lambda _step, _outcome: None)
    return runner, seen


@pytest.mark.parametrize(("release", "proposals"), [("3.4.1", 1), ("3.5.2", 2), ("3.9.2", 2)])
def test_a_change_proposed_before_the_restart_of_its_member_is_refused(
    release: str, proposals: int
) -> None:
    _, seen = run(release)
    expansions = [e for e in seen if isinstance(e, IsrChangeStarted) and e.change == "expand"]
    assert [each.isr for each in expansions] == [[0, 1, 2]] * proposals


@pytest.mark.parametrize(("sent", "error"), [(-1, False), (0, False), (-2, True)])
def test_a_leader_refuses_fetches_of_the_previous_process(sent: int, error: bool) -> None:
    """``sent``: the current broker epoch (0), none (-1) or an earlier one (-2)."""
    runner, seen = run("3.9.2")
    cluster = runner.cluster
    current = cluster.state.brokers[2].broker_epoch
    epoch = {-1: -1, 0: current, -2: current - 1}[sent]
    assert cluster.kraft is not None
    wanted = FetchPartition(
        0,
        cluster.state.brokers[0].replicas["t-0"].leader_epoch,
        topic_id=cluster.kraft.committed.image.topic_ids["t"],
    )
    request = FetchRequest(
        2,
        0,
        {"t-0": wanted},
        one_shot=True,
        replica_epoch=epoch,
    )
    number = cluster.network.send(2, 0, request)
    runner.runner.run_until(cluster.now_us + 1_000_000)
    [response] = [
        each
        for each in seen
        if isinstance(each, MessageSent) and each.name == "FetchResponse" and each.request == number
    ]
    refused = [e for e in seen if isinstance(e, RequestRefused) and e.request == number]
    assert ("NOT_LEADER_OR_FOLLOWER" in str(response.detail)) is error
    assert [(each.given, each.known) for each in refused] == [(epoch, current)] * error


def test_the_proposal_names_the_epochs_that_the_members_fetched_with() -> None:
    runner, _ = run("3.5.2")
    cluster = runner.cluster
    epochs = [cluster.state.brokers[member].broker_epoch for member in (0, 1, 2)]
    leader = cluster.brokers[0]
    replica = leader.core.replicas.by_name["t-0"]
    assert leader.core.sessions.replica_epochs(replica, [0, 1, 2]) == epochs
    assert leader.core.sessions.replica_epochs(replica, [0, 7]) == [epochs[0], -1]
