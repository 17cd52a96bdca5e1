"""A dump of ZooKeeper as JSON: ``{path: {"data": .., "version": .., "czxid": ..}}``.

``data`` is a text or null. ``czxid`` is optional; it is the broker epoch of a broker's znode.
"""

import re
from typing import Final

from msgspec import Struct

from sessions.own_cluster.content import Content
from sessions.own_cluster.formats.znodes import Znode, image_of
from sessions.own_cluster.reading import Authority, Reading

NAME: Final = "ZooKeeper dump"
_START: Final = re.compile(r'\s*\{\s*"/[^"]*"\s*:\s*\{')


class _Znode(Struct):
    data: str | None = None
    version: int | None = None
    czxid: int | None = None


def recognizes(head: str) -> bool:
    """Whether a text is a JSON object whose first key is a path."""
    return _START.match(head) is not None


def read(content: Content) -> Reading:
    """Return the image in a dump.

    Raises:
        FormatError: it is not complete, or there is no Kafka in it.
    """
    dump = content.json(dict[str, _Znode])
    image = image_of(
        Znode(path, None if znode.data is None else znode.data.encode(), znode.version, znode.czxid)
        for path, znode in dump.items()
    )
    return Reading(content.name, NAME, Authority.METADATA, image)
