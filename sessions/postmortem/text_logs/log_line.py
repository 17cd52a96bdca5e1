"""A recognized line of a text log: where it stands, when and by whom it was written, its fact."""

from msgspec import Struct

from sessions.postmortem.text_logs.facts import AnyFact


class LogLine(Struct, frozen=True, array_like=True):
    """A recognized line.

    ``time_us`` is microseconds since 1970, UTC, by the clock of the machine that wrote it. ``node``
    is the broker or controller whose log it is, None if nothing tells. ``line`` counts from 1.
    ``exception`` is the first line of a stack trace below it.
    """

    time_us: int
    node: int | None
    file: str
    line: int
    level: str
    fact: AnyFact
    exception: str | None = None

    @property
    def source(self) -> str:
        """``FILE:LINE``."""
        return f"{self.file}:{self.line}"

    @property
    def sentence(self) -> str:
        """What happened, in words, with the node that says so."""
        node = "" if self.node is None else f"node {self.node}: "
        exception = f" ({self.exception})" if self.exception else ""
        return f"{node}{self.fact.sentence}{exception}"
