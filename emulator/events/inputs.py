"""Inputs to the cluster and their outcomes."""

from emulator.events.base import Event


class ClusterCreated(Event, frozen=True, gc=False):
    """A cluster was made. ``racks`` has one entry a broker or is empty.

    ``config`` are broker defaults by Kafka's names.
    """

    version: str
    seed: int
    brokers: list[int]
    racks: list[str]
    config: dict[str, str]
    stepwise: bool


class InputReceived(Event, frozen=True, gc=False):
    """A statement was given to the cluster: the root of all that follows from it.

    ``text`` is the statement in the command language, ``line`` its line in a script (0: none),
    ``steps`` how many kernel events had been dispatched by then (with ``time_us`` the exact place
    at which running it again must give it).
    """

    text: str
    line: int
    steps: int


class InputFinished(Event, frozen=True, gc=False):
    """A statement came to its end.

    ``error`` is ``NONE`` or the name of the Kafka or ZooKeeper error that it ended in.
    """

    text: str
    line: int
    error: str


class ExpectationChecked(Event, frozen=True, gc=False):
    """An assertion held or did not; a refusal that nobody expected did not hold either.

    ``text`` is the condition, or the refused statement; ``actual`` is the left side's value, or
    the error's name, as JSON text.
    """

    text: str
    line: int
    passed: bool
    actual: str


class BookmarkSet(Event, frozen=True, gc=False):
    """A ``mark``: a named place in the recording."""

    name: str
    note: str


class TimerFired(Event, frozen=True, gc=False):
    """A periodic task or time limit of ``host`` did something; ticks without effect are silent."""

    host: int
    task: str
