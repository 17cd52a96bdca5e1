"""The topics with a sign for each partition, which shows where something is wrong.

Kept change by change like the index it is made from, so that 100,000 partitions cost nothing while
they stand still.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from console.model.severity import HEALTHY
from console.model.workspace import Stage
from console.render.lines import Line, Span, cut, fit, line
from console.render.state_words import STATE_WORDS, glyph_of
from console.styles.glyphs import Glyphs
from sessions.model.states import PartitionState
from sessions.text import clean, number

NAME_WIDTH: Final = 20
COUNT_WIDTH: Final = 7
_TOPIC: Final = attrgetter("topic")


class Topics:
    """Severity of every partition, by topic and number."""

    def __init__(self) -> None:
        self.severities: dict[str, list[int]] = {}
        self._generation = -1
        self._turn = -1

    def follow(self, stage: Stage, changed: Collection[str]) -> None:
        """Apply changed partitions, also those that changed while nobody followed."""
        index = stage.index
        if stage.turn != self._turn + 1:
            changed = stage.changed_since(self._turn)
        self._turn = stage.turn
        if index.generation != self._generation:
            self._generation = index.generation
            self._load(index.keys, index.severity, stage.view.state.partitions)
            return
        partitions = stage.view.state.partitions
        for tp in changed:
            if (partition := partitions.get(tp)) is not None:
                row = self.severities[partition.topic]
                if partition.partition < len(row):
                    row[partition.partition] = index.severity[tp]

    def _load(
        self,
        keys: Sequence[str],
        severity: Mapping[str, int],
        partitions: Mapping[str, PartitionState],
    ) -> None:
        """``keys`` are in the order of topics and numbers."""
        topics = list(map(_TOPIC, map(partitions.__getitem__, keys)))
        severities = list(map(severity.__getitem__, keys))
        self.severities = {}
        begin = 0
        while begin < len(topics):
            end = bisect_right(topics, topics[begin], begin)
            self.severities[topics[begin]] = severities[begin:end]
            begin = end

    def shown(self, rows: int) -> list[str]:
        """The worst topics first, as many as fit beside a line that counts the others."""
        order = sorted(self.severities, key=lambda topic: (min(self.severities[topic]), topic))
        return order if len(order) <= rows else order[: rows - 1]

    def lines(self, width: int, rows: int, glyphs: Glyphs) -> list[Line]:
        """The worst topics first, as many as fit; the last line counts the others."""
        shown = self.shown(rows)
        drawn = [self._line(topic, width, glyphs) for topic in shown]
        if len(shown) < len(self.severities):
            rest = f" and {number(len(self.severities) - len(shown))} more topics"
            drawn.append(line(Span(rest, "muted")))
        return [cut(row, width, glyphs.more) for row in drawn]

    def _line(self, topic: str, width: int, glyphs: Glyphs) -> Line:
        severities = self.severities[topic]
        name = Span(fit(f" {clean(topic)}", NAME_WIDTH, more=glyphs.more), "strong")
        count = Span(f"{number(len(severities)):>{COUNT_WIDTH}}  ", "muted")
        room = width - NAME_WIDTH - COUNT_WIDTH - 2
        return line(name, count, *signs(severities, room, glyphs))


def signs(severities: list[int], room: int, glyphs: Glyphs) -> list[Span]:
    """A sign for each partition, or for the worst of several if they do not fit."""
    per_sign = -(-len(severities) // max(1, room))
    worst = (
        min(severities[place : place + per_sign]) for place in range(0, len(severities), per_sign)
    )
    return [sign(rank, len(list(run)), glyphs) for rank, run in groupby(worst)]


def sign(rank: int, times: int, glyphs: Glyphs) -> Span:
    """The sign of a state; a dot where all is well."""
    word = STATE_WORDS[rank]
    if rank == HEALTHY:
        return Span(glyphs.no_record * times, "faint")
    return Span(glyph_of(word, glyphs) * times, word.role)
