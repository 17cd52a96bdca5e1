"""Inputs to the cluster and their outcomes."""

from emulator.events import fields
from emulator.events.base import CHANGE, FAULT, TRAFFIC, Event


class ClusterCreated(Event, frozen=True, label="CLUSTR"):
    """A cluster was created.

    ``racks`` has one entry per broker or is empty.
    ``config`` holds broker defaults by Kafka's names.
    """

    version: str
    seed: int
    brokers: list[int]
    racks: list[str]
    config: fields.Config
    stepwise: bool


class InputReceived(Event, frozen=True, label="INPUT"):
    """A statement was submitted to the cluster: the root of everything that it causes.

    ``text`` is the statement in the command language, ``line`` its line in a script (0: none),
    ``steps`` the number of kernel events dispatched by then (together with ``time_us``, the exact
    point at which a replay must submit it).
    """

    text: fields.Text
    line: fields.Line
    steps: fields.Steps

    @property
    def level(self) -> int:
        """Routine traffic if an external client sent it; no statement starts so."""
        return TRAFFIC if self.text.startswith("client ") else CHANGE


class InputFinished(Event, frozen=True, label="DONE", level=TRAFFIC):
    """A statement completed.

    ``error`` is ``NONE`` or the name of the Kafka or ZooKeeper error with which it failed.
    """

    text: fields.Text
    line: fields.Line
    error: fields.Error

    @property
    def level(self) -> int:
        """A change, as it were, if it failed."""
        return TRAFFIC if self.error == "NONE" else CHANGE


class ExpectationChecked(Event, frozen=True, label="EXPECT"):
    """An assertion passed or failed; an unexpectedly rejected statement is a failure too.

    ``text`` is the condition, or the rejected statement; ``actual`` is the left side's value, or
    the error's name, as JSON text.
    """

    text: fields.Text
    line: fields.Line
    passed: fields.Passed
    actual: str

    @property
    def level(self) -> int:
        """A fault if it failed."""
        return CHANGE if self.passed else FAULT


class BookmarkSet(Event, frozen=True, label="MARK"):
    """A ``mark``: a named place in the recording."""

    name: fields.Name
    note: fields.Note


class TimerFired(Event, frozen=True, label="TIMER"):
    """A periodic task or timeout of ``host`` had an effect; ticks without effect emit no event."""

    host: fields.HostId
    task: fields.Task
