"""The files on a broker's disk: what they contain, as time goes by and through a crash."""

from emulator.events import Event
from emulator.inputs.statements import CrashBroker, StopBroker, Wait
from sessions.model.checkpoint_files import checkpoint_files
from sessions.model.cluster_view import ClusterView
from tests.support.running import do, produce, with_topic


def files(seen: list[Event], broker: int) -> dict[str, tuple[str, ...]]:
    view = ClusterView()
    for event in seen:
        view.apply(event)
    return {each.path: each.lines for each in checkpoint_files(view.state, broker)}


def test_the_files_are_written_by_their_own_clocks_and_survive_the_process() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, produce("a", count=3))
    epochs = ("0", "1", "0 0")
    assert files(seen, 2) == {
        "replication-offset-checkpoint": (),
        "recovery-point-offset-checkpoint": (),
        "t-0/leader-epoch-checkpoint": epochs,
    }
    do(cluster, Wait(duration_us=40_000_000), produce("b"), CrashBroker(broker=2))
    assert files(seen, 2) == {
        "replication-offset-checkpoint": ("0", "1", "t 0 3"),
        "recovery-point-offset-checkpoint": ("0", "1", "t 0 0"),
        "t-0/leader-epoch-checkpoint": epochs,
    }
    do(cluster, StopBroker(broker=1))
    assert files(seen, 1)["replication-offset-checkpoint"] == ("0", "1", "t 0 4")
    assert files(seen, 1)["recovery-point-offset-checkpoint"] == ("0", "1", "t 0 4")
    assert files(seen, 3) == {
        "replication-offset-checkpoint": (),
        "recovery-point-offset-checkpoint": (),
    }


def test_before_0_11_there_is_no_file_of_leader_epochs_but_in_the_documents() -> None:
    for version, has_epochs in (("0.10.2", False), ("documents", True)):
        cluster, seen = with_topic(1, 2, version=version)
        do(cluster, produce("a"))
        assert ("t-0/leader-epoch-checkpoint" in files(seen, 1)) == has_epochs
