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


def two_hosts(link: OnLink) -> OnLink:
    """Reject a link from a host to itself, and a link with only one end."""
    if (link.source is None) != (link.destination is None):
        raise BadWord("takes two hosts, or none")
    if link.source is not None and link.source == link.destination:
        raise BadWord("takes two different hosts")
    return link
