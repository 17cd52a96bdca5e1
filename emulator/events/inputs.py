"""Inputs to the cluster and their outcomes."""

from emulator.events.base import Event


class ClusterCreated(Event, frozen=True, gc=False):
    """A cluster was created.

    ``racks`` has one entry per broker or is empty.
    ``config`` holds broker defaults by Kafka's names.
    """

    version: str
    seed: int
    brokers: list[int]
    racks: list[str]
    config: dict[str, str]
    stepwise: bool


class InputReceived(Event, frozen=True, gc=False):
    """A statement was submitted to the cluster: the root of everything that it causes.

    ``text`` is the statement in the command language, ``line`` its line in a script (0: none),
    ``steps`` the number of kernel events dispatched by then (together with ``time_us``, the exact
    point at which a replay must submit it).
    """

    text: str
    line: int
    steps: int


class InputFinished(Event, frozen=True, gc=False):
    """A statement completed.

    ``error`` is ``NONE`` or the name of the Kafka or ZooKeeper error with which it failed.
    """

    text: str
    line: int
    error: str


class ExpectationChecked(Event, frozen=True, gc=False):
    """An assertion passed or failed; an unexpectedly rejected statement is a failure too.

    ``text`` is the condition, or the rejected statement; ``actual`` is the left side's value, or
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
    """A periodic task or timeout of ``host`` had an effect; ticks without effect emit no event."""

    host: int
    task: str
