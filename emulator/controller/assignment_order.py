"""The iteration order of the controller's map of assignments, which is observable up to 1.0.

``ControllerContext.partitionReplicaAssignment`` is copied whenever topics are created or deleted
(``TopicChangeListener``), and a copy reverses the partitions of each bucket.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct, field

from emulator.common.names import split
from emulator.controller.hash_order import map_order, read_order


class AssignmentOrder(Struct):
    """The partitions of the map in the order of insertion, before ``changes`` to it.

    A change has the topics that were removed, and those that were put in afterwards, each with its
    partitions' numbers; it is applied when the order is asked for, which is seldom.
    """

    inserted: list[str] = field(default_factory=list)
    changes: list[tuple[list[str], dict[str, list[int]]]] = field(default_factory=list)

    def read(self, topics: Mapping[str, Iterable[int]]) -> None:
        """Start with the topics that a new controller reads, each with its partitions' numbers."""
        self.inserted, self.changes = read_order(topics), []

    def change_topics(self, new: Mapping[str, Iterable[int]], deleted: Collection[str]) -> None:
        """Copy the map without some topics, then add those that were read."""
        numbers = {topic: list(partitions) for topic, partitions in new.items()}
        self.changes.append((list(deleted), numbers))

    def add_partitions(self, topic: str, numbers: Iterable[int], new: Collection[str]) -> None:
        """Add the new ones of a topic's partitions (``PartitionModificationsListener``)."""
        self._apply()
        added = frozenset(new)
        self.inserted += map_order(
            tp for tp in map_order(read_order({topic: numbers})) if tp in added
        )

    def partitions(self, predicate: Callable[[str], bool], *, is_copied: bool) -> list[str]:
        """Return some of the partitions in the order of iteration.

        ``is_copied``: they are filtered into another map (``ControllerContext.partitionsOnBroker``
        up to 0.10.1).
        """
        self._apply()
        filtered = [tp for tp in map_order(self.inserted) if predicate(tp)]
        return map_order(filtered) if is_copied else filtered

    def _apply(self) -> None:
        for deleted, new in self.changes:
            remaining = [tp for tp in map_order(self.inserted) if split(tp)[0] not in deleted]
            self.inserted = remaining + map_order(read_order(new))
        self.changes = []
