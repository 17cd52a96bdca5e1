"""The document of a cluster image, which an earlier import wrote."""

from typing import Final

from emulator.cluster_image.document import FORMAT, DocumentError, decode
from sessions.own_cluster.content import Content
from sessions.own_cluster.reading import Authority, FormatError, Reading

NAME: Final = "cluster image"


def recognizes(head: str) -> bool:
    """Whether a text begins as a document does."""
    return head.lstrip().startswith("{") and f'"{FORMAT}"' in head[:200]


def read(content: Content) -> Reading:
    """Return the image of a document.

    Raises:
        FormatError: it is damaged, or was written by a newer version.
    """
    try:
        image = decode(content.whole())
    except DocumentError as error:
        raise FormatError(f"cannot be read: {error}") from error
    return Reading(content.name, NAME, Authority.IMAGE, image)
