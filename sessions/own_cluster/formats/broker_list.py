"""A list of brokers, as an inventory has it: ``[{"id": 1, "rack": "a", "host": .., "port": ..}]``.

``state`` is optional: a broker in any other state than running, up, online or alive is down.
"""

from typing import Final

from msgspec import UNSET, Struct, UnsetType

from emulator.cluster_image.image import NO_RACK, Broker, ClusterImage
from sessions.own_cluster.content import Content
from sessions.own_cluster.reading import Authority, FormatError, Reading

NAME: Final = "list of brokers"
_UP: Final = frozenset({"running", "up", "online", "alive"})


class _Broker(Struct):
    id: int
    rack: str | UnsetType | None = UNSET
    host: str | None = None
    port: int | None = None
    state: str | None = None


def recognizes(head: str) -> bool:
    """Whether a text is a JSON array of objects with an id."""
    start = head.lstrip()
    return start.startswith("[") and start[1:].lstrip().startswith("{") and '"id"' in start[:1000]


def read(content: Content) -> Reading:
    """Return the brokers of a list; a rack of null says that a broker has none.

    Raises:
        FormatError: it is not complete, or names a broker twice.
    """
    brokers: dict[int, Broker] = {}
    for broker in content.json(list[_Broker]):
        if broker.id in brokers:
            raise FormatError(f"lists broker {broker.id} twice")
        brokers[broker.id] = Broker(
            broker.id,
            rack=None if broker.rack is UNSET else broker.rack or NO_RACK,
            host=broker.host,
            port=broker.port,
            up=None if broker.state is None else broker.state.lower() in _UP,
        )
    image = ClusterImage(brokers=tuple(brokers.values()))
    return Reading(content.name, NAME, Authority.MONITOR, image)
