"""Results of an analysis that are made by hand: as Spark writes them, with few rows."""

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from sessions.analysis.results.availability import AVAILABILITY, AVAILABILITY_TIMELINE
from sessions.analysis.results.cluster import CONTROLLER_WORK, ISR_CHURN, LEADER_BALANCE
from sessions.analysis.results.failover import FAILOVER, FAILOVERS
from sessions.analysis.results.latency import (
    COMMIT_LATENCY,
    HW_LAG,
    HW_LAG_TIMELINE,
    LATENCY,
    LATENCY_HISTOGRAM,
)
from sessions.analysis.results.quorum import FENCINGS, QUORUM_TERMS
from sessions.analysis.results.truth import (
    ANOMALIES,
    ANOMALY_COUNTS,
    DURABILITY,
    DURABILITY_RECORDS,
    LOST_OFFSETS,
    REPLAY,
)
from sessions.dataset.location import Location
from sessions.dataset.schema import Column, Table, arrow_schema
from sessions.report.page import Analysed

Row = dict[str, Any]
SECOND: Final = 1_000_000
HOSTILE: Final = "<img src=x onerror=alert(1)>"
"""A value in which a careless page sees markup."""
TABLES: Final = (
    *(AVAILABILITY, AVAILABILITY_TIMELINE, ISR_CHURN, LEADER_BALANCE, CONTROLLER_WORK),
    *(QUORUM_TERMS, FENCINGS),
    *(FAILOVERS, FAILOVER, COMMIT_LATENCY, HW_LAG, LATENCY, LATENCY_HISTOGRAM, HW_LAG_TIMELINE),
    *(DURABILITY, DURABILITY_RECORDS, LOST_OFFSETS, ANOMALIES, ANOMALY_COUNTS, REPLAY),
)


def write(folder: Path, table: Table, rows: list[Row], files: int = 1) -> None:
    """Write a result; what a row does not say is null, or 0 or empty if it may not be."""
    (folder / table.name).mkdir(parents=True)
    (folder / table.name / "_SUCCESS").touch()
    write_more(folder, table, rows, files)


def write_more(folder: Path, table: Table, rows: list[Row], files: int = 1) -> None:
    """Write more files of a result."""
    begun = len(list((folder / table.name).glob("part-*")))
    whole = [{c.name: row.get(c.name, _nothing(c)) for c in table.columns} for row in rows]
    for number in range(files):
        part = pa.Table.from_pylist(whole[number::files], arrow_schema(table))
        pq.write_table(part, folder / table.name / f"part-{begun + number:05d}.parquet")


def _nothing(column: Column) -> object:
    if column.null:
        return None
    return {"string": "", "bool": False}.get(column.type, 0)


def place(session: str, tp: str) -> Row:
    topic, _, partition = tp.rpartition("-")
    return {"session": session, "tp": tp, "topic": topic, "partition": int(partition)}


def latency_row(session: str, number: int) -> Row:
    return place(session, f"orders-{number}") | {
        "records": 100 + number,
        "acked": 90,
        "committed": 95,
        "commit_p50_us": 5_000 + number,
        "commit_p95_us": 6_000,
        "commit_p99_us": 1_000_000 * (number + 1),
        "commit_max_us": 2_000_000 * (number + 1),
        "slowest_seq": 1_000 + number,
        "acks": -1,
    }


def lag_row(session: str, number: int) -> Row:
    return place(session, f"orders-{number}") | {
        "hw_lag_mean": 0.25 * number,
        "hw_lag_max": number,
        "hw_lag_max_seq": 2_000 + number if number else None,
    }


def failover_row(number: int) -> Row:
    begun = {"fault": "crashed", "broker": 1, "fault_seq": 500 + number, "fault_us": SECOND}
    served = {
        "detection_us": 6 * SECOND,
        "election_us": 2_000,
        "takeover_us": 300,
        "total_us": 6 * SECOND + 2_300 + number,
        "serving_us": 7 * SECOND + 2_300 + number,
        "outcome": "failed over",
    }
    return (
        place("failover", f"orders-{number}") | begun | (served if number else {"outcome": "open"})
    )


VERSIONS: Final = {"HW": "0.9, 0.10.2", "KIP-101": "0.11"}


def durability_row(acks: int, lost: int, generation: str, unclean: bool = False) -> Row:
    example = {"example_session": "failover", "example_seq": 77} if lost else {}
    return example | {
        "generation": generation,
        "acks": acks,
        "min_isr": 2,
        "unclean": unclean,
        "versions": VERSIONS[generation],
        "sessions": 3,
        "records": 300,
        "acked": 290,
        "lost": lost,
        "sessions_lost": int(lost > 0),
        "sessions_harmed": int(lost > 0 or acks == -1),
        "duplicated": 2 if acks == -1 else 0,
    }


