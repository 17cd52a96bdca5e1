"""Strips over time, a column a second: topics, partitions, brokers, the controller, and rates."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from console.model.history import sparkline
from console.model.links import Link
from console.model.severity import HEALTHY
from console.model.timeline import GONE, NOBODY, Track
from console.model.workspace import Stage
from console.render.graph import graph, rounded_up
from console.render.lines import Line, Span, cells, cut, fit, line
from console.render.rows import Row
from console.render.state_words import STATE_WORDS, glyph_of
from console.render.time_bar import place
from console.render.topics import signs
from sessions.model.quorum import controller_of
from sessions.text import US_PER_SECOND, age, clean, number, short_clock

LABEL_WIDTH: Final = 20
FIGURE_WIDTH: Final = 9
GAP: Final = "  "
HALF_US: Final = US_PER_SECOND // 2
GRAPHS: Final = 2
"""Throughput and lag."""
GRAPH_HEIGHT_MIN: Final = 2
GRAPH_HEIGHT_MAX: Final = 5
SIGNS_WIDTH_MAX: Final = 24
SECONDS_MAX: Final = 120
SECONDS_MIN: Final = 10
TICK_SECONDS: Final = 20
"""Columns between two labels of the axis."""
DIGITS: Final = 10
"""Brokers with smaller ids are shown by their id in one column."""
BROKERS_MAX: Final = 9
"""The most brokers with a strip; screen 3 lists all."""
PER_SECOND: Final = (
    ("acknowledged", "acknowledged/s", "ok"),
    ("consumed", "consumed/s", "ok"),
)
"""Records; the figure is that of the last whole second. Without consumers there is one."""
IN_SIGHT: Final = (
    ("elected", "leaders elected", "accent"),
    ("isr", "ISR changes", "warning"),
    ("truncated", "records truncated", "error"),
    ("lost", "records lost", "error"),
)
"""Rare events; the figure is the sum of all visible seconds."""
BROKER_STATES: Final = {
    "crashed": ("offline", "offline", "crashed"),
    "stopped": ("offline", "error", "stopped"),
    "frozen": ("stalled", "error", "frozen"),
    "controlled_shutdown": ("down", "warning", "stopping"),
    "starting": ("leaf", "warning", "starting"),
    "running": ("horizontal", "ok", "up"),
}
"""Glyph, colour role and word of each state of a broker process, the worst first."""


class Strips:
    """The strips of one moment in one width; ``topics`` are their partitions' severities now."""

    def __init__(self, stage: Stage, topics: Mapping[str, Sequence[int]], width: int) -> None:
        self.stage = stage
        self.topics = topics
        self.width = width
        self.names: dict[str, list[str]] = {
            topic: list(names)
            for topic, names in groupby(stage.index.keys, key=lambda tp: tp.rpartition("-")[0])
        }
        state = stage.view.state
        quorum = {} if state.quorum is None else state.quorum.controllers
        self.processes = {broker.id: broker.state for broker in state.brokers.values()} | quorum
        self.brokers = sorted(self.processes)[:BROKERS_MAX]
        self.per_second = PER_SECOND if stage.view.state.consumers else PER_SECOND[:1]

    @property
    def height(self) -> int:
        """How many lines all of it takes, each partition with a strip of its own."""
        return self.least_height + sum(map(len, self.topics.values()))

    @property
    def least_height(self) -> int:
        """How many lines it takes without the partitions' own."""
        others = len(("axis", "controller", "latency"))
        return len(self.topics) + len(self.brokers) + len(self.per_second) + len(IN_SIGHT) + others

    def rows(self, shown: Sequence[str], height: int) -> list[Row]:
        """The topics that are ``shown`` and the rest, as far as there is room.

        Lines that are left are shared by the graphs.
        """
        self._lay_out(is_full=self.height <= height)
        least = self.height if self.is_full else self.least_height
        spare = 0 if self.stage.view.state.is_observed else height - least + 1
        self.graph_height = min(GRAPH_HEIGHT_MAX, spare // GRAPHS)
        rows = [Row(self._line("", "now", self._axis(), role="title"))]
        for topic in shown:
            rows += self._topic(topic)
        if hidden := len(self.topics) - len(shown):
            rows.append(Row(line(Span(f" and {number(hidden)} more topics", "muted"))))
        rows += [self._broker(broker) for broker in self.brokers]
        rows += [self._controller(), *self._rates()]
        return rows[:height]

    def _lay_out(self, *, is_full: bool) -> None:
        """Signs of a topic's partitions stand beside it unless each has a strip of its own."""
        self.is_full = is_full
        longest = max(map(len, self.topics.values()), default=0)
        self.signs_width = 0 if is_full else min(SIGNS_WIDTH_MAX, longest)
        head = LABEL_WIDTH + FIGURE_WIDTH + len(GAP)
        head += self.signs_width + len(GAP) if self.signs_width else 0
        self.now_us = self.stage.source.time_us
        last = self.now_us // US_PER_SECOND
        count = max(SECONDS_MIN, min(SECONDS_MAX, self.width - head))
        self.seconds = range(last - count + 1, last + 1)
        self.sight_us = (self.seconds[0] * US_PER_SECOND, self.now_us)

    def _line(
        self,
        label: str,
        figure: str,
        strip: Sequence[Span],
        *,
        role: str = "muted",
        now: Sequence[Span] = (),
    ) -> Line:
        more = self.stage.glyphs.more
        signs_width = self.signs_width + len(GAP) if self.signs_width else 0
        blank = " " * (signs_width - sum(cells(span.text) for span in now))
        return cut(
            line(
                Span(fit(f" {label}", LABEL_WIDTH, more=more), role),
                Span(f"{figure:>{FIGURE_WIDTH}}{GAP}", "title" if role == "title" else "muted"),
                *now,
                blank,
                *strip,
            ),
            self.width,
            more,
        )

    def _axis(self) -> list[Span]:
        row = [Span(" ")] * len(self.seconds)
        for column, second in enumerate(self.seconds):
            if second >= 0 and second % TICK_SECONDS == 0:
                place(row, column, f"{self.stage.glyphs.vertical}{short_clock_of(second)}", "muted")
        return row

    # ---- partitions

    def _topic(self, topic: str) -> list[Row]:
        severities = list(self.topics[topic])
        now = signs(severities, self.signs_width, self.stage.glyphs) if self.signs_width else ()
        strip = self._statuses(self.stage.timeline.topics[topic])
        drawn = self._line(clean(topic), number(len(severities)), strip, role="strong", now=now)
        rows = [Row(drawn, Link("partitions", f"topic={topic}"), key=("topic", topic))]
        if self.is_full:
            rows += [self._partition(tp) for tp in self.names.get(topic, ())]
        return rows

    def _partition(self, tp: str) -> Row:
        timeline = self.stage.timeline
        leaders = timeline.leaders[tp]
        leader = leaders.at(self.now_us)
        strip = self._statuses(timeline.partitions[tp])
        if not leaders.is_steady(*self.sight_us):
            shown = [Span(sign, span.role) for span in strip for sign in span.text]
            for column, second in enumerate(self.seconds):
                moved = leaders.changes(*self._span_us(second)) if second >= 0 else []
                if moved and 0 <= moved[-1] < DIGITS:
                    shown[column] = Span(str(moved[-1]), "strong")
            strip = merged(shown)
        figure = "no leader" if leader in (None, NOBODY) else f"leader {leader}"
        return Row(self._line(f"  {clean(tp)}", figure, strip), Link("partition", tp), key=tp)

    def _statuses(self, track: Track) -> list[Span]:
        """The worst state of each second; blank before there was one."""
        if track.is_steady(*self.sight_us):
            sign = self._sign(track.at(self.now_us))
            return [Span(sign.text * len(self.seconds), sign.role)]
        return merged(
            [self._sign(min(self._during(track, second), default=GONE)) for second in self.seconds]
        )

    def _sign(self, rank: int) -> Span:
        if rank == GONE:
            return Span(" ")
        glyphs = self.stage.glyphs
        if rank == HEALTHY:
            return Span(glyphs.no_record, "faint")
        return Span(glyph_of(STATE_WORDS[rank], glyphs), STATE_WORDS[rank].role)

    def _span_us(self, second: int) -> tuple[int, int]:
        begin_us = second * US_PER_SECOND
        return begin_us, min(begin_us + US_PER_SECOND - 1, self.now_us)

    def _during(self, track: Track, second: int) -> list[Any]:
        return track.during(*self._span_us(second)) if second >= 0 else []

    # ---- brokers and the controller

    def _broker(self, broker: int) -> Row:
        glyphs = self.stage.glyphs
        track = self.stage.timeline.brokers[broker]
        strip = []
        for second in self.seconds:
            states = set(self._during(track, second))
            worst = next((state for state in BROKER_STATES if state in states), None)
            if worst is None:
                strip.append(Span(" "))
            else:
                glyph, role, _ = BROKER_STATES[worst]
                strip.append(Span(str(getattr(glyphs, glyph)), role))
        state = self.processes[broker]
        word = BROKER_STATES[state][2] if state in BROKER_STATES else state
        is_broker = broker in self.stage.view.state.brokers
        name = f"{'broker' if is_broker else 'controller'} {broker}"
        link = Link("broker", str(broker)) if is_broker else None
        return Row(self._line(name, word, merged(strip)), link, key=("broker", broker))

    def _controller(self) -> Row:
        """Its number where it changes, and in sight's first second."""
        track, glyphs = self.stage.timeline.controller, self.stage.glyphs
        strip: list[Span] = []
        before = None
        for second in self.seconds:
            held = self._during(track, second)
            if not held:
                strip.append(Span(" "))
            elif held[-1] == NOBODY:
                strip.append(Span(glyphs.offline, "error"))
            elif held[-1] != before and held[-1] < DIGITS:
                strip.append(Span(str(held[-1]), "strong"))
            else:
                strip.append(Span(glyphs.horizontal, "primary"))
            before = held[-1] if held else None
        active = controller_of(self.stage.view.state)
        is_broker = active in self.stage.view.state.brokers
        figure = "none" if active is None else f"broker {active}" if is_broker else str(active)
        link = Link("broker", str(active)) if is_broker else None
        label = "controller" if is_broker or active is None else "active controller"
        return Row(self._line(label, figure, merged(strip)), link, key="controller")

    # ---- rates

    def _rates(self) -> list[Row]:
        if self.stage.view.state.is_observed:
            return []  # clients are told of none of this
        rows = []
        has_graphs = self.graph_height >= GRAPH_HEIGHT_MIN
        for name, label, role in self.per_second[has_graphs:]:
            rows.append(self._rate(name, label, role, number(self._rate_at(name, -2))))
        if has_graphs:
            rows = [*self._throughput(), *self._lag(), *rows]
        slowest = max(self._rate_at("latency", at) for at in (-2, -1)) or None
        rows.append(self._rate("latency", "slowest ack", "primary", age(slowest)))
        for name, label, role in IN_SIGHT:
            total = sum(self._rate_at(name, at) for at in range(len(self.seconds)))
            rows.append(self._rate(name, label, role, number(total)))
        return rows

    def _throughput(self) -> list[Row]:
        """Acknowledged records per second, each half second as if it were a whole one."""
        rate = self.stage.timeline.rates["acknowledged"]
        values: list[int | None] = []
        for second in self.seconds:
            begin_us = second * US_PER_SECOND
            for half_us in (begin_us, begin_us + HALF_US):
                is_known = half_us >= 0 and half_us + HALF_US <= self.now_us
                amount = rate.between(half_us, half_us + HALF_US)
                values.append(amount * 2 if is_known else None)
        figure = number(self._rate_at("acknowledged", -2))
        return self._graph("acknowledged/s", figure, values, "ok", None, "acknowledged")

    def _lag(self) -> list[Row]:
        """The most records that any partition has above its high watermark."""
        track = self.stage.timeline.lag
        values: list[int | None] = []
        for second in self.seconds:
            for half_us in (second * US_PER_SECOND, second * US_PER_SECOND + HALF_US):
                end_us = min(half_us + HALF_US - 1, self.now_us)
                held = track.during(half_us, end_us) if 0 <= half_us <= self.now_us else []
                values.append(max((lag for lag, _ in held), default=None))
        lag, worst = track.at(self.now_us) or (0, "")
        label = f"lag, worst {clean(worst)}" if worst else "lag, worst"
        link = Link("partition", worst) if worst else None
        return self._graph(label, number(lag), values, "warning", link, "lag")

    def _graph(
        self,
        label: str,
        figure: str,
        values: Sequence[int | None],
        role: str,
        link: Link | None,
        key: str,
    ) -> list[Row]:
        """A graph of two values a second, with its figure now and the ends of its scale."""
        height = self.graph_height
        top = rounded_up(max((value or 0 for value in values), default=0))
        drawn = graph(values, height, self.stage.glyphs.ramp, top)
        heads = [(label, f"max {number(top)}"), ("", f"now {figure}"), *[("", "")] * (height - 2)]
        if height > GRAPH_HEIGHT_MIN:
            heads[-1] = ("", "0")
        return [
            Row(self._line(*heads[at], [Span(row, role)]), link, key=(key, at))
            for at, row in enumerate(drawn)
        ]

    def _rate_at(self, name: str, at: int) -> int:
        return self.stage.timeline.rates[name].of(self.seconds[at], self.now_us)

    def _rate(self, name: str, label: str, role: str, figure: str) -> Row:
        sparks = self.stage.glyphs.sparks
        values = [
            self._rate_at(name, at) if second >= 0 else None
            for at, second in enumerate(self.seconds)
        ]
        bars = sparkline(values, sparks)
        strip = merged([Span(bar, "faint" if bar == sparks[0] else role) for bar in bars])
        link = Link("lost", "") if name == "lost" else None
        return Row(self._line(label, figure, strip), link, key=name)


def merged(spans: Sequence[Span]) -> list[Span]:
    """Merge neighbouring spans of the same role."""
    runs = groupby(spans, key=lambda span: span.role)
    return [Span("".join(span.text for span in run), role) for role, run in runs]


def short_clock_of(second: int) -> str:
    """A time in whole seconds, as short as possible."""
    return short_clock(second * US_PER_SECOND).partition(".")[0]
