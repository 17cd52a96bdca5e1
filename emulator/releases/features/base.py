"""The definition of a feature, and how tables of them are written."""

import re
from typing import Final

from msgspec import Struct

from emulator.releases.versions import Numbers, is_in_line, is_since, is_until


class Feature(Struct, frozen=True):
    """One change in behaviour between releases; ``until`` None: it still applies.

    It applies from the release ``since`` up to and including ``until`` with its patch releases:
    these are the real releases, whether or not a profile of that name exists. ``also`` lists
    backports to other lines, each from that patch release on: a fix of 3.2 that is in 3.0.1 and
    3.1.1 as well. ``label`` is the KIP or JIRA that introduced it, or else Kafka's class or the
    recording that shows it; ``ended_by`` is the same for its removal.
    """

    name: str
    since: str
    until: str | None
    label: str
    meaning: str
    ended_by: str = ""
    also: tuple[str, ...] = ()

    def holds_in(self, numbers: Numbers) -> bool:
        """Whether a release has it (see :func:`emulator.releases.versions.numbers_of`)."""
        ends = self.until is not None and not is_until(numbers, self.until)
        if is_since(numbers, self.since) and not ends:
            return True
        return any(is_in_line(numbers, first) for first in self.also)


_HEADER: Final = re.compile(
    r"(?P<name>\w+) \| (?:since )?(?P<since>[\w.]+)(?: to (?P<until>[\w.]+))?"
    r"(?: and from (?P<also>[\w., ]+))? \| (?P<label>.+?)(?:, ended by (?P<ended_by>.+))?"
)


def features(table: str) -> tuple[Feature, ...]:
    """Read a table: for each feature a line, and its meaning in indented lines below it.

    The line has the name, the releases, and what brought the change and what ended it::

        lag_time_since_last_fetch | documents to 0.8.2 | KAFKA-46, ended by KIP-16
        requests_need_metadata | since 0.10.1 | KAFKA-3396
        consumer_groups | since 0.9 and from documents | KAFKA-1326

    Raises:
        ValueError: a line is not written so.
    """
    described: list[tuple[str, list[str]]] = []
    for line in table.splitlines():
        if line.startswith(" "):
            described[-1][1].append(line.strip())
        else:
            described.append((line, []))
    return tuple(_feature(header, " ".join(meaning)) for header, meaning in described)


def _feature(header: str, meaning: str) -> Feature:
    match = _HEADER.fullmatch(header)
    if match is None:
        raise ValueError(f"{header!r} is not the line of a feature")
    return Feature(
        match["name"],
        match["since"],
        match["until"],
        match["label"],
        meaning,
        match["ended_by"] or "",
        tuple(match["also"].split(", ")) if match["also"] else (),
    )
