"""The brokers table's columns, and the details of one broker."""

from collections.abc import Mapping
from typing import Final

from console.model.filters import Field
from console.model.workspace import Stage
from console.render.columns import Cell, Column, amount, count
from console.render.lines import BLANK, Line, Span, cut, data, line, width_of, wrap
from console.render.quorum import AMISS
from emulator import events
from sessions.model.event_text import host
from sessions.model.quorum import member_of
from sessions.model.states import BrokerState, LinkState
from sessions.text import age, clean, clock, hexadecimal, number, plain, plural

STATE_ROLES: Final = {
    "running": "ok",
    "starting": "warning",
    "controlled_shutdown": "warning",
    "frozen": "error",
    "crashed": "offline",
    "stopped": "error",
}
"""Colour role of each state of a broker process."""
DISOWNED_STEPS_MAX: Final = 256
"""How many events of a frozen broker are searched for the end of its session."""
STATE_ORDER: Final = tuple(reversed(STATE_ROLES))
"""The worst first."""


def broker_object(key: str) -> str:
    """A broker's name as an object that events touch."""
    return f"broker.{key}"


def oldest_fetch_us(stage: Stage, broker: BrokerState) -> int | None:
    """Microseconds since the oldest last fetch, over the leaders that it fetches from.

    Nobody fetches from a broker that is down or leads nothing. What was sent before a leader
    registered went to the process that it was before.
    """
    if broker.state != "running":
        return None
    serving, leads = stage.view.serving, stage.index.leaders
    sent = [
        us
        for leader, us in broker.fetch_sent_us.items()
        if leader in serving and leads[leader] and us >= _registered_us(stage, leader)
    ]
    return stage.source.time_us - min(sent) if sent else None


def _registered_us(stage: Stage, broker: int) -> int:
    """When a broker registered with ZooKeeper; 0 in KRaft, where brokers have no znode."""
    node = stage.view.state.znodes.get(f"/brokers/ids/{broker}")
    return 0 if node is None else node.ctime_us


def fields(stage: Stage) -> Mapping[str, Field[BrokerState]]:
    """The fields that a query such as ``leaders>10`` can name."""
    index = stage.index
    return {
        "id": Field(lambda broker: broker.id),
        "state": Field(lambda broker: broker.state, "word"),
        "rack": Field(lambda broker: broker.rack or "", "word"),
        "leaders": Field(lambda broker: index.leaders[broker.id]),
        "replicas": Field(lambda broker: index.replicas[broker.id]),
        "out": Field(lambda broker: index.out_of_sync[broker.id]),
        "epoch": Field(lambda broker: broker.broker_epoch),
    }


def columns(stage: Stage) -> list[Column[BrokerState]]:
    """State and id first, then its load, then its connections."""
    return [*process_columns(stage), *load_columns(stage), *connection_columns(stage)]


def process_columns(stage: Stage) -> list[Column[BrokerState]]:
    """Whether it runs, and whether it controls."""

    def state_cell(broker: BrokerState) -> Cell:
        glyph = stage.glyphs.up if broker.state == "running" else stage.glyphs.offline
        return f"{glyph} {broker.state.replace('_', ' ')}", STATE_ROLES.get(broker.state, "")

    def is_controller(broker: BrokerState) -> bool:
        return stage.view.state.controller.broker == broker.id

    def controller_cell(broker: BrokerState) -> Cell:
        epoch = stage.view.state.controller.epoch
        return (f"epoch {plain(epoch)}", "primary") if is_controller(broker) else ("", "")

    return [
        Column("state", "STATE", 21, state_cell, lambda b: _state_rank(b.state), sticky=True),
        Column(
            "id",
            "BROKER",
            6,
            lambda b: (str(b.id), "strong"),
            lambda b: b.id,
            right=True,
            sticky=True,
        ),
        Column("controller", "CONTROLLER", 10, controller_cell, lambda b: not is_controller(b)),
    ]


