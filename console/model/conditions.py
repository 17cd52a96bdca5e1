"""Conditions on the read model, such as ``urp>5`` and ``orders-3.leader=2``, and their search.

``when urp>5`` goes to the next event at which the condition begins to hold. What is asked of a
partition are the fields of its filter; of a broker, its state; of the whole, the counts.
"""

import re
from collections.abc import Iterator, Mapping
from operator import attrgetter
from time import perf_counter
from typing import Any, Final

from msgspec import Struct

from console.model.filters import Field, comparison_term
from console.model.partition_fields import partition_fields
from console.model.predicates import Node, Term, joined
from sessions.grammar.conditions import Comparison, parse_text
from sessions.grammar.words import BadWord
from sessions.model.cluster_view import ClusterView
from sessions.model.health import COUNTED, Counts
from sessions.model.states import PartitionState
from sessions.sources.source import Source

COUNT_FIELDS: Final[Mapping[str, Field[Counts]]] = {
    name: Field(attrgetter(count))
    for name, count in (
        *((name, name) for _, name in COUNTED),
        ("urp", "under_replicated"),
        ("under_min", "under_min_isr"),
        ("at_min", "at_min_isr"),
        ("brokers", "brokers_up"),
        ("partitions", "partitions"),
    )
}
"""Conditions on the whole cluster."""
BROKER_FIELDS: Final[Mapping[str, Field[Any]]] = {
    "state": Field(lambda broker: broker.state, "word"),
    "epoch": Field(lambda broker: broker.broker_epoch),
}
PARTITION: Final = re.compile(r"(.+-\d+)\.([A-Za-z_]+)")
BROKER: Final = re.compile(r"broker\.(\d+)\.([A-Za-z_]+)", re.IGNORECASE)
EXAMPLES: Final = "urp>5 and offline=0, or orders-3.leader=2, or broker.1.state=crashed"
SLICE: Final = 128
"""Events searched between two looks at the clock."""


class Condition(Struct, frozen=True):
    """A condition as it was typed, and its predicate on a read model."""

    text: str
    node: Node

    def holds(self, view: ClusterView) -> bool:
        """Return whether the current read model satisfies it."""
        return self.node.matches("", view)


def parse(text: str) -> Condition:
    """Parse a condition: comparisons joined by and, or, not and parentheses.

    Raises:
        BadWord: it is none; the message begins with the column.
    """
    condition = text.strip()
    if not condition:
        raise BadWord(f"a condition is missing; give one such as {EXAMPLES}")
    return Condition(condition, joined(parse_text(condition, _comparison)))


def _comparison(asked: Comparison) -> Node:
    """A comparison of a count, of a partition's field or of a broker's."""
    if of_broker := BROKER.fullmatch(asked.left):
        broker = int(of_broker[1])
        node = comparison_term(asked._replace(left=of_broker[2]), BROKER_FIELDS)
        return Term(lambda view: _matches(node, view.state.brokers.get(broker)), by_row=True)
    if of_partition := PARTITION.fullmatch(asked.left):
        return _of_partition(asked._replace(left=of_partition[2]), of_partition[1])
    node = comparison_term(asked, COUNT_FIELDS)
    return Term(lambda view: node.matches("", view.counts()), by_row=True)


def _of_partition(asked: Comparison, tp: str) -> Node:
    """A comparison of one partition's field; its states are asked of the view that it is in."""
    asked_of: list[ClusterView] = []

    def statuses(partition: PartitionState) -> Iterator[str]:
        return asked_of[0].statuses(partition)

    def writes(partition: PartitionState) -> str:
        return asked_of[0].writes(partition)

    node = comparison_term(asked, partition_fields(statuses, writes))

    def check(view: ClusterView) -> bool:
        asked_of[:] = [view]
        return _matches(node, view.partitions.get(tp))

    return Term(check, by_row=True)


def _matches(node: Node, state: object | None) -> bool:
    return state is not None and node.matches("", state)


class Search:
    """Looks for the next event at which a condition begins to hold, a slice at a time.

    It folds a read model of its own, so the time cursor stays where it is. ``waits``: it has come
    to the end of what exists, and waits for more.
    """

    def __init__(self, source: Source, condition: Condition) -> None:
        self.source = source
        self.condition = condition
        self.view = source.view.copy()
        self.waits = False
        self._held = condition.holds(self.view)

    @property
    def at_end(self) -> bool:
        """Whether everything that exists has been searched."""
        return self.view.seq >= self.source.last_seq

    def work(self, budget_ms: float) -> int | None:
        """Search further; return the event's number once it is found."""
        deadline = perf_counter() + budget_ms / 1_000
        while not self.at_end and perf_counter() < deadline:
            first = self.view.seq + 1
            for event in self.source.events(first, first + SLICE - 1):
                self.view.apply(event)
                held, self._held = self._held, self.condition.holds(self.view)
                if self._held and not held:
                    return event.seq
        return None
