"""One znode: its versions with their writers, its data and Stat, and its watches."""

import json
from collections.abc import Collection, Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.worker import get_current_worker

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.lines import BLANK, Line, Span, cut, data, fit, line
from console.render.znodes import watch_lines, znode_lines
from console.screens.base import ConsoleScreen
from console.widgets.event_log import EventView
from console.widgets.text import TextView
from emulator.events import Event, WatchFired, ZnodeChanged, ZnodeCreated, ZnodeDeleted
from emulator.zookeeper.watches import Watches
from sessions.format.errors import SessionError
from sessions.model.event_text import host, writer_name
from sessions.text import clean, clock, hexadecimal, json_text, number, short_clock

NOT_THERE = ("It does not exist at this time.", "> goes to its next event")
WATCHES_SHOWN_MAX = 12
VERSION_WIDTH = 6
ZXID_WIDTH = 8


class NotWantedError(Exception):
    """The time cursor has moved on: these watches are no longer needed."""


class VersionView(EventView):
    """The versions of the znode; ``enter`` moves the time cursor to one."""

    def _is_shown(self, event: Event) -> bool:
        mine = getattr(event, "path", None) in self.objects
        kinds = ZnodeCreated | ZnodeChanged | ZnodeDeleted | WatchFired
        return mine and isinstance(event, kinds) and super()._is_shown(event)

    def draw(self, index: int) -> Line:
        """Version, transaction, time, and what was written."""
        event = self.event_at(index)
        return () if event is None else self._version_line(event, here=index == self._marked)

    def _version_line(self, event: Event, *, here: bool) -> Line:
        glyphs = self.stage.glyphs
        faint = "faint" if event.seq > self.stage.source.seq else ""
        version, zxid, what = _written(event, self._before(event))
        row = line(
            Span(glyphs.here if here else " ", "here"),
            Span(f"{version:>{VERSION_WIDTH}} ", faint or "strong"),
            Span(f"{zxid:>{ZXID_WIDTH}} ", faint or "muted"),
            Span(f"{short_clock(event.time_us)} {f'#{number(event.seq)}':>9}  ", faint or "muted"),
            *(Span(span.text, faint or span.role) for span in what),
        )
        return cut(row, self.columns, glyphs.more)

    def _before(self, event: Event) -> str | None:
        """The znode's data before a write, if it has been found."""
        for index in range(self.log_.index_of(event.seq) - 1, -1, -1):
            earlier = self.event_at(index)
            if isinstance(earlier, ZnodeCreated | ZnodeChanged):
                return earlier.data
        return None

    def fired(self) -> list[WatchFired]:
        """The watches on the znode that have fired, of those found so far."""
        events = (self.event_at(index) for index in range(len(self.log_)))
        return [event for event in events if isinstance(event, WatchFired)]

    def row_text(self) -> str:
        """The version as JSON."""
        event = self.selected
        return "" if event is None else json_text(event)

    def why_empty(self) -> tuple[str, str]:
        """Explain that nothing was ever written there."""
        if self.log_.complete and not self.filter:
            return "No version is recorded: it exists from the start.", "esc goes back"
        return super().why_empty()


def _written(event: Event, before: str | None) -> tuple[str, str, Line]:
    """A write's version, transaction id and content, or whom a watch notified."""
    match event:
        case ZnodeCreated(session=session):
            owner = " ephemeral" if session else ""
            done = Span(f"{_who(event)}created{owner}  ", "kind")
            return "v0", hexadecimal(event.zxid), (done, _data(event.data))
        case ZnodeChanged():
            shown = changes_of(before, event.data) or (_data(event.data),)
            done = Span(f"{_who(event)}set  ", "kind")
            return f"v{event.version}", hexadecimal(event.zxid), (done, *shown)
        case ZnodeDeleted():
            return "-", hexadecimal(event.zxid), (Span(f"{_who(event)}deleted", "warning"),)
        case WatchFired():
            return "", "", (Span(f"notified {host(event.host)}: {clean(event.kind)}", "muted"),)
        case _:
            return "", "", ()


def _who(event: ZnodeCreated | ZnodeChanged | ZnodeDeleted) -> str:
    return "" if event.writer is None else f"{writer_name(event.writer)} "


def changes_of(before: str | None, after: str | None) -> Line:
    """The fields of a JSON object that changed; empty if either text is not an object."""
    try:
        old, new = json.loads(before or ""), json.loads(after or "")
    except (ValueError, RecursionError):
        return ()
    if not isinstance(old, dict) or not isinstance(new, dict):
        return ()
    spans: list[Span] = []
    for key in dict.fromkeys((*new, *old)):
        was, now = (json.dumps(side.get(key), separators=(",", ":")) for side in (old, new))
        if was != now:
            spans += [data(f"{key} ", "muted"), data(was), Span(" > ", "faint"), data(f"{now}  ")]
    return tuple(spans)


