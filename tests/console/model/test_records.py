from commands.runs.console_library import ConsoleLibrary
from console.model.records import Losses, holders_of
from emulator import events
from sessions.model.states import PartitionState, ReplicaState, Run


def audit(seq: int, lost: list[tuple[int, int]], tp: str = "t-0") -> events.AuditChanged:
    return events.AuditChanged(seq, seq * 1_000, 0, tp, lost, [], [], [])


def test_a_loss_is_counted_once_and_may_come_back() -> None:
    losses = Losses()
    assert losses.audited(audit(10, [(3, 7)])) == 1
    assert losses.audited(audit(11, [(3, 7), (4, 8)])) == 1
    assert losses.audited(audit(12, [(4, 8)], "t-1")) == 1
    assert losses.audited(audit(13, [(4, 8)])) == 0
    assert [(each.tp, each.record, each.back_seq) for each in losses.up_to(13)] == [
        ("t-0", 7, 13),
        ("t-0", 8, None),
        ("t-1", 8, None),
    ]
    assert len(losses.up_to(10)) == 1
    assert losses.audited(audit(14, [(3, 7), (4, 8)])) == 1, "it is lost again"


def test_a_record_is_lost_once_although_its_partition_has_no_leader_meanwhile() -> None:
    losses = Losses()
    assert losses.audited(audit(10, [(3, 7), (4, 8)])) == 2
    assert losses.audited(audit(12, []), is_led=False) == 0
    assert [each.back_seq for each in losses.up_to(12)] == [None, None]
    losses.led_again("t-0", 15)
    assert [each.back_seq for each in losses.up_to(15)] == [15, 15]
    found = events.AuditChanged(16, 16_000, 15, "t-0", [(4, 8)], [], [], [])
    assert losses.audited(found) == 0, "one record is one loss"
    assert [(each.record, each.back_seq) for each in losses.up_to(16)] == [(7, 15), (8, None)]


def test_a_truncation_names_the_records_of_every_run_that_it_truncates() -> None:
    log = [Run(0, 3, 0, 100), Run(3, 2, 1, 200), Run(5, 4, 2, 300)]
    replica = ReplicaState(2, "follower", 9, 4, log=log)
    losses = Losses()
    event = events.LogTruncated(20, 20_000, 0, "t-0", 2, 4, 9, "leader epoch")
    losses.truncated(event, replica)
    found = losses.truncation("t-0", 20)
    assert found is not None
    assert found.runs == ((201, 1), (300, 4))
    assert found.records == [201, 300, 301, 302, 303]
    losses.audited(audit(21, [(4, 201)]))
    (loss,) = losses.up_to(21)
    assert losses.truncations_of(loss, 21) == [found]
    assert losses.truncations_of(loss, 19) == []
    partition = PartitionState("t", 0, [1, 2], replica_states={2: replica})
    assert holders_of(partition, 201) == [2]
    assert holders_of(partition, 999) == []


def test_the_losses_of_a_real_run_are_those_that_its_audit_ends_with() -> None:
    from console.model.timeline import Timeline

    opened = ConsoleLibrary().open_scenario("V7-stale-hw-restart", "0.10.2")
    try:
        source = opened.source
        source.to_tail()
        timeline = Timeline(source)
        timeline.read_on(60_000)
        now = {
            (tp, record)
            for tp, partition in source.view.partitions.items()
            for _, record in partition.lost
        }
        losses = timeline.losses.up_to(source.last_seq)
        assert now == {(each.tp, each.record) for each in losses if each.back_seq is None} != set()
        assert all(timeline.losses.truncations_of(each, source.last_seq) for each in losses)
    finally:
        opened.close()
