"""The brokers table of a KRaft cluster: controllers are rows too, and there are no sessions."""

from console.model.workspace import Stage
from console.render.broker_columns import (
    broker_lines,
    connection_columns,
    load_columns,
    process_columns,
)
from console.render.columns import Cell, Column
from console.render.lines import BLANK, Line, Span, cut, line
from console.render.quorum import AMISS
from sessions.model.quorum import Member, controllers_running, member_of
from sessions.model.states import BrokerState, ViewState
from sessions.text import number, plural

SHARED = ("epoch", "fetch", "rack")
"""The columns of connections that do not speak of ZooKeeper."""


def hosts(state: ViewState) -> list[int]:
    """The ids of brokers and, in KRaft, of controllers."""
    controllers = () if state.quorum is None else state.quorum.controllers
    return sorted({*state.brokers, *controllers})


def host_of(state: ViewState, host: int) -> BrokerState | None:
    """A broker, or a controller as a broker that holds nothing; None if there is neither."""
    broker = state.brokers.get(host)
    if broker is None and state.quorum is not None and host in state.quorum.controllers:
        return BrokerState(host, state=state.quorum.controllers[host])
    return broker


def host_name(state: ViewState, host: int | str) -> str:
    """``broker 1`` or ``controller 100``."""
    controllers = () if state.quorum is None else state.quorum.controllers
    return f"{'controller' if int(host) in controllers else 'broker'} {host}"


def controllers_up(state: ViewState) -> str:
    """How many controllers run; empty without a quorum."""
    if state.quorum is None:
        return ""
    quorum = state.quorum
    return f"{controllers_running(quorum)}/{len(quorum.controllers)} controllers up"


def kraft_columns(stage: Stage) -> list[Column[BrokerState]]:
    """State, id and role, what a broker carries, and how far it has the metadata."""
    state, id, _ = process_columns(stage)
    shared = [column for column in connection_columns(stage) if column.id in SHARED]
    return [state, id, _role_column(stage), *load_columns(stage), *_log_columns(stage), *shared]


def _member(stage: Stage, broker: BrokerState) -> Member | None:
    metadata = stage.metadata
    return None if metadata is None else member_of(stage.view.state, metadata, broker.id)


def _role(stage: Stage, broker: BrokerState) -> str:
    member = _member(stage, broker)
    return "" if member is None else member.role


def _role_column(stage: Stage) -> Column[BrokerState]:
    def cell(broker: BrokerState) -> Cell:
        role = _role(stage, broker)
        return role, "primary" if role == "leader" else "warning" if role in AMISS else ""

    return Column("role", "ROLE", 13, cell, lambda b: _role(stage, b))


def _log_columns(stage: Stage) -> list[Column[BrokerState]]:
    def end(broker: BrokerState) -> int:
        member = _member(stage, broker)
        return -1 if member is None else member.end

    def behind(broker: BrokerState) -> int:
        member = _member(stage, broker)
        return -1 if member is None else member.behind

    def end_cell(broker: BrokerState) -> Cell:
        known = end(broker)
        return ("?" if known < 0 else number(known)), "muted"

    def behind_cell(broker: BrokerState) -> Cell:
        count = behind(broker)
        if count < 0:
            return "?", "muted"
        return (number(count), "warning") if count else (stage.glyphs.no_record, "faint")

    return [
        Column("metadata", "METADATA", 8, end_cell, end, right=True, drop=3),
        Column("behind", "BEHIND", 6, behind_cell, lambda b: -behind(b), right=True),
    ]


def host_lines(stage: Stage, host: BrokerState, width: int) -> list[Line]:
    """All that is known of a broker or a controller."""
    rows = broker_lines(stage, host, width)
    member = _member(stage, host)
    if member is None:
        return rows
    added = [
        line(Span("METADATA", "title"), Span("  __cluster_metadata", "muted")),
        line(
            Span(" has it up to ", "muted"),
            "?" if member.end < 0 else number(member.end),
            Span(
                f"  {plural(member.behind, 'record')} behind" if member.behind > 0 else "",
                "warning",
            ),
        ),
        *_registration(stage, host),
    ]
    return [*rows, BLANK, *(cut(row, width, stage.glyphs.more) for row in added)]


def _registration(stage: Stage, host: BrokerState) -> list[Line]:
    metadata = stage.metadata
    known = None if metadata is None else metadata.image.brokers.get(host.id)
    if known is None:
        return []
    count = known.epoch
    return [line(Span(" registered ", "muted"), "once" if count == 1 else f"{count} times")]
