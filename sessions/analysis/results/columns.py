"""Columns that many results share."""

from typing import Final

from sessions.dataset.schema import SESSION, Column, partition_columns

MARKS: Final = (
    ("p50", "median"),
    ("p95", "95th percentile"),
    ("p99", "99th percentile"),
    ("max", "longest"),
)


def session_column() -> Column:
    """Return the column that refers to a session."""
    return Column(SESSION, "string", "", "the session")


def place_columns() -> tuple[Column, ...]:
    """Return the columns for a session and a partition in it."""
    return session_column(), *partition_columns()


def text(name: str, meaning: str, null: str = "") -> Column:
    """Return a text column."""
    return Column(name, "string", "", meaning, null)


def time(name: str, meaning: str, null: str = "") -> Column:
    """Return a column of virtual microseconds, a time or a duration."""
    return Column(name, "int64", "us", meaning, null)


def event(name: str, meaning: str, null: str = "") -> Column:
    """Return a column of event numbers, which identify the source of a value."""
    return Column(name, "int64", "event", meaning, null)


def count(name: str, unit: str, meaning: str, null: str = "") -> Column:
    """Return a column that counts something."""
    return Column(name, "int64", unit, meaning, null)


def broker(name: str, meaning: str, null: str = "") -> Column:
    """Return a column of broker ids."""
    return Column(name, "int32", "broker id", meaning, null)


def percentile_columns(prefix: str, span: str, null: str) -> tuple[Column, ...]:
    """Return ``PREFIX_n``, ``PREFIX_p50_us``, .. and ``PREFIX_max_us`` of the time ``span``."""
    return (
        count(f"{prefix}_n", "times", f"number of values of the time {span}"),
        *(
            Column(f"{prefix}_{mark}_us", "int64", "us", f"{word} of the time {span}", null)
            for mark, word in MARKS
        ),
    )
