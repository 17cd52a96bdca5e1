"""What the words of statements about links have to agree on."""

from typing import TypeVar

from emulator.inputs.statements import (
    CutLink,
    DelayLink,
    DropOnLink,
    HealLinks,
    HoldMessages,
    ReleaseMessages,
)
from sessions.grammar.words import BadWord

OnLink = TypeVar(
    "OnLink", bound=CutLink | HealLinks | DelayLink | DropOnLink | HoldMessages | ReleaseMessages
)


def two_hosts(wanted: OnLink) -> OnLink:
    """Reject a link from a host to itself, and a link with only one end."""
    if (wanted.source is None) != (wanted.destination is None):
        raise BadWord("takes two hosts, or none")
    if wanted.source is not None and wanted.source == wanted.destination:
        raise BadWord("takes two different hosts")
    return wanted
