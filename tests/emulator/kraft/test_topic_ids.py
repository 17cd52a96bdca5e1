"""Followers name topics by id (KIP-516): a re-created topic is not the old one."""

from emulator.events import Event, IsrChangeStarted, RequestRefused
from emulator.inputs import statements as inputs
from tests.emulator.kraft.test_soak import cluster
from tests.support.kraft_faults import give, wait


def test_a_leader_that_knows_only_the_deleted_topic_refuses_followers_of_the_new_one() -> None:
    """The leader is far from the controller, so its followers are ahead of it for 700 ms.

    They ask again after replica.fetch.backoff.ms, and all join the ISR. Without ids they would be
    fenced by the old topic's leader epoch, and would not fetch the new one any more.
    """
    runner = cluster("4.1", seed=1, controllers=1)
    seen: list[Event] = []
    runner.cluster.subscribe(seen.append)
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    give(runner, inputs.CrashBroker(broker=0))  # the leader epoch is no longer that of a new topic
    wait(runner, 10_000)
    give(runner, inputs.StartBroker(broker=0))
    wait(runner, 10_000)
    give(runner, inputs.ElectPreferred())
    wait(runner, 1_000)
    give(runner, inputs.DelayLink(source=100, destination=0, delay_us=700_000))
    give(runner, inputs.DeleteTopic(topic="t"))
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    wait(runner, 10_000)
    refused = {(e.source, e.error) for e in seen if isinstance(e, RequestRefused)}
    assert refused == {(1, "UNKNOWN_TOPIC_ID"), (2, "UNKNOWN_TOPIC_ID")}
    info = runner.cluster.state_of("t-0")
    assert info is not None
    assert (info.leader, info.leader_epoch, sorted(info.isr)) == (0, 0, [0, 1, 2])
    assert not [e for e in seen if isinstance(e, IsrChangeStarted) and e.change == "shrink"]
