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
from sessions.dataset.schema import Column, Table

KINDS: Final = {
    "offline": "its state znode names no leader",
    "leaderless": "no broker whose process runs acts as its leader, once one has (a crash or "
    "freeze counts at once)",
    "under_min_isr": "its ISR is smaller than min.insync.replicas",
    "under_replicated": "a replica is missing from its ISR",
}
"""Temporary problems of a partition, and what each word means."""

UNTIL_END: Final = "until the session's end"


def _kind_columns(kind: str, meaning: str) -> tuple[Column, ...]:
    never = "it never was"
    return (
        time(f"{kind}_us", f"time in which {meaning}"),
        count(f"{kind}_spells", "spells", "how many stretches that was in"),
        time(f"{kind}_longest_us", "the longest of them", never),
        event(f"{kind}_longest_seq", "event with which that one began", never),
    )


OUTAGES: Final = Table(
    "outages",
    "a stretch of time in which one thing was wrong with a partition",
    "",
    (
        *place_columns(),
        text("kind", "; ".join(f"`{kind}`: {meaning}" for kind, meaning in KINDS.items())),
        event("from_seq", "event with which it began"),
        time("from_us", "virtual time of that event"),
        event("to_seq", "event with which it ended", UNTIL_END),
        time("to_us", "virtual time of that event", UNTIL_END),
        time("lasted_us", "how long it lasted, at most until the session's end"),
    ),
)

AVAILABILITY: Final = Table(
    "availability",
    "a partition of a session: how long what was wrong with it",
    "",
    (
        *place_columns(),
        time("existed_us", "time in which it existed"),
        Column(
            "served_percent",
            "double",
            "percent",
            "share of that time in which it was not leaderless",
            "no time passed",
        ),
        *(column for kind in KINDS.items() for column in _kind_columns(*kind)),
    ),
)

AVAILABILITY_TIMELINE: Final = Table(
    "availability_timeline",
    "a stretch of time of a session in which as many partitions had each thing wrong with them",
    "",
    (
        session_column(),
        time("from_us", "virtual time at which it begins"),
        time(
            "to_us", "virtual time at which it ends: the next row's `from_us`, or the session's end"
        ),
        event("from_seq", "last of the events that made it so"),
        count("partitions", "partitions", "that exist"),
        *(count(kind, "partitions", meaning) for kind, meaning in KINDS.items()),
    ),
)
