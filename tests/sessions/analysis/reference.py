"""The jobs in plain Python, straight from events: no tables, no windows, no speed."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from emulator.events import (
    Event,
    PartitionStateChanged,
    RecordsAppended,
    ReplicaRoleChanged,
)
from tests.sessions.dataset.reference import Moment, expected_produced

Row = dict[str, Any]


def expected_commit_latency(session: str, events: list[Event], end_us: int) -> list[Row]:
    """The rows of ``commit_latency`` of one session, by partition."""
    produced = expected_produced(events)
    tps = sorted({event.tp for event in events if isinstance(event, PartitionStateChanged)})
    return [
        {
            "session": session,
            "tp": tp,
            "topic": tp.rpartition("-")[0],
            "partition": int(tp.rpartition("-")[2]),
            **_records([row for row in produced if row["tp"] == tp]),
            **_lag(tp, events, end_us),
            **_rounds(tp, events, [row for row in produced if row["tp"] == tp]),
        }
        for tp in tps
    ]


def _records(produced: list[Row]) -> Row:
    committed = [row for row in produced if row["committed_us"] is not None]
    acked = [row for row in produced if row["outcome"] == "acked"]
    commits = [row["committed_us"] - row["sent_us"] for row in committed]
    slowest = [row for row in committed if row["committed_us"] - row["sent_us"] == max(commits)]
    return {
        "records": len(produced),
        "acked": len(acked),
        "failed": sum(row["outcome"] == "failed" for row in produced),
        "pending": sum(row["outcome"] == "pending" for row in produced),
        "committed": len(committed),
        **percentiles("commit", commits),
        "slowest_seq": min((row["sent_seq"] for row in slowest), default=None),
        **percentiles("ack", [row["answered_us"] - row["sent_us"] for row in acked]),
    }


def percentiles(prefix: str, values: Iterable[int]) -> Row:
    """Nearest-rank percentiles: the first value at or above which that share of all values ends."""
    ordered = sorted(values)
    ranks = {percent: -(-len(ordered) * percent // 100) for percent in (50, 95, 99)}
    found = {
        f"{prefix}_p{percent}_us": ordered[rank - 1] if ordered else None
        for percent, rank in ranks.items()
    }
    return {**found, f"{prefix}_max_us": max(ordered, default=None)}


def _lag(tp: str, events: list[Event], end_us: int) -> Row:
    """LEO - HW of the leader between each event and the next one, taken one by one."""
    moment = Moment()
    stretches: list[tuple[int, int, int]] = []  # lag, time, first event of this state
    before: Row = {}
    since = 0
    for event, after_us in zip(events, [*(e.time_us for e in events[1:]), end_us], strict=True):
        moment.apply(event)
        state = moment.partition(tp)
        if state != before:
            before, since = state, event.seq
        if state["hw"] is not None and after_us > event.time_us:
            stretches.append((state["leo"] - state["hw"], after_us - event.time_us, since))
    total = sum(time for _, time, _ in stretches)
    most = max((lag for lag, _, _ in stretches), default=None)
    return {
        "online_us": total,
        "hw_lag_mean": sum(lag * time for lag, time, _ in stretches) / total if total else None,
        "hw_lag_max": most,
        "hw_lag_max_seq": next((first for lag, _, first in stretches if lag == most), None),
    }


def _rounds(tp: str, events: list[Event], produced: list[Row]) -> Row:
    """For each record the writes of in-sync followers between its append and its commit."""
    writes: list[int] = []
    followers_at: dict[int, int] = {}
    isr: list[int] = []
    following: set[int] = set()
    for event in events:
        match event:
            case PartitionStateChanged() if event.tp == tp:
                isr = event.isr
            case ReplicaRoleChanged() if event.tp == tp:
                change = following.add if event.role == "follower" else following.discard
                change(event.broker)
            case RecordsAppended() if event.tp == tp and event.broker in following & {*isr}:
                writes.append(event.seq)
        followers_at[event.seq] = len(isr) - 1
    each = []
    for row in produced:
        if row["committed_seq"] is not None and row["appended_seq"] is not None:
            begin, end = row["appended_seq"], row["committed_seq"]
            between = bisect_left(writes, end + 1) - bisect_left(writes, begin + 1)
            each.append(between / followers_at[end] if followers_at[end] > 0 else 0.0)
    return {
        "rounds_mean": sum(each) / len(each) if each else None,
        "rounds_max": max(each, default=None),
    }