def load_columns(stage: Stage) -> list[Column[BrokerState]]:
    """How many partitions it leads and holds, and how many of them are out of sync."""
    index, quiet = stage.index, stage.glyphs.no_record

    return [
        amount("leaders", "LEADERS", 8, lambda b: index.leaders[b.id]),
        amount("replicas", "REPLICAS", 8, lambda b: index.replicas[b.id]),
        count("out", "OSR", 6, lambda b: index.out_of_sync[b.id], quiet, role="warning"),
    ]


def connection_columns(stage: Stage) -> list[Column[BrokerState]]:
    """Return the broker's status with ZooKeeper and with its leaders."""

    def session_cell(broker: BrokerState) -> Cell:
        if stage.view.state.is_observed:
            return "-", "muted"
        return (hexadecimal(broker.session), "muted") if broker.session else ("none", "warning")

    def zookeeper_cell(broker: BrokerState) -> Cell:
        return broker.zk_connection, _connection_role(broker)

    def fetch_age(broker: BrokerState) -> int:
        return oldest_fetch_us(stage, broker) or 0

    def fetch_cell(broker: BrokerState) -> Cell:
        return age(oldest_fetch_us(stage, broker)), "muted"

    def epoch_cell(broker: BrokerState) -> Cell:
        return number(broker.broker_epoch) if broker.broker_epoch else "-", "muted"

    def rack_cell(broker: BrokerState) -> Cell:
        return clean(broker.rack or ""), "muted"

    return [
        Column("session", "SESSION", 18, session_cell, lambda b: b.session, drop=2),
        Column("zk", "ZOOKEEPER", 12, zookeeper_cell, lambda b: b.zk_connection, drop=3),
        Column("epoch", "EPOCH", 10, epoch_cell, lambda b: b.broker_epoch, right=True, drop=4),
        Column("fetch", "FETCH", 6, fetch_cell, lambda b: -fetch_age(b), right=True, drop=1),
        Column("rack", "RACK", 10, rack_cell, lambda b: b.rack or "", wide=True),
    ]


def _state_rank(state: str) -> int:
    return STATE_ORDER.index(state) if state in STATE_ORDER else len(STATE_ORDER)


def _connection_role(broker: BrokerState) -> str:
    return "muted" if broker.zk_connection == "connected" else "warning"


def broker_lines(stage: Stage, broker: BrokerState, width: int) -> list[Line]:
    """The details of one broker."""
    state = stage.view.state
    rows = [
        line(
            Span(broker.state.replace("_", " "), STATE_ROLES.get(broker.state, "")),
            *_registered(stage, broker),
        ),
        *(_frozen(stage, broker, width) if broker.state == "frozen" else []),
        *([_load(stage, broker)] if broker.id in state.brokers else []),
        *(_zookeeper(broker, width, is_observed=state.is_observed) if state.quorum is None else []),
        *([line(Span("rack ", "muted"), data(broker.rack))] if broker.rack else []),
        *_fetches(stage, broker),
        *_links(state.links, broker.id),
        *_configuration(state.broker_configs.get(broker.id, {})),
    ]
    return [cut(row, width, stage.glyphs.more) for row in rows]


def _frozen(stage: Stage, broker: BrokerState, width: int) -> list[Line]:
    """Since when, what it still believes, and since when nobody agrees with it."""
    partitions = stage.view.state.partitions.values()
    leads = sum(
        (own := partition.replica_states.get(broker.id)) is not None and own.role == "leader"
        for partition in partitions
    )
    believes = [f"it leads {plural(leads, 'partition')}"] if leads else []
    if broker.zk_connection == "connected" and stage.view.state.quorum is None:
        believes.append("it is connected to ZooKeeper")
    since = f"since {clock(broker.silent_us)}" if broker.silent_us else ""
    rows = [line(Span("frozen ", "error"), since)]
    if believes:
        believed = f"still believes {' and '.join(believes)}"
        rows += [line(Span(row, "muted")) for row in wrap(believed, width)]
        ended_us = _disowned_us(stage, broker)
        until = "until its session ends" if ended_us is None else f"since {clock(ended_us)}"
        agree = "others still agree, " if ended_us is None else "nobody agrees "
        role = "muted" if ended_us is None else "warning"
        rows += [line(Span(row, role)) for row in wrap(f"{agree}{until}", width)]
    return rows


