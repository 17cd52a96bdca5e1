"""Compare two sessions: the first event that differs, and its effect on the cluster.

Differences in the inputs are reported separately: sessions of two seeds or releases differ in their
first event for that reason alone, and differently worded statements need not have a different
effect. So events that record inputs are never the first that differs.
"""

from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from emulator.events import ClusterCreated, Event, InputFinished, InputReceived
from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.format.metadata import Origin
from sessions.model.cluster_view import ClusterView
from sessions.model.states import ViewState
from sessions.model.summary import Plain
from sessions.playback.replay import Replay
from sessions.playback.verify import Difference

ASKING: Final = (ClusterCreated, InputReceived)
"""The events that record inputs."""
STATEMENTS_MAX: Final = 100
"""Maximum number of differing statements to report."""
MOMENTS: Final = frozenset({"changed", "seq", "time_us", "batches", "sent"})
"""Fields with positions or bookkeeping; they do not count as differences."""
ASKED: Final = frozenset({"version", "seed", "stepwise", "config"})
"""Fields of the state that record inputs."""
PREFIXES: Final = {
    "partitions": "",
    "znodes": "zk.",
    "brokers": "broker.",
    "producers": "producer.",
    "consumers": "consumer.",
    "connections": "client.",
    "groups": "group.",
}
"""Prefixes of objects' names in conditions, by field of the state."""


class Change(Struct, frozen=True):
    """A value that differs between the two, such as ``orders-0@2.log_end_offset``.

    None: the value does not exist in one of them.
    """

    name: str
    first: Any
    second: Any


class Comparison(Struct, frozen=True):
    """The comparison of two sessions, up to the event where they diverge.

    ``asked`` are differences of the inputs. ``events`` is the number of events in both that
    are the same until ``difference``, which is None if none differs; ``state`` is the differences
    between the states right after it.
    """

    first: Path
    second: Path
    asked: list[Change]
    events: int
    difference: Difference | None
    state: list[Change]

    @property
    def same(self) -> bool:
        """Return whether inputs and events were the same."""
        return self.difference is None and not self.asked


def compare(first: SessionFile, second: SessionFile) -> Comparison:
    """Compare two sessions from the first event that both contain.

    Raises:
        SessionError: events of one cannot be read.
    """
    in_inputs = list(_changes(_created_from(first.origin), _created_from(second.origin), ""))
    begin = max(first.first_seq, second.first_seq)
    difference = None
    equal = 0
    for old, new in zip_longest(_events(first, begin), _events(second, begin)):
        if old == new:
            equal += 1
        elif _differ_in_words(old, new):
            if isinstance(old, InputReceived) and len(in_inputs) < STATEMENTS_MAX:
                in_inputs.append(Change(f"statement #{old.seq}", _text(old), _text(new)))
        else:
            difference = Difference((old or new).seq, old, new)
            break
    state: list[Change] = []
    if difference is not None:
        views = [_view_at(session, difference.seq) for session in (first, second)]
        state = state_changes(*(view.state for view in views))
    return Comparison(first.path, second.path, in_inputs, equal, difference, state)


def _created_from(origin: Origin) -> Plain:
    """Return what a cluster is created from, without names of sessions and scripts."""
    return {**asdict(origin.cluster), "variables": origin.variables}


def _differ_in_words(first: Event | None, second: Event | None) -> bool:
    """Return whether two events differ only in inputs."""
    if isinstance(first, InputFinished) and isinstance(second, InputFinished):
        return replace(first, text="", line=0) == replace(second, text="", line=0)
    return isinstance(first, ASKING) and type(first) is type(second)


def _text(event: Event | None) -> str | None:
    return event.text if isinstance(event, InputReceived) else None


def _events(session: SessionFile, begin: int) -> Iterator[Event]:
    """The events from ``begin`` on; only one chunk of them is in memory."""
    for chunk in session.chunks:
        if chunk.last_seq >= begin:
            yield from islice(session.events(chunk), max(0, begin - chunk.first_seq), None)


def _view_at(session: SessionFile, seq: int) -> ClusterView:
    replay = Replay(Chunks(session))
    replay.seek_seq(seq)
    return replay.view


# ---- states


def state_changes(first: ViewState, second: ViewState) -> list[Change]:
    """Return every value that differs between two states, by name."""
    changes: list[Change] = []
    for field in ViewState.__struct_fields__:
        first_value, second_value = getattr(first, field), getattr(second, field)
        if field in MOMENTS or field in ASKED or first_value == second_value:
            continue
        if field in PREFIXES:
            changes += _changes(first_value, second_value, PREFIXES[field], joint="")
        else:
            changes += _changes(first_value, second_value, field)
    return sorted(changes, key=lambda change: change.name)


def _changes(first: object, second: object, name: str, joint: str = ".") -> Iterator[Change]:
    """Return the values that differ between two objects, each by its path from ``name``."""
    if first == second:
        return
    parts, other_parts = _parts(first), _parts(second)
    if parts is None or other_parts is None:
        yield Change(name, _plain(first), _plain(second))
        return
    for key in [*parts, *(key for key in other_parts if key not in parts)]:
        if key == "replica_states":
            yield from _changes(parts.get(key), other_parts.get(key), name, "@")
        else:
            path = f"{name}{joint}{key}" if name else key
            yield from _changes(parts.get(key), other_parts.get(key), path)


def _parts(compared: object) -> dict[str, Any] | None:
    """Return the parts of an object by name; None if it is compared as a unit."""
    if isinstance(compared, Struct):
        fields = (field for field in compared.__struct_fields__ if field not in MOMENTS)
        return {field: getattr(compared, field) for field in fields}
    if isinstance(compared, dict) and not (compared and _is_names(compared)):
        return {str(key): value for key, value in compared.items()}
    return None


def _plain(compared: object) -> object:
    """A value as plain data; names without values are a list of them."""
    if isinstance(compared, dict) and _is_names(compared):
        return list(compared)
    if isinstance(compared, Struct):
        return {name: _plain(value) for name, value in (_parts(compared) or {}).items()}
    return msgspec.to_builtins(compared)


def _is_names(compared: dict[Any, Any]) -> bool:
    """Whether the keys are all that there is."""
    return all(value is None for value in compared.values())
