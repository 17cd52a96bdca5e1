"""Conditions on what the read model says: ``urp>5``, ``orders-3.leader=2``, and their search.

``when urp>5`` goes to the next event at which the condition begins to hold. What is asked of a
partition are the fields of its filter; of a broker, its state; of the whole, the counts.
"""

import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from console.model.filters import QUERY, Field, Filter, FilterError
from console.render.partition_columns import FIELDS

if TYPE_CHECKING:
    from sessions.model.cluster_view import ClusterView
    from sessions.model.health import Counts
    from sessions.sources.source import Source

COUNT_FIELDS: "Final[Mapping[str, Field[Counts]]]" = {
    name: Field(attrgetter(count))
    for name, count in (
        ("urp", "under_replicated"),
        ("under_replicated", "under_replicated"),
        ("offline", "offline"),
        ("under_min", "under_min_isr"),
        ("under_min_isr", "under_min_isr"),
        ("at_min", "at_min_isr"),
        ("at_min_isr", "at_min_isr"),
        ("unclean", "unclean"),
        ("diverged", "diverged"),
        ("non_preferred", "non_preferred"),
        ("brokers", "brokers_up"),
        ("partitions", "partitions"),
    )
}
"""What can be asked of the whole cluster."""
BROKER_FIELDS: Final[Mapping[str, Field[Any]]] = {
    "state": Field(lambda broker: broker.state, "word"),
    "epoch": Field(lambda broker: broker.broker_epoch),
}
PARTITION: Final = re.compile(r"(.+-\d+)\.([a-z_]+(?:<=|>=|!=|==|!~|~|<|>|=).+)")
BROKER: Final = re.compile(r"broker\.(\d+)\.([a-z_]+(?:<=|>=|!=|==|!~|~|<|>|=).+)")
AROUND_OPERATOR: Final = re.compile(r"\s*(<=|>=|!=|==|!~|~|<|>|=)\s*")
EXAMPLES: Final = "urp>5, offline=0, orders-3.leader=2, orders-3.isr<min or broker.1.state=crashed"
SLICE: Final = 128
"""Events looked at before the clock is."""

Check = Callable[["ClusterView"], bool]


class Condition(Struct, frozen=True):
    """A condition as it was typed, and the checks that must all hold."""

    text: str
    checks: tuple[Check, ...]

    def holds(self, view: "ClusterView") -> bool:
        """Whether it holds of the read model as it is."""
        return all(check(view) for check in self.checks)


def parse(text: str) -> Condition:
    """The condition that ``text`` is.

    Raises:
        FilterError: it is none; the message says why, in a sentence.
    """
    terms = re.split(r"\s+and\s+|\s*,\s*", AROUND_OPERATOR.sub(r"\1", text.strip()))
    return Condition(text.strip(), tuple(_check(term) for term in terms))


def _check(term: str) -> Check:
    if found := BROKER.fullmatch(term):
        number, query = int(found[1]), _query(found[2], BROKER_FIELDS)
        return lambda view: _matches(query, view.state.brokers.get(number))
    if found := PARTITION.fullmatch(term):
        tp, asked = found[1], _query(found[2], FIELDS)
        return lambda view: _matches(asked, view.partitions.get(tp))
    if QUERY.fullmatch(term):
        wanted = _query(term, COUNT_FIELDS)
        return lambda view: wanted.matches("", view.counts())
    raise FilterError(f"{term!r} is no condition; give one such as {EXAMPLES}")


def _query(term: str, fields: Mapping[str, Field[Any]]) -> Filter[Any]:
    return Filter(term, fields)


def _matches(query: Filter[Any], thing: object | None) -> bool:
    return thing is not None and query.matches("", thing)


class Search:
    """Looks for the next event at which a condition begins to hold, a slice at a time.

    It folds a read model of its own, so the time cursor stays where it is. ``waits``: it has come
    to the end of what exists, and waits for more.
    """

    def __init__(self, source: "Source", condition: Condition) -> None:
        self.source = source
        self.condition = condition
        self.view = source.view.copy()
        self.waits = False
        self._held = condition.holds(self.view)

    @property
    def at_end(self) -> bool:
        """Whether everything that exists has been looked at."""
        return self.view.seq >= self.source.last_seq

    def work(self, budget_ms: float) -> int | None:
        """Look further; the number of the event, once it is found."""
        deadline = perf_counter() + budget_ms / 1_000
        while not self.at_end and perf_counter() < deadline:
            first = self.view.seq + 1
            for event in self.source.events(first, first + SLICE - 1):
                self.view.apply(event)
                held, self._held = self._held, self.condition.holds(self.view)
                if self._held and not held:
                    return event.seq
        return None
