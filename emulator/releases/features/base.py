"""What a feature is."""

from msgspec import Struct

from emulator.releases.versions import Numbers, is_in_line, is_since, is_until


class Feature(Struct, frozen=True):
    """One thing that changed between releases; ``until`` None: it still holds.

    It holds from the release ``since`` up to and including ``until`` with its patch releases: the
    real dates, whether or not a profile of that name exists. ``also`` names what came to other
    lines, each from that patch release on: a fix of 3.2 that 3.0.1 and 3.1.1 have as well.
    ``label`` is the KIP or JIRA that brought it, or else Kafka's class or the recording that shows
    it; ``ended_by`` is the same for what took it away.
    """

    name: str
    since: str
    until: str | None
    label: str
    meaning: str
    ended_by: str = ""
    also: tuple[str, ...] = ()

    def holds_in(self, numbers: Numbers) -> bool:
        """Whether a release (see :func:`emulator.releases.versions.numbers_of`) has it."""
        ends = self.until is not None and not is_until(numbers, self.until)
        if is_since(numbers, self.since) and not ends:
            return True
        return any(is_in_line(numbers, first) for first in self.also)
