"""The definition of a feature."""

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
