"""The base of all events, and what the class of an event says about it."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, ClassVar, Final

from msgspec import Struct, StructMeta

ZOOKEEPER: Final = -1
"""The host number of the ZooKeeper server in messages and links."""
CLIENTS: Final = -2
"""The host number shared by all producers and consumers in messages and links."""

TRAFFIC: Final = 0
"""Level of routine traffic: messages, fetches, appends."""
CHANGE: Final = 1
"""Level of what changes the cluster's state."""
FAULT: Final = 2
"""Level of what goes wrong, or is broken on purpose."""

BROKEN_STATES: Final = frozenset({"crashed", "fenced", "frozen", "stopped"})
"""The states of a broker's or controller's process that does not run."""


class Attribute(str):
    """The name of an event's attribute whose value a column has."""

    __slots__ = ()


class Row:
    """How an event becomes a row of a table of the dataset.

    A column has the attribute of its own name, if the event has one, else null. ``values`` gives
    other columns a constant, or the :class:`Attribute` of another name.
    """

    def __init__(self, table: str, **values: object) -> None:
        self.table = table
        self.values = MappingProxyType(values)


class EventType(StructMeta):
    """The type of a class of events, which takes what the class says of its events.

    ``label`` is a word of at most six letters, ``level`` the usual level, ``row`` the row of
    the dataset that restates the event (None: only the table ``events`` has it).
    """

    def __new__(
        cls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        label: str = "",
        level: int = CHANGE,
        row: Row | None = None,
        **config: Any,
    ) -> "EventType":
        made: Any = super().__new__(cls, name, bases, namespace, **config)
        made.label, made.usual_level, made.row = label, level, row
        kind: EventType = made
        return kind


class Event(Struct, metaclass=EventType, frozen=True, array_like=True, tag=True, gc=False):
    """The fields common to all events.

    Sequence number, virtual time in microseconds, and the sequence number of the causing event.
    """

    label: ClassVar[str]
    usual_level: ClassVar[int]
    row: ClassVar[Row | None]

    seq: int
    time_us: int
    cause: int

    @property
    def level(self) -> int:
        """How much the event matters; for some classes it depends on the values."""
        return self.usual_level

    def names(self) -> Iterable[str]:
        """Return the names of objects that the event touches and that no field of it holds."""
        return ()
