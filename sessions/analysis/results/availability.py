"""Results of the job ``availability``."""

from typing import Final

from sessions.analysis.results.columns import (
    count,
    event,
    place_columns,
    session_column,
    text,
    time,
)
from sessions.dataset.schema import Column, Example, Table

KINDS: Final = {
    "offline": "the state znode names no leader",
    "leaderless": "no running broker acts as leader, after the first one did (a crash or freeze "
    "counts at once)",
    "under_min_isr": "the ISR is smaller than min.insync.replicas",
    "under_replicated": "a replica is missing from the ISR",
}
"""Temporary problems of a partition, and what each word means."""

UNTIL_END: Final = "until the session's end"


def _kind_columns(kind: str, meaning: str) -> tuple[Column, ...]:
    never = "this never happened"
    return (
        time(f"{kind}_us", f"time during which {meaning}"),
        count(f"{kind}_spells", "spells", "number of such periods"),
        time(f"{kind}_longest_us", "the longest such period", never),
        event(f"{kind}_longest_seq", "event that began the longest period", never),
    )


OUTAGES: Final = Table(
    "outages",
    "a period in which a partition had one problem",
    "",
    (
        *place_columns(),
        text("kind", "; ".join(f"`{kind}`: {meaning}" for kind, meaning in KINDS.items())),
        event("from_seq", "event that began it"),
        time("from_us", "virtual time of that event"),
        event("to_seq", "event that ended it", UNTIL_END),
        time("to_us", "virtual time of that event", UNTIL_END),
        time("lasted_us", "its duration, up to the session's end"),
    ),
    example=Example(
        "Which were the ten longest problems of a partition?",
        """\
SELECT session, tp, kind, from_us, lasted_us
FROM outages
ORDER BY lasted_us DESC, session, tp, kind
LIMIT 10
""",
    ),
)

AVAILABILITY: Final = Table(
    "availability",
    "a partition of a session, with the total duration of each problem",
    "",
    (
        *place_columns(),
        time("existed_us", "time during which it existed"),
        Column(
            "served_percent",
            "double",
            "percent",
            "share of that time during which it was not leaderless",
            "no time passed",
        ),
        *(column for kind in KINDS.items() for column in _kind_columns(*kind)),
    ),
    example=Example(
        "Which partitions had the lowest availability?",
        """\
SELECT session, tp, served_percent, leaderless_us, leaderless_spells
FROM availability
ORDER BY served_percent, session, tp
LIMIT 10
""",
    ),
)

AVAILABILITY_TIMELINE: Final = Table(
    "availability_timeline",
    "a period of a session in which the number of partitions with each problem did not change",
    "",
    (
        session_column(),
        time("from_us", "virtual time at which it begins"),
        time(
            "to_us", "virtual time at which it ends: the next row's `from_us`, or the session's end"
        ),
        event("from_seq", "last of the events that led to these numbers"),
        count("partitions", "partitions", "existing partitions"),
        *(
            count(kind, "partitions", f"partitions of which {meaning}")
            for kind, meaning in KINDS.items()
        ),
    ),
    example=Example(
        "When were the most partitions without a leader?",
        """\
SELECT session, from_us, to_us, leaderless, partitions
FROM availability_timeline
WHERE leaderless > 0
ORDER BY leaderless DESC, session, from_us
LIMIT 10
""",
    ),
)
