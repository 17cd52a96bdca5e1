"""Topics and configuration."""

from emulator.events.base import Event


class TopicCreated(Event, frozen=True, gc=False):
    """The topic's znode was written.

    ``assignment[i]`` is partition i's replica list, its preferred leader first.
    """

    topic: str
    assignment: list[list[int]]
    config: dict[str, str]


class PartitionsAdded(Event, frozen=True, gc=False):
    """Partitions were added to a topic.

    ``assignment`` holds the new partitions' replica lists; ``first`` is the first one's number.
    """

    topic: str
    first: int
    assignment: list[list[int]]


class TopicDeleted(Event, frozen=True, gc=False):
    """The topic's znodes were deleted."""

    topic: str


class ReplicasAssigned(Event, frozen=True, gc=False):
    """A partition's assigned replicas changed (reassignment)."""

    tp: str
    replicas: list[int]
    adding: list[int]
    removing: list[int]


class ConfigChanged(Event, frozen=True, gc=False):
    """A configuration value was set; ``entity`` is ``topic`` or ``broker``.

    An empty ``value`` means it was removed.
    """

    entity: str
    name: str
    key: str
    value: str
