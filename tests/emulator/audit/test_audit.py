"""Ground truth: what was acknowledged, and whether the logs still have it."""

import pytest

from emulator import events
from emulator.audit.ground_truth import Audit, AuditState
from emulator.events import Event
from emulator.inputs.statements import (
    Consume,
    CrashBroker,
    FreezeBroker,
    Settle,
    StartBroker,
    ThawBroker,
)
from emulator.protocol import RecordBatch
from emulator.simulation.kernel import Kernel, KernelState
from emulator.storage.log import Log
from tests.support.disks import Disks
from tests.support.running import do, produce, until, with_topic


def _log(*firsts: int) -> Log:
    log = Log()
    for first in firsts:
        log.append(RecordBatch(log.end, 1, 0, first))
    return log


def _audited(logs: dict[int, Log]) -> tuple[Audit, Kernel, list[Event]]:
    seen: list[Event] = []
    kernel = Kernel(KernelState(random_state=1))
    kernel.subscribe(seen.append, [events.AuditChanged])
    audit = Audit(AuditState(), kernel, Disks("t-0", logs), {"t-0": list(logs)})
    kernel.emit(events.PartitionStateChanged, "t-0", 0, 0, [0, 1], 1, 0)
    return audit, kernel, seen


def test_an_acknowledged_record_that_the_leader_lacks_is_lost() -> None:
    audit, kernel, seen = _audited({0: _log(1), 1: _log(1, 2)})
    kernel.emit(events.ProduceAcknowledged, "p", "t-0", 2, 1, 1)
    kernel.emit(events.LogTruncated, "t-0", 0, 1, 2, "test")
    audit.flush()
    assert audit.count("lost") == 1
    assert [each.lost for each in seen if isinstance(each, events.AuditChanged)] == [[(1, 2)]]


def test_nothing_is_lost_while_the_leader_has_it() -> None:
    audit, kernel, seen = _audited({0: _log(1, 2), 1: _log(1)})
    kernel.emit(events.ProduceAcknowledged, "p", "t-0", 2, 1, 1)
    kernel.emit(events.LogTruncated, "t-0", 1, 1, 2, "test")
    audit.flush()
    assert audit.count("lost") == 0
    assert seen == []


def test_a_record_that_is_there_twice_is_a_duplicate() -> None:
    audit, kernel, _ = _audited({0: _log(1, 1)})
    kernel.emit(events.ProduceRetried, "p", "t-0", 1, "NETWORK_EXCEPTION", True)
    kernel.emit(events.RecordsAppended, "t-0", 0, 1, 1, 0, 1)
    audit.flush()
    assert audit.count("duplicated") == 1


def test_logs_that_hold_different_records_at_one_offset_diverge() -> None:
    audit, kernel, _ = _audited({0: _log(1, 2), 1: _log(1, 3)})
    kernel.emit(events.RecordsAppended, "t-0", 1, 1, 1, 0, 3)
    audit.flush()
    assert audit.state.partitions["t-0"].diverged == [(1, 2)]


def test_records_of_an_offline_partition_are_unavailable_not_lost() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a"), Settle(), CrashBroker(broker=2), until("t-0", "isr", [1]))
    do(cluster, produce("b"), CrashBroker(broker=1), until("t-0", "leader", -1), Settle())
    assert cluster.audit.count("lost") == 0


def test_what_a_consumer_was_given_and_is_gone_is_consumed_lost() -> None:
    cluster, _ = with_topic(1, 2, version="0.10.2")
    do(cluster, produce("a"), Settle(), CrashBroker(broker=2), until("t-0", "isr", [1]))
    do(cluster, produce("b"), Consume(topic="t"), CrashBroker(broker=1), until("t-0", "leader", -1))
    do(cluster, StartBroker(broker=2), until("t-0", "leader", 2), Settle())
    assert cluster.audit.count("lost") == 1
    assert cluster.audit.count("consumed_lost") == 1


@pytest.mark.parametrize("version", ["0.10.2", "3.9"])
def test_acks_1_loses_what_no_follower_had(version: str) -> None:
    cluster, _ = with_topic(1, 2, 3, version=version)
    do(cluster, produce("a"), Settle(), FreezeBroker(broker=2), FreezeBroker(broker=3))
    do(cluster, produce("b", acks=1, count=2), CrashBroker(broker=1))
    do(cluster, ThawBroker(broker=2), ThawBroker(broker=3), until("t-0", "leader", 2), Settle())
    assert cluster.audit.count("acked") == 3
    assert cluster.audit.count("lost") == 2


def test_what_partitions_share_to_which_nobody_wrote_stays_empty() -> None:
    audit, kernel, _ = _audited({0: _log(1)})
    kernel.emit(events.ProduceAcknowledged, "p", "t-0", 1, 1, 0)
    kernel.emit(events.RecordsConsumed, "c", "t-0", 0, [(1, 1)], 1)
    kernel.emit(events.PartitionStateChanged, "t-1", 0, 0, [0, 1], 1, 0)
    written, other = (audit.state.partitions[tp] for tp in ("t-0", "t-1"))
    assert written.acked
    assert written.consumed
    assert not other.acked
    assert not other.consumed
