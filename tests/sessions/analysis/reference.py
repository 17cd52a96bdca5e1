"""The jobs in plain Python, straight from events: no tables, no windows, no speed."""

from bisect import bisect_left
from typing import NamedTuple

from emulator.events import (
    Event,
    PartitionStateChanged,
    RecordsAppended,
    ReplicaRoleChanged,
)
from tests.sessions.analysis.followed import Followed, Release, Row, percentiles, place
from tests.sessions.dataset.reference import Moment, expected_produced

TIMES = [
    f"{what}_{name}"
    for what in ("commit", "ack")
    for name in ("n", "p50_us", "p95_us", "p99_us", "max_us")
]
OF_RELEASE = {"records", *TIMES}


class Lag(NamedTuple):
    """LEO - HW of a leader (None: there is none) from an event until ``until_us``.

    ``since`` is the first event after which all values of the partition were what they are.
    """

    event: Event
    lag: int | None
    until_us: int
    since: int


Lags = dict[str, list[Lag]]


def expected_commit_latency(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``commit_latency`` of one session, by partition and acks."""
    produced = expected_produced(events)
    ways = sorted({(row["tp"], row["acks"]) for row in produced})
    return [
        {
            **place(session, tp),
            "acks": acks,
            **_records([row for row in produced if (row["tp"], row["acks"]) == (tp, acks)]),
        }
        for tp, acks in ways
    ]


def expected_hw_lag(session: str, events: list[Event], lags_by_tp: Lags) -> list[Row]:
    """The rows of ``hw_lag`` of one session, by partition."""
    produced = expected_produced(events)
    return [
        {
            **place(session, tp),
            **_lag(lags),
            **_rounds(tp, events, [row for row in produced if row["tp"] == tp]),
        }
        for tp, lags in lags_by_tp.items()
    ]


def expected_latency(told: dict[str, list[Event]], releases: dict[str, Release]) -> list[Row]:
    """The rows of ``latency`` of all sessions, by release and acks."""
    rows = [
        {**row, "session": name, "release": releases[name]}
        for name, events in told.items()
        for row in expected_produced(events)
    ]
    found = []
    for release, acks in sorted({(row["release"], row["acks"]) for row in rows}):
        mine = [row for row in rows if (row["release"], row["acks"]) == (release, acks)]
        found.append(
            {
                "version": release[0],
                "mode": release[1],
                "acks": acks,
                "sessions": len({row["session"] for row in mine}),
                **{key: value for key, value in _records(mine).items() if key in OF_RELEASE},
            }
        )
    return found


def _records(produced: list[Row]) -> Row:
    committed = [row for row in produced if row["committed_us"] is not None]
    acked = [row for row in produced if row["outcome"] == "acked"]
    commits = [row["committed_us"] - row["sent_us"] for row in committed]
    slowest = [row for row in committed if row["committed_us"] - row["sent_us"] == max(commits)]
    return {
        "records": len(produced),
        "acked": len(acked),
        "sent": sum(row["outcome"] == "sent" for row in produced),
        "failed": sum(row["outcome"] == "failed" for row in produced),
        "pending": sum(row["outcome"] == "pending" for row in produced),
        "committed": len(committed),
        **percentiles("commit", commits),
        "slowest_seq": min((row["sent_seq"] for row in slowest), default=None),
        **percentiles("ack", [row["answered_us"] - row["sent_us"] for row in acked]),
    }


def _lag(lags: list[Lag]) -> Row:
    """LEO - HW of the leader between each event and the next one, taken one by one."""
    stretches = [  # lag, time, first event of this state
        (lag, until_us - event.time_us, since)
        for event, lag, until_us, since in lags
        if lag is not None and until_us > event.time_us
    ]
    longest, longest_seq = _longest_lag(lags)
    total = sum(time for _, time, _ in stretches)
    most = max((lag for lag, _, _ in stretches), default=None)
    return {
        "online_us": total,
        "hw_lag_mean": sum(lag * time for lag, time, _ in stretches) / total if total else None,
        "hw_lag_max": most,
        "hw_lag_max_seq": next((first for lag, _, first in stretches if lag == most), None),
        "hw_lag_longest_us": longest if total else None,
        "hw_lag_longest_seq": longest_seq,
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


def lags_of(events: list[Event], end_us: int) -> Lags:
    """The lag after each event, of each partition that ever existed, if only as an assignment.

    A partition has none before the first event that names it.
    """
    moment, followed = Moment(), Followed(events)
    lags: dict[str, list[Lag]] = {}
    before: dict[str, Row] = {}
    existed: set[str] = set()
    for event, until_us in zip(followed, [*(e.time_us for e in events[1:]), end_us], strict=True):
        moment.apply(event)
        for tp, also in followed.partitions.items():
            state = moment.partition(tp)
            values = {**state, "also": (list(also.replicas), also.min_isr, also.unclean)}
            known = lags.setdefault(tp, [])
            since = known[-1].since if before.get(tp) == values else event.seq
            before[tp] = values
            lag = None if state["hw"] is None else state["leo"] - state["hw"]
            known.append(Lag(event, lag, until_us, since))
            if also.exists:
                existed.add(tp)
    return {tp: lags[tp] for tp in sorted(existed)}


def _longest_lag(lags: list[Lag]) -> tuple[int, int | None]:
    """The longest time in which the LEO was above the HW all along, and where it began."""
    longest, longest_seq = 0, None
    began: Event | None = None
    for event, lag, until_us, _ in lags:
        if not lag:
            began = None
            continue
        began = began or event
        if until_us - began.time_us > longest:
            longest, longest_seq = until_us - began.time_us, began.seq
    return longest, longest_seq


def expected_lag_timeline(session: str, end_us: int, lags_by_tp: Lags) -> list[Row]:
    """The rows of ``hw_lag_timeline`` of one session."""
    width = max(1, -(-end_us // 100))
    rows = []
    for tp, lags in lags_by_tp.items():
        inside: dict[int, list[tuple[int, int, int]]] = {}
        for event, lag, until_us, since in lags:
            if lag is None:
                continue
            for bucket in range(event.time_us // width, (until_us - 1) // width + 1):
                begin, end = bucket * width, (bucket + 1) * width
                lasted = min(end, until_us) - max(begin, event.time_us)
                if lasted > 0:
                    inside.setdefault(bucket, []).append((lag, lasted, since))
        for bucket, parts in inside.items():
            total = sum(lasted for _, lasted, _ in parts)
            most = max(lag for lag, _, _ in parts)
            rows.append(
                {
                    **place(session, tp),
                    "bucket": bucket,
                    "from_us": bucket * width,
                    "to_us": min((bucket + 1) * width, end_us),
                    "lag_mean": sum(lag * lasted for lag, lasted, _ in parts) / total,
                    "lag_max": most,
                    "lag_max_seq": min(first for lag, _, first in parts if lag == most),
                }
            )
    return rows


def expected_histogram(session: str, events: list[Event]) -> list[Row]:
    """The rows of ``latency_histogram`` of one session."""
    groups: dict[tuple[str, int, int, int], list[int]] = {}
    for row in expected_produced(events):
        times = {
            "commit": None if row["committed_us"] is None else row["committed_us"] - row["sent_us"],
            "ack": row["answered_us"] - row["sent_us"] if row["outcome"] == "acked" else None,
        }
        for what, time in times.items():
            if time is not None:
                low, high = _group(time)
                groups.setdefault((what, row["acks"], low, high), []).append(row["sent_seq"])
    return [
        {"session": session, "what": what, "acks": acks, "from_us": low, "to_us": high,
         "records": len(sent), "example_seq": min(sent)}
        for (what, acks, low, high), sent in groups.items()
    ]  # fmt: skip


def _group(time: int) -> tuple[int, int]:
    """The quarter of an octave that a time belongs to, found by trying one after another."""
    edges = [0, 1, 2, 3]
    while edges[-1] <= time:
        octave = 4 * 2 ** (len(edges) // 4 - 1)
        edges.append(octave + (len(edges) % 4) * octave // 4)
    index = max(i for i, edge in enumerate(edges) if edge <= time)
    octave = 4 * 2 ** ((index + 1) // 4 - 1)
    return edges[index], edges[index + 1] if index + 1 < len(edges) else (
        octave + ((index + 1) % 4) * octave // 4
    )
