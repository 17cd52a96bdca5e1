"""The table of external clients, a row for each connection, and the details of one."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from console.model.filters import NO_VALUE, Field
from console.model.workspace import Stage
from console.render.columns import Cell, Column, Rows, amount, count
from console.render.lines import BLANK, Line, Span, cut, data, line
from sessions.model.clients import behind, lag_of, library_of, positions_of
from sessions.model.states import ConnectionState
from sessions.model.touches import connection_name
from sessions.text import age, clean, clock, number

PREFIX = connection_name(0).removesuffix("0")


class ClientRows(Rows[ConnectionState]):
    """The connections at the time cursor; keys are their names as objects that events touch."""

    filter_hint: ClassVar[str] = "words, re:pattern, !not, or lag>10, errors>0, api=Fetch, broker=1"
    is_aging: ClassVar[bool] = True

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.fields: Mapping[str, Field[ConnectionState]] = {
            "client": Field(lambda client: client.client, "word"),
            "library": Field(library_of, "word"),
            "address": Field(lambda client: client.address, "word"),
            "broker": Field(lambda client: client.broker),
            "api": Field(lambda client: client.api, "word"),
            "requests": Field(lambda client: client.requests),
            "rate": Field(self._rate),
            "errors": Field(_error_count),
            "group": Field(lambda client: client.group, "word"),
            "lag": Field(self._lag_or_nothing),
        }
        self._turn = -1
        self._keys: tuple[str, ...] = ()

    def _rate(self, connection: ConnectionState) -> int:
        return connection.requests_per_second(self.stage.source.time_us)

    def _lag(self, connection: ConnectionState) -> int | None:
        return lag_of(self.stage.view, connection)

    def _lag_or_nothing(self, connection: ConnectionState) -> int | float:
        lag = self._lag(connection)
        return NO_VALUE if lag is None else lag

    def _idle_us(self, connection: ConnectionState) -> int:
        return self.stage.source.time_us - (connection.asked_us or connection.opened_us)

    @cached_property
    def columns(self) -> list[Column[ConnectionState]]:
        quiet = self.stage.glyphs.no_record

        def request_cell(client: ConnectionState) -> Cell:
            if not client.api:
                return "nothing yet", "muted"
            return f"{client.api} {client.api_version}", "primary" if client.waiting else ""

        def lag_cell(client: ConnectionState) -> Cell:
            lag = self._lag(client)
            if not lag:
                return ("" if lag is None else quiet), "faint"
            return number(lag), "warning"

        return [
            Column(
                "client",
                "CLIENT",
                12,
                lambda client: (clean(client.client) or connection_name(client.number), "strong"),
                lambda client: (client.client, client.number),
                grows=True,
                sticky=True,
            ),
            Column(
                "broker",
                "BROKER",
                6,
                lambda client: (str(client.broker), ""),
                lambda client: client.broker,
                right=True,
            ),
            Column("request", "LAST REQUEST", 17, request_cell, lambda client: client.api),
            Column(
                "age",
                "AGO",
                5,
                lambda client: (age(self._idle_us(client)), "muted"),
                self._idle_us,
                right=True,
                drop=3,
            ),
            count("rate", "REQ/S", 5, self._rate, quiet, role=""),
            amount("requests", "REQUESTS", 8, lambda c: c.requests, role="muted", drop=7),
            count("errors", "ERRORS", 6, _error_count, quiet, role="warning"),
            Column(
                "error",
                "LAST ERROR",
                24,
                lambda client: (client.last_error, "warning"),
                lambda client: client.last_error,
                drop=5,
            ),
            Column(
                "group",
                "GROUP",
                9,
                lambda client: (clean(client.group), ""),
                lambda client: client.group,
            ),
            Column("lag", "LAG", 6, lag_cell, lambda client: -(self._lag(client) or 0), right=True),
            Column(
                "library",
                "LIBRARY",
                22,
                lambda client: (clean(library_of(client)), "muted"),
                library_of,
                drop=4,
            ),
            Column(
                "address",
                "ADDRESS",
                15,
                lambda client: (clean(client.address), "muted"),
                lambda client: client.address,
                drop=6,
            ),
        ]

    # ---- rows

    def keys(self) -> Sequence[str]:
        if self._turn != self.stage.turn:
            self._turn = self.stage.turn
            self._keys = tuple(map(connection_name, self.stage.view.state.connections))
        return self._keys

    def row(self, key: str) -> ConnectionState:
        return self.stage.view.state.connections[int(key.removeprefix(PREFIX))]

    def version(self, key: str) -> Hashable:
        """Ages and lags move without an event of the client."""
        return self.stage.source.seq, self.stage.source.time_us

    def text(self, key: str) -> str:
        """Who it is, what it asked last, what it was told, and its group."""
        client = self.row(key)
        parts = (
            client.client,
            library_of(client),
            client.address,
            client.api,
            *client.errors,
            client.group,
        )
        return "\n".join(parts).lower()

    def is_fault(self, key: str) -> bool:
        """Whether it was told an error."""
        return bool(self.row(key).errors)


def _error_count(connection: ConnectionState) -> int:
    return sum(connection.errors.values())


def client_lines(stage: Stage, connection: ConnectionState, width: int) -> list[Line]:
    """The details of a connection."""
    rows = [
        line(Span("client ", "muted"), data(connection.client or "not known yet")),
        line(Span("library ", "muted"), data(library_of(connection) or "not said")),
        line(Span("address ", "muted"), data(connection.address)),
        line(
            Span("broker ", "muted"),
            str(connection.broker),
            Span(f"  since {clock(connection.opened_us)}", "muted"),
        ),
        *_requests(stage, connection),
        *_errors(stage, connection),
        *_group(stage, connection),
        *_lag(stage, connection),
    ]
    return [cut(row, width, stage.glyphs.more) for row in rows]


def _requests(stage: Stage, connection: ConnectionState) -> list[Line]:
    if not connection.api:
        return [line(Span("has asked nothing yet", "muted"))]
    now_us = stage.source.time_us
    ago = age(now_us - connection.asked_us)
    state = Span(" waits" if connection.waiting else " answered", "primary")
    return [
        line(
            Span("requests ", "muted"),
            number(connection.requests),
            Span(f"  {number(connection.requests_per_second(now_us))} per second", "muted"),
        ),
        line(
            Span("last ", "muted"),
            f"{connection.api} {connection.api_version}",
            Span(f"  {ago} ago", "muted"),
            state,
        ),
    ]


def _errors(stage: Stage, connection: ConnectionState) -> list[Line]:
    if not connection.errors:
        return []
    ago = age(stage.source.time_us - connection.last_error_us)
    rows = [
        line(Span(f"{count:>6,} ", "warning"), name) for name, count in connection.errors.items()
    ]
    return [
        BLANK,
        line(Span("ERRORS TOLD", "title"), Span(f"  the last one {ago} ago", "muted")),
        *rows,
    ]


def _group(stage: Stage, connection: ConnectionState) -> list[Line]:
    group = stage.view.state.groups.get(connection.group)
    if group is None:
        return []
    rows = [
        line(
            "  ",
            group.state,
            Span(f"  generation {group.generation}  coordinator {group.broker}", "muted"),
        )
    ]
    rows += [
        line("  ", data(client), Span(f"  {clean(member)}", "muted"))
        for member, client in group.members.items()
    ]
    return [BLANK, line(Span("GROUP ", "title"), data(group.name)), *rows]


def _lag(stage: Stage, connection: ConnectionState) -> list[Line]:
    positions = positions_of(stage.view, connection)
    lags = behind(stage.view, positions)
    rows = [
        line(
            "  ",
            data(tp),
            Span(f"  at {number(positions[tp])}", "muted"),
            Span(f"  {number(lag)} behind" if lag else "  all read", "warning" if lag else "muted"),
        )
        for tp, lag in sorted(lags.items())
    ]
    return [BLANK, line(Span("LAG", "title")), *rows] if rows else []