def _disowned_us(stage: Stage, broker: BrokerState) -> int | None:
    """When a frozen broker's session ended or it was fenced; None if neither has happened."""
    seq: int | None = stage.source.seq + 1
    for _ in range(DISOWNED_STEPS_MAX):
        seq = stage.source.touching([broker_object(str(broker.id))], seq or 0, -1)
        event = None if seq is None else stage.reader.get(seq)
        if event is None or event.time_us < broker.silent_us:
            return None
        if isinstance(event, events.SessionEnded):
            return event.time_us
        if isinstance(event, events.MetadataRecordCommitted) and '"fenced":1' in event.data:
            return event.time_us
    return None


def _load(stage: Stage, broker: BrokerState) -> Line:
    index = stage.index
    out = index.out_of_sync[broker.id]
    return line(
        Span("leads ", "muted"),
        number(index.leaders[broker.id]),
        Span("  replicas ", "muted"),
        number(index.replicas[broker.id]),
        Span("  out of sync ", "muted"),
        Span(number(out), "warning" if out else ""),
    )


def _registered(stage: Stage, broker: BrokerState) -> Line:
    """Whether it is registered; in KRaft its role says so."""
    metadata = stage.metadata
    if metadata is not None:
        role = member_of(stage.view.state, metadata, broker.id).role
        epoch = f"  epoch {plain(broker.broker_epoch)}" if broker.registered else ""
        return line(
            Span(f"  {role}", "warning" if role in AMISS else "strong"), Span(epoch, "muted")
        )
    if not broker.registered:
        return line(Span("  not registered", "muted"))
    return line(Span(f"  registered epoch {plain(broker.broker_epoch)}", "muted"))


def _zookeeper(broker: BrokerState, width: int, *, is_observed: bool) -> list[Line]:
    session = line(
        Span("session ", "muted"),
        hexadecimal(broker.session) if broker.session else "not known" if is_observed else "none",
    )
    connection = line(
        Span("ZooKeeper ", "muted"), Span(broker.zk_connection, _connection_role(broker))
    )
    together = (*session, Span("  "), *connection)
    return [together] if width_of(together) <= width else [session, connection]


def _fetches(stage: Stage, broker: BrokerState) -> list[Line]:
    now_us = stage.source.time_us
    rows = [
        line(f"  from {leader:>3} ", Span(f"{age(now_us - sent_us):>6} ago", "muted"))
        for leader, sent_us in sorted(broker.fetch_sent_us.items())
    ]
    return [BLANK, line(Span("LAST FETCH", "title")), *rows] if rows else []


def _links(links: list[LinkState], broker: int) -> list[Line]:
    rows = [
        line(f"  {host(link.source)} > {host(link.destination)} ", Span(_condition(link), "error"))
        for link in links
        if broker in (link.source, link.destination)
    ]
    return [BLANK, line(Span("LINKS", "title")), *rows] if rows else []


def _condition(link: LinkState) -> str:
    parts = ["cut"] if link.cut else []
    parts += [f"slow {age(link.delay_us)}"] if link.delay_us else []
    parts += [f"drops {link.drop_percent:g}%"] if link.drop_percent else []
    parts += [f"holds {clean(' '.join(link.holding))}"] if link.holding else []
    parts += [f"{link.waiting} waiting"] if link.waiting else []
    return ", ".join(parts)


def _configuration(values: dict[str, str]) -> list[Line]:
    rows = [
        line(Span(f"  {clean(key)} ", "muted"), data(value))
        for key, value in sorted(values.items())
    ]
    return [BLANK, line(Span("CONFIG", "title")), *rows] if rows else []
