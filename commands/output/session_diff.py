"""Output of a comparison of two sessions, or of a session with its statements run again."""

from typing import Any, Final

import msgspec

from commands.output.grids import Cell, Grid
from emulator.events import Event
from sessions.playback.diff import Change, Comparison
from sessions.playback.verify import Difference, Verification
from sessions.text import clock

CHARACTERS_MAX: Final = 80
"""Longer values are truncated in a table; JSON has them in full."""
ROWS_MAX: Final = 200
"""Further values are counted but not shown; JSON has all of them."""


def as_plain(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain data."""
    return {
        "first": str(comparison.first),
        "second": str(comparison.second),
        "same": comparison.same,
        "asked": msgspec.to_builtins(comparison.asked),
        "events": comparison.events,
        "difference": _plain_difference(comparison.difference, "first", "second"),
        "state": msgspec.to_builtins(comparison.state),
    }


def verification_as_plain(verification: Verification) -> dict[str, Any]:
    """Return a verification as plain data."""
    return {
        "schema": 1,
        "session": str(verification.path),
        "same": verification.same,
        "damaged": verification.damaged,
        "events": verification.events,
        "difference": _plain_difference(verification.difference, "recorded", "again"),
        "outcome": msgspec.to_builtins(verification.outcome),
        "state_hash": verification.state_hash,
        "note": verification.note.strip(),
    }


def _plain_difference(
    difference: Difference | None, first: str, second: str
) -> dict[str, Any] | None:
    if difference is None:
        return None
    events = {first: difference.recorded, second: difference.again}
    return {"seq": difference.seq} | {name: _plain_event(event) for name, event in events.items()}


def _plain_event(event: Event | None) -> dict[str, Any] | None:
    if event is None:
        return None
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return {"type": type(event).__name__, **msgspec.to_builtins(fields)}


def tables_of(comparison: Comparison) -> list[Grid]:
    """Return the comparison as tables, the first with only a sentence as its title."""
    difference = comparison.difference
    tables = [Grid(_sentence(comparison), (), [], empty="")]
    if comparison.asked:
        tables.append(_table("asked", comparison.asked))
    if difference is not None:
        tables.append(_events(difference.seq, difference.recorded, difference.again))
        title = f"state after event {difference.seq:,}"
        if len(comparison.state) > ROWS_MAX:
            title += f" ({ROWS_MAX} of {len(comparison.state):,} values that differ)"
        tables.append(_table(title, comparison.state[:ROWS_MAX], empty="no difference"))
    return tables


def _sentence(comparison: Comparison) -> str:
    both = f"{comparison.first} and {comparison.second}"
    if comparison.difference is not None:
        seq = comparison.difference.seq
        return f"{both} are the same up to event {seq - 1:,}; event {seq:,} differs"
    also = ", although the statements differ" if comparison.asked else ""
    return f"{both}: all {comparison.events:,} events are the same{also}"


def _table(title: str, changes: list[Change], empty: str = "none") -> Grid:
    rows: list[tuple[Cell, ...]] = [
        (change.name, _cell(change.first), _cell(change.second)) for change in changes
    ]
    return Grid(title, ("WHAT", "FIRST", "SECOND"), rows, empty)


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, int):
        return str(value).lower() if isinstance(value, bool) else value
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= CHARACTERS_MAX else f"{text[:CHARACTERS_MAX]}.."


def _events(seq: int, first: Event | None, second: Event | None) -> Grid:
    """Return the two events field by field, including the fields that are the same."""
    plain = [_plain_event(event) or {"type": "no such event"} for event in (first, second)]
    for fields in plain:
        if "time_us" in fields:
            fields["time_us"] = clock(fields["time_us"])
    names = list(dict.fromkeys(name for fields in plain for name in fields if name != "seq"))
    rows: list[tuple[Cell, ...]] = [
        (name.replace("time_us", "time"), *(_cell(fields.get(name)) for fields in plain))
        for name in names
    ]
    return Grid(f"event {seq:,}", ("FIELD", "FIRST", "SECOND"), rows)