def _data(text: str | None) -> Span:
    return Span("null", "muted") if text is None else data(" ".join(text.split()))


class ZnodeScreen(ConsoleScreen):
    """The drill-down into one znode."""

    context: ClassVar[str] = "znode"
    is_linked: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("znode")]

    @classmethod
    def of_link(cls, stage: Stage, name: str) -> ConsoleScreen | str:
        return cls(stage, name)

    def __init__(self, stage: Stage, path: str) -> None:
        super().__init__(stage)
        self.path = path
        self.versions = VersionView(stage, id="versions")
        self.versions.objects = (path,)
        self.versions.with_causes = False
        self.detail = TextView(stage, id="inspector")
        self._watches: Watches | str = ""
        self._watches_seq = -1

    def compose_body(self) -> ComposeResult:
        """The versions, with data, Stat and watches beside them."""
        with Horizontal(id="upper"):
            yield self.pane(self.versions, "versions")
            yield self.pane(self.detail, "znode", "side")

    def begin(self) -> None:
        self.versions.look_again()

    def trail(self) -> str:
        return self.path

    def show_panes(self, changed: Collection[str]) -> None:
        """The versions, and the znode at the time cursor."""
        self._look_at_watches()
        versions, detail = self.panes
        self.versions.follow()
        versions.entitle(f"versions of {self.path}", [self.versions.status()])
        node = self.stage.view.state.znodes.get(self.path)
        width = self.detail.columns
        if node is None:
            detail.entitle(self.path)
            gone = nothing_lines(
                "It does not exist at this time.", "> goes to its next event", width
            )
            self.detail.show([*gone, BLANK, *self._watchers(width)])
            return
        detail.entitle(self.path, [f"v{node.version}", "ephemeral" if node.ephemeral_owner else ""])
        rows = znode_lines(node, width, self.stage.glyphs)
        self.detail.show([*rows, BLANK, *self._watchers(width)])

    def _look_at_watches(self) -> None:
        """Find the watches at the time cursor once it stops moving.

        A live cluster knows its own; for any other moment a cluster is run up to that point.
        """
        source = self.stage.source
        if source.seq == self._watches_seq:
            return
        is_now = source.at_tail and not source.read_only
        if not is_now and not self.stage.pacer.paused:
            self._watches = "pause (space) to see them"
            return
        self._watches_seq = source.seq
        if is_now:
            self._watches = source.watches(source.seq, lambda event: None)
            return
        self._watches = "being computed: the session is run again up to this moment"
        source.flush()
        self._find_watches(source.seq)

    @work(thread=True, exclusive=True)
    def _find_watches(self, seq: int) -> None:
        worker = get_current_worker()

        def go_on(event: Event) -> None:
            if worker.is_cancelled:
                raise NotWantedError

        try:
            watches: Watches | str = self.stage.source.watches(seq, go_on)
        except SessionError as error:
            watches = str(error)
        except NotWantedError:
            return
        self.app.call_from_thread(self._take_watches, seq, watches)

    def _take_watches(self, seq: int, watches: Watches | str) -> None:
        if seq == self._watches_seq:
            self._watches = watches
            self.repaint()

    def _watchers(self, width: int) -> list[Line]:
        """Who watches the znode, and whom a watch has notified; each watch fires once."""
        rows = [*watch_lines(self._watches, self.path, width), BLANK]
        rows += [line(Span("WATCHES THAT FIRED", "title"))]
        now = self.stage.source.seq
        fired = self.versions.fired()
        for event in fired[-WATCHES_SHOWN_MAX:]:
            shade = "faint" if event.seq > now else ""
            when = "will be notified" if event.seq > now else "notified"
            rows.append(
                line(
                    Span(f" {fit(host(event.host), 10)}", shade),
                    Span(f" {when} {clock(event.time_us)} #{number(event.seq)}", shade or "muted"),
                )
            )
        rows += [] if fired else [line(Span(" none so far", "muted"))]
        return [cut(row, width, self.stage.glyphs.more) for row in rows]

    def selection(self) -> Sequence[str]:
        return (self.path,)

    def action_drill(self) -> None:
        """Move the time cursor to the selected version."""
        if (event := self.versions.selected) is not None:
            self.open("moment", event.seq)

    def action_why(self) -> None:
        """Open the selected version's event with its causes."""
        self.open_event_of(self.versions)
