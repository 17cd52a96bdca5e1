"""What a feature is."""

from msgspec import Struct


class Feature(Struct, frozen=True):
    """One thing that changed between releases; ``until`` None: it still holds.

    It holds from the release ``since`` up to and including ``until``; ``label`` is the KIP or JIRA
    that brought it, ``ended_by`` the one that took it away.
    """

    name: str
    since: str
    until: str | None
    label: str
    meaning: str
    ended_by: str = ""