def results(folder: Path) -> Path:
    """An analysis in which something of everything happened."""
    outage = place("failover", "orders-0") | {
        "served_percent": 87.5,
        "leaderless_us": 18 * SECOND,
        "leaderless_longest_us": 18 * SECOND,
        "leaderless_longest_seq": 501,
        "under_replicated_us": 20 * SECOND,
        "under_replicated_longest_seq": 502,
    }
    write(folder, AVAILABILITY, [outage, place("calm", "orders-0") | {"served_percent": 100.0}])
    times = [(0, 1, 0), (1, 19, 1), (19, 144, 0)]
    stretches: list[Row] = [
        {
            "session": "failover", "from_us": begin * SECOND, "to_us": end * SECOND,
            "from_seq": 500 + begin, "partitions": 4, "leaderless": down,
            "under_replicated": 2 * down,
        }
        for begin, end, down in times
    ]  # fmt: skip
    write(folder, AVAILABILITY_TIMELINE, stretches, files=2)
    write(folder, COMMIT_LATENCY, [latency_row("failover", n) for n in range(130)], files=3)
    write(folder, HW_LAG, [lag_row("failover", n) for n in range(130)], files=3)
    buckets = [(4_096, 5_120, 40), (5_120, 6_144, 50), (1_048_576, 1_310_720, 3)]
    histogram: list[Row] = [
        {"session": session, "what": what, "acks": -1, "from_us": begin, "to_us": end,
         "records": records, "example_seq": 9}
        for session in ("failover", "calm")
        for what in ("commit", "ack")
        for begin, end, records in buckets
    ]  # fmt: skip
    write(folder, LATENCY_HISTOGRAM, histogram, files=2)
    way = {"acks": -1, "records": 186, "commit_n": 186, "commit_p50_us": 5_200}
    write(folder, LATENCY, [{"version": version} | way for version in ("0.10.2", "3.9")])
    lags: list[Row] = [
        place("failover", "orders-129")
        | {"bucket": n, "from_us": n * SECOND, "to_us": (n + 1) * SECOND, "lag_mean": n / 4,
           "lag_max": n, "lag_max_seq": 3_000 + n}
        for n in range(30)
    ]  # fmt: skip
    write(folder, HW_LAG_TIMELINE, lags)
    churn = {"changes": 5, "shrinks": 3, "expands": 2, "size_min": 1, "last_shrink_seq": 640}
    write(folder, ISR_CHURN, [place("failover", "orders-0") | churn])
    back = {"outcome": "returned", "total_us": 20 * SECOND, "detection_us": None}
    faults = [*(failover_row(n) for n in range(3)), failover_row(3) | back]
    write(folder, FAILOVERS, faults)
    slowest = {"slowest_session": "failover", "slowest_seq": 502, "total_max_us": 6 * SECOND}
    write(folder, FAILOVER, [{"version": "3.9", "fault": "crashed", "failovers": 3} | slowest])
    ways = [
        durability_row(1, 12, "HW"), durability_row(1, 0, "KIP-101"),
        durability_row(-1, 0, "HW"), durability_row(-1, 3, "KIP-101", unclean=True),
    ]  # fmt: skip
    write(folder, DURABILITY, ways)
    record = {"fate": "lost", "record": 5, "offset": 4, "producer": HOSTILE, "acks": 1,
              "sent_seq": 77, "answered_seq": 80}  # fmt: skip
    write(folder, DURABILITY_RECORDS, [place("failover", "orders-0") | record])
    gap = {"first_offset": 40, "end_offset": 50, "audit_seq": 7}
    write(folder, LOST_OFFSETS, [place("failover", "orders-0") | gap])
    write(folder, ANOMALIES, [])
    write(folder, ANOMALY_COUNTS, [{"version": "3.9", "name": "lost-write"}])
    write(folder, LEADER_BALANCE, [{"session": "failover", "broker": 1, "imbalance_percent": 50.0}])
    write(
        folder, CONTROLLER_WORK, [{"session": "failover", "broker": 0, "epoch": 1, "from_seq": 8}]
    )
    write(folder, QUORUM_TERMS, [{"session": "failover", "controller": 100, "epoch": 1}])
    fencing = {"broker": 0, "fenced_seq": 9, "process": "crashed", "noticed_us": 4 * SECOND}
    write(folder, FENCINGS, [{"session": "failover"} | fencing])
    write(folder, REPLAY, [{"session": "failover", "equal": True, "events": 700}])
    return folder


CHANGES: Final = 200_000
CHANGE_US: Final = 5_000
OUTAGE: Final = 123_456
OUTAGE_US: Final = OUTAGE * CHANGE_US
OUTAGE_SEQ: Final = 10 * OUTAGE
LONG: Final = "x" * 100


def big_results(folder: Path) -> Path:
    """Sessions with long names and very many changes, in which a partition was offline once."""
    sessions = [f"{LONG}{number:03}" for number in range(200)]
    rows = [place(session, f"{LONG}-0") | {"served_percent": 1 / 3} for session in sessions]
    write(folder, AVAILABILITY, rows)
    timeline: list[Row] = [
        {
            "session": session, "from_us": n * CHANGE_US, "to_us": (n + 1) * CHANGE_US,
            "from_seq": 10 * n, "partitions": 100_000, "leaderless": n % 1_000,
            "under_replicated": n, "offline": int(n == OUTAGE),
        }
        for session in sessions[:1]
        for n in range(CHANGES)
    ]  # fmt: skip
    write(folder, AVAILABILITY_TIMELINE, timeline)
    timeline = [row | {"session": session} for session in sessions[1:4] for row in timeline[::20]]
    write_more(folder, AVAILABILITY_TIMELINE, timeline)
    faults = [
        failover_row(number) | place(session, f"{LONG}-0")
        for number, session in enumerate(sessions)
    ]
    write(folder, FAILOVERS, faults)
    write(folder, FAILOVER, [{"version": "3.9", "fault": "crashed"}])
    return folder


def analysed(dataset: Path) -> Analysed:
    return Analysed(Location(dataset), 2, 1_400)
